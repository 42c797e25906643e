"""How a tokenizer treats the text of one language: its most expensive words, cut characters, neighbouring languages.

Counts are enough for this: no token crosses a pre-token, so each distinct pre-token is encoded once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np
import pyarrow.compute as pc

from pairity.bpe.model import BpeModel
from pairity.counts.values import LanguageCounts, weighted
from pairity.judging.arrays import Integers
from pairity.judging.metrics.integrity import WIDTHS
from pairity.tokenizer.inspection import encode_pretokens, token_text

MOST = 10
"""How many words, characters and languages are listed."""


@dataclass(frozen=True)
class Word:
    """A pre-token, how often it occurs, and the tokens that it is cut into."""

    pretoken: bytes
    count: int
    tokens: tuple[bytes, ...]

    @property
    def extra(self) -> int:
        """The tokens beyond one per occurrence: count * (tokens - 1)."""
        return self.count * (len(self.tokens) - 1)

    @property
    def shown(self) -> str:
        """Its tokens, with parts of characters as bytes: "ta|mil", "<E0AE>|<B4>"."""
        return "|".join(map(spelled, self.tokens))


@dataclass(frozen=True)
class CutCharacter:
    """A character that tokens cut: how often it occurs, and how often it is cut."""

    character: str
    count: int
    cut: int


@dataclass(frozen=True)
class Neighbour:
    """Another language: how many tokens with a letter both use, and the share of these among all that either uses
    (Jaccard)."""

    language: str
    shared: int
    overlap: float


@dataclass(frozen=True)
class InText:
    """The text of one language under one tokenizer. `words`, `cut` and `neighbours` list the top few."""

    source: str
    lines: int | None
    pretokens: int
    tokens: int
    types: int
    characters: int
    cut_characters: int
    words: tuple[Word, ...]
    cut: tuple[CutCharacter, ...]
    neighbours: tuple[Neighbour, ...] = ()

    @property
    def cost(self) -> float | None:
        """Tokens per line; None if the counts do not record the number of lines."""
        return self.tokens / self.lines if self.lines else None

    @property
    def floor(self) -> float | None:
        """Pre-tokens per line: the cost if every pre-token were one token, the least that any vocabulary allows."""
        return self.pretokens / self.lines if self.lines else None

    @property
    def cost_over_floor(self) -> float:
        return self.tokens / self.pretokens

    @property
    def extra(self) -> int:
        """All tokens beyond one per pre-token."""
        return self.tokens - self.pretokens

    @property
    def cut_share(self) -> float:
        return self.cut_characters / self.characters if self.characters else 0.0


def look_at(
    model: BpeModel, texts: Mapping[str, LanguageCounts], languages: Collection[str], source: str
) -> dict[str, InText]:
    """How the tokenizer treats the text of `languages`, each compared with all others in `texts`."""
    # Digits, punctuation and parts of characters occur in every language and do not make two similar.
    with_letter = np.array([any(map(str.isalpha, token_text(token) or "")) for token in model.tokens])
    found: dict[str, InText] = {}
    used: dict[str, Integers] = {}
    for language, text in texts.items():
        ids, lengths = encode_pretokens(model, text)
        types = np.unique(ids)
        used[language] = types[with_letter[types]]
        if language in languages:
            found[language] = in_text(model, text, ids, lengths, source)
    return {language: replace(one, neighbours=neighbours(language, used)) for language, one in found.items()}


def in_text(model: BpeModel, text: LanguageCounts, ids: Integers, lengths: Integers, source: str) -> InText:
    starts = np.concatenate([[0], np.cumsum(lengths)])
    extra = (lengths - 1).astype(np.float64) * text.counts
    costliest = [int(i) for i in np.argsort(-extra, kind="stable")[:MOST] if extra[i] > 0]
    cut = cut_characters(model, text, ids, lengths)
    return InText(
        source=source,
        lines=text.lines,
        pretokens=text.total,
        tokens=weighted(lengths, text.counts),
        types=len(np.unique(ids)),
        characters=weighted(characters_in(text), text.counts),
        cut_characters=sum(cut.values()),
        words=tuple(
            Word(
                text.pretokens[i].as_py(),
                int(text.counts[i]),
                tuple(model.tokens[token] for token in ids[starts[i] : starts[i + 1]]),
            )
            for i in costliest
        ),
        cut=tuple(
            CutCharacter(character, occurrences(character, text), times)
            for character, times in sorted(cut.items(), key=lambda item: (-item[1], item[0]))[:MOST]
        ),
    )


def characters_in(text: LanguageCounts) -> Integers:
    """The number of characters of every pre-token: its bytes without continuation bytes."""
    data, offsets = (np.frombuffer(buffer, kind) for buffer, kind in zip(text.buffers(), "Bq", strict=True))
    begun = np.concatenate([[0], np.cumsum((data & 0xC0) != 0x80)])
    return np.asarray(np.diff(begun[offsets]), np.int64)


def occurrences(character: str, text: LanguageCounts) -> int:
    each = pc.count_substring(text.pretokens, pattern=character.encode()).to_numpy()
    return weighted(each.astype(np.int64), text.counts)


def cut_characters(model: BpeModel, text: LanguageCounts, ids: Integers, lengths: Integers) -> Counter[str]:
    """Character -> how often a token edge falls into it."""
    inside = np.array([b"\x80" <= token[:1] < b"\xc0" for token in model.tokens])
    owner = np.repeat(np.arange(len(lengths)), lengths)
    starts = np.concatenate([[0], np.cumsum(lengths)])
    found: Counter[str] = Counter()
    for i in np.unique(owner[inside[ids]]).tolist():
        pretoken, count = text.pretokens[i].as_py(), int(text.counts[i])
        edge, last = 0, -1
        for token in ids[starts[i] : starts[i + 1]].tolist():
            first = edge
            while first and pretoken[first] & 0xC0 == 0x80:
                first -= 1
            if first < edge and first != last:
                character = pretoken[first : first + WIDTHS[pretoken[first]]].decode(errors="replace")
                found[character] += count
                last = first
            edge += len(model.tokens[token])
    return found


def neighbours(language: str, used: Mapping[str, Integers]) -> tuple[Neighbour, ...]:
    """The languages that share most tokens with this one, the nearest first."""
    own = used[language]
    found = []
    for other, types in used.items():
        shared = len(np.intersect1d(own, types, assume_unique=True))
        if other != language and shared:
            found.append(Neighbour(other, shared, shared / (len(own) + len(types) - shared)))
    return tuple(sorted(found, key=lambda one: (-one.overlap, one.language))[:MOST])


def spelled(token: bytes) -> str:
    """A token for display in one line: its text, with spaces as ␣ and bytes of cut characters as <E0AE>."""
    text = token_text(token)
    if text is None:
        return f"<{token.hex().upper()}>"
    return "".join(
        "␣" if letter == " " else letter if letter.isprintable() else repr(letter)[1:-1] for letter in text
    )
