"""Benchmarks: result files of lighteval and lm-evaluation-harness to one score per language, as the paper averages.

    s_l = mean over the benchmarks t that have language l of s_tl, and beside it the random baseline, the mean of theirs

The paper's twelve benchmarks, with what the two programs call them, are in `benchmarks.csv`; the names of languages,
and which benchmarks the paper lists for each, in `benchmark_languages.csv`. A random baseline is one over the number of
choices: XNLI has two in lighteval, which leaves "neutral" out, and three in lm-evaluation-harness.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pyarrow as pa

from pairity.errors import PairityError
from pairity.formats.json_files import read_json
from pairity.lm.measuring import TABLE, write_table

METRICS = ("acc_norm", "acc_norm_token", "acc", "acc_", "loglikelihood_acc", "mc1", "exact_match")
"""Of those that a result has, the first is taken: accuracy, normalised by length where there is one."""

OF_BENCHMARKS = pa.schema(
    [
        TABLE.field(name)
        for name in ("tokenizer", "language", "measure", "value", "low", "high", "random", "benchmarks")
    ]
)


@dataclass(frozen=True)
class Benchmark:
    """`lighteval` and `lm_eval` match the names of tasks, with the language in a group of that name."""

    benchmark: str
    random: Mapping[str, float]
    tasks: Mapping[str, re.Pattern[str]]


@dataclass(frozen=True)
class Result:
    """One task, or one subject of it."""

    benchmark: str
    language: str
    value: float
    standard_error: float
    random: float


@dataclass(frozen=True)
class Score:
    """One model in one language, averaged over benchmarks; all from 0 to 1."""

    model: str
    language: str
    score: float
    standard_error: float
    random: float
    benchmarks: str


@cache
def benchmarks() -> tuple[Benchmark, ...]:
    return tuple(
        Benchmark(
            row["benchmark"],
            {kind: float(row[f"random_{kind}"]) for kind in ("lighteval", "lm_eval")},
            {kind: re.compile(row[kind]) for kind in ("lighteval", "lm_eval")},
        )
        for row in read_table("benchmarks.csv")
    )


@cache
def codes() -> dict[str, str]:
    """{"eng": "eng_Latn", "en": "eng_Latn", "english": "eng_Latn", "eng_Latn": "eng_Latn", ...}"""
    found = {}
    for row in read_table("benchmark_languages.csv"):
        for name in (row["language"], row["three"], row["two"], row["name"].casefold()):
            found[name] = row["language"]
    return found


def read_table(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def score(results: Mapping[str, str | Path | Sequence[str | Path]]) -> list[Score]:
    """{model: its result file, or several} -> a score per model and language."""
    scores = []
    for model, given in results.items():
        paths = [given] if isinstance(given, str | Path) else list(given)
        found = [one for path in paths for one in read_results(Path(path))]
        for language in dict.fromkeys(one.language for one in found):
            scores.append(averaged(model, language, [one for one in found if one.language == language]))
    return scores


def averaged(model: str, language: str, results: Sequence[Result]) -> Score:
    """First over the subjects of each benchmark, then over benchmarks."""
    names = list(dict.fromkeys(one.benchmark for one in results))
    values, errors, random = [], [], []
    for name in names:
        subjects = [one for one in results if one.benchmark == name]
        values.append(mean([one.value for one in subjects]))
        errors.append(error_of_mean([one.standard_error for one in subjects]))
        random.append(subjects[0].random)
    return Score(model, language, mean(values), error_of_mean(errors), mean(random), ", ".join(names))


def mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)


def error_of_mean(errors: Sequence[float]) -> float:
    """Of independent results."""
    return math.sqrt(math.fsum(one * one for one in errors)) / len(errors)


def read_results(path: Path) -> list[Result]:
    """All results of known benchmarks in a file; averages and groups that the programs add are left out."""
    results = read_json(path).get("results")
    if not isinstance(results, dict) or not results:
        raise PairityError(f"{path} has no results: give a .json file of lighteval or lm-evaluation-harness.")
    found = []
    for task, metrics in results.items():
        kind = "lighteval" if "|" in task else "lm_eval"
        name = task.split("|")[1] if kind == "lighteval" else task
        if not isinstance(metrics, dict) or name.endswith(":_average"):
            continue
        for one in benchmarks():
            match = one.tasks[kind].fullmatch(name)
            if match and match["language"] in codes():
                value, error = value_in(metrics, f"{path}, {task}")
                found.append(
                    Result(one.benchmark, codes()[match["language"]], value, error, one.random[kind])
                )
                break
    if not found:
        raise PairityError(
            f"{path} has none of the benchmarks {', '.join(one.benchmark for one in benchmarks())} in a known language."
        )
    return found


def value_in(metrics: Mapping[str, Any], where: str) -> tuple[float, float]:
    """{"acc,none": 0.3, "acc_stderr,none": 0.01} -> (0.3, 0.01); an error that is not there is 0."""
    plain = {key.partition(",")[0]: value for key, value in metrics.items()}
    name = next((one for one in METRICS if isinstance(plain.get(one), int | float)), None)
    if name is None:
        raise PairityError(f"{where}: no accuracy among {', '.join(plain)}.")
    error = plain.get(f"{name}_stderr")
    return float(plain[name]), float(error) if isinstance(error, int | float) else 0.0


def write_scores(scores: Sequence[Score], path: Path) -> None:
    """As model scores: the model goes by the name of its tokenizer, and the interval is of 95%."""
    rows = [
        {
            "tokenizer": one.model,
            "language": one.language,
            "measure": "accuracy",
            "value": one.score,
            "low": one.score - 1.96 * one.standard_error if one.standard_error else None,
            "high": one.score + 1.96 * one.standard_error if one.standard_error else None,
            "random": one.random,
            "benchmarks": one.benchmarks,
        }
        for one in scores
    ]
    write_table(pa.Table.from_pylist(rows, OF_BENCHMARKS), path)
