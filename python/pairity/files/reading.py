"""Reading: a folder that another process may be replacing at this moment is read again."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pairity.errors import PairityError
from pairity.files.locks import is_being_written

T = TypeVar("T")

PAUSES = (0.0, 0.01, 0.02, 0.03, 0.05, 0.05, 0.1, 0.1, 0.2, 0.4)
"""Seconds before another try. A folder is replaced within milliseconds: what stays wrong for a second is damaged."""


def settled(read: Callable[[], T], manifest: Path) -> T:
    """What `read` makes of the folder of the manifest, once no writer comes in between.

    Half of it may be old and half new: then the digests do not match, and the manifest is another one afterwards
    or the output is being written.
    """
    for pause in PAUSES:
        before = stamp(manifest)
        try:
            return read()
        except PairityError:
            # In this order: a writer who ends between the two looks has changed the manifest by then.
            if not is_being_written(manifest.parent) and stamp(manifest) == before:
                raise
        time.sleep(pause)
    return read()


def stamp(file: Path) -> tuple[int, int] | None:
    """What tells one version of a file from the next: each is a file of its own."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns
