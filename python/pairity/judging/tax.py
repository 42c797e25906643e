"""What the same content costs in each language, given the price of a token."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import pyarrow as pa

from pairity.errors import PairityError, listed, quoted
from pairity.judging.evaluation import evaluate
from pairity.judging.scores import Scores
from pairity.languages import language as facts

TAX = pa.schema(
    [
        ("tokenizer", pa.string()),
        ("language", pa.string()),
        ("name", pa.string()),
        ("tokens_per_line", pa.float64()),
        ("premium", pa.float64()),
        ("low", pa.float64()),
        ("high", pa.float64()),
        ("price", pa.float64()),
        ("extra", pa.float64()),
        ("note", pa.string()),
    ]
)


def tax(
    scores: Any,
    price_per_million: float | Mapping[str, float],
    *,
    data: Any = None,
    reference: str = "eng_Latn",
) -> pa.Table:
    """The price, in each language, of content that takes a million tokens in the reference language.

    scores             Scores, or tokenizers together with parallel `data`
    price_per_million  of tokens: one price, or {tokenizer: price}

    One row per tokenizer and language: `price` = price per million tokens * premium; `extra` is what is paid
    on top of the reference language's price, and `note` what must be known about it, such as that text is lost.
    """
    one = None if isinstance(price_per_million, Mapping) else price_per_million
    prices = price_per_million if isinstance(price_per_million, Mapping) else {}
    for price in prices.values() if one is None else [one]:
        check_price(price)
    if not isinstance(scores, Scores):
        if data is None:
            raise PairityError("the tax of a tokenizer needs parallel text: give data=...")
        scores = evaluate(scores, data, metrics=["cost", "premium"], reference=reference)
    if one is not None:
        prices = dict.fromkeys(scores.tokenizers, one)
    if missing := [name for name in scores.tokenizers if name not in prices]:
        raise PairityError(f"there is no price for {quoted(missing)}: give one for each tokenizer.")
    rows = []
    for tokenizer in scores.tokenizers:
        price, costs = prices[tokenizer], scores.costs(tokenizer)
        premiums = scores.select(tokenizer, "premium", per_language=True).to_pylist()
        if not premiums:
            raise PairityError(
                f"no token premium for {tokenizer!r}: the text has no {reference}, or is not parallel. "
                f"Choose another reference (--reference) among {listed(scores.languages)}."
            )
        for row in premiums:
            if row["value"] is not None:
                rows.append(
                    {
                        "tokenizer": tokenizer,
                        "language": row["language"],
                        "name": facts(row["language"]).name,
                        "tokens_per_line": costs[row["language"]],
                        "premium": row["value"],
                        "low": row["low"],
                        "high": row["high"],
                        "price": price * row["value"],
                        "extra": price * (row["value"] - 1),
                        "note": row["note"],
                    }
                )
    return pa.Table.from_pylist(rows, schema=TAX)


def check_price(price: object) -> None:
    """Refuse a price that is not a number, or negative. 0 is fine, for a model that you run yourself."""
    if not isinstance(price, int | float) or not math.isfinite(price) or price < 0:
        raise PairityError(
            f"the price of a million tokens is {price}: give a number of 0 or more, such as 2.50."
        )
