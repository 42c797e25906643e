"""Simulate corpora whose true Gini coefficient is known, and count how often 95% intervals cover it.

    python docs/coverage.py                 about a minute; prints
    python docs/coverage.py --record        an hour or two: 1,000 corpora each or more, to docs/results/coverage.json
    python docs/coverage.py --differences   the same for differences between two tokenizers, which takes less:
                                            with --record to docs/results/coverage-differences.json

A line is longer or shorter than others in all languages alike, and each language has noise of its own beside it: 10% to
20% of a line, which is assumed and not measured. True costs are drawn anew for every corpus and scaled to the Gini
coefficient asked for; `alike`: their deviations are normal; `some far off`: one language in 15 is far from the rest;
`two groups`: half of the languages cost less than the other half, and within a group they are nearly alike; `three
groups`: the same with a third of the languages between them; `long tail`: deviations are exponential; `evenly spread`:
they are uniform; `uneven groups`: as two groups, but one language in five is in the dearer one; `heavy tails`:
deviations have Student's distribution with 3 degrees of freedom; `both sides`: one language in 20 is far above the
rest, and as many far below; `log-normal`: deviations are, with 0.75 as the standard deviation of the logarithm;
`Laplace`, `gamma` (with a shape of 2) and `triangular`: deviations have these distributions; `normal and exponential`:
half of them are normal, the others exponential and twice as large; `unlike groups`: as two groups, but one of them is
spread out. `any of these`: every corpus has one of all these, by lot.

A second tokenizer sees the same lines, and most of what makes a line dear in a language makes it dear for both. Its
true costs are `as unequal`, that is drawn anew, or `half as unequal`: those of the first, half as far from their mean.
"""

import argparse
import json
import math
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import numpy.typing as npt

from pairity.judging.metrics.bootstrap import Bootstrap, interval
from pairity.judging.metrics.corrected import noisy
from pairity.judging.metrics.fairness import gini, worst_best

Floats = npt.NDArray[np.float64]
Statistic = Callable[[Floats], Floats]
Ends = tuple[float, float]

STATISTICS: dict[str, Statistic] = {"Gini": gini, "worst/best": worst_best}
CORRECTED = "corrected"
NORMAL = NormalDist()


@dataclass(frozen=True)
class Cell:
    """What is simulated."""

    languages: int
    lines: int
    gini: float
    shape: str = "alike"
    corpora: int = 1000
    resamples: int = 200
    second: str = ""


ANY = "any of these"
RECORDED = [
    *(
        Cell(languages, lines, true)
        for true in (0.002, 0.01)
        for languages in (30, 204)
        for lines in (40, 300, 1000)
    ),
    *(Cell(languages, 300, 0.01, "some far off") for languages in (30, 204)),
    Cell(30, 300, 0.2),
    Cell(60, 100, 0.01, "some far off"),
    *(Cell(languages, 300, 0.01, "two groups") for languages in (30, 204)),
    *(Cell(languages, 300, 0.01, "three groups") for languages in (30, 204)),
    *(Cell(languages, 300, 0.01, "long tail") for languages in (30, 204)),
    *(Cell(languages, 300, 0.01, "evenly spread") for languages in (30, 204)),
    # Nothing about the Gini coefficient was chosen by these.
    Cell(60, 300, 0.01, "uneven groups"),
    Cell(60, 300, 0.01, "heavy tails"),
    *(Cell(languages, 300, 0.01, "both sides") for languages in (30, 100)),
    *(Cell(languages, 300, 0.01, "log-normal") for languages in (100, 204)),
    # Nothing but OF_THE_REST was chosen by these shapes.
    *(Cell(languages, 300, 0.01, "Laplace") for languages in (30, 204)),
    Cell(100, 300, 0.01, "gamma"),
    Cell(204, 300, 0.01, "normal and exponential"),
    Cell(100, 300, 0.01, "triangular"),
    *(Cell(languages, 300, 0.01, "unlike groups") for languages in (30, 204)),
]
SHAPES = tuple(dict.fromkeys(cell.shape for cell in RECORDED))
MORE = 2000  # corpora: these rows are what is claimed, so less of what they show shall be chance
RECORDED += [
    Cell(languages, lines, true, ANY, corpora=MORE)
    for true in (0.002, 0.01)
    for languages in (30, 204)
    for lines in (300, 1000)
]
AS_UNEQUAL, HALF_AS_UNEQUAL = "as unequal", "half as unequal"
DIFFERENCES = [
    *(Cell(30, lines, 0.002, second=HALF_AS_UNEQUAL) for lines in (40, 300)),
    *(Cell(30, 300, true, second=HALF_AS_UNEQUAL) for true in (0.01, 0.2)),
    *(Cell(30, 300, true, second=AS_UNEQUAL) for true in (0.002, 0.01, 0.2)),
    *(
        Cell(30, 300, 0.01, shape, second=HALF_AS_UNEQUAL)
        for shape in ("some far off", "two groups", "evenly spread")
    ),
    *(Cell(204, 300, 0.01, shape, second=HALF_AS_UNEQUAL) for shape in ("alike", "long tail")),
]
BOTH = 0.8  # the share of the noise of a line that two tokenizers have in common; assumed


