"""Blocks: whole lines or records of one source, a few megabytes at a time, to keep memory small."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pairity import _core
from pairity.errors import PairityError
from pairity.text.inputs import TextInput

# Large enough that handing over a block costs nothing compared with counting it. Small enough that Ctrl-C, which
# waits for blocks in progress, takes effect at once even with a slow pattern from the user.
BLOCK_BYTES = 2 << 20

LINE_BYTES = 1 << 12  # most lines are shorter


@dataclass(frozen=True)
class Block:
    """Some texts of one input: whole lines as they stand in the file, or an Arrow array of texts."""

    where: str
    unit: Literal["line", "row", "item", "word"]
    first: int
    lines: bytes | None = None
    texts: Any = None  # pa.LargeBinaryArray
    numbers: Sequence[int] | None = None  # line numbers, if they do not just count up from `first`
    labels: Any = None  # pa.LargeBinaryArray: the language of each text, if a column names it
    times: Any = None  # int64: how often each text occurs, in a list of words
    part: bool = False  # one part of a line too long for memory, and nothing else
    goes_on: bool = False  # such a part, and not the last one

    def number(self, index: int) -> int:
        return int(self.first + index if self.numbers is None else self.numbers[index])

    def place(self, index: int) -> str:
        """Where text `index` of this block stands: `train/eng_Latn.txt, line 17`."""
        return f"{self.where}, {self.unit} {self.number(index) + 1}"

    def as_texts(self) -> Block:
        """Lines as an Arrow array."""
        if self.lines is None:
            return self
        data, offsets = map(pa.py_buffer, _core.texts_of_lines(self.lines))
        texts = pa.Array.from_buffers(pa.large_binary(), len(offsets) // 8 - 1, [None, offsets, data])
        return replace(self, lines=None, texts=texts)

    def only(self, wanted: npt.NDArray[Any]) -> Block:
        """The texts for which `wanted` is true."""
        numbers = self.first + np.arange(len(wanted)) if self.numbers is None else np.asarray(self.numbers)
        return replace(
            self,
            texts=self.texts.filter(pa.array(wanted)),
            numbers=numbers[wanted],
            labels=None if self.labels is None else self.labels.filter(pa.array(wanted)),
            times=None if self.times is None else self.times.filter(pa.array(wanted)),
        )


def texts_in(block: Block) -> list[bytes]:
    """The lines or records of a block as a list."""
    records: list[bytes] = block.as_texts().texts.to_pylist()
    return records


def no_text(part: TextInput, lines: int) -> str:
    """The sentence about an input that is empty."""
    blank = f"contains {lines} blank lines and nothing else" if lines else "is empty"
    if not part.language:
        return f"no text: {part.origin} {blank}. Give it text, or leave it out."
    return (
        f"no text for {part.language!r}: {part.origin} {blank}. Give it text, or leave {part.language} out."
    )


def broken_text(block: Block, index: int, column: int) -> PairityError:
    """The error about text `index`, which is not UTF-8. It names the byte only if the text is a whole line."""
    is_line = not block.part and block.times is None
    return PairityError(not_utf8(block.place(index), column if is_line else None))


def not_utf8(place: str, column: int | None) -> str:
    """The sentence about text in another encoding, with the byte if it is known."""
    byte = "" if column is None else f" (byte {column + 1})"
    return (
        f"{place}: not UTF-8{byte}. Convert the text; count and train can also read it with errors='replace' "
        "(--replace-invalid)."
    )
