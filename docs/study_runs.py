"""Run the studies: every file in experiments/, one after the other, each into a folder of its own."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pairity.experiments import Experiment, read, run
from pairity.sample import FOLDER

FILES = Path(__file__).resolve().parents[1] / "experiments"

STUDIES = (
    "table1",
    "dev",
    "languages",
    "window",
    "size",
    "share",
    "steering",
    "balance",
    "pretokenizers",
    "unigram",
)
"""In this order: what takes longest comes last."""

SMALL = {32_000: 500, 64_000: 600, 128_000: 700, 256_000: 900}
"""Size of a study -> what it is on the text that ships with pairity."""
FEW_LINES = {50: 10, 100: 20, 300: 40, 997: 60}


def run_studies(
    runs: Path,
    studies: Sequence[str] = STUDIES,
    *,
    quick: bool = False,
    paths: Mapping[str, Any] | None = None,
    threads: int | None = None,
) -> None:
    """What is finished below `runs` is not done again. `paths`: train, dev, judge and morph, where they are others."""
    for study in studies:
        experiment = on_other_text(read(FILES / f"{study}.toml"), paths or {})
        print(f"{study}: {experiment.title}", file=sys.stderr)
        run(small(experiment) if quick else experiment, runs / study, threads=threads)


def on_other_text(experiment: Experiment, paths: Mapping[str, Any]) -> Experiment:
    """The same study on the text that was given."""
    top = {key: paths[key] for key in ("train", "dev", "judge") if paths.get(key)}
    evaluation = dict(experiment.evaluation) | ({"morph": paths["morph"]} if paths.get("morph") else {})
    return replace(experiment, **top, evaluation=evaluation)


def small(experiment: Experiment) -> Experiment:
    """The same study on the text that ships with pairity: the same rows, all of them tiny."""
    text = str(FOLDER / "dev")
    judge = dict.fromkeys(experiment.judge, str(FOLDER / "test"))
    evaluation = {key: value for key, value in experiment.evaluation.items() if key != "morph"} | {
        "resamples": 20
    }
    grid = {key: smaller(key, value) for key, value in experiment.grid.items()}
    runs = [{key: smaller(key, value) for key, value in one.items()} for one in experiment.runs]
    return replace(experiment, train=text, dev=text, judge=judge, evaluation=evaluation, grid=grid, runs=runs)


def smaller(key: str, value: Any) -> Any:
    """A setting for little text; those that have nothing to do with its size stay."""
    scales: dict[str, dict[Any, Any]] = {
        "vocab_size": SMALL,
        "dev_lines": FEW_LINES,
        "balance": {2_000_000: 4_000},
    }
    if key == "seed" and isinstance(value, list):
        return value[:1]
    scale = scales.get(key, {})
    if isinstance(value, list):
        return [scale.get(one, one) for one in value]
    return scale.get(value, value) if scale else value
