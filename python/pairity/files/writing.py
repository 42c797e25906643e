"""Writing: write an output under another name on the same filesystem, flush it, and rename it when it is complete.

A reader sees the old file or the new one, and a crash at any moment leaves nothing that looks finished.

    write_file(Path("report.html"), "<!doctype html>...")
    write_folder(Path("out"), {"a.json": b"{}", "b.parquet": lambda file: pq.write_table(table, file)})

A new folder appears by one rename. An existing folder is exchanged for the new one in one step, if the system can do
that and the folder contains nothing else. Otherwise (a mount point, the current folder, a folder that also has the
weights of a model) its files are renamed one by one, in the order given. The last one should hold the digests of the
others, so that a reader can detect a mixture.
"""

import ctypes
import os
import shutil
import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from pairity.errors import PairityError
from pairity.files.leftovers import INSIDE, UNFINISHED, real, unfinished_name
from pairity.files.locks import locked, unwritable

Content = str | bytes | Callable[[BinaryIO], object]
"""The contents of a file, or a function that writes them into an open file."""


def write_file(path: Path, content: Content) -> Path:
    """Write one file, and its folder if needed; returns the path. A link stays a link: its target is replaced."""
    write_files({path: content})
    return path


def write_files(files: Mapping[Path, Content]) -> list[Path]:
    """Write files that belong together: all are complete before the first gets its name."""
    made: dict[Path, Path] = {}
    with explained(next(iter(files))), ExitStack() as locks:
        try:
            for path, content in files.items():
                place = real(path)
                check_replaceable(place)
                locks.enter_context(locked(path))
                place.parent.mkdir(parents=True, exist_ok=True)
                made[place] = unfinished_name(place.parent, place.name)
                fill(made[place], content)
                keep_rights(place, made[place])
            for place, unfinished in made.items():
                unfinished.replace(place)
            for folder in {place.parent for place in made}:
                flush_folder(folder)
        finally:
            for unfinished in made.values():
                with suppress(OSError):
                    unfinished.unlink()
    return list(files)


def write_folder(path: Path, files: Mapping[str, Content], *, obsolete: Iterable[str] = ()) -> list[Path]:
    """Write the files into a folder as a whole, and remove `obsolete` ones that an older version left."""
    with explained(path), locked(path):
        folder = real(path)
        gone = [name for name in obsolete if name not in files]
        if not folder.exists():
            folder.parent.mkdir(parents=True, exist_ok=True)
            with staging(folder.parent, folder.name) as stage:
                fill_all(stage, files)
                stage.rename(folder)
                flush_folder(folder.parent)
        elif not replaced_whole(folder, files, gone):
            with staging(folder, INSIDE) as stage:
                fill_all(stage, files)
                for name in files:
                    keep_rights(folder / name, stage / name)
                    (stage / name).replace(folder / name)
                for name in gone:
                    (folder / name).unlink(missing_ok=True)
                flush_folder(folder)
    return [path / name for name in files]


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """A folder to fill in a `with` block, then renamed to `path`, which must be free or an empty folder."""
    with explained(path), locked(path):
        folder = real(path)
        folder.parent.mkdir(parents=True, exist_ok=True)
        with staging(folder.parent, folder.name) as stage:
            yield stage
            for file in stage.iterdir():
                flush_file(file)
            flush_folder(stage)
            stage.rename(folder)
            flush_folder(folder.parent)


def replaced_whole(folder: Path, files: Mapping[str, Content], gone: Collection[str]) -> bool:
    """Exchange a folder that contains only what is to be replaced; False if that is not possible."""
    if not (is_movable(folder) and is_ours_alone(folder, {*files, *gone})):
        return False
    with staging(folder.parent, folder.name) as stage:
        fill_all(stage, files)
        keep_rights(folder, stage)
        if not exchanged(stage, folder):
            return False
        flush_folder(folder.parent)
    return True


def fill(path: Path, content: Content) -> None:
    with path.open("wb") as file:
        if callable(content):
            content(file)
        else:
            file.write(content.encode() if isinstance(content, str) else content)
        file.flush()
        os.fsync(file.fileno())


def fill_all(stage: Path, files: Mapping[str, Content]) -> None:
    for name, content in files.items():
        fill(stage / name, content)
    flush_folder(stage)


def flush_file(path: Path) -> None:
    with path.open("rb+") as file:
        os.fsync(file.fileno())


def flush_folder(folder: Path) -> None:
    """Make a rename durable by flushing the folder itself, if the system supports that."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def keep_rights(old: Path, new: Path) -> None:
    """Give a replacement the permissions of the original, and its owner if we are allowed to."""
    try:
        before = old.stat()
    except FileNotFoundError:
        return
    if sys.platform != "win32":
        with suppress(OSError):
            os.chown(new, before.st_uid, before.st_gid)
    with suppress(OSError):
        shutil.copymode(old, new)


@contextmanager
def staging(parent: Path, name: str) -> Iterator[Path]:
    """A folder to fill on the same filesystem as its final place; it is removed at the end."""
    stage = unfinished_name(parent, name)
    try:
        stage.mkdir()
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


@contextmanager
def room_beside(path: Path) -> Iterator[Path]:
    """A temporary folder that lasts until the output `path` is written. The output must be locked."""
    place = real(path).absolute()
    with explained(path), staging(place.parent, place.name) as folder:
        yield folder


def check_replaceable(place: Path) -> None:
    """Refuse what a file must never replace: a folder, or a device such as /dev/null."""
    if place.is_dir():
        raise PairityError(f"{place} is a folder, so no file can be written there. Choose another name.")
    if place.exists() and not place.is_file():
        raise PairityError(f"{place} is a device or a pipe, so no file can be written there.")


# Exchanging two folders in one step


def is_ours_alone(folder: Path, names: Collection[str]) -> bool:
    """Whether a folder contains nothing but what is about to be replaced."""
    return all(entry.name in names or entry.name.endswith(UNFINISHED) for entry in folder.iterdir())


def is_movable(folder: Path) -> bool:
    """Whether the folder can be renamed: it is neither a mount point nor the current folder."""
    return (
        not os.path.ismount(folder)
        and not Path.cwd().resolve().is_relative_to(folder.resolve())
        and os.access(folder.parent, os.W_OK | os.X_OK)
    )


def exchanged(one: Path, other: Path) -> bool:
    """Swap two names in one step (Linux: renameat2 with RENAME_EXCHANGE); False if that is not possible."""
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    return rename is not None and rename(here, os.fsencode(one), here, os.fsencode(other), swap) == 0


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn a full disk or a missing permission into a sentence."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from error
