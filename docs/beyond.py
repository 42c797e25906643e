"""What goes beyond the paper, beside every variant of the paper: fairness against compression, at equal vocabulary.

    python docs/beyond.py ../shared/data --runs RUNS    train, judge and record; goes on where it was
    python docs/beyond.py                               the tables and the figures anew, from the record

Tokenizers of 32,000 and 128,000 tokens of the paper's 30 languages, from three samples of the training text; FLORES-200
dev steers, devtest and software strings judge. Everything is compared with parity-aware BPE as the paper has it, on the
same resampled lines.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

from pairity import Classical, Counts, Draw, Fair, Parity, Scores, Tokenizer, count, evaluate, train
from pairity.languages import SETS
from study_figures import COLOURS, Line, chart

HERE = Path(__file__).parent
RECORD = HERE / "results" / "beyond.json"
SIZES = (32_000, 128_000)
SEEDS = (1, 2, 3)
SAMPLE = 0.8
TEXTS = {"devtest": "flores200/devtest", "ui": "domains/ui"}
PHRASES = "gpt4o:words4"
BASELINE = "parity"

POLICIES: Mapping[str, Any] = {
    "classical": Classical(),
    "parity": Parity(),
    "window": Parity(window=100),
    "hybrid": Parity(global_merges=0.5),
    "hybrid + window": Parity(global_merges=0.5, window=100),
    "joint 0.7": Parity(joint=0.7),
    "joint 0.5": Parity(joint=0.5),
    "fair 16": Fair(beta=16),
    "fair 64": Fair(beta=64),
    "fair 150": Fair(beta=150),
    "joint 0.5, superwords": Parity(joint=0.5),
}
FAMILIES = {
    "the paper's variants": ("hybrid + window", "hybrid", "window", "parity"),
    "fair": ("fair 16", "fair 64", "fair 150"),
    "joint": ("joint 0.7", "joint 0.5"),
    "joint 0.5, superwords": ("joint 0.5, superwords",),
}
"""Lines of the figure, and what lies on each. Classical lies so far off that nothing else could be told apart."""
CUT = ("classical", "parity", "window", "joint 0.7", "joint 0.5", "fair 16", "fair 64", "fair 150")
"""Those whose small vocabulary is the beginning of the large one."""


Change = tuple[float, float, float]
"""A difference and the ends of its 95% interval."""


@dataclass(frozen=True)
class Row:
    """A tokenizer on a text."""

    name: str
    size: int
    seed: int
    text: str
    gini: float
    rate: float
    worst: float
    worst_language: str
    english: float
    rate_gain: Change
    gini_change: Change
    cost_changes: dict[str, Change]


def made(name: str, size: int, seed: int, data: Path, runs: Path) -> Tokenizer:
    place = runs / f"{name}, {size}, {seed}"
    if not place.exists():
        if name in CUT and size != SIZES[-1]:
            tokenizer = made(name, SIZES[-1], seed, data, runs).truncate(size)
        else:
            phrases = "superwords" in name
            cut = PHRASES if phrases else "gpt4o"
            texts = {split: counts(split, cut, seed, data, runs) for split in ("train", "dev")}
            tokenizer = train(
                texts["train"],
                dev=texts["dev"],
                vocab_size=size,
                method=POLICIES[name],
                pretokenizer=cut,
                superwords=0.5 if phrases else None,
            )
        tokenizer.save(place)
    return Tokenizer.load(place)


def counts(split: str, cut: str, seed: int, data: Path, runs: Path) -> Counts:
    place = runs / f"{split}, {cut.replace(':', ' ')}, {seed}.parquet"
    if not place.exists():
        folder = data / ("train" if split == "train" else "flores200/dev")
        draw = Draw(sample=SAMPLE, seed=seed) if split == "train" else None
        count(folder, languages=SETS["paper-30"], split=split, pretokenizer=cut, draw=draw).save(place)  # type: ignore[arg-type]
    return Counts.load(place)


def judged(size: int, seed: int, text: str, data: Path, runs: Path) -> Iterable[Row]:
    place = runs / f"scores, {size}, {seed}, {text}"
    if not place.exists():
        # Each is compared with those after it, so what all are to be compared with comes last.
        names = sorted(POLICIES, key=lambda name: name == BASELINE)
        tokenizers = {name: made(name, size, seed, data, runs) for name in names}
        evaluate(tokenizers, data / TEXTS[text], languages=SETS["paper-30"], baseline=BASELINE).save(place)
    scores = Scores.load(place)
    costs = {name: scores.costs(name) for name in scores.tokenizers}
    rates = {name: scores.value(name, "compression_rate_line") or 0.0 for name in scores.tokenizers}
    differences = {
        (row["tokenizer"], row["metric"], row["language"]): (row["value"], row["low"], row["high"])
        for row in scores.differences.to_pylist()
        if row["against"] == BASELINE
    }

    def against(name: str, metric: str, language: str | None, unit: float) -> Change:
        """A tokenizer minus parity, in multiples of `unit`."""
        value, low, high = differences[name, metric, language] if name != BASELINE else (0.0, 0.0, 0.0)
        return value / unit, low / unit, high / unit

    for name in scores.tokenizers:
        worst = max(costs[name], key=costs[name].__getitem__)
        yield Row(
            name,
            size,
            seed,
            text,
            scores.value(name, "gini") or 0.0,
            rates[name],
            costs[name][worst],
            worst,
            costs[name]["eng_Latn"],
            against(name, "compression_rate_line", None, rates[BASELINE]),
            against(name, "gini", None, 1.0),
            {code: against(name, "cost", code, cost) for code, cost in costs[BASELINE].items()},
        )


def table(rows: list[Row], size: int, text: str) -> dict[str, Any]:
    lines = []
    for name in POLICIES:
        samples = [row for row in rows if (row.name, row.size, row.text) == (name, size, text)]
        changes = [row.cost_changes.values() for row in samples]
        lines.append(
            [
                name,
                fmean(row.gini for row in samples),
                None if name == BASELINE else span([row.gini_change for row in samples], "+.4f"),
                fmean(row.rate for row in samples),
                None if name == BASELINE else fmean(row.rate_gain[0] for row in samples),
                None if name == BASELINE else span([row.rate_gain for row in samples], "+.1%"),
                fmean(row.worst for row in samples),
                fmean(row.english for row in samples),
                None
                if name == BASELINE
                else max(sum(low > 0 for _, low, _ in languages) for languages in changes),
                None
                if name == BASELINE
                else max(change for languages in changes for change, _, _ in languages),
            ]
        )
    return {
        "made_by": "python docs/beyond.py DATA --runs RUNS",
        "columns": [
            {"name": "tokenizer"},
            {"name": "Gini", "format": ".4f"},
            {"name": "Gini vs parity"},
            {"name": "lines/token", "format": ".5f"},
            {"name": "compression vs parity", "format": "+.2%"},
            {"name": "95% interval"},
            {"name": "worst, tokens/line", "format": ".1f"},
            {"name": "English", "format": ".1f"},
            {"name": "languages worse off", "format": "d"},
            {"name": "largest rise", "format": "+.2%"},
        ],
        "rows": lines,
        "note": f"{size:,} tokens, 30 languages, "
        + ("FLORES-200 devtest" if text == "devtest" else "software strings")
        + (
            f". Means over three samples of {SAMPLE:.0%} of the training text; intervals span those of "
            "all samples. `languages worse off`: languages whose cost is above that of parity with the "
            "whole 95% interval, in the sample that has the most of them. `largest rise`: of any "
            "language's cost in any sample; negative if all costs fell."
        ),
    }


def span(intervals: list[Change], form: str) -> str:
    low, high = min(low for _, low, _ in intervals), max(high for _, _, high in intervals)
    return f"{low:{form}} to {high:{form}}"


def figure(rows: list[Row], size: int) -> str:
    """Fairness against compression."""

    def point(name: str) -> tuple[float, float]:
        samples = [row for row in rows if (row.name, row.size, row.text) == (name, size, "devtest")]
        return 1000 * fmean(row.rate for row in samples), fmean(row.gini for row in samples)

    lines = [
        Line(
            family,
            colour,
            tuple(map(point, names)),
            labels=tuple(name.removeprefix(family) for name in names),
        )
        for colour, (family, names) in zip(COLOURS, FAMILIES.items(), strict=False)
    ]
    classical = point("classical")
    every = [x for line in lines for x, _ in line.points]
    low, high = min(every), max(every)
    low -= (high - low) / 10  # room for the first label
    marks = [low + (high - low) * number / 4 for number in range(5)]
    return chart(
        f"Fairness against compression, {size:,} tokens",
        lines,
        "lines per 1,000 tokens (to the right: better compression)",
        "Gini coefficient, FLORES devtest (below: fairer); "
        f"classical is at {classical[1]:.3f}, {classical[0]:.2f} lines",
        {mark: f"{mark:.2f}" for mark in marks},
    )


def write(rows: list[Row]) -> None:
    for size in SIZES:
        for text in TEXTS:
            found = table(rows, size, text)
            path = RECORD.with_name(f"beyond-{text}-{size // 1000}k.json")
            path.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        (HERE / f"beyond-{size // 1000}k.svg").write_text(figure(rows, size), encoding="utf-8")


def read() -> list[Row]:
    return [Row(**row) for row in json.loads(RECORD.read_text(encoding="utf-8"))]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?", help="folder with train/, flores200/ and domains/")
    parser.add_argument("--runs", type=Path, help="where tokenizers and scores are kept")
    options = parser.parse_args()
    if options.data:
        if options.runs is None:
            parser.error("give --runs, a folder for tokenizers and scores")
        options.runs.mkdir(parents=True, exist_ok=True)
        rows = [
            row
            for seed in SEEDS
            for size in reversed(SIZES)
            for text in TEXTS
            for row in judged(size, seed, text, options.data, options.runs)
        ]
        RECORD.write_text(json.dumps([asdict(row) for row in rows]) + "\n", encoding="utf-8")
    write(read())


if __name__ == "__main__":
    main()
