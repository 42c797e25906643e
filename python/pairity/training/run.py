"""The record of a run, read back as values.

A record written by training is complete. Others (imported, from another version, written by hand) may lack any part or
have it in another shape: then that part is None or empty, and the rest is still available.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pairity.training.measure import set_apart


@dataclass(frozen=True)
class LanguageOfRun:
    """One language. `cost` is per unit of the run, or per line-equivalent if it has one."""

    name: str
    train_bytes: int | None
    served: int | None
    cost: float | None
    line_equivalent: float | None
    """Bytes that count as one dev line ..."""
    copied_from: str | None
    """... copied from the dev lines of this language ..."""
    estimated_lines: int | None
    """... or estimated from this many dev lines (0: from its script)."""
    states: tuple[str, ...]
    """("exhausted at 1,203", "starved")"""
    floor: float | None
    """Pre-tokens per dev line: no vocabulary can cost less."""
    of_bytes: int | None = None
    """The size of the text that the train text was drawn from."""
    superwords: float | None = None
    """The share of superwords among the tokens of the dev text."""


@dataclass(frozen=True)
class Extension:
    """What a continued tokenizer gained, and what a model needs to use it."""

    costs: tuple[tuple[str, float, float], ...]
    """(language, before, after), the most expensive first."""
    ids_unchanged: int
    rows_before: int
    rows_after: int
    padded: int | None
    """The rows as a multiple of ..."""
    padded_to: int | None


@dataclass(frozen=True)
class Run:
    """A run: its languages, the most expensive first, and notes for the reader."""

    languages: tuple[LanguageOfRun, ...]
    on: str
    """The text that languages were compared on: "dev" or "train"."""
    unit: str
    merges: int | None
    extension: Extension | None
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    def unit_of(self, language: str) -> str:
        """ "dev line", "train byte", or "line-equivalent" for a language with a ratio."""
        if any(one.name == language and one.line_equivalent is not None for one in self.languages):
            return "line-equivalent"
        return self.unit if self.unit == "train byte" else f"dev {self.unit}"

    @property
    def set_apart(self) -> list[str]:
        """Languages whose costs are in a unit of their own (`measure.set_apart`)."""
        measured = [one.name for one in self.languages if one.cost is not None]
        return set_apart([one.name for one in self.languages if one.line_equivalent is not None], measured)


def run_of(record: Mapping[str, Any] | None) -> Run:
    """The record of a truncated tokenizer is that of the larger one, so its costs and merges are left out."""
    record = record or {}
    truncated = "truncated_from" in record
    method = as_mapping(record.get("method"))
    states = {state: as_mapping(record.get(state)) for state in ("stuck", "starved")}
    languages = [
        language_of(name, as_mapping(text), [state for state, names in states.items() if name in names])
        for name, text in as_mapping(record.get("languages")).items()
    ]
    if truncated:
        languages = [replace(one, served=None, cost=None, states=(), superwords=None) for one in languages]
    by_ratio = bool(languages) and all(one.line_equivalent is not None for one in languages)
    return Run(
        languages=tuple(sorted(languages, key=lambda one: -(one.cost or 0.0))),
        on="train" if method.get("on") == "train" or by_ratio else "dev",
        unit="train byte" if method.get("on") == "train" else as_text(method.get("unit")) or "line",
        merges=None if truncated else as_whole(record.get("merges")),
        extension=None if truncated else extension_of(as_mapping(record.get("extension"))),
        notes=as_texts(record.get("notes")),
        warnings=as_texts(record.get("warnings")),
    )


def language_of(name: str, text: Mapping[str, Any], states: list[str]) -> LanguageOfRun:
    equivalent, dev = as_mapping(text.get("line_equivalent")), as_mapping(text.get("dev"))
    guess = as_mapping(equivalent.get("estimated_from"))
    exhausted_at = as_whole(text.get("exhausted_at"))
    lines, pretokens = as_number(dev.get("lines")), as_number(dev.get("pretokens"))
    return LanguageOfRun(
        name=name,
        train_bytes=as_whole(as_mapping(text.get("train")).get("bytes")),
        served=as_whole(text.get("served")),
        cost=as_number(text.get("cost")),
        line_equivalent=as_number(equivalent.get("bytes")),
        copied_from=as_text(equivalent.get("copied_from")),
        estimated_lines=as_whole(guess.get("lines")) or 0 if guess else None,
        states=(*([] if exhausted_at is None else [f"exhausted at {exhausted_at:,}"]), *states),
        floor=pretokens / lines if lines and pretokens and "further_dev" not in text else None,
        of_bytes=as_whole(as_mapping(text.get("train")).get("of_bytes")),
        superwords=as_number(as_mapping(text.get("superwords")).get("share")),
    )


def extension_of(extension: Mapping[str, Any]) -> Extension | None:
    rows = as_mapping(extension.get("embedding_rows"))
    unchanged, before, after = (
        as_whole(value) for value in (extension.get("ids_unchanged"), rows.get("before"), rows.get("after"))
    )
    if unchanged is None or before is None or after is None:
        return None
    costs = []
    for language, cost in as_mapping(extension.get("costs")).items():
        was, now = (as_number(as_mapping(cost).get(when)) for when in ("before", "after"))
        if was and now is not None:
            costs.append((language, was, now))
    return Extension(
        costs=tuple(sorted(costs, key=lambda row: -row[1])),
        ids_unchanged=unchanged,
        rows_before=before,
        rows_after=after,
        padded=as_whole(rows.get("padded")),
        padded_to=as_whole(rows.get("padded_to")),
    )


def as_mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) and all(isinstance(key, str) for key in value) else {}


def as_whole(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_number(value: object) -> float | None:
    """A number that can be a cost: finite, and not negative."""
    if not isinstance(value, int | float) or isinstance(value, bool):
        return None
    try:
        return float(value) if math.isfinite(value) and value >= 0 else None
    except OverflowError:  # an integer too large for a float
        return None


def as_text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def as_texts(value: object) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list | tuple) else ()
