"""Turn what docs/lm_run.py measured into the records of docs/lm.md.

    python docs/lm_tables.py lm-0.json lm-7.json     writes docs/results/lm-*.json, and the tables of docs/lm.md

Every difference is between a tokenizer and classical BPE on the same lines with the same seeds: lines are resampled
together, seeds are shown one by one.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import tables
from pairity.languages import language as facts
from pairity.lm.measuring import Comparison, Estimate, Scored

RESULTS = Path(__file__).parent / "results"
BASELINE = "classical"
MADE_BY = "python docs/lm_tables.py"

Run = dict[str, Any]


def scored(run: Run, about: dict[str, Any], text: str) -> Scored:
    def arrays(given: dict[str, list[float]]) -> dict[str, Any]:
        return {language: np.array(values, float) for language, values in given.items()}

    last = run["history"][-1]
    return Scored(
        model=f"{run['tokenizer']}-{run['seed']}-{run['equal']}",
        tokenizer=run["tokenizer"],
        seed=run["seed"],
        text=text,
        bits=arrays(run["bits"][text]),
        bytes=arrays(about["bytes"][text]),
        tokens_seen=last["tokens"],
        bytes_seen=last["bytes"],
    )


class Study:
    """All runs, and their comparisons by what they have in common: the bytes, or the compute."""

    def __init__(self, about: dict[str, Any], runs: Sequence[Run], resamples: int) -> None:
        self.about, self.runs = about, runs
        self.tokenizers = list(about["tokenizers"])
        self.others = [name for name in self.tokenizers if name != BASELINE]
        self.lines = self.comparison("bytes", "parallel", "line", resamples)
        self.bytes = self.comparison("bytes", "parallel", "byte", resamples)
        self.held_out = self.comparison("bytes", "held-out", "byte", resamples)
        self.compute = self.comparison("compute", "parallel", "line", resamples)

    def comparison(self, equal: str, text: str, unit: str, resamples: int) -> Comparison:
        """The baseline needs the fewest tokens, so that its runs on equal bytes are those on equal compute too."""
        fewest = min(self.about["tokenizers"], key=lambda name: self.about["tokenizers"][name]["tokens"])
        chosen = [
            run
            for run in self.runs
            if run["equal"] == equal or (equal == "compute" and run["tokenizer"] == fewest)
        ]
        return Comparison([scored(run, self.about, text) for run in chosen], unit=unit, resamples=resamples)


def number(value: float, digits: int) -> str:
    return f"{value:.{digits}f}"


def ranged(found: Estimate, digits: int, sign: bool = False) -> str:
    """ "1.234 [1.230, 1.238]" """
    form = f"{'+' if sign else ''}.{digits}f"
    low, high = found.interval
    return f"{found.value:{form}} [{low:{form}}, {high:{form}}]"


def columns(*names: str) -> list[dict[str, str]]:
    """The first is text, the others are numbers, which stand on the right."""
    return [{"name": names[0]}, *({"name": name, "format": ""} for name in names[1:])]


def overview(study: Study) -> dict[str, Any]:
    rows = []
    for name in study.tokenizers:
        worst = study.lines.worst_language(name)
        rows.append(
            [
                name,
                number(study.about["tokenizers"][name]["tokens"] / 1e6, 1),
                ranged(study.lines.overall(name, "mean"), 1),
                ranged(study.lines.overall(name, "spread"), 1),
                ranged(study.lines.overall(name, "gini"), 4),
                f"{facts(worst).name}, {number(study.lines.overall(name, 'worst').value, 0)}",
                ranged(study.bytes.overall(name, "mean"), 3),
                ranged(study.held_out.overall(name, "mean"), 3),
            ]
        )
    return {
        "columns": columns(
            "tokenizer",
            "million tokens",
            "bits per line",
            "spread over languages",
            "Gini",
            "worst language, bits per line",
            "bits per byte",
            "bits per byte, held-out text",
        ),
        "rows": rows,
        "note": "Means over languages and seeds; 95% intervals over lines and seeds in brackets. All columns "
        "except the last are from FLORES devtest.",
    }


def differences(study: Study) -> dict[str, Any]:
    rows = []
    for equal, comparison in (("bytes", study.lines), ("compute", study.compute)):
        for name in study.others:
            if name not in comparison.costs:
                continue
            mean = comparison.overall(name, "mean", BASELINE)
            seeds = ", ".join(f"{one:+.2f}" for one in mean.seeds)
            rows.append(
                [
                    f"{name}, equal {equal}",
                    ranged(mean, 2, sign=True),
                    seeds,
                    number(mean.smallest_visible, 2),
                    ranged(comparison.overall(name, "spread", BASELINE), 2, sign=True),
                    ranged(comparison.overall(name, "gini", BASELINE), 4, sign=True),
                ]
            )
    return {
        "columns": columns(
            f"against {BASELINE}",
            "bits per line",
            "seed by seed",
            "smallest detectable",
            "spread over languages",
            "Gini",
        ),
        "rows": rows,
        "note": (
            "95% intervals over lines and seeds in brackets. Smallest detectable: the difference in the "
            "mean that this many lines and seeds would find 4 times out of 5."
        ),
    }


def per_language(study: Study) -> dict[str, Any]:
    about = study.about["tokenizers"]
    rows = []
    order = sorted(study.lines.languages, key=lambda code: -about[BASELINE]["train"][code]["bytes"])
    for code in order:
        cells = [facts(code).name, number(about[BASELINE]["train"][code]["bytes"] / 1e6, 1)]
        cells.append(number(study.lines.of_language(BASELINE, code).value, 1))
        for name in study.others:
            found = study.lines.of_language(name, code, BASELINE)
            low, high = found.interval
            cells.append(f"{found.value:+.1f}{'' if low <= 0 <= high else ' *'}")
        cells += [number(tokens_per_byte(about, name, code), 3) for name in study.tokenizers]
        rows.append(cells)
    return {
        "columns": columns(
            "language",
            "train MB",
            f"bits per line, {BASELINE}",
            *(f"{name}, difference" for name in study.others),
            *(f"tokens per byte, {name}" for name in study.tokenizers),
        ),
        "rows": rows,
        "note": (
            "Equal bytes, mean over seeds. *: the 95% interval over lines and seeds excludes 0; by chance "
            "alone, this would happen for one language in twenty."
        ),
    }


def tokens_per_byte(about: dict[str, Any], name: str, code: str) -> float:
    sums = about[name]["parallel"][code]
    return float(sums["tokens"] / sums["bytes"])


def who_gains(study: Study) -> dict[str, Any]:
    """Rank correlations over languages of the difference in bits with what the tokenizer changed."""
    about = study.about["tokenizers"]
    rows = []
    for name in study.others:
        found = {code: study.lines.of_language(name, code, BASELINE) for code in study.lines.languages}
        change = [found[code].value / study.lines.of_language(BASELINE, code).value for code in found]
        cost = [tokens_per_byte(about, name, code) / tokens_per_byte(about, BASELINE, code) for code in found]
        seen = [(1 + about[name]["seen"][code][1]) / (1 + about[BASELINE]["seen"][code][1]) for code in found]
        size = [about[name]["train"][code]["bytes"] for code in found]
        rows.append(
            [
                name,
                str(sum(one.interval[1] < 0 for one in found.values())),
                str(sum(one.interval[0] > 0 for one in found.values())),
                *(f"{spearman(change, other):+.2f}" for other in (cost, seen, size)),
            ]
        )
    return {
        "columns": columns(
            f"against {BASELINE}",
            "languages that need fewer bits",
            "more bits",
            "rank correlation with the change of tokens per byte",
            "with the change of how often its tokens were seen",
            "with its training text",
        ),
        "rows": rows,
        "note": (
            "Equal bytes. Languages are counted if the 95% interval over lines and seeds excludes 0. How "
            "often tokens were seen: for the tokens of a language's test lines, the lower quartile of "
            "their number in the training text."
        ),
    }


def spearman(one: Iterable[float], other: Iterable[float]) -> float:
    """The correlation of ranks; equal values share the mean of their ranks."""

    def ranks(values: Iterable[float]) -> Any:
        found = np.array(list(values))
        return np.array([(found < one).sum() + (found == one).sum() / 2 for one in found])

    return float(np.corrcoef(ranks(one), ranks(other))[0, 1])


def curves(study: Study) -> dict[str, Any]:
    """Bits per byte of some held-out text on the way, mean over languages and seeds."""
    rows = []
    for name in study.tokenizers:
        runs = [run for run in study.runs if run["tokenizer"] == name and run["equal"] == "bytes"]
        points = zip(*(run["curve"] for run in runs), strict=True)
        means = [np.mean([list(one["bits_per_byte"].values()) for one in point]) for point in points]
        rows.append([name, *(number(float(one), 3) for one in means)])
    shares = [f"{100 * (at + 1) // len(means)}%" for at in range(len(means))]
    return {
        "columns": columns("of the text", *shares),
        "rows": rows,
        "note": "Bits per byte of the first held-out documents of every language, as the text is read.",
    }


def runs(study: Study) -> dict[str, Any]:
    machine = study.about["machine"]
    rows = [
        [
            f"{run['tokenizer']}, seed {run['seed']}, equal {run['equal']}",
            f"{run['steps']:,}",
            f"{run['history'][-1]['tokens'] / 1e6:.1f}",
            f"{run['history'][-1]['loss']:.3f}",
            f"{run['speed']['tokens_per_second'] or 0:,.0f}",
            "–" if run["speed"]["mfu"] is None else f"{run['speed']['mfu']:.0%}",
            f"{run['seconds']:.0f}",
        ]
        for run in study.runs
    ]
    return {
        "columns": columns("run", "steps", "million tokens", "last loss", "tokens/s", "MFU", "seconds"),
        "rows": rows,
        "note": (
            f"{study.about['parameters']:,} parameters; {machine['device']}, PyTorch {machine['torch']}. "
            "MFU is relative to the GPU vendor's bf16 peak; the seconds of the first run include "
            "compilation."
        ),
    }


TABLES = {
    "overview": overview,
    "differences": differences,
    "languages": per_language,
    "who": who_gains,
    "curves": curves,
    "runs": runs,
}


def read(files: Sequence[Path]) -> tuple[dict[str, Any], list[Run]]:
    """What all files share, and the runs of all; of a run that was done twice, the later file counts."""
    found: dict[int, Run] = {}
    about: dict[str, Any] = {}
    for file in files:
        contents = json.loads(file.read_text(encoding="utf-8"))
        found |= {run["number"]: run for run in contents.pop("runs")}
        if about and about["documents"] != contents["documents"]:
            raise SystemExit(f"{file} is of other documents than {files[0]}.")
        about = contents
    return about, [found[number] for number in sorted(found)]


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", type=Path, nargs="+", help="what docs/lm_run.py wrote")
    parser.add_argument("--resamples", type=int, default=1000)
    parser.add_argument("-o", "--output", type=Path, default=RESULTS)
    options = parser.parse_args(arguments)
    study = Study(*read(options.files), options.resamples)
    made = {name: make(study) for name, make in TABLES.items()}
    for name, table in made.items():
        record = {"made_by": MADE_BY, **table}
        text = json.dumps(record, ensure_ascii=False, indent=1) + "\n"
        (options.output / f"lm-{name}.json").write_text(text, encoding="utf-8")
    return tables.main([]) if options.output == RESULTS else 0


if __name__ == "__main__":
    sys.exit(main())
