"""Leftovers: unfinished files have telling names, so the next run with the same output removes those of a killed run.

out -> .out.4711-0.unfinished     (4711: the process)
"""

import hashlib
import itertools
import os
import shutil
from contextlib import suppress
from pathlib import Path

UNFINISHED = ".unfinished"
INSIDE = "pairity"
"""Used in the names of unfinished files inside the output folder itself."""

LONGEST_NAME = 200
"""In bytes. Filesystems allow 255, and endings such as `.checkpoint.parquet` must fit as well."""

NUMBERS = itertools.count()


def real(path: Path) -> Path:
    """The real path, if this is a link or has no name of its own (`.`, `..`)."""
    return Path(os.path.realpath(path)) if path.is_symlink() or path.name in ("", "..") else path


def short(name: str) -> str:
    """A name that leaves room for a suffix: a long one is cut and gets a digest, to stay unique."""
    whole = os.fsencode(name)
    if len(whole) <= LONGEST_NAME:
        return name
    digest = hashlib.sha256(whole).hexdigest()[:12]
    return f"{whole[: LONGEST_NAME - 20].decode(errors='ignore')}-{digest}"


def unfinished_name(folder: Path, name: str) -> Path:
    """A new hidden name in the folder, with the process id."""
    return folder / f".{short(name)}.{os.getpid()}-{next(NUMBERS)}{UNFINISHED}"


def remove_leftovers(path: Path) -> None:
    """Remove what a killed run with the same output left next to it or in it. The output must be locked."""
    place = real(path).absolute()
    for folder, name in ((place.parent, short(place.name)), (place, INSIDE)):
        with suppress(OSError):
            for entry in folder.iterdir():
                if is_leftover(entry.name, name):
                    shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() else entry.unlink()


def is_leftover(entry: str, name: str) -> bool:
    """Whether an entry was made for the output `name` by a process that is gone.

    An entry with the id of this very process is a leftover too, since this process has only just taken the lock: in a
    container, every run is process 1.
    """
    if not (entry.startswith(f".{name}.") and entry.endswith(UNFINISHED)):
        return False
    process, _, number = entry.removeprefix(f".{name}.").removesuffix(UNFINISHED).partition("-")
    if not (process.isdecimal() and number.isdecimal()):
        return False
    return int(process) == os.getpid() or not is_running(int(process))


def is_running(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # it exists, but belongs to another user
        return True
    return True
