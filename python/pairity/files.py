"""The one way to write: a file is made beside its place under another name, and renamed when it is whole.

A reader sees the old file or the new one, and a crash leaves nothing that looks finished.

    write_file(Path("report.html"), "<!doctype html>...")
    write_files(Path("out"), {"a.json": b"{}", "b.parquet": lambda path: pq.write_table(table, path)})
"""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from pairity.errors import PairityError

Content = str | bytes | Callable[[Path], object]
"""What a file will hold, or a function that writes it to the path that it is given."""


def write_file(path: Path, content: Content) -> Path:
    """Write one file, making its folder where there is none; returns the path."""
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        fill(unfinished, content)
        unfinished.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from error
    finally:
        with suppress(OSError):  # the folder may not be there, or be a file
            unfinished.unlink()
    return path


def write_files(folder: Path, files: Mapping[str, Content], *, obsolete: Iterable[str] = ()) -> list[Path]:
    """Write several files into a folder: all are whole before the first appears. `obsolete` ones are removed."""
    unfinished = None
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        unfinished = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", dir=folder.parent))
        for name, content in files.items():
            fill(unfinished / name, content)
        folder.mkdir(exist_ok=True)
        for name in files:
            (unfinished / name).replace(folder / name)
        for name in set(obsolete) - files.keys():
            (folder / name).unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(folder, error) from error
    finally:
        if unfinished is not None:
            shutil.rmtree(unfinished, ignore_errors=True)
    return [folder / name for name in files]


def fill(path: Path, content: Content) -> None:
    if callable(content):
        content(path)
    else:
        path.write_bytes(content.encode() if isinstance(content, str) else content)


def cannot_write(path: Path, error: OSError) -> PairityError:
    return PairityError(f"cannot write {path}: {error.strerror or error}. Choose another place.")


def check_free(target: Path, names: Iterable[str] = ("tokenizer.json",), *, force: bool = False) -> None:
    """Refuse a folder that holds a tokenizer already, and one that cannot be written."""
    there_is = next(path for path in (target, *target.absolute().parents) if path.exists())
    if not there_is.is_dir():
        raise PairityError(f"{there_is} is a file, and a tokenizer needs a folder. Choose another name.")
    if not os.access(there_is, os.W_OK | os.X_OK):
        raise PairityError(
            f"{target} cannot be written: no permission for {there_is}. Choose another folder."
        )
    there = [name for name in names if (target / name).exists()]
    if there and not force:
        raise PairityError(
            f"{target} already holds a tokenizer ({there[0]}). Choose another folder, or replace it with "
            "--force (force=True)."
        )
