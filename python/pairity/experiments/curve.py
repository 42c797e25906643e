"""The curve: one typed point per setting and per tokenizer to compare with, as a table and as JSON."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Final

import pyarrow as pa

from pairity.experiments.knobs import CLASSICAL, Setting
from pairity.experiments.table import columns_of, said_of, values, worst_of
from pairity.experiments.targets import Measured, Target, missed
from pairity.judging.scores import Scores
from pairity.reporting.pareto import OTHER, Point, on_front


def points_of(
    scores: Scores,
    tried: Mapping[str, Setting],
    targets: Sequence[Target],
    chosen: str | None,
    closest: str | None,
) -> list[Point]:
    """In the order of the scores; names that are not in `tried` are tokenizers to compare with."""
    measured = {name: Measured.of(scores, name) for name in tried}
    classical = measured[CLASSICAL.name]
    front = on_front({name: (one.gini, -one.rate) for name, one in measured.items()})
    found = []
    for name in scores.tokenizers:
        setting, costs = tried.get(name), scores.costs(name)
        found.append(
            Point(
                name=name,
                kind=setting.kind if setting else OTHER,
                options=setting.options if setting else "",
                tokens=scores.about(name).get("vocab_size"),
                **said_of(scores, name, "gini", "gini"),
                **said_of(scores, name, "rate", "compression_rate_line"),
                tokens_per_line=values(scores, name, "cost").value,
                **worst_of(costs),
                costs=costs,
                changes={code: value / classical.costs[code] - 1 for code, value in costs.items()},
                on_curve=name in front,
                misses=tuple(missed(targets, measured[name], classical)) if setting else (),
                chosen=name == chosen,
                closest=name == closest,
            )
        )
    return found


APART: Final = ("costs", "changes", "misses")
"""Fields of a point that do not become columns as they are."""


def table_of(points: Sequence[Point], priced: Sequence[str]) -> pa.Table:
    """A column per field, and what the languages in `priced` cost."""
    rows = [
        {one.name: getattr(point, one.name) for one in fields(Point) if one.name not in APART}
        | {"misses": " ".join(point.misses)}
        | {f"cost:{code}": point.costs.get(code) for code in priced}
        | {f"change:{code}": point.changes.get(code) for code in priced}
        for point in points
    ]
    return pa.Table.from_pylist(rows, schema=schema_of(priced))


def schema_of(priced: Sequence[str]) -> pa.Schema:
    prices = [(f"{what}:{code}", pa.float64()) for what in ("cost", "change") for code in priced]
    return pa.schema([*columns_of(Point, APART), ("misses", pa.string()), *prices])
