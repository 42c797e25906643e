"""Reading: refuse a format that is too new, and read a folder again if another process replaced it meanwhile."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pairity.errors import PairityError
from pairity.files.locks import is_being_written

T = TypeVar("T")

PAUSES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.05, 0.1, 0.1, 0.2, 0.4)
"""Seconds before each retry. Replacing a folder takes milliseconds: one that is wrong for a second is damaged."""


def check_format(found: int, newest: int, whose: str) -> None:
    """Refuse what a later version wrote. `whose`: "counts.parquet has", "the scores in devtest have"."""
    if found > newest:
        raise PairityError(
            f"{whose} format {found}, and this pairity reads up to {newest}: pip install -U pairity."
        )


def settled(read: Callable[[], T], manifest: Path) -> T:
    """The result of `read`, retried while another process writes the folder of the manifest.

    A reader may see half of the old folder and half of the new one. Then the digests do not match, and afterwards the
    manifest has changed or the output is locked.
    """
    for pause in PAUSES:
        before = stamp(manifest)
        try:
            return read()
        except PairityError:
            # In this order: a writer that ends between the two checks has changed the manifest by then.
            if not is_being_written(manifest.parent) and stamp(manifest) == before:
                raise
        time.sleep(pause)
    return read()


def stamp(file: Path) -> tuple[int, int] | None:
    """Identifies a version of a file: every version is a new file, with its own inode."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
