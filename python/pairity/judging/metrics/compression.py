"""How much text a token carries, and what a line costs. All are ratios of sums, so they take sums or arrays
of sums.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from pairity.errors import PairityError

Floats = npt.NDArray[np.float64]


def compression_rate(units: npt.ArrayLike, tokens: npt.ArrayLike) -> Floats:
    """Units per token: CR = sum of units / sum of tokens. Higher is better.

    The unit is a line, byte, character or word. Over several languages pass the sums over all of them: that
    is the POOLED rate of the paper's tables, not the mean of per-line or per-language rates, which is
    another number.
    """
    return _ratio(units, tokens)


def cost(tokens: npt.ArrayLike, lines: npt.ArrayLike) -> Floats:
    """Tokens per line of one language: c = sum of tokens / lines, the inverse of the compression rate in
    lines.
    """
    return _ratio(tokens, lines)


def fertility(tokens: npt.ArrayLike, words: npt.ArrayLike) -> Floats:
    """Tokens per word: sum of tokens / sum of words, words cut by the Hugging Face `Whitespace`
    pre-tokenizer.

    This is the definition in the paper's text. Its tables hold `fertility_paper`.
    """
    return _ratio(tokens, words)


def fertility_paper(tokens: npt.ArrayLike, blank_words: npt.ArrayLike) -> float:
    """Mean over lines of tokens / len(line.split()): what the paper's tables print under "fertility".

    Scripts written without spaces have few such words in a line, so Japanese, Chinese and Thai rule this
    mean. Lines without any word are left out.

    >>> fertility_paper([6, 9, 1], [3, 1, 0])
    5.5
    """
    tokens, words = np.asarray(tokens, dtype=np.float64), np.asarray(blank_words, dtype=np.float64)
    if not np.any(words > 0):
        return math.nan
    return float(np.mean(tokens[words > 0] / words[words > 0]))


def floor(pretokens: npt.ArrayLike, lines: npt.ArrayLike) -> Floats:
    """Pre-tokens per line: no merge crosses a pre-token, so no vocabulary can push the cost of a line below
    it.
    """
    return _ratio(pretokens, lines)


def cost_over_floor(tokens: npt.ArrayLike, pretokens: npt.ArrayLike) -> Floats:
    """Tokens per pre-token: 1 means that every pre-token is one token and only another pre-tokenizer could
    save more.
    """
    return _ratio(tokens, pretokens)


def bits_per_byte(nats: float, text_bytes: int) -> float:
    """Cross-entropy of a language model in bits per byte of text: (sum of -ln p over tokens) / ln 2 / bytes.

    Per byte, not per token, so that models with different tokenizers can be compared.
    """
    if text_bytes <= 0:
        raise PairityError(f"bits per byte needs text: it was given {text_bytes} bytes.")
    return nats / math.log(2) / text_bytes


def _ratio(above: npt.ArrayLike, below: npt.ArrayLike) -> Floats:
    """above / below; NaN (not zero, not an error) where nothing was counted."""
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(below > 0, above / below, np.nan)
