"""Locks: one writer per output; a second one is told which process is the first."""

import os
import socket
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pairity.errors import PairityError
from pairity.files.leftovers import real, remove_leftovers, short

try:
    import fcntl
except ImportError:  # Windows has no such locks: two writers go unnoticed
    fcntl = None  # type: ignore[assignment]

HELD: set[Path] = set()
"""The outputs that this process has locked: a command holds its lock all along, and saving locks again."""

PAUSES = (0.01, 0.03, 0.1, 0.2)
"""Seconds before each retry: a reader that checks for a writer holds the lock for an instant."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Lock the output `path`, and remove the leftovers of a killed run."""
    place = real(path).absolute()
    if fcntl is None or place in HELD:
        yield
        return
    file = lock_file(place)
    made = [folder for folder in file.parents if not folder.exists()]
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True)
    handle = take(file, path)
    HELD.add(place)
    try:
        remove_leftovers(place)
        yield
    finally:
        HELD.discard(place)
        with suppress(OSError):
            file.unlink()
        os.close(handle)
        with suppress(OSError):  # if nothing was written, leave no empty folders
            for folder in made:
                folder.rmdir()


def lock_file(place: Path) -> Path:
    """Next to the output; or in it, if it is a mount point or nothing next to it can be written.

    It is the same for every process, no matter what its current folder is.
    """
    beside = next((one for one in place.parents if one.exists()), place)
    if place.is_dir() and (os.path.ismount(place) or not os.access(beside, os.W_OK | os.X_OK)):
        return place / ".pairity.lock"
    return place.with_name(f".{short(place.name)}.lock")


def unwritable(path: Path, error: OSError) -> PairityError:
    """The error about a full disk, a missing permission, and the like."""
    return PairityError(f"cannot write {path}: {error.strerror or error}. Choose another place.")


def take(file: Path, path: Path) -> int:
    """The open lock file. Raises an error that names the process that holds it."""
    pauses = iter(PAUSES)
    while True:
        try:
            handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise unwritable(path, error) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.pread(handle, 200, 0).decode(errors="replace").strip() or "another process"
            os.close(handle)
            if (pause := next(pauses, None)) is None:
                raise PairityError(
                    f"{path} is being written by {owner}. Wait until it is finished, or choose another "
                    "output."
                ) from None
            time.sleep(pause)
            continue
        except OSError:  # a filesystem without locks: better no lock than no result
            return handle
        # The previous holder may have removed the file between our two calls: then we locked a file without a name.
        with suppress(FileNotFoundError):
            if os.path.samestat(os.fstat(handle), file.stat()):
                with suppress(OSError):  # a full disk may have no room for our process id
                    os.ftruncate(handle, 0)
                    os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
                return handle
        os.close(handle)


def is_being_written(path: Path) -> bool:
    """Whether another process holds the output."""
    if fcntl is None:
        return False
    try:
        handle = os.open(lock_file(real(path).absolute()), os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False
