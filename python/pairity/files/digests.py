"""Digests: SHA-256 of what was written, stored with it and verified when it is read.

A manifest is a JSON file that is written last and holds the digests of the other files, and its own:

    {"format": 2, ..., "files": {"tokenizer.json": "9f86d0..."}, "digest": "60303a..."}
"""

import hashlib
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

from pairity.errors import PairityError


def in_memory(write: Callable[[BinaryIO], object]) -> bytes:
    """The bytes that a function would write into a file, to take their digest."""
    buffer = io.BytesIO()
    write(buffer)
    return buffer.getvalue()


def digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def sealed(contents: Mapping[str, Any], files: Mapping[str, bytes]) -> dict[str, Any]:
    """The contents of a manifest, with the digests of the files and one of the manifest itself."""
    whole = {**contents, "files": {name: digest(data) for name, data in files.items()}}
    return whole | {"digest": digest_of(whole)}


def digest_of(contents: Mapping[str, Any]) -> str:
    """Of the values, not of their spelling: a manifest may be reformatted."""
    plain = {name: value for name, value in contents.items() if name != "digest"}
    return digest(json.dumps(plain, sort_keys=True).encode())


def has_digests(contents: Mapping[str, Any]) -> bool:
    """Whether a manifest has digests: early ones of the first format have none."""
    return contents["format"] != 1 or "digest" in contents


def check_manifest(contents: Mapping[str, Any], path: Path) -> None:
    """Refuse a manifest that was changed after writing."""
    if contents.get("digest") != digest_of(contents):
        raise PairityError(f"{path} is damaged: its contents do not match its digest. {AGAIN}")


def read_checked(folder: Path, name: str, contents: Mapping[str, Any]) -> bytes:
    """The bytes of a file in the folder, which must match the manifest if that has digests."""
    if not has_digests(contents):
        return (folder / name).read_bytes()
    try:
        data = (folder / name).read_bytes()
    except FileNotFoundError:
        raise PairityError(f"{folder / name} is missing. {AGAIN}") from None
    if digest(data) != contents["files"].get(name):
        raise PairityError(
            f"{folder / name} is not the file that was saved here: it is damaged, or has been changed or "
            f"replaced. {AGAIN}"
        )
    return data


AGAIN = "Save it again, or get the folder again."
