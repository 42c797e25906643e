"""A few texts, and how they are packed into files."""

import bz2
import gzip
import json
import lzma
from collections.abc import Callable

import zstandard

TEXTS = [
    "The first line.",
    "",
    "Zweite Zeile: äöü",
    "మూడవ పంక్తి",
    "  spaces  ",
    "emoji 👩‍👩‍👧",
    "last, without a line end",
]
PACK: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
    ".xz": lzma.compress,
    ".bz2": bz2.compress,
}


def txt(texts: list[str]) -> bytes:
    return "\n".join(texts).encode()


def jsonl(texts: list[str]) -> bytes:
    return b"".join(json.dumps({"id": n, "text": text}).encode() + b"\n" for n, text in enumerate(texts))
