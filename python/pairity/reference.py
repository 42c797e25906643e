"""The specification: parity-aware BPE in plain Python, with no cleverness.

Both algorithm boxes of the paper (Foroutan, Meister et al., "Parity-Aware Byte-Pair Encoding") in one loop:
every step recounts everything from scratch. The engine in Rust must give exactly what this gives.

    >>> learned = train({"en": {b"hug": 5, b"pug": 2}}, method=Classical(), num_merges=2)
    >>> learned.merges
    [(b'u', b'g'), (b'h', b'ug')]
"""

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise
from math import floor, sqrt
from typing import Any

from pairity.bpe.alphabet import to_text
from pairity.training.policy import Classical, Fair, Parity
from pairity.training.policy import Policy as Method

Pair = tuple[bytes, bytes]
Words = list[tuple[list[bytes], int]]

LEAST = 1e-280
"""The lower bound of a power of costs, so that every language has some weight."""
SIZES = (1e-20, 1e20)
"""The lower and upper bound of how many units a train text is worth."""


@dataclass
class LearnedSteps:
    """What a run learned, step by step."""

    merges: list[Pair] = field(default_factory=list)
    served: list[str | None] = field(default_factory=list)
    counts: list[int] = field(default_factory=list)
    costs: list[dict[str, float]] = field(default_factory=list)
    """Cost of every measured language before the first merge and after each one."""
    exhausted: list[tuple[str, int]] = field(default_factory=list)
    """(language, number of merges when it ran out of pairs)."""
    tokens: set[bytes] = field(default_factory=lambda: {bytes([byte]) for byte in range(256)})


@dataclass
class Table:
    """A tokenizer to continue from. Its merges may be in an order that training could not produce."""

    tokens: set[bytes]
    """Without the 256 bytes."""
    merges: list[Pair]
    """The rank of a pair is its first position here."""
    whole_pretokens: bool = False
    """A pre-token that is itself a token skips the merges and becomes that token."""

    def cut(self, pretoken: bytes) -> list[bytes]:
        """Merge the pair of the lowest rank, the leftmost one on a tie, until no pair has a rank."""
        if self.whole_pretokens and pretoken in self.tokens:
            return [pretoken]
        tokens = in_bytes(pretoken)
        while True:
            found = [(self.merges.index(p), at) for at, p in enumerate(pairwise(tokens)) if p in self.merges]
            if not found:
                return tokens
            _, at = min(found)
            tokens[at : at + 2] = [tokens[at] + tokens[at + 1]]


