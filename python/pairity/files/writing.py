"""Writing: an output is made under another name on the same filesystem, flushed, and renamed when it is whole.

A reader sees the old file or the new one, and a crash at any moment leaves nothing that looks finished.

    write_file(Path("report.html"), "<!doctype html>...")
    write_folder(Path("out"), {"a.json": b"{}", "b.parquet": lambda file: pq.write_table(table, file)})

A new folder appears by one rename. An old one is exchanged for the new one in one step where the system can do
that and the folder holds nothing of somebody else's; elsewhere (a mount point, the current folder, a folder
with a model's weights in it) its files are renamed one by one, the last in the list last: that one should hold
the digests of the others, so that a reader can tell a mixture.
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
from pairity.files.locks import locked

Content = str | bytes | Callable[[BinaryIO], object]
"""What a file will hold, or a function that writes it into the open file that it is given."""


def write_file(path: Path, content: Content) -> Path:
    """Write one file, making its folder where there is none; returns the path. A link stays: its target is replaced."""
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
    """Write the files into a folder as a whole; `obsolete` ones that an older version left there go."""
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
    """A folder to fill over time. When the block ends, it gets its name, which nothing or an empty folder has now."""
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
    """Exchange a folder that holds only what is to be replaced; False where that cannot be done."""
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
    """Make a rename last: the folder's own entry is written to disk, where the system lets us ask for it."""
    with suppress(OSError):
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def keep_rights(old: Path, new: Path) -> None:
    """What replaces something is as open or as closed as that was, and belongs to the same user if we may say so."""
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
    """A folder to fill, on the same filesystem as its final place; what is left of it is removed."""
    stage = unfinished_name(parent, name)
    try:
        stage.mkdir()
        yield stage
    finally:
        shutil.rmtree(stage, ignore_errors=True)


@contextmanager
def room_beside(path: Path) -> Iterator[Path]:
    """A folder for what is needed until the output `path` is written; call it with the output locked."""
    place = real(path).absolute()
    with explained(path), staging(place.parent, place.name) as folder:
        yield folder


def check_replaceable(place: Path) -> None:
    """Refuse what a file must never take the place of: a folder, or a device such as /dev/null."""
    if place.is_dir():
        raise PairityError(f"{place} is a folder, so no file can be written there. Choose another name.")
    if place.exists() and not place.is_file():
        raise PairityError(f"{place} is a device or a pipe, so no file can be written there.")


# Exchanging two folders in one step


def is_ours_alone(folder: Path, names: Collection[str]) -> bool:
    """Whether a folder holds nothing but what is about to be replaced."""
    return all(entry.name in names or entry.name.endswith(UNFINISHED) for entry in folder.iterdir())


def is_movable(folder: Path) -> bool:
    """Whether the folder may be given another name: not a mount point, nor the folder that we are in."""
    return (
        not os.path.ismount(folder)
        and not Path.cwd().resolve().is_relative_to(folder.resolve())
        and os.access(folder.parent, os.W_OK | os.X_OK)
    )


def exchanged(one: Path, other: Path) -> bool:
    """Swap two names in one step (Linux: renameat2 with RENAME_EXCHANGE); False where that cannot be done."""
    here, swap = -100, 2  # AT_FDCWD, RENAME_EXCHANGE
    if sys.platform != "linux":
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    return rename is not None and rename(here, os.fsencode(one), here, os.fsencode(other), swap) == 0


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """A full disk or a missing right, said as a sentence."""
    try:
        yield
    except OSError as error:
        raise PairityError(
            f"cannot write {path}: {error.strerror or error}. Choose another place."
        ) from error
