"""Every combination of settings of an experiment, by name, without looking at the text.

grid vocab_size = [8000, 16000], runs classical and parity with window = [50, 100]
-> classical@8000, classical@16000, parity, window=50@8000, ... (one run without a name: window=50@8000)
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from pairity.errors import quoted
from pairity.experiments.experiment import METHODS, Experiment, as_list, name_and_place

PLACEHOLDER = re.compile(r"\{(\w+)\}")
EXISTING = "existing"
"""The method of a tokenizer that is only evaluated."""


@dataclass(frozen=True)
class Combination:
    """The settings of one tokenizer: all that were given and have an effect.

    `family` is its name without the size, and `series` without the value of the setting in the chart.
    """

    name: str
    family: str
    series: str
    method: str
    settings: Mapping[str, Any]
    place: str
    own: frozenset[str] = frozenset()
    """The keys that come from its run, not from the grid."""


def combinations(experiment: Experiment) -> list[Combination]:
    found: list[Combination] = []
    used: set[str] = set()
    for number, run in enumerate(experiment.runs, 1):
        place = f"[[run]] {run.get('name') or number}"
        if "tokenizer" in run:
            name = str(run.get("name") or name_and_place(run["tokenizer"])[0] or run["tokenizer"])
            found.append(Combination(name, name, name, EXISTING, {"tokenizer": run["tokenizer"]}, place))
            continue
        settings = settings_of(experiment, run)
        for key in run:
            if key not in ("name", "method") and not any(key in one for one in settings):
                experiment.refuse(place, f"{key!r} does nothing here{reason(key)}: leave it out.")
        used.update(key for one in settings for key in one)
        found += named(experiment, run, settings, place)
    for key, value in experiment.grid.items():
        if key != "method" and key not in used and (key != "seed" or len(as_list(value)) > 1):
            experiment.refuse("[grid]", f"{key!r} does nothing here{reason(key)}: leave it out.")
    chart = experiment.chart
    values = [one.settings[chart] for one in found if chart in one.settings] if chart else []
    if chart and all(value == values[0] for value in values):
        experiment.refuse("chart", f"{chart!r} has at most one value: name a setting that has several.")
    if any(isinstance(value, Mapping) for value in values):
        experiment.refuse(
            "chart",
            f"a value of {chart!r} is a table, which cannot be shown on an axis: name another setting.",
        )
    asked = {one.settings.get("languages") for one in found}
    if unused := [name for name in experiment.languages if name not in asked]:
        experiment.refuse(
            "[languages]",
            f"no run uses {quoted(unused)}: write languages = {unused[0]!r} under [grid] or in a run, or leave it out.",
        )
    names = [one.name for one in found]
    if twice := [name for name in names if names.count(name) > 1]:
        how = "write NAME=TOKENIZER" if experiment.from_options else "give their runs different names"
        experiment.refuse("[[run]]", f"two rows are called {twice[0]!r}: {how}.")
    return found


def settings_of(experiment: Experiment, run: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every distinct combination of a run with the grid, without settings that have no effect."""
    found: list[dict[str, Any]] = []
    for method in experiment.methods_of(run):
        given = {**experiment.grid, **run}
        given.setdefault("seed", experiment.seed)
        axes = {key: as_list(value) for key, value in given.items() if key in METHODS[method]}
        for values in product(*axes.values()):
            one = {"method": method, **dict(zip(axes, values, strict=True))}
            if "temperature" in one:
                one.setdefault("balance", "temperature")
            one = {key: value for key, value in one.items() if key not in idle_in(one)}
            if one not in found:
                found.append(one)
    return found


def idle_in(settings: Mapping[str, Any]) -> set[str]:
    """The keys that have no effect, given the others."""
    idle = set()
    if settings.get("balance") != "temperature":
        idle.add("temperature")
    if settings.get("balance", "natural") == "natural" and settings.get("sample", 1) == 1:
        idle.add("seed")
    if "window" not in settings:
        idle.add("alpha")
    if settings.get("on") == "train":
        idle |= {"dev_lines", "dev_seed"}
    if "dev_lines" not in settings:
        idle.add("dev_seed")
    return idle


def reason(key: str) -> str:
    why = {
        "temperature": "balance is not 'temperature'",
        "seed": "nothing is sampled (sample is 1 and balance 'natural')",
        "alpha": "there is no window",
        "dev_lines": "on is 'train', or no method uses dev",
        "dev_seed": "dev_lines is not set",
    }.get(key)
    return f", because {why}" if why else ""


def named(
    experiment: Experiment, run: Mapping[str, Any], settings: Sequence[dict[str, Any]], place: str
) -> list[Combination]:
    """The combinations of a run, named after it and after what differs between them."""
    varying = [
        key
        for key in dict.fromkeys(["method", *experiment.grid, *run, "seed"])
        if any(
            one[key] != other[key] for one in settings for other in settings if key in one and key in other
        )
    ]
    template = str(run.get("name", ""))
    placed = PLACEHOLDER.findall(template)

    def called(one: Mapping[str, Any], without: str | None) -> str:
        """The name without the value of one setting."""
        parts = [PLACEHOLDER.sub(lambda key: "…" if key[1] == without else spelled(one[key[1]]), template)]
        shown = [key for key in varying if key in one and key not in (*placed, "vocab_size", without)]
        if not template and ("method" in shown or len(experiment.runs) > 1 or not shown):
            parts = [one["method"]]
        parts += [f"{key}={spelled(one[key])}" for key in shown if key != "method" or template]
        sized = "vocab_size" in varying and "vocab_size" not in (*placed, without)
        return ", ".join(part for part in parts if part) + (f"@{one['vocab_size']}" if sized else "")

    found = []
    for one in settings:
        if lacking := [key for key in placed if key not in one]:
            experiment.refuse(
                place, f"the name has {{{lacking[0]}}}, which has no value: it has {quoted(one)}."
            )
        family = called(one, "vocab_size" if "vocab_size" not in placed else None)
        series = called(one, experiment.chart)
        found.append(
            Combination(called(one, None), family, series, one["method"], one, place, frozenset(run))
        )
    return found


def spelled(value: Any) -> str:
    """On one line: a regular expression may have several."""
    return "given" if isinstance(value, Mapping) else " ".join(str(value).splitlines())