def true_costs(cell: Cell, random: np.random.Generator) -> Floats:
    """Costs around 1 with exactly the Gini coefficient of the cell."""
    if cell.shape == ANY:
        cell = replace(cell, shape=str(random.choice(SHAPES)))
    deviations = random.normal(size=cell.languages)
    if cell.shape == "some far off":
        far = max(1, cell.languages // 15)
        deviations *= 0.1
        deviations[:far] += random.uniform(1, 3, far)
    elif cell.shape == "two groups":
        deviations = 0.1 * deviations + np.where(np.arange(cell.languages) < cell.languages // 2, 1.0, -1.0)
    elif cell.shape == "three groups":
        deviations = 0.1 * deviations + np.arange(cell.languages) % 3 - 1.0
    elif cell.shape == "evenly spread":
        deviations = random.uniform(-1, 1, cell.languages)
    elif cell.shape == "uneven groups":
        deviations = 0.1 * deviations + (np.arange(cell.languages) < cell.languages // 5) - 0.2
    elif cell.shape == "heavy tails":
        deviations = random.standard_t(3, size=cell.languages)
    elif cell.shape == "both sides":
        far = max(1, cell.languages // 20)
        deviations *= 0.2
        deviations[:far] += random.uniform(1, 2, far)
        deviations[far : 2 * far] -= random.uniform(1, 2, far)
    elif cell.shape == "log-normal":
        deviations = np.exp(0.75 * deviations)
        deviations -= deviations.mean()
    elif cell.shape == "Laplace":
        deviations = random.laplace(size=cell.languages)
    elif cell.shape == "gamma":
        deviations = random.gamma(2, size=cell.languages) - 2.0
    elif cell.shape == "normal and exponential":
        exponential = random.exponential(2, size=cell.languages)
        deviations = np.where(np.arange(cell.languages) % 2 == 0, deviations, exponential)
        deviations -= deviations.mean()
    elif cell.shape == "triangular":
        deviations = random.triangular(-1, 0, 1, cell.languages)
    elif cell.shape == "unlike groups":
        lower = np.arange(cell.languages) < cell.languages // 2
        deviations = np.where(lower, 0.1 * deviations - 1.0, 0.6 * deviations + 1.0)
    elif cell.shape == "long tail":
        deviations = random.exponential(size=cell.languages) - 1.0
    if cell.gini > 0.1:  # normal deviations of that size would make costs negative
        deviations = np.exp(cell.gini * np.sqrt(np.pi) * deviations)
        deviations -= deviations.mean()
    low, high = 0.0, 0.98 / float(-deviations.min())
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if float(gini(1 + middle * deviations)) < cell.gini else (low, middle)
    return 1 + low * deviations


def corpus(costs: Floats, lines: int, random: np.random.Generator) -> Floats:
    """Tokens, lines x languages; the mean of every column is its cost but for the noise."""
    own = random.uniform(0.1, 0.2, len(costs))
    length = random.normal(0, 0.4, (lines, 1)) - 0.4**2 / 2
    return costs * np.exp(length + own * random.normal(size=(lines, len(costs))) - own**2 / 2)


def corpus_of_two(first: Floats, second: Floats, lines: int, random: np.random.Generator) -> Iterator[Floats]:
    """The tokens of the same lines under two tokenizers."""
    own = random.uniform(0.1, 0.2, len(first))
    length = random.normal(0, 0.4, (lines, 1)) - 0.4**2 / 2
    both = random.normal(size=(lines, len(first)))
    for costs in (first, second):
        noise = np.sqrt(BOTH) * both + np.sqrt(1 - BOTH) * random.normal(size=both.shape)
        yield costs * np.exp(length + own * noise - own**2 / 2)


def bca(statistic: Statistic, value: float, drawn: Floats, tokens: Floats) -> Ends:
    """Efron's interval: bias from the share of resamples below the value, acceleration from leaving out each line."""
    without = statistic((tokens.sum(axis=0) - tokens) / (len(tokens) - 1))
    away = without.mean() - without
    acceleration = (away**3).sum() / (6 * (away**2).sum() ** 1.5)
    bias = NORMAL.inv_cdf(float(np.clip((drawn < value).mean(), 0.5 / len(drawn), 1 - 0.5 / len(drawn))))

    def end(level: float) -> float:
        shifted = bias + NORMAL.inv_cdf(level)
        return float(np.quantile(drawn, NORMAL.cdf(bias + shifted / (1 - acceleration * shifted))))

    return end(0.025), end(0.975)


def half_of_the_lines(statistic: Statistic, value: float, tokens: Floats, halves: Floats) -> Ends:
    """Subsampling (Politis and Romano, 1994): what half of the lines give, drawn without replacement."""
    drawn = statistic(halves @ tokens / halves[0].sum())
    low, high = np.quantile(drawn - value, [0.025, 0.975])
    return max(0.0, value - float(high)), max(0.0, value - float(low))


def other_intervals(
    statistic: Statistic, costs: Floats, tokens: Floats, halves: Floats
) -> Iterator[tuple[str, Ends]]:
    """Every other kind of interval, by name."""
    samples = statistic(costs)
    value, drawn = float(samples[0]), samples[1:]
    low, high = np.quantile(drawn, [0.025, 0.975]).tolist()
    yield "percentile", (low, high)
    yield "basic, cut at 0", (max(0.0, 2 * value - high), max(0.0, 2 * value - low))
    bias = float(np.median(drawn)) - value
    yield "percentile, shifted", (max(0.0, low - 2 * bias), max(0.0, high - 2 * bias))
    yield "BCa", bca(statistic, value, drawn, tokens)
    yield "half of the lines", half_of_the_lines(statistic, value, tokens, halves)


def simulate(cell: Cell, others: bool = True) -> dict[str, dict[str, float]]:
    """{statistic: {kind of interval: the share of corpora in which it covers the truth}}; and what else is of interest:
    the mean bias of the estimate, and the share of corpora in which our interval holds the estimate.
    """
    random = np.random.default_rng([cell.languages, cell.lines, round(cell.gini * 1e4)])
    bootstrap = Bootstrap(cell.resamples, seed=0)
    halves = np.stack(
        [random.permutation(cell.lines) < cell.lines // 2 for _ in range(cell.resamples)]
    ).astype(float)
    found: dict[str, dict[str, float]] = {name: {"bias": 0.0, "holds": 0.0} for name in STATISTICS}
    for _ in range(cell.corpora):
        true_cost = true_costs(cell, random)
        tokens = corpus(true_cost, cell.lines, random)
        costs = bootstrap.sums(tokens) / cell.lines
        deviations = tokens / costs[0] - 1
        ours = noisy(costs, lambda deviations=deviations: iter(deviations.T))  # type: ignore[misc]
        for name, statistic in STATISTICS.items():
            true = float(statistic(true_cost))
            value, low, high = interval(ours.samples(statistic, of_extremes=statistic is worst_best))
            found[name]["bias"] += value - true
            found[name]["holds"] += low <= value <= high
            kinds = [(CORRECTED, (low, high))]
            if others and name == "Gini":
                kinds += other_intervals(statistic, costs, tokens, halves)
            for kind, (start, end) in kinds:
                found[name][kind] = found[name].get(kind, 0.0) + (start <= true <= end)
    return {name: {kind: total / cell.corpora for kind, total in one.items()} for name, one in found.items()}


def simulate_difference(cell: Cell) -> dict[str, dict[str, float]]:
    """The same for the difference between two tokenizers: ours, and the percentile interval."""
    random = np.random.default_rng([cell.languages, cell.lines, round(cell.gini * 1e4), len(cell.second)])
    bootstrap = Bootstrap(cell.resamples, seed=0)
    found = {name: {CORRECTED: 0.0, "percentile": 0.0} for name in STATISTICS}
    for _ in range(cell.corpora):
        first = true_costs(cell, random)
        second = 1 + (first - 1) / 2 if cell.second == HALF_AS_UNEQUAL else true_costs(cell, random)
        both = []
        for tokens in corpus_of_two(first, second, cell.lines, random):
            costs = bootstrap.sums(tokens) / cell.lines
            deviations = tokens / costs[0] - 1
            both.append(noisy(costs, lambda deviations=deviations: iter(deviations.T)))  # type: ignore[misc]
        for name, statistic in STATISTICS.items():
            true = float(statistic(first) - statistic(second))
            ours = both[0].draws(statistic) - both[1].draws(statistic)
            plain = statistic(both[0].costs) - statistic(both[1].costs)
            for kind, samples in ((CORRECTED, ours), ("percentile", plain)):
                _, low, high = interval(samples)
                found[name][kind] += low <= true <= high
    return {name: {kind: total / cell.corpora for kind, total in one.items()} for name, one in found.items()}


def chance(corpora: int) -> float:
    """Two standard errors of a share of 95% in so many corpora, in percentage points."""
    return 200 * math.sqrt(0.95 * 0.05 / corpora)


def labels(cell: Cell) -> list[object]:
    """The first columns of a row: what tells it from others."""
    return [cell.languages, cell.lines, cell.shape, cell.gini, *([cell.second] if cell.second else [])]


def table_of_differences(cells: list[Cell], results: list[dict[str, dict[str, float]]]) -> dict[str, Any]:
    kinds = [(name, kind) for name in STATISTICS for kind in ("percentile", CORRECTED)]
    return {
        "made_by": "python docs/coverage.py --differences --record",
        "columns": [
            {"name": "languages", "format": "d"},
            {"name": "lines", "format": ",d"},
            {"name": "true costs"},
            {"name": "true Gini", "format": ".3f"},
            {"name": "the second is"},
            *(
                {"name": f"{name}, " + ("**ours**" if kind == CORRECTED else kind), "format": ".1%"}
                for name, kind in kinds
            ),
        ],
        "rows": [
            labels(cell) + [found[name][kind] for name, kind in kinds]
            for cell, found in zip(cells, results, strict=True)
        ],
        "note": "How often 95% intervals cover the true difference between two tokenizers, in "
        f"{cells[0].corpora:,} simulated corpora each with {cells[0].resamples} resamples.",
    }


def table(cells: list[Cell], results: list[dict[str, dict[str, float]]]) -> dict[str, Any]:
    kinds = [name for name in results[0]["Gini"] if name not in ("bias", "holds", CORRECTED)]
    share = ".1%"
    return {
        "made_by": "python docs/coverage.py --record",
        "columns": [
            {"name": "languages", "format": "d"},
            {"name": "lines", "format": ",d"},
            {"name": "true costs"},
            {"name": "true Gini", "format": ".3f"},
            {"name": "bias", "format": "+.4f"},
            *({"name": kind, "format": share} for kind in kinds),
            {"name": "**ours**", "format": share},
            {"name": "worst/best, **ours**", "format": share},
        ],
        "rows": [
            [*labels(cell), found["Gini"]["bias"]]
            + [found["Gini"][kind] for kind in (*kinds, CORRECTED)]
            + [found["worst/best"][CORRECTED]]
            for cell, found in zip(cells, results, strict=True)
        ],
        "note": f"How often 95% intervals cover the true value, in {Cell.corpora:,} simulated corpora each with "
        f"{Cell.resamples} resamples, or {MORE:,} where the shape is drawn by lot; by chance alone, a row is off by up "
        f"to {chance(Cell.corpora):.1f} points, or {chance(MORE):.0f}. `bias`: that of the Gini coefficient as it is "
        "measured.",
    }


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--record", action="store_true", help="all of the corpora of each row, to docs/results/"
    )
    parser.add_argument(
        "--new", action="store_true", help="only rows that are missing: right if nothing else has changed"
    )
    parser.add_argument("--differences", action="store_true", help="of two tokenizers, in place of values")
    parser.add_argument("--corpora", type=int, default=20, help="without --record: how many each")
    parser.add_argument("--processes", type=int, default=2, help="how many cells at a time")
    options = parser.parse_args()
    chosen, simulated, tabled, name = (
        (DIFFERENCES, simulate_difference, table_of_differences, "coverage-differences")
        if options.differences
        else (RECORDED, simulate, table, "coverage")
    )
    target = Path(__file__).parent / "results" / f"{name}.json"
    order = [labels(cell) for cell in chosen]
    width = len(order[0])
    kept = json.loads(target.read_text(encoding="utf-8"))["rows"] if options.new else []
    kept = [row for row in kept if row[:width] in order]
    known = [row[:width] for row in kept]
    cells = [
        one if options.record else replace(one, corpora=options.corpora)
        for one in chosen
        if labels(one) not in known
    ]
    results = []
    with ProcessPoolExecutor(options.processes) as pool:
        for cell, found in zip(cells, pool.map(simulated, cells), strict=True):
            print(
                cell,
                {of: {kind: round(share, 4) for kind, share in one.items()} for of, one in found.items()},
                flush=True,
            )
            results.append(found)
            if options.record:  # row by row: with --new, a run that was killed goes on
                record = tabled(cells[: len(results)], results)
                record["rows"] = sorted([*kept, *record["rows"]], key=lambda row: order.index(row[:width]))
                unfinished = target.with_suffix(".part")
                unfinished.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
                unfinished.replace(target)


if __name__ == "__main__":
    main()
