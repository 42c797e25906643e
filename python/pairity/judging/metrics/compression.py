"""How much text a token carries, and what a line costs.

All are ratios of sums over lines: per language, or pooled (first the sums over all languages, then the ratio). A mean
of per-line or per-language rates is a different number.
"""

from __future__ import annotations

from pairity.judging.arrays import Floats
from pairity.judging.metrics.metric import MEAN, POOLED, Metric
from pairity.judging.metrics.sums import Sums, ratio


def cost(sums: Sums) -> Floats:
    """Sum of tokens / lines of one language."""
    return ratio(sums.tokens, sums.lines)


def compression_rate_line(sums: Sums) -> Floats:
    """Lines / sum of tokens. The inverse of the cost for one language; the paper's "CR" over all of them."""
    return ratio(sums.lines, sums.tokens)


def compression_rate_byte(sums: Sums) -> Floats:
    """Sum of UTF-8 bytes / sum of tokens."""
    return ratio(sums.bytes, sums.tokens)


def compression_rate_char(sums: Sums) -> Floats:
    """Sum of characters (Unicode code points) / sum of tokens."""
    return ratio(sums.chars, sums.tokens)


def compression_rate_word(sums: Sums) -> Floats:
    """Sum of words / sum of tokens, words cut by the Hugging Face `Whitespace` pre-tokenizer."""
    return ratio(sums.words, sums.tokens)


def fertility(sums: Sums) -> Floats:
    """Sum of tokens / sum of words, words cut by the Hugging Face `Whitespace` pre-tokenizer.

    This is the definition in the paper's text. Its tables hold `fertility_paper`.
    """
    return ratio(sums.tokens, sums.words)


def fertility_paper(sums: Sums) -> Floats:
    """Mean over lines of tokens / len(line.split()): what the paper's tables print under "fertility".

    Scripts written without spaces have few such words in a line, so Japanese, Chinese and Thai rule this
    mean. Lines without any word are left out.
    """
    return ratio(sums.split_ratios, sums.split_lines)


def floor(sums: Sums) -> Floats:
    """Sum of pre-tokens / lines: no merge crosses a pre-token, so no vocabulary can push the cost below it."""
    return ratio(sums.pretokens, sums.lines)


def cost_over_floor(sums: Sums) -> Floats:
    """Sum of tokens / sum of pre-tokens: at 1 every pre-token is one token, and only another
    pre-tokenizer can save more.
    """
    return ratio(sums.tokens, sums.pretokens)


COMPRESSION: list[Metric[[Sums], Floats]] = [
    Metric(
        name="cost",
        family="compression",
        function=cost,
        unit="tokens/line",
        better="lower",
        title="tokens per line",
        short_title="Tokens per line",
        over_languages=MEAN,  # a cost is per line of ONE language, so languages have equal weight
        decimals=2,
        main=True,
        per_language=True,
        paired=True,
    ),
    Metric(
        name="compression_rate_line",
        family="compression",
        function=compression_rate_line,
        unit="lines/token",
        better="higher",
        title="lines per token",
        short_title="Lines per token",
        over_languages=POOLED,
        decimals=5,
        main=True,
        per_language=True,
        paper_column=1,
        paired=True,
    ),
    Metric(
        name="compression_rate_byte",
        family="compression",
        function=compression_rate_byte,
        unit="bytes/token",
        better="higher",
        title="bytes per token",
        short_title="Bytes per token",
        over_languages=POOLED,
        decimals=3,
        main=True,
        per_language=True,
        paired=True,
    ),
    Metric(
        name="compression_rate_char",
        family="compression",
        function=compression_rate_char,
        unit="characters/token",
        better="higher",
        title="characters per token",
        short_title="Characters per token",
        over_languages=POOLED,
        decimals=3,
        per_language=True,
    ),
    Metric(
        name="compression_rate_word",
        family="compression",
        function=compression_rate_word,
        unit="words/token",
        better="higher",
        title="words per token",
        short_title="Words per token",
        over_languages=POOLED,
        decimals=4,
    ),
]

FERTILITY: list[Metric[[Sums], Floats]] = [
    Metric(
        name="fertility",
        family="fertility",
        function=fertility,
        unit="tokens/word",
        better="lower",
        title="tokens per word (Hugging Face Whitespace), ratio of sums",
        short_title="Fertility",
        over_languages=POOLED,
        decimals=3,
        main=True,
        per_language=True,
        paper_column=4,
        paired=True,
    ),
    Metric(
        name="fertility_paper",
        family="fertility",
        function=fertility_paper,
        unit="tokens/word",
        better="lower",
        title="mean over lines of tokens / len(line.split())",
        short_title="Fertility (paper)",
        over_languages=POOLED,
        decimals=3,
    ),
]

FLOOR: list[Metric[[Sums], Floats]] = [
    Metric(
        name="floor",
        family="floor",
        function=floor,
        unit="pre-tokens/line",
        better="lower",
        title="pre-tokens per line: the lowest cost any vocabulary can reach",
        short_title="Floor",
        over_languages=MEAN,
        decimals=2,
    ),
    Metric(
        name="cost_over_floor",
        family="floor",
        function=cost_over_floor,
        unit="ratio",
        better="lower",
        title="cost / floor",
        short_title="Cost / floor",
        over_languages=POOLED,
        decimals=3,
        per_language=True,
    ),
]