def train(
    train: Mapping[str, Mapping[bytes, int]],
    *,
    dev: Mapping[str, Mapping[bytes, int]] | None = None,
    dev_units: Mapping[str, float] | None = None,
    method: Method,
    num_merges: int | None = None,
    num_tokens: int | None = None,
    min_frequency: int = 0,
    max_token_length: int | None = None,
    whole_characters: bool = False,
    table: Table | None = None,
    known: Sequence[Pair] = (),
    until: int | None = None,
    after: LearnedSteps | None = None,
) -> LearnedSteps:
    """Learn `num_merges` merges, or as many as make `num_tokens` tokens in addition to the 256 bytes.

    With a `table`, every pre-token starts as that table cuts it, and tokens that it has are not learned.
    `known` merges of an earlier run come first and count as learned; they served no language.
    Two stages (`in_two_stages`): the first stops after `until` merges (or tokens). The second comes `after` it, with
    the same settings and other pre-tokens, to which all merges of the first are applied again.
    """
    dev, dev_units = dev or {}, dev_units or {}
    ratios = method.ratios or {}
    on_train = method.on == "train"
    budget = num_merges if num_merges is not None else num_tokens
    assert budget is not None
    global_merges = (
        method.global_merges_of(budget) if isinstance(method, Parity) else None
    )  # None: all of them

    train_words = {language: start_from(table, words) for language, words in train.items()}
    dev_words = {language: start_from(table, words) for language, words in dev.items()}
    train_bytes = {language: length(start_from(None, words)) for language, words in train.items()}
    alive = list(train)
    weights: dict[str, float] = {}
    recent: deque[str] = deque(maxlen=method.window if isinstance(method, Parity) else 0)
    learned = LearnedSteps()
    if table is not None:
        learned.tokens |= table.tokens

    def rate(language: str) -> float:
        """The compression rate by which languages are compared."""
        if language in ratios or on_train:
            ratio = ratios.get(language, 1.0)
            assert not isinstance(ratio, str)
            return train_bytes[language] / length(train_words[language]) / ratio
        return dev_units[language] / length(dev_words[language])

    def measured() -> list[str]:
        return [language for language in train if language in ratios or on_train or language in dev_units]

    def worst_language() -> str:
        assert isinstance(method, Parity)
        eligible = alive
        if method.window is not None:
            allowed = method.alpha * method.window
            eligible = [x for x in alive if recent.count(x) * len(train) <= allowed] or alive
        return min(eligible, key=rate)  # the first given on a tie

    def best_pair(words: Words, joint: float) -> tuple[Pair, int] | None:
        counts = count_pairs(words)
        possible = [pair for pair in counts if counts[pair] >= max(min_frequency, 1) and admitted(pair)]
        if not possible:
            return None
        possible.sort(key=lambda pair: (counts[pair], to_text(pair[0]), to_text(pair[1])), reverse=True)
        best = possible[0]
        if isinstance(method, Fair):
            best = most_helpful(possible, weights)
        elif joint < 1:
            leading = [pair for pair in possible if float(counts[pair]) >= joint * float(counts[best])]
            prices = {one: 1 / rate(one) / length(train_words[one]) for one in train}
            best = most_helpful(leading, prices)
        return best, counts[best]

    def most_helpful(pairs: list[Pair], weights: Mapping[str, float]) -> Pair:
        """The pair that saves the most tokens, weighted and summed over the languages; the first on a tie."""
        saved = dict.fromkeys(pairs, 0.0)
        for language in train:
            counts = count_pairs(train_words[language])
            for pair in pairs:
                saved[pair] += weights[language] * counts[pair]
        return max(pairs, key=lambda pair: saved[pair])

    def weigh(beta: float) -> None:
        """What saving a token is worth in each language. The power of the most expensive one is 1, the others less."""
        lowest = min(rate(language) for language in train)
        for language in train:
            weights[language] = max(power(lowest / rate(language), beta), LEAST) / sizes[language]

    def admitted(pair: Pair) -> bool:
        token = pair[0] + pair[1]
        if table is not None and token in learned.tokens:
            return False
        if max_token_length is not None and len(token) > max_token_length:
            return False
        return not whole_characters or is_characters(token) or is_part_of_one_character(token)

    def reached() -> bool:
        done = len(learned.merges) if num_merges is not None else len(learned.tokens) - 256
        return done >= (budget if until is None else until)

    def record(pair: Pair, served: str | None, count: int) -> None:
        for words in [*train_words.values(), *dev_words.values()]:
            for tokens, _ in words:
                apply(pair, tokens)
        if served is not None:
            recent.append(served)
        learned.tokens.add(pair[0] + pair[1])
        learned.merges.append(pair)
        learned.served.append(served)
        learned.counts.append(count)
        learned.costs.append({language: 1 / rate(language) for language in measured()})
        if isinstance(method, Fair) and is_time_to_weigh(len(learned.merges)):
            weigh(method.beta)

    sizes: dict[str, float] = {}  # how many units, such as dev lines, each train text is worth
    if isinstance(method, Fair):
        for language, words in train_words.items():
            sizes[language] = min(max(length(words) * rate(language), SIZES[0]), SIZES[1])
        weigh(method.beta)
    learned.costs.append({language: 1 / rate(language) for language in measured()})
    for pair in known:
        record(pair, None, 0)
    if after is not None:
        for step in zip(after.merges, after.served, after.counts, strict=True):
            record(*step)
    while not reached():
        joint = 1.0
        if global_merges is None or len(learned.merges) < global_merges:
            served = None
            words = [word for language in train for word in train_words[language]]
        elif alive:
            served = worst_language()
            words = train_words[served]
            joint = method.joint if isinstance(method, Parity) else 1.0
        else:
            break
        best = best_pair(words, joint)
        if best is None and served is not None:
            alive.remove(served)
            learned.exhausted.append((served, len(learned.merges)))
            continue
        if best is None:
            if global_merges is None:
                break
            global_merges = len(learned.merges)  # no language has a pair left: let each of them run out
            continue
        pair, count = best
        record(pair, served, count)
    return learned


