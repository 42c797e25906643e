"""MorphScore: do token boundaries fall on morpheme boundaries? (Arnett et al.; v1 2024, v2 2025)

A gold word is cut as [prefix] stem [suffix]. The boundaries that a tokenizer predicts are the ends of its tokens,
including the end of the word, as in the published code. Positions are compared in bytes, so a token that ends inside a
character predicts no boundary there; the published code decodes such tokens one by one and gets their lengths wrong.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, pairwise

import numpy as np

from pairity.judging.arrays import Floats
from pairity.judging.metrics.bootstrap import Bootstrap
from pairity.judging.metrics.gold import MorphWord
from pairity.judging.metrics.metric import MEAN, Metric
from pairity.judging.metrics.sums import ratio
from pairity.judging.protocol import TokenizerLike


@dataclass(frozen=True)
class MorphScore:
    """The score of one language, or (`macro`) the unweighted mean over languages."""

    recall: float
    precision: float
    precision_corrected: float
    words: int
    single_token_words: int
    skipped_words: int
    table: Floats = field(default_factory=lambda: np.zeros((0, 4)), repr=False, compare=False)
    """A row per gold word: its three scores times its weight, and the weight; zeros if the word does not count."""


def word_scores(parts: Sequence[str], tokens: Sequence[bytes]) -> tuple[float, float, float] | None:
    """Recall, precision and corrected precision of one word; None for a word without a gold cut.

    two parts     boundary hit: 1 and 1/#tokens; missed: 0 and 0
    three parts   both hit: 1 and 2/#tokens; one: 0.5 and 1/#tokens; none: 0 and 0
    one token     (1, 1): it is the caller who leaves such words out
    corrected     hits / (#tokens - 1): the end of the word, which every tokenizer gets right, does not count,
                  so a perfect two-part split has precision 1 and not 0.5

    >>> word_scores(["light", "ed"], [b"light", b"ed"])
    (1.0, 0.5, 1.0)
    """
    if len(tokens) == 1:
        return 1.0, 1.0, 1.0
    if len(parts) < 2:
        return None
    gold = list(accumulate(len(part.encode()) for part in parts))[:-1]
    predicted = set(accumulate(len(token) for token in tokens))
    hits = sum(boundary in predicted for boundary in gold)
    return hits / len(gold), hits / len(tokens), hits / (len(tokens) - 1)


def morph_score(
    words: Sequence[MorphWord],
    tokenizer: TokenizerLike,
    *,
    exclude_single_token: bool = True,
    weighted: bool = True,
) -> MorphScore:
    """MorphScore of one language: the mean of `word_scores`, weighted by word frequency (1 if there is none).

    `exclude_single_token=True` leaves out words that are one token, MorphScore's own default; False scores
    them (1, 1), as the paper's tables do. Words that the tokenizer does not give back whole (unknown tokens)
    are skipped and counted.
    """
    ids, offsets = tokenizer.encode_lines([entry.word for entry in words])
    rows: list[tuple[float, float, float, float]] = []
    by_word = np.zeros((len(words), 4))
    single = skipped = 0
    for number, entry in enumerate(words):
        tokens = word_pieces(entry.word, ids[offsets[number] : offsets[number + 1]].tolist(), tokenizer)
        if not tokens:
            skipped += 1
            continue
        single += len(tokens) == 1
        if len(tokens) == 1 and exclude_single_token:
            continue
        scores = word_scores(entry.parts, tokens)
        if scores is not None:
            weight = entry.frequency if weighted else 1.0
            rows.append((*scores, weight))
            by_word[number] = (*(score * weight for score in scores), weight)
    table = np.array(rows, dtype=np.float64).reshape(-1, 4)
    total = float(table[:, 3].sum())
    recall, precision, corrected = (
        (table[:, :3].T @ table[:, 3] / total).tolist() if total > 0 else [math.nan] * 3
    )
    return MorphScore(recall, precision, corrected, len(rows), single, skipped, by_word)


def macro(scores: Sequence[MorphScore]) -> MorphScore:
    """The unweighted mean over the languages that have data: the global value in the paper's tables."""
    scored = [score for score in scores if score.words]

    def mean(values: Sequence[float]) -> float:
        return float(np.mean(values)) if values else math.nan

    return MorphScore(
        mean([score.recall for score in scored]),
        mean([score.precision for score in scored]),
        mean([score.precision_corrected for score in scored]),
        words=sum(score.words for score in scored),
        single_token_words=sum(score.single_token_words for score in scores),
        skipped_words=sum(score.skipped_words for score in scores),
    )


def resampled(score: MorphScore, bootstrap: Bootstrap, stream: int) -> list[MorphScore]:
    """The score of one language on resampled words; the same stream draws the same words for every tokenizer."""
    sums = bootstrap.sums(score.table, stream)[1:]
    shares = ratio(sums[:, :3], sums[:, 3:])
    return [
        replace(score, recall=recall, precision=precision, precision_corrected=precision_corrected)
        for recall, precision, precision_corrected in shares.tolist()
    ]


def word_pieces(word: str, ids: Sequence[int], tokenizer: TokenizerLike) -> list[bytes]:
    """The tokens of a word as bytes that join to the word; empty if they do not.

    The space that SentencePiece puts before a word is removed. A tokenizer that changes letters (to lower case) is
    aligned by characters if their number stays the same.
    """
    pieces = [tokenizer.token_bytes(token) for token in ids]
    if not pieces or any(piece is None for piece in pieces):
        return []
    tokens = [piece for piece in pieces if piece is not None]
    if tokens[0].startswith(b" ") and not word.startswith(" "):
        tokens[0] = tokens[0][1:]
    tokens = [token for token in tokens if token]
    if b"".join(tokens) == word.encode():
        return tokens
    try:
        letters = [token.decode() for token in tokens]
    except UnicodeDecodeError:
        return []
    if sum(map(len, letters)) != len(word):
        return []
    ends = list(accumulate(map(len, letters), initial=0))
    return [word[start:end].encode() for start, end in pairwise(ends)]


def morph_recall(score: MorphScore) -> float:
    """Gold boundaries hit / gold boundaries: the mean over words, weighted by word frequency."""
    return score.recall


def morph_precision(score: MorphScore) -> float:
    """Gold boundaries hit / tokens of the word: the mean over words, weighted by word frequency.

    The end of the word counts as a boundary that was predicted, as in the published code, so a perfect
    two-part split has precision 0.5.
    """
    return score.precision


def morph_precision_corrected(score: MorphScore) -> float:
    """Gold boundaries hit / (tokens of the word - 1): the mean over words, weighted by word frequency.

    The end of the word does not count, so a perfect split has precision 1.
    """
    return score.precision_corrected


# Words of one token are left out: MorphScore's own default.
MORPHOLOGY: list[Metric[[MorphScore], float]] = [
    Metric(
        name="morph_recall",
        family="morphology",
        function=morph_recall,
        unit="share",
        better="higher",
        title="MorphScore recall, words of one token left out",
        short_title="MorphScore recall",
        over_languages=MEAN,
        decimals=4,
        main=True,
        per_language=True,
    ),
    Metric(
        name="morph_precision",
        family="morphology",
        function=morph_precision,
        unit="share",
        better="higher",
        title="MorphScore precision, words of one token left out",
        short_title="MorphScore precision",
        over_languages=MEAN,
        decimals=4,
    ),
    Metric(
        name="morph_precision_corrected",
        family="morphology",
        function=morph_precision_corrected,
        unit="share",
        better="higher",
        title="hits / (tokens - 1), words of one token left out",
        short_title="MorphScore precision, corrected",
        over_languages=MEAN,
        decimals=4,
        main=True,
        per_language=True,
    ),
]

# Words of one token are scored (1, 1), as in the paper's tables.
MORPHOLOGY_PAPER: list[Metric[[MorphScore], float]] = [
    Metric(
        name="morph_recall_paper",
        family="morphology",
        function=morph_recall,
        unit="share",
        better="higher",
        title="MorphScore recall, words of one token scored 1",
        short_title="Morph R (paper)",
        over_languages=MEAN,
        decimals=4,
        paper_column=9,
    ),
    Metric(
        name="morph_precision_paper",
        family="morphology",
        function=morph_precision,
        unit="share",
        better="higher",
        title="MorphScore precision, words of one token scored 1",
        short_title="Morph P (paper)",
        over_languages=MEAN,
        decimals=4,
        paper_column=8,
    ),
]
