"""Files appear whole or not at all."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pairity.errors import PairityError


def write_whole(path: Path, content: str | bytes) -> Path:
    """Writes beside `path` and renames, so that nobody ever reads half a file."""
    raw = content.encode() if isinstance(content, str) else content
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_bytes(raw)
        unfinished.replace(path)
    except OSError as error:
        raise PairityError(
            f"cannot write {path}: {error.strerror or error}. Choose another place."
        ) from error
    finally:
        with suppress(OSError):  # the folder may not be there, or be a file
            unfinished.unlink()
    return path
