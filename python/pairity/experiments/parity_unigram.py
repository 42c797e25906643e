"""Parity-aware UnigramLM: pruning keeps the pieces that the worst-compressed languages need.

    train_parity_unigram(count("train/"), count("dev/", split="dev"), 32_000)  ->  a tokenizers.Tokenizer

It starts from the substrings that cover most of each language. Every round cuts all words into their likeliest pieces,
which gives new probabilities, and keeps at most three quarters of the pieces. They are chosen as in parity-aware BPE:
starting from single bytes, the language with the most expensive dev line picks the piece whose loss would cost its text
the most likelihood, until all places are taken. `reference_unigram` is the specification. With one language, it is
ordinary UnigramLM.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

import numpy as np

from pairity import _core
from pairity.bpe.alphabet import to_text
from pairity.counts.counts import Counts
from pairity.counts.values import LanguageCounts
from pairity.errors import PairityError
from pairity.experiments.substrings import frequent_pieces, words_of
from pairity.experiments.unigram import MOST_BYTES, wrapped
from pairity.judging.arrays import Floats, Integers
from pairity.reference_unigram import CUTS, SHARE
from pairity.threads import thread_count
from pairity.training.engine import columns

BYTES: Final = 256
SEEDS: Final = 1_000_000
"""The most pieces to start from, over all languages in equal parts."""
SETTINGS: Final[Mapping[str, Any]] = {"seeds": SEEDS, "longest": MOST_BYTES, "cuts": CUTS, "share": SHARE}
"""Everything besides text and size that decides what is learned."""


def train_parity_unigram(counts: Counts, dev: Counts, vocab_size: int, threads: int | None = None) -> Any:
    """A `tokenizers.Tokenizer` of exactly `vocab_size` pieces, all 256 bytes among them."""
    if vocab_size <= BYTES:
        raise PairityError(f"vocab_size is {vocab_size}: it includes the 256 bytes, so give more.")
    seeds = first_pieces(counts, SEEDS // len(counts))
    if len(seeds) < vocab_size:
        raise PairityError(
            f"vocab_size is {vocab_size:,}, but this text has {len(seeds):,} pieces that occur twice. "
            f"Give more text, or a vocab_size of at most {len(seeds):,}."
        )
    learned = learn(counts, {language: dev[language] for language in counts}, seeds, vocab_size, threads)
    return wrapped([(to_text(piece), score) for piece, score in learned], counts)


def first_pieces(counts: Mapping[str, LanguageCounts], most: int) -> dict[bytes, int]:
    """The 256 bytes, and for each language the `most` substrings that cover most of it, with their counts."""
    found = {bytes([byte]): 0 for byte in range(BYTES)}
    for one in counts.values():
        words = words_of(one)
        bytes_of_text = np.bincount(words.content, np.repeat(words.counts, np.diff(words.offsets)), BYTES)
        singles = ((bytes([byte]), int(number)) for byte, number in enumerate(bytes_of_text))
        for piece, number in (*singles, *frequent_pieces(words, most, MOST_BYTES)):
            found[piece] = found.get(piece, 0) + number
    return found


def learn(
    train: Mapping[str, LanguageCounts],
    dev: Mapping[str, LanguageCounts],
    seeds: Mapping[bytes, int],
    size: int,
    threads: int | None = None,
) -> list[tuple[bytes, float]]:
    """`size` of the seeds, with the logarithms of their probabilities."""
    lines = np.array([dev[language].lines for language in train])
    pieces, scores = list(seeds), logarithms(list(seeds.values()))
    with ThreadPoolExecutor(thread_count(threads)) as pool:

        def uses(cutter: _core.Pieces, texts: Mapping[str, LanguageCounts]) -> Integers:
            """A row for each language: how often it uses each piece."""
            return np.stack(list(pool.map(lambda language: uses_in(cutter, texts[language]), train)))

        while True:
            for _ in range(CUTS):
                scores = logarithms(uses(cutter_of(pieces, scores), train).sum(axis=0).tolist())
            if len(pieces) <= size:
                return list(zip(pieces, scores.tolist(), strict=True))
            cutter = cutter_of(pieces, scores)
            sums, numbers = map(np.frombuffer, cutter.without(), ("<f8", "<u4"))
            numbers = np.maximum(numbers.astype(np.int64), 1)  # a byte cannot be cut further
            lost = np.where(np.isfinite(sums), scores - sums, 0.0)
            most = max(size, int(SHARE * len(pieces)))
            kept = prune(uses(cutter, train), lost, uses(cutter, dev), numbers, lines, most)
            if len(kept) < size:  # pieces that no language needs fill up the rest
                kept = np.union1d(kept, np.setdiff1d(np.arange(len(pieces)), kept)[: size - len(kept)])
            pieces, scores = [pieces[i] for i in kept.tolist()], scores[kept]


def prune(
    used: Integers, lost: Floats, dev_used: Integers, numbers: Integers, lines: Integers, most: int
) -> Integers:
    """The numbers of the pieces that stay. `lost` is the likelihood that each use of a piece is worth, `numbers` how
    many pieces replace it."""
    saved = np.ascontiguousarray((dev_used * (numbers - 1)).T)
    tokens = dev_used @ numbers
    needs = []
    for row in used:
        losses = row * lost
        order = np.argsort(-losses, kind="stable")
        needs.append(iter(order[losses[order] > 0].tolist()))
    kept = np.zeros(len(lost), bool)
    kept[:BYTES] = True
    left = most - BYTES
    exhausted = np.zeros(len(used), bool)
    while left and not exhausted.all():
        worst = int(np.argmax(np.where(exhausted, -1, tokens / lines)))
        piece = next((piece for piece in needs[worst] if not kept[piece]), None)
        if piece is None:
            exhausted[worst] = True
            continue
        kept[piece] = True
        tokens -= saved[piece]
        left -= 1
    return np.flatnonzero(kept)


def uses_in(cutter: _core.Pieces, text: LanguageCounts) -> Integers:
    return np.frombuffer(cutter.uses(*columns(text)), "<u8").astype(np.int64)


def cutter_of(pieces: Sequence[bytes], scores: Floats) -> _core.Pieces:
    offsets = np.zeros(len(pieces) + 1, np.int64)
    np.cumsum([len(piece) for piece in pieces], out=offsets[1:])
    return _core.Pieces(b"".join(pieces), offsets.data, scores.data)


def logarithms(counts: Sequence[int]) -> Floats:
    """Computed by Python, because numpy may round differently."""
    total = sum(counts)
    return np.array([math.log(max(count, 0.5) / total) for count in counts])
