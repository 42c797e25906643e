"""Whether tokens respect characters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from pairity.judging.arrays import Ids, Integers
from pairity.judging.metrics.metric import POOLED, Metric
from pairity.tokenizer.inspection import token_text

# The width in bytes of the character that a byte begins; 0 for a continuation byte.
WIDTHS = np.repeat([1, 0, 2, 3, 4], [0x80, 0x40, 0x20, 0x10, 0x10])


@dataclass(frozen=True)
class Utf8Integrity:
    """Counts that can be summed over languages; index w - 1 of the arrays is for characters of w bytes."""

    tokens: int
    whole_tokens: int
    unknown_tokens: int
    characters: Integers
    split_characters: Integers

    def __add__(self, other: Utf8Integrity) -> Utf8Integrity:
        return Utf8Integrity(
            self.tokens + other.tokens,
            self.whole_tokens + other.whole_tokens,
            self.unknown_tokens + other.unknown_tokens,
            self.characters + other.characters,
            self.split_characters + other.split_characters,
        )


@dataclass(frozen=True)
class Share:
    """A share of a whole that may be empty; `nothing` is the note in that case."""

    part: int
    whole: int
    nothing: str = ""

    @property
    def value(self) -> float:
        return self.part / self.whole if self.whole else math.nan


def whole_character_tokens(found: Utf8Integrity) -> Share:
    """Tokens whose bytes are whole characters / tokens."""
    return Share(found.whole_tokens, found.tokens)


def unknown_tokens(found: Utf8Integrity) -> Share:
    """Tokens that stand for no text of their own (unknown, special) / tokens."""
    return Share(found.unknown_tokens, found.tokens)


def split_characters(found: Utf8Integrity, width: int | None = None) -> Share:
    """Characters split across tokens / characters: all of them, or only those `width` bytes long."""
    chosen = slice(None) if width is None else slice(width - 1, width)
    split, characters = found.split_characters[chosen], found.characters[chosen]
    return Share(int(split.sum()), int(characters.sum()), nothing="the text has no such characters")


def utf8_integrity(ids: Ids, offsets: Integers, token_bytes: Callable[[int], bytes | None]) -> Utf8Integrity:
    """Count tokens that are whole characters, and characters that are cut, by their width in bytes.

    A character is cut if the token after the one with its first byte starts, in the same line, with a continuation byte
    (10xxxxxx). So it is enough to know how each token starts and which characters it begins.
    """
    types, index, counts = np.unique(ids, return_inverse=True, return_counts=True)
    pieces = [token_bytes(token) or b"" for token in types.tolist()]
    whole = np.array([bool(piece) and token_text(piece) is not None for piece in pieces], dtype=bool)
    known = np.array([bool(piece) for piece in pieces], dtype=bool)
    starts_inside = np.array([piece[:1] >= b"\x80" and piece[:1] < b"\xc0" for piece in pieces], dtype=bool)
    # All pieces in one array: the type that every byte belongs to, and the width of the character it begins.
    owner = np.repeat(np.arange(len(pieces)), [len(piece) for piece in pieces])
    width = WIDTHS[np.frombuffer(b"".join(pieces), dtype=np.uint8)]
    begun = np.bincount(owner * 5 + width, minlength=5 * len(pieces)).reshape(-1, 5)[:, 1:]
    last_width = np.zeros(len(pieces), dtype=np.int64)
    last_width[owner[width > 0]] = width[width > 0]  # the last of several values for a type wins
    followed = np.zeros(len(ids), dtype=bool)  # the next token of the line starts inside a character
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


INTEGRITY: list[Metric[[Utf8Integrity], Share]] = [
    Metric(
        name="whole_character_tokens",
        family="integrity",
        function=whole_character_tokens,
        unit="share",
        better="higher",
        title="tokens that are whole characters",
        short_title="Tokens of whole characters",
        over_languages=POOLED,
        decimals=1,
        percent=True,
        main=True,
        per_language=True,
    ),
    Metric(
        name="unknown_tokens",
        family="integrity",
        function=unknown_tokens,
        unit="share",
        better="lower",
        title="tokens that stand for no text of their own",
        short_title="Unknown tokens",
        over_languages=POOLED,
        decimals=1,
        percent=True,
    ),
    Metric(
        name="split_characters",
        family="integrity",
        function=split_characters,
        unit="share",
        better="lower",
        title="characters split across tokens",
        short_title="Characters split",
        over_languages=POOLED,
        decimals=1,
        percent=True,
        main=True,
        per_language=True,
    ),
    Metric(
        name="split_characters_2",
        family="integrity",
        function=partial(split_characters, width=2),
        unit="share",
        better="lower",
        title="characters of 2 bytes split across tokens",
        short_title="Characters split (2 bytes)",
        over_languages=POOLED,
        decimals=1,
        percent=True,
    ),
    Metric(
        name="split_characters_3",
        family="integrity",
        function=partial(split_characters, width=3),
        unit="share",
        better="lower",
        title="characters of 3 bytes split across tokens",
        short_title="Characters split (3 bytes)",
        over_languages=POOLED,
        decimals=1,
        percent=True,
    ),
    Metric(
        name="split_characters_4",
        family="integrity",
        function=partial(split_characters, width=4),
        unit="share",
        better="lower",
        title="characters of 4 bytes split across tokens",
        short_title="Characters split (4 bytes)",
        over_languages=POOLED,
        decimals=1,
        percent=True,
    ),
]
