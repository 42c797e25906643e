"""Benchmarks: from result files of lighteval and lm-evaluation-harness to one score per language, as in the paper.

    s_l = mean of s_tl over the benchmarks t with language l; the random baseline is the mean of their baselines

The paper's twelve benchmarks, with their names in the two programs, are in `benchmarks.csv`; the names of languages,
and the benchmarks that the paper lists for each, in `benchmark_languages.csv`. A random baseline is one over the number
of choices: XNLI has two in lighteval, which leaves "neutral" out, and three in lm-evaluation-harness.

    lighteval                belebele_ell_Grek_mcf|0, and before version 0.12 lighteval|belebele_ell_Grek_mcf|0
                             openai_mmlu_ara_cf:anatomy|0: the mean over subjects is ours
                             mmlu:anatomy|0, truthfulqa:mc|0: in English, with no language in the name
    lm-evaluation-harness    belebele_ell_Grek, include_base_44_greek: for a group, its own mean over all
                             questions; it has no XCodah, XCSQA, Exams and M3Exams
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
from pairity.formats.json_files import parse_json, unreadable
from pairity.lm.measuring import TABLE, write_table
from pairity.text.sampling import is_number

PROGRAMS = ("lighteval", "lm_eval")
METRICS = (
    *("acc_norm", "acc_norm_token", "acc", "acc_", "loglikelihood_acc"),
    *("mc1", "truthfulqa_mc1", "exact_match", "em"),
)
"""The first one that a result has is used: accuracy, if possible normalised by length."""

ENGLISH = "eng"
"""The language of a task whose name has none."""

OF_BENCHMARKS = pa.schema(
    [
        TABLE.field(name)
        for name in ("tokenizer", "language", "measure", "value", "low", "high", "random", "benchmarks")
    ]
)


@dataclass(frozen=True)
class Benchmark:
    """`lighteval` and `lm_eval` match the names of tasks; their groups `language` and `subject` capture these."""

    benchmark: str
    random: Mapping[str, float]
    tasks: Mapping[str, re.Pattern[str]]


@dataclass(frozen=True)
class TaskResult:
    """One task, or one subject of it; `where` names the file and the task."""

    where: str
    benchmark: str
    language: str
    subject: str
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
            {kind: float(row[f"random_{kind}"]) for kind in PROGRAMS if row[kind]},
            {kind: re.compile(row[kind]) for kind in PROGRAMS if row[kind]},
        )
        for row in read_table("benchmarks.csv")
    )


@cache
def codes() -> dict[str, str]:
    """{"eng": "eng_Latn", "en": "eng_Latn", "english": "eng_Latn", ...}"""
    found = {}
    for row in read_table("benchmark_languages.csv"):
        for name in (row["three"], *row["two"].split(), row["name"].casefold().replace(" ", "_")):
            found[name] = row["language"]
    return found


def read_table(name: str) -> list[dict[str, str]]:
    with (Path(__file__).parent / name).open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def score(results: Mapping[str, str | Path | Sequence[str | Path]]) -> list[Score]:
    """{model: its result file, or several} -> a score per model and language, the mean of its benchmarks.

    The files are the .json files that lighteval and lm-evaluation-harness write. A `Score` has `model`, `language`,
    `score` with its `standard_error`, the `random` baseline, and the names of the `benchmarks`.
    """
    scores = []
    for model, given in results.items():
        paths = [given] if isinstance(given, str | Path) else list(given)
        found = [one for path in paths for one in read_results(Path(path))]
        refuse_twice(found)
        for language in dict.fromkeys(one.language for one in found):
            scores.append(averaged(model, language, [one for one in found if one.language == language]))
    return scores


def refuse_twice(results: Sequence[TaskResult]) -> None:
    """Refuse two results of the same benchmark: it was run in two variants, whose mean would be neither."""
    seen: dict[tuple[str, str, str], str] = {}
    for one in results:
        place = (one.benchmark, one.language, one.subject)
        if place in seen:
            raise PairityError(
                f"{one.where}: {one.benchmark} in {one.language} is already in {seen[place]}. Give the "
                "results of one prompt format (mcf, cf, hybrid; the number of examples) per model."
            )
        seen[place] = one.where


def refuse_different(scores: Sequence[Score]) -> None:
    """Refuse averages over different benchmarks: neither they nor their chance levels are comparable."""
    first: dict[str, Score] = {}
    for one in scores:
        other = first.setdefault(one.language, one)
        if set(one.benchmarks.split(", ")) != set(other.benchmarks.split(", ")) or one.random != other.random:
            raise PairityError(
                f"{one.model!r} and {other.model!r} cannot be compared in {one.language}: one has {one.benchmarks} "
                f"({one.random:.1%} by chance), the other {other.benchmarks} ({other.random:.1%}). Give results of the "
                "same benchmarks for both, from one program, or write tables of their own."
            )


def averaged(model: str, language: str, results: Sequence[TaskResult]) -> Score:
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
    """The standard error of a mean of independent results."""
    return math.sqrt(math.fsum(one * one for one in errors)) / len(errors)


def read_results(path: Path) -> list[TaskResult]:
    """All results of known benchmarks in a file; averages over tasks that the programs add are left out."""
    try:
        data = path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None
    results = parse_json(data, path).get("results")
    if not isinstance(results, dict) or not results:
        raise PairityError(f"{path} has no results: give a .json file of lighteval or lm-evaluation-harness.")
    found = []
    for task, metrics in results.items():
        kind, name = program_and_name(task)
        if not isinstance(metrics, dict) or name.endswith(":_average"):
            continue
        for one in benchmarks():
            if kind in one.tasks and (match := one.tasks[kind].fullmatch(name)):
                where, language = f"{path}, {task}", match["language"] or ENGLISH
                named = match.groupdict()
                value, deviation = value_in(metrics, where)
                found.append(
                    TaskResult(
                        where,
                        one.benchmark,
                        codes().get(language, language),
                        named.get("subject") or "",
                        value,
                        deviation,
                        one.random[kind],
                    )
                )
                break
    if not found:
        raise PairityError(
            f"{path} has none of the benchmarks {', '.join(one.benchmark for one in benchmarks())}."
        )
    return found


def program_and_name(task: str) -> tuple[str, str]:
    """ "xnli_el" -> ("lm_eval", "xnli_el"); "xnli_ell|0" and "lighteval|xnli_ell|0" -> ("lighteval", "xnli_ell")"""
    parts = task.split("|")
    return ("lm_eval", task) if len(parts) == 1 else ("lighteval", parts[0 if len(parts) == 2 else 1])


def value_in(metrics: Mapping[str, Any], where: str) -> tuple[float, float]:
    """{"acc,none": 0.3, "acc_stderr,none": 0.01} -> (0.3, 0.01); a missing error, or "N/A", is 0."""
    plain = {key.partition(",")[0]: value for key, value in metrics.items()}
    numbers = {key: one for key, one in plain.items() if is_number(one) and -math.inf < one < math.inf}
    name = next((one for one in METRICS if one in numbers), None)
    if name is None:
        raise PairityError(f"{where}: no accuracy among {', '.join(plain)}.")
    value, error = numbers[name], numbers.get(f"{name}_stderr", 0.0)
    if not (0 <= value <= 1 and 0 <= error <= 1):
        raise PairityError(f"{where}: {name} or its standard error is not between 0 and 1. Fix it.")
    return float(value), float(error)


def write_scores(scores: Sequence[Score], path: Path) -> None:
    """Write them as model scores, with the name of the model as tokenizer and a 95% interval."""
    refuse_different(scores)
    rows = [
        {
            "tokenizer": one.model,
            "language": one.language,
            "measure": "accuracy",
            "value": one.score,
            "low": max(0.0, one.score - 1.96 * one.standard_error) if one.standard_error else None,
            "high": min(1.0, one.score + 1.96 * one.standard_error) if one.standard_error else None,
            "random": one.random,
            "benchmarks": one.benchmarks,
        }
        for one in scores
    ]
    write_table(pa.Table.from_pylist(rows, OF_BENCHMARKS), path)
