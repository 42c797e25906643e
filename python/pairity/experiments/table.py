"""The table: one typed row per tokenizer and text, with all settings and inputs."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import pyarrow as pa

from pairity.experiments.combinations import EXISTING
from pairity.experiments.data import Data
from pairity.experiments.experiment import STEERED
from pairity.experiments.making import Made
from pairity.experiments.scoring import ScoredRows
from pairity.judging.metrics.fairness import worst_language
from pairity.judging.scores import Scores
from pairity.training.policy import Classical, Fair, Parity


@dataclass(frozen=True, kw_only=True)
class Row:
    """A tokenizer on a text. Settings are None if they do not apply, scores if they were not evaluated."""

    name: str
    family: str
    """The name without the vocabulary size."""
    text: str
    method: str
    tokenizer: str | None
    """For an existing tokenizer: its path or name."""
    vocab_size: int | None
    """As requested."""
    tokens: int | None
    """The actual size."""
    languages: str
    """The set of languages."""
    languages_judged: int
    balance: str | None
    temperature: float | None
    sample: float | None
    seed: int | None
    pretokenizer: str | None
    global_merges: int | None
    global_share: float | None
    window: int | None
    alpha: float | None
    joint: float | None
    beta: float | None
    ratios: str | None
    unit: str | None
    on: str | None
    dev_lines: int | None
    dev_seed: int | None
    gini: float | None
    gini_low: float | None
    gini_high: float | None
    rate: float | None
    """Lines per token, all languages together."""
    rate_low: float | None
    rate_high: float | None
    tokens_per_line: float | None
    """The mean over languages."""
    tokens_per_line_low: float | None
    tokens_per_line_high: float | None
    worst_best: float | None
    worst_language: str | None
    worst_cost: float | None
    reference: str | None
    reference_cost: float | None
    fertility: float | None
    fertility_paper: float | None
    renyi: float | None
    """Rényi efficiency of order 2.5, relative to the vocabulary."""
    renyi_paper: float | None
    type_token_ratio: float | None
    vocabulary_used: float | None
    morph_precision: float | None
    morph_recall: float | None
    morph_precision_paper: float | None
    morph_recall_paper: float | None
    leak: bool
    """Evaluated on its own dev text."""
    train_bytes: int | None
    seconds: float | None
    """Time this run spent on training or truncating: less than a full training if one was resumed or shared."""
    cut_from: str | None
    train_sha256: str | None
    dev_sha256: str | None
    text_sha256: str
    tokenizer_key: str
    """A hash of all its inputs."""
    versions: str
    """JSON: package -> version."""


def rows_of(scored: Sequence[ScoredRows], data: Data) -> list[Row]:
    return [row_of(one, each, data) for each in scored for one in each.rows]


def row_of(made: Made, scored: ScoredRows, data: Data) -> Row:
    planned, scores = made.row, scored.scores
    name, corpus, given = planned.name, planned.corpus, planned.settings
    costs = scores.costs(name)
    reference = scores.meta.get("reference")
    policy = planned.training.policy if planned.training else None
    parity = policy if isinstance(policy, Parity) else None
    compared = None if isinstance(policy, Classical) else policy
    steered = planned.method == STEERED or (compared is not None and compared.on == "dev")
    used = planned.dev if steered else None
    draw = corpus.draw if corpus else None

    def value(metric: str) -> float | None:
        return values(scores, name, metric).value

    return Row(
        name=name,
        family=planned.family,
        text=scored.text,
        method=planned.method,
        tokenizer=given.get("tokenizer"),
        vocab_size=planned.vocab_size,
        tokens=scores.about(name).get("vocab_size"),
        languages=scored.languages,
        languages_judged=len(scores.languages),
        balance=str(draw.balance) if draw else None,
        temperature=draw.temperature if draw else None,
        sample=float(draw.sample) if draw else None,
        seed=draw.seed if draw and not draw.takes_all else None,
        pretokenizer=corpus.pretokenizer if corpus else None,
        global_merges=parity.global_merges_of(planned.training.budget)
        if parity and planned.training
        else None,
        global_share=parity.global_merges if parity and isinstance(parity.global_merges, float) else None,
        window=parity.window if parity else None,
        alpha=float(parity.alpha) if parity and parity.window else None,
        joint=float(parity.joint) if parity else None,
        beta=float(policy.beta) if isinstance(policy, Fair) else None,
        ratios=json.dumps(given["ratios"]) if "ratios" in given else None,
        unit=compared.unit if compared else None,
        on=compared.on if compared else None,
        dev_lines=len(next(iter(used.values()))) if used else None,
        dev_seed=given.get("dev_seed"),
        **said_of(scores, name, "gini", "gini"),
        **said_of(scores, name, "rate", "compression_rate_line"),
        **said_of(scores, name, "tokens_per_line", "cost"),
        worst_best=value("worst_best"),
        **worst_of(costs),
        reference=reference,
        reference_cost=costs.get(str(reference)),
        fertility=value("fertility"),
        fertility_paper=value("fertility_paper"),
        renyi=value("renyi_efficiency_2.5"),
        renyi_paper=value("renyi_efficiency_paper_2.5"),
        type_token_ratio=value("type_token_ratio"),
        vocabulary_used=value("vocabulary_utilisation"),
        morph_precision=value("morph_precision"),
        morph_recall=value("morph_recall"),
        morph_precision_paper=value("morph_precision_paper"),
        morph_recall_paper=value("morph_recall_paper"),
        leak=name in scores.leaks,
        train_bytes=sum(one["bytes"] for one in made.counted.given.values()) if made.counted else None,
        seconds=made.seconds,
        cut_from=made.cut_from,
        train_sha256=None if corpus is None else data.digest(corpus.codes),
        dev_sha256=None if planned.method == EXISTING else planned.recipe.get("dev"),
        text_sha256=scored.digest,
        tokenizer_key=made.key,
        versions=json.dumps(scores.meta.get("versions", {})),
    )


@dataclass(frozen=True)
class WithInterval:
    """A value over all languages with its interval; None if it was not evaluated or is not defined."""

    value: float | None = None
    low: float | None = None
    high: float | None = None


def values(scores: Scores, name: str, metric: str) -> WithInterval:
    rows = scores.select(name, metric, per_language=False).to_pylist()
    return WithInterval(*(rows[0][column] for column in ("value", "low", "high"))) if rows else WithInterval()


def said_of(scores: Scores, name: str, column: str, metric: str) -> dict[str, Any]:
    """{"gini": 0.01, "gini_low": 0.009, "gini_high": 0.012}"""
    found = values(scores, name, metric)
    return {column: found.value, f"{column}_low": found.low, f"{column}_high": found.high}


def worst_of(costs: Mapping[str, float]) -> dict[str, Any]:
    """{"worst_language": "tam_Taml", "worst_cost": 61.5}"""
    return {
        "worst_language": worst_language(costs) if costs else None,
        "worst_cost": max(costs.values(), default=None),
    }


TYPES = {"str": pa.string(), "int": pa.int64(), "float": pa.float64(), "bool": pa.bool_()}


def columns_of(kind: type, apart: Collection[str] = ()) -> list[tuple[str, pa.DataType]]:
    """A column for each field of a dataclass but those in `apart`: [("name", string), ("tokens", int64), ...]"""
    return [
        (one.name, TYPES[str(one.type).partition(" ")[0]]) for one in fields(kind) if one.name not in apart
    ]


SCHEMA = pa.schema(columns_of(Row))


def table_of(rows: Sequence[Row]) -> pa.Table:
    """The rows as an Arrow table, a column per field of `Row`."""
    columns = [[getattr(row, name) for row in rows] for name in SCHEMA.names]
    arrays = [pa.array(values, kind) for values, kind in zip(columns, SCHEMA.types, strict=True)]
    return pa.Table.from_arrays(arrays, schema=SCHEMA)
