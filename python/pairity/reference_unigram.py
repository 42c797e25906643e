"""The specification of parity-aware UnigramLM, in plain Python with no cleverness.

Like UnigramLM (Kudo, 2018), it starts with more pieces than needed and drops the least useful ones, round by round.
What differs is pruning: whose pieces stay is decided as parity-aware BPE decides whose pair is merged.
The fast twin in `pairity.experiments.parity_unigram` must give exactly what this gives.

    >>> seeds = {**{bytes([b]): 1 for b in range(256)}, b"hug": 5, b"ug": 7, b"pu": 2}
    >>> [piece for piece, _ in train({"en": {b"hug": 5, b"pug": 2}}, {"en": {b"hug": 1}}, {"en": 1}, seeds, 258)[256:]]
    [b'hug', b'ug']
"""

from collections import Counter
from collections.abc import Mapping
from math import inf, log

CUTS = 2
"""How often a round re-estimates the scores before it drops pieces."""
SHARE = 0.75
"""The largest share of the pieces that a round keeps."""

CountsByLanguage = Mapping[str, Mapping[bytes, int]]


def train(
    train: CountsByLanguage,
    dev: CountsByLanguage,
    dev_lines: Mapping[str, int],
    seeds: Mapping[bytes, int],
    size: int,
) -> list[tuple[bytes, float]]:
    """`size` of the `seeds` (piece -> how often it occurs in train; the 256 bytes come first), with their scores."""
    scores = logarithms(seeds)
    while True:
        for _ in range(CUTS):
            uses = used(scores, train)
            scores = logarithms({piece: uses[piece] for piece in scores})
        if len(scores) <= size:
            return list(scores.items())
        kept = prune(scores, train, dev, dev_lines, max(size, int(SHARE * len(scores))), size)
        scores = {piece: scores[piece] for piece in scores if piece in kept}


def prune(
    scores: Mapping[bytes, float],
    train: CountsByLanguage,
    dev: CountsByLanguage,
    dev_lines: Mapping[str, int],
    most: int,
    least: int,
) -> set[bytes]:
    """The pieces that stay. Starting from the bytes alone, each is chosen by the language that is worst off then."""
    pieces = list(scores)
    apart = {piece: likeliest(piece, scores, longest=len(piece) - 1) for piece in pieces[256:]}
    # The pieces of each language, those first whose loss would cost its text the most likelihood.
    needs: dict[str, list[bytes]] = {}
    tokens: dict[str, int] = {}  # of dev text
    saved: dict[str, dict[bytes, int]] = {}
    for language in train:
        uses = used(scores, {language: train[language]})
        losses = {piece: uses[piece] * (scores[piece] - apart[piece][0]) for piece in apart}
        needs[language] = sorted(
            (piece for piece in apart if losses[piece] > 0), key=losses.__getitem__, reverse=True
        )
        uses = used(scores, {language: dev[language]})
        saved[language] = {piece: uses[piece] * (len(apart[piece][1]) - 1) for piece in apart}
        tokens[language] = sum(uses.values()) + sum(saved[language].values())
    kept = set(pieces[:256])
    alive = list(train)
    while alive and len(kept) < most:
        worst = max(alive, key=lambda language: tokens[language] / dev_lines[language])  # the first on a tie
        piece = next((piece for piece in needs[worst] if piece not in kept), None)
        if piece is None:
            alive.remove(worst)
            continue
        kept.add(piece)
        for language in train:
            tokens[language] -= saved[language][piece]
    for piece in pieces:  # pieces that no language needs fill up the rest
        if len(kept) < least:
            kept.add(piece)
    return kept


def used(scores: Mapping[bytes, float], texts: CountsByLanguage) -> Counter[bytes]:
    uses: Counter[bytes] = Counter()
    for words in texts.values():
        for word, count in words.items():
            for piece in likeliest(word, scores, longest=len(word))[1]:
                uses[piece] += count
    return uses


def likeliest(word: bytes, scores: Mapping[bytes, float], longest: int) -> tuple[float, list[bytes]]:
    """The pieces with the greatest sum of scores, and that sum; on a tie, those with the longest last piece."""
    best: list[tuple[float, list[bytes]]] = [(0.0, [])]
    for end in range(1, len(word) + 1):
        found: tuple[float, list[bytes]] = (-inf, [])
        for start in range(max(0, end - longest), end):
            piece = word[start:end]
            if piece in scores and best[start][0] + scores[piece] > found[0]:
                found = (best[start][0] + scores[piece], [*best[start][1], piece])
        best.append(found)
    return best[-1]


def logarithms(counts: Mapping[bytes, int]) -> dict[bytes, float]:
    total = sum(counts.values())
    return {piece: log(max(count, 0.5) / total) for piece, count in counts.items()}
