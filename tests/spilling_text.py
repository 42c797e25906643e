"""Text of three languages that is too much for the smallest limit of memory, so that counting it goes to disk."""

import gzip
import random
from pathlib import Path

LETTERS = {"aaa": "abcdefghij", "bbb": "абвгдежзик", "ccc": "กขคงจฉชซฌญ"}
LIMIT = ["--memory", "26MB", "--threads", "1"]
"""The words of an option: little more than one block of text needs."""


def write_text(folder: Path, size: int = 5_000_000) -> Path:
    """A plain file, one that is compressed, and one in two parts."""
    folder.mkdir()
    for seed, (language, letters) in enumerate(LETTERS.items()):
        chance = random.Random(seed)
        words = ["".join(chance.choices(letters, k=chance.randint(2, 7))) for _ in range(40_000)]
        lines = []
        written = 0
        while written < size:
            lines.append(" ".join(chance.choices(words, k=200)).encode() + b"\n")
            written += len(lines[-1])
        text = b"".join(lines)
        if language == "aaa":
            (folder / "aaa.txt").write_bytes(text)
        elif language == "bbb":
            (folder / "bbb.txt.gz").write_bytes(gzip.compress(text, 1))
        else:
            (folder / "ccc").mkdir()
            half = text.index(b"\n", size // 2) + 1
            (folder / "ccc" / "0.txt").write_bytes(text[:half])
            (folder / "ccc" / "1.txt").write_bytes(text[half:])
    return folder