def together(
    dev: Mapping[str, Mapping[str, Mapping[bytes, int]]],
    dev_units: Mapping[str, Mapping[str, float]],
    weights: Mapping[str, float],
) -> tuple[dict[str, Counter[bytes]], dict[str, float]]:
    """Several dev sets (set -> language -> words) as the one dev text and the units that `train` takes.

    Every set is divided by the mean cost of its languages, in bytes, and multiplied by its share of the weights. Counts
    become whole numbers so large that rounding loses nothing; units are those of the first set.
    """
    one: dict[str, Counter[bytes]] = {}
    means: dict[str, Fraction] = {}
    for name, texts in dev.items():
        costs = [length(start_from(None, texts[code])) / Fraction(dev_units[name][code]) for code in texts]
        means[name] = sum(costs) / Fraction(len(costs))
        share = Fraction(weights[name]) / sum(map(Fraction, weights.values()))
        for code, words in texts.items():
            times = round(2**48 * share / means[name] / Fraction(dev_units[name][code]))
            one.setdefault(code, Counter()).update({word: times * count for word, count in words.items()})
    return one, dict.fromkeys(one, float(2**48 / means[next(iter(dev))]))


def in_two_stages(
    words: Mapping[str, Mapping[bytes, int]],
    phrases: Mapping[str, Mapping[bytes, int]],
    *,
    superwords: float,
    dev: Mapping[str, Mapping[bytes, int]] | None = None,
    dev_phrases: Mapping[str, Mapping[bytes, int]] | None = None,
    num_merges: int | None = None,
    num_tokens: int | None = None,
    **others: Any,
) -> LearnedSteps:
    """Superwords: learn this share from words, and the rest from the same text in phrases.

    A language that ran out of pairs in words has pairs again in phrases.
    """
    budget = num_merges if num_merges is not None else num_tokens
    assert budget is not None
    others |= {"num_merges": num_merges, "num_tokens": num_tokens}
    first = train(words, dev=dev, until=round(superwords * budget), **others)
    return train(phrases, dev=dev_phrases, after=first, **others)


def is_time_to_weigh(merges: int) -> bool:
    """After every merge up to 2048, every second up to 4096, every fourth up to 8192, and so on."""
    return merges % (1 << max(0, merges.bit_length() - 11)) == 0


def power(base: float, exponent: float) -> float:
    """base ** exponent, the same on every machine: products and square roots are rounded exactly, pow() is not."""
    result, square, whole = 1.0, base, float(floor(exponent))
    while whole > 0:
        half = float(floor(whole / 2))
        if whole > 2 * half:
            result *= square
        square, whole = square * square, half
    root, part = base, exponent - floor(exponent)
    while part > 0:
        root, part = sqrt(root), 2 * part
        if part >= 1:
            result, part = result * root, part - 1
    return result


def start_from(table: Table | None, counts: Mapping[bytes, int]) -> Words:
    """{b"hug": 5} -> [([b"h", b"u", b"g"], 5)], or the tokens that a table cuts it into."""
    cut = in_bytes if table is None else table.cut
    return [(cut(pretoken), count) for pretoken, count in counts.items()]


def in_bytes(pretoken: bytes) -> list[bytes]:
    return [bytes([byte]) for byte in pretoken]


def count_pairs(words: Words) -> Counter[Pair]:
    counts: Counter[Pair] = Counter()
    for tokens, count in words:
        for pair in pairwise(tokens):
            counts[pair] += count
    return counts


def length(words: Words) -> int:
    return sum(len(tokens) * count for tokens, count in words)


def apply(pair: Pair, tokens: list[bytes]) -> None:
    """Merge in place, left to right, never overlapping: (a, a) makes [a, a, a] into [aa, a]."""
    at = 0
    while at < len(tokens) - 1:
        if (tokens[at], tokens[at + 1]) == pair:
            tokens[at : at + 2] = [pair[0] + pair[1]]
        at += 1


def is_characters(token: bytes) -> bool:
    try:
        token.decode()
    except UnicodeDecodeError:
        return False
    return True


def is_part_of_one_character(token: bytes) -> bool:
    """A lead byte with some of its continuation bytes, or only continuation bytes."""
    whole = 1 if token[0] < 0x80 else 2 if 0xC0 <= token[0] < 0xE0 else 3 if 0xE0 <= token[0] < 0xF0 else 4
    return len(token) < whole and all(0x80 <= byte < 0xC0 for byte in token[1:])


__all__ = ["Classical", "Fair", "LearnedSteps", "Parity", "Table", "in_two_stages", "together", "train"]
