"""Whether tokens respect characters, and whether text survives."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Utf8Integrity:
    """Counts that can be added up over languages; index w - 1 of the arrays is for characters of w bytes."""

    tokens: int
    whole_tokens: int
    unknown_tokens: int
    characters: npt.NDArray[np.int64]
    split_characters: npt.NDArray[np.int64]

    def __add__(self, other: Utf8Integrity) -> Utf8Integrity:
        return Utf8Integrity(
            self.tokens + other.tokens,
            self.whole_tokens + other.whole_tokens,
            self.unknown_tokens + other.unknown_tokens,
            self.characters + other.characters,
            self.split_characters + other.split_characters,
        )

    def whole_character_tokens(self) -> float:
        """Tokens whose bytes are whole characters / tokens."""
        return self.whole_tokens / self.tokens if self.tokens else math.nan

    def unknown_share(self) -> float:
        """Tokens that stand for no text of their own (unknown, special) / tokens."""
        return self.unknown_tokens / self.tokens if self.tokens else math.nan

    def split_share(self, width: int | None = None) -> float:
        """Characters cut by a token edge / characters; of those `width` bytes wide, or of all. NaN if there
        are none.
        """
        chosen = slice(None) if width is None else slice(width - 1, width)
        characters = int(self.characters[chosen].sum())
        return int(self.split_characters[chosen].sum()) / characters if characters else math.nan


def utf8_integrity(
    ids: npt.NDArray[np.uint32], offsets: npt.NDArray[np.int64], token_bytes: Callable[[int], bytes | None]
) -> Utf8Integrity:
    """Share of tokens that are whole characters, and the characters cut in two or more, by their width in
    bytes.

    A character is cut where the token after the one that holds its first byte starts with a continuation byte
    (10xxxxxx) in the same line; so what is needed of a token is how it starts and which characters begin in
    it.
    """
    types, index, counts = np.unique(ids, return_inverse=True, return_counts=True)
    pieces = [token_bytes(token) or b"" for token in types.tolist()]
    whole = np.array([bool(piece) and _is_utf8(piece) for piece in pieces], dtype=bool)
    known = np.array([bool(piece) for piece in pieces], dtype=bool)
    starts_inside = np.array([piece[:1] >= b"\x80" and piece[:1] < b"\xc0" for piece in pieces], dtype=bool)
    # All pieces in one array: which type every byte belongs to, and how wide a character it begins (0: none).
    owner = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
    width = _WIDTHS[np.frombuffer(b"".join(pieces), dtype=np.uint8)]
    begun = np.bincount(owner * 5 + width, minlength=5 * len(pieces)).reshape(-1, 5)[:, 1:]
    last_width = np.zeros(len(pieces), dtype=np.int64)
    last_width[owner[width > 0]] = width[width > 0]  # of several values for one type the last one stays
    followed = np.zeros(len(ids), dtype=bool)  # the next token of the same line goes on inside a character
    followed[:-1] = starts_inside[index[1:]]
    line_ends = offsets[1:][offsets[1:] > offsets[:-1]] - 1
    followed[line_ends] = False
    cut_widths = last_width[index[followed]]
    return Utf8Integrity(
        tokens=len(ids),
        whole_tokens=int(counts[whole].sum()),
        unknown_tokens=int(counts[~known].sum()),
        characters=counts @ begun,
        split_characters=np.bincount(cut_widths, minlength=5)[1:5].astype(np.int64),
    )


def round_trip(
    lines: Sequence[str],
    ids: npt.NDArray[np.uint32],
    offsets: npt.NDArray[np.int64],
    decode: Callable[[Sequence[int]], str | bytes],
) -> npt.NDArray[np.bool_]:
    """For every line whether decode(encode(line)) == line. The metric is the mean: 1.0 for a lossless
    tokenizer.
    """
    same = np.zeros(len(lines), dtype=bool)
    for number, line in enumerate(lines):
        decoded = decode(ids[offsets[number] : offsets[number + 1]].tolist())
        same[number] = decoded == (line.encode() if isinstance(decoded, bytes) else line)
    return same


def _is_utf8(piece: bytes) -> bool:
    try:
        piece.decode()
    except UnicodeDecodeError:
        return False
    return True


# Bytes of the character that a byte begins; 0 for a continuation byte.
_WIDTHS = np.repeat([1, 0, 2, 3, 4], [0x80, 0x40, 0x20, 0x10, 0x10])
