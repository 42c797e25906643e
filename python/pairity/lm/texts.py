"""Many texts as three arrays: their bytes end to end, where each begins, and the language of each.

Texts.of([(0, b"Guten Tag"), (1, b"Hello")])   data b"Guten TagHello", offsets [0, 9, 14], language [0, 1]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

BATCH_BYTES = 4 << 20


@dataclass(frozen=True)
class TextArray:
    """`language` has numbers; their names are stored by the owner of the texts."""

    data: npt.NDArray[np.uint8]
    offsets: npt.NDArray[np.int64]
    language: npt.NDArray[np.uint16]

    @classmethod
    def of(cls, texts: Iterable[tuple[int, bytes]]) -> TextArray:
        """From pairs of (number of the language, text)."""
        given = list(texts)
        offsets = np.zeros(len(given) + 1, np.int64)
        np.cumsum([len(text) for _, text in given], out=offsets[1:])
        data = np.frombuffer(b"".join(text for _, text in given), np.uint8)
        return cls(data, offsets, np.array([language for language, _ in given], np.uint16))

    def __len__(self) -> int:
        return len(self.language)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """The bytes of every text."""
        return np.diff(self.offsets)

    def batches(self) -> Iterator[tuple[int, list[bytes]]]:
        """All texts in order, as (number of the first text, a few megabytes of texts)."""
        start = 0
        while start < len(self):
            full = int(np.searchsorted(self.offsets, self.offsets[start] + BATCH_BYTES))
            end = min(max(full, start + 1), len(self))
            data = self.data[self.offsets[start] : self.offsets[end]].tobytes()
            cuts = (self.offsets[start : end + 1] - self.offsets[start]).tolist()
            yield start, [data[a:b] for a, b in pairwise(cuts)]
            start = end

    def write(self, file: BinaryIO) -> None:
        np.savez(file, data=self.data, offsets=self.offsets, language=self.language)

    @classmethod
    def read(cls, path: Path) -> TextArray:
        with np.load(path) as arrays:
            return cls(arrays["data"], arrays["offsets"], arrays["language"])
