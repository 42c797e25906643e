"""Locks: one writer per output, and a second one hears who the first is."""

import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pairity.errors import PairityError
from pairity.files.writing import real, remove_leftovers

try:
    import fcntl
except ImportError:  # Windows has no advisory locks of this kind; two writers are then not told apart
    fcntl = None  # type: ignore[assignment]

HELD: set[Path] = set()
"""What this process has locked already: a command holds the lock through all of its work, and saving is part of it."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Hold the output `path`; leftovers of a killed run are removed when it is taken."""
    place = real(path).absolute()
    if fcntl is None or place in HELD:
        yield
        return
    file = lock_file(place)
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


def lock_file(place: Path) -> Path:
    """Beside the output, or in it where only the output itself can be written."""
    beside = next(one for one in place.parents if one.exists())
    if place.is_dir() and not os.access(beside, os.W_OK | os.X_OK):
        return place / ".pairity.lock"
    return place.with_name(f".{place.name[:100]}.lock")


def take(file: Path, path: Path) -> int:
    """The open lock file, or an error that names the process that has it."""
    while True:
        try:
            handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o644)
        except OSError as error:
            raise PairityError(
                f"cannot write {path}: {error.strerror or error}. Choose another place."
            ) from error
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            owner = os.pread(handle, 200, 0).decode(errors="replace").strip() or "another process"
            os.close(handle)
            raise PairityError(
                f"{path} is being written by {owner}. Wait until it is done, or choose another output."
            ) from None
        # Whoever had it before may have removed the file between our two calls: then it is nobody's lock.
        with suppress(OSError):
            if os.path.samestat(os.fstat(handle), file.stat()):
                os.ftruncate(handle, 0)
                os.pwrite(handle, f"process {os.getpid()} on {socket.gethostname()}".encode(), 0)
                return handle
        os.close(handle)


def is_being_written(path: Path) -> bool:
    """Whether another process holds the output."""
    file = lock_file(real(path).absolute())
    if fcntl is None or not file.exists():
        return False
    try:
        handle = os.open(file, os.O_RDONLY)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False
