"""The entry of a metric, defined next to the function that computes it.

    Metric(name="gini", family="fairness", function=gini, unit="", better="lower", ...)

The score table, the report, the paper's table and docs/metrics.md all read these entries; together they are
`pairity.judging.metrics.METRICS`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, ParamSpec, TypeVar

Inputs = ParamSpec("Inputs")
Value = TypeVar("Value")

# How a value is computed: the column `aggregation` of the score table.
ONE = "language"
POOLED: Literal["pooled"] = "pooled"
MEAN: Literal["mean over languages"] = "mean over languages"
ACROSS: Literal["across languages"] = "across languages"


@dataclass(frozen=True, kw_only=True)
class Metric(Generic[Inputs, Value]):
    """A metric of the score table.

    name            in the score table and in `evaluate(metrics=[...])`
    family          a name to request several metrics at once
    function        computes it; its docstring starts with the formula
    unit            in the score table; empty for a pure number
    better          which way is better
    title           what it is, in one line
    short_title     the head of a column or the name of a row
    over_languages  how the value over all languages is computed: from all text as one (pooled), as the mean of
                    the languages, or by comparing them (across)
    decimals        how many are written; with `percent`, 0.52134 is written as 52.1%; with `signed`, as +52.1%
    main            in the first table of the report
    per_language    in the report's table per language
    paper_column    its place among the columns of the paper's tables, counted from 1
    paired          differences between two tokenizers have rows of their own
    of_extremes     among those that compare languages: it is made of the outermost ones alone
    """

    name: str
    family: str
    function: Callable[Inputs, Value]
    unit: str
    better: Literal["higher", "lower", "neither"]
    title: str
    short_title: str
    over_languages: Literal["pooled", "mean over languages", "across languages"]
    decimals: int
    percent: bool = False
    signed: bool = False
    main: bool = False
    per_language: bool = False
    paper_column: int | None = None
    paired: bool = False
    of_extremes: bool = False


AnyMetric = Metric[..., Any]
