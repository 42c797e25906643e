"""Places: whether an output can be written, tested before the work by writing there."""

import tempfile
from collections.abc import Iterable
from pathlib import Path

from pairity.errors import PairityError
from pairity.files.leftovers import real, short
from pairity.files.writing import check_replaceable, explained, is_movable

REPLACE = "Choose another name, or replace it with --force (force=True)."


def check_file(path: Path, *, force: bool) -> None:
    """Refuse a file that exists already or cannot be written."""
    with explained(path):
        place = real(path)
        check_replaceable(place)
        if place.exists() and not force:
            raise PairityError(f"{path} already exists. {REPLACE}")
        try_to_write(place.parent, path)


def check_folder(path: Path, names: Iterable[str], *, what: str, force: bool, alone: bool = False) -> None:
    """Refuse a folder for `what` that has one of the files already or cannot be written.

    `alone`: also one with other files, even with `force`.
    """
    with explained(path):
        place = real(path)
        if place.exists() and not place.is_dir():
            raise PairityError(f"{path} is a file, but {what} needs a folder. Choose another name.")
        there = [name for name in names if (place / name).exists()]
        if there and not force:
            raise PairityError(f"{path} already holds {what} ({there[0]}). {REPLACE}")
        if alone and not there:
            refuse_others(path, what, "choose a new folder.")
        try_to_write(place if place.is_dir() else place.parent, path)


def refuse_others(path: Path, what: str, fix: str) -> None:
    """Refuse a folder with files of others: many are written, and might overwrite them."""
    entries = path.iterdir() if path.exists() else ()
    if found := [entry.name for entry in entries if not entry.name.startswith(".")]:
        raise PairityError(f"{path} contains other files ({found[0]}) and no {what}: {fix}")


def inside_or_beside(folder: Path, name: str) -> Path:
    """Where to keep a file that goes with an output folder: next to it, as `out.checkpoint.parquet`.

    Inside it, if there is no place next to it: the folder is a mount point or the current folder, or its parent cannot
    be written.
    """
    place = real(folder)
    inside = place / f".{name}"
    if inside.exists() or (place.exists() and not is_movable(place)):
        return inside
    return place.with_name(f"{short(place.name)}.{name}")


def try_to_write(folder: Path, path: Path) -> None:
    """Write a nameless temporary file into the folder, or into its nearest existing parent."""
    there_is = next(one for one in (folder, *folder.absolute().parents) if one.exists())
    if not there_is.is_dir():
        raise PairityError(f"{there_is} is a file, so {path} cannot be inside it. Choose another name.")
    try:
        with tempfile.TemporaryFile(dir=there_is) as trial:
            trial.write(b"\0" * 4096)
    except OSError as error:
        raise PairityError(
            f"{path} cannot be written: {error.strerror or error} in {there_is}. Choose another place."
        ) from error
