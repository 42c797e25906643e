"""What each claim of the paper is checked by: rules that go through the measured rows, case by case.

Samples of the text are not cases of their own: a case passes if it does in every sample.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

from study_record import AWAY, Results, Row, load_paper

LESS_GINI = 0.70
"""By how much a parity variant shall lower the Gini coefficient."""
MOST_LOSS = 0.01
"""Of lines per token: what counts as a compression that is not worse."""
STABLE = 0.02
"""What counts as stable: two points of a share."""
PAPER_BEST = 0.89
"""The reduction that the paper reports of its best variant."""

DEV_VARIANTS = ("parity", "window", "hybrid", "hybrid + window")


@dataclass(frozen=True)
class Case:
    """What was looked at, what was found, and whether that is as the paper says."""

    label: str
    found: str
    good: bool


def grouped(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """The samples of each variant and size: {"parity at 32,000": [three rows], ...}"""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(f"{row.variant} at {row.vocab_size:,}", []).append(row)
    return groups


def span(values: Iterable[float], form: str) -> str:
    """The range of what the samples gave: "-75.1% to -74.0%", or one value."""
    every = sorted(values)
    low, high = format(every[0], form), format(every[-1], form)
    return low if low == high else f"{low} to {high}"


def fairer(rows: list[Row], results: Results, least: float) -> list[Case]:
    cases = []
    for label, samples in grouped(rows).items():
        lower = [results.reduction(row) for row in samples]
        found = f"Gini {span([-share for share in lower], '+.1%')}"
        cases.append(Case(label, found, min(lower) >= least))
    return cases


def as_compact(rows: list[Row], results: Results) -> list[Case]:
    cases = []
    for label, samples in grouped(rows).items():
        change = [results.rate_change(row) for row in samples]
        cases.append(Case(label, f"{span(change, '+.1%')} lines per token", min(change) >= -MOST_LOSS))
    return cases


def by_size(results: Results, study: str = "table1") -> dict[str, list[dict[str, Row]]]:
    """Size -> for each sample, variant -> row."""
    found: dict[str, dict[int | None, dict[str, Row]]] = {}
    for row in results.find(study):
        found.setdefault(f"{row.vocab_size:,} tokens", {}).setdefault(row.seed, {})[row.variant] = row
    return {size: list(samples.values()) for size, samples in found.items()}


def extreme(results: Results, variant: str, among: Iterable[str], least: bool) -> list[Case]:
    """Whether a variant is the most fair, or the least fair, of several at every size."""
    cases = []
    pick = min if least else max
    for size, samples in by_size(results).items():
        reached = [
            pick((row for name, row in one.items() if name in among), key=lambda row: row.gini)
            for one in samples
        ]
        names = sorted({row.variant for row in reached})
        word = "lowest" if least else "highest"
        found = (
            f"the {word} Gini is that of {' or '.join(names)} ({span([row.gini for row in reached], '.4f')})"
        )
        cases.append(Case(size, found, names == [variant]))
    return cases


def best_reduction(results: Results) -> list[Case]:
    cases = []
    for size, samples in by_size(results).items():
        best = [
            max(results.reduction(row) for row in one.values() if row.method == "parity") for one in samples
        ]
        cases.append(Case(size, f"up to {span(best, '.0%')} lower", min(best) >= PAPER_BEST))
    return cases


def utilisation(results: Results) -> list[Case]:
    cases = []
    for label, samples in grouped(
        row for row in results.find("table1") if row.variant in DEV_VARIANTS
    ).items():
        more = [row.vocabulary_used - results.baseline(row).vocabulary_used for row in samples]
        cases.append(Case(label, f"{span([100 * share for share in more], '+.1f')} points", min(more) > 0))
    return cases


def morphology(results: Results) -> list[Case]:
    cases = []
    for label, samples in grouped(results.parity("table1")).items():
        changes = [
            (row.morph_precision_paper or 0) - (results.baseline(row).morph_precision_paper or 0)
            for row in samples
        ] + [
            (row.morph_recall_paper or 0) - (results.baseline(row).morph_recall_paper or 0) for row in samples
        ]
        cases.append(Case(label, span(changes, "+.3f"), max(map(abs, changes)) <= STABLE))
    return cases


def window_size(results: Results) -> list[Case]:
    rows = results.parity("window")
    if not rows:
        return []
    ginis, rates = [row.gini for row in rows], [row.rate for row in rows]
    classical = results.baseline(rows[0]).gini
    spread = (max(ginis) - min(ginis)) / classical
    loss = 1 - min(rates) / max(rates)
    return [
        Case("Gini", f"{span(ginis, '.4f')}, a spread of {spread:.1%} of classical's", spread <= STABLE),
        Case("lines per token", f"a spread of {loss:.1%}", loss <= MOST_LOSS),
    ]


def dev_size(results: Results) -> list[Case]:
    cases = []
    for start in ("parity", "hybrid"):
        rows = sorted(
            (row for row in results.parity("dev") if row.variant.startswith(start)),
            key=lambda row: row.dev_lines or 0,
        )
        for fewer, more in pairwise(rows):
            found = (
                f"Gini {fewer.gini:.4f} with {fewer.dev_lines} lines, {more.gini:.4f} with {more.dev_lines}"
            )
            cases.append(Case(f"{start}, fewer lines are less fair", found, fewer.gini > more.gini))
        for row in rows[:-1]:
            kept = results.reduction(row) / results.reduction(rows[-1])
            found = f"{results.reduction(row):.1%} lower, {kept:.0%} of what the whole dev set gains"
            good = results.reduction(row) >= LESS_GINI
            cases.append(Case(f"{start}, {row.dev_lines} lines are enough", found, good))
    return cases


def balanced(results: Results) -> list[Case]:
    cases = []
    for balance in dict.fromkeys(row.balance for row in results.find("balance") if row.balance != "natural"):
        label = "balanced" if balance == "balanced" else f"{int(balance or 0):,} bytes each"
        for row in results.parity("balance", balance=balance):
            natural = results.find("balance", balance="natural", variant=row.variant)[0]
            here, there = results.reduction(row), results.reduction(natural)
            less = results.baseline(row).gini - row.gini < results.baseline(natural).gini - natural.gini
            found = f"Gini {-here:+.0%}, with the text as it comes {-there:+.0%}"
            cases.append(Case(f"{row.variant}, {label}", found, less and here > 0))
    return cases


def balanced_fertility(results: Results) -> list[Case]:
    """Whether classical needs fewer tokens per word on balanced text, as the paper's tables count words."""
    return [
        Case(
            f"{row.variant}, {row.balance}",
            f"{row.fertility_paper:.2f} tokens per word, classical {results.baseline(row).fertility_paper:.2f}",
            row.fertility_paper > results.baseline(row).fertility_paper,
        )
        for row in results.parity("balance")
        if row.balance != "natural"
    ]


def trade(results: Results) -> list[Case]:
    rows = sorted(
        results.find("share"),
        key=lambda row: 1.0 if row.method == "classical" else row.global_share or 0.0,
    )
    cases = []
    for less, more in pairwise(rows):
        found = f"Gini {less.gini:.4f} to {more.gini:.4f}, lines per token {more.rate / less.rate - 1:+.2%}"
        cases.append(
            Case(f"{less.variant} to {more.variant}", found, less.gini < more.gini and less.rate <= more.rate)
        )
    return cases


def below(results: Results, lower: str, higher: str) -> list[Case]:
    """Whether one way of steering is fairer than another."""
    rows = {row.variant: row for row in results.find("steering")}
    if not rows:
        return []
    first, second = rows[lower], rows[higher]
    found = f"Gini {first.gini:.4f}, that of {higher} {second.gini:.4f}"
    return [Case(lower, found, first.gini < second.gini)]


def pretokenizers(results: Results) -> list[Case]:
    rows = results.parity("pretokenizers", variant="parity")
    lower = {row.pretokenizer: results.reduction(row) for row in rows}
    return [Case(name, f"Gini {-share:+.0%}", share >= LESS_GINI) for name, share in lower.items()]


def unigram(results: Results) -> list[Case]:
    cases = []
    for row in results.find("unigram", variant="UnigramLM"):
        classical = results.baseline(row)
        size = f"{row.vocab_size:,} tokens"
        cases += [
            Case(
                f"{size}, less fair",
                f"Gini {row.gini:.4f}, classical {classical.gini:.4f}",
                row.gini > classical.gini,
            ),
            Case(
                f"{size}, compresses less",
                f"{results.rate_change(row):+.1%} lines per token",
                row.rate < classical.rate,
            ),
        ]
    return cases


def away(results: Results) -> list[Case]:
    cases = []
    for label, samples in grouped(results.parity("table1", AWAY, vocab_size=results.largest)).items():
        lower = [results.reduction(row) for row in samples]
        found = (
            f"Gini {span([row.gini for row in samples], '.4f')}, {span([-share for share in lower], '+.0%')}"
        )
        cases.append(Case(label, found, min(lower) >= LESS_GINI))
    return cases


def english(results: Results) -> list[Case]:
    cases = []
    for label, samples in grouped(results.parity("table1", vocab_size=results.largest)).items():
        more = [row.reference_cost / results.baseline(row).reference_cost - 1 for row in samples]
        cases.append(Case(label, f"{span(more, '+.1%')} tokens", max(more) <= MOST_LOSS))
    return cases


def printed_reduction(table: str) -> str:
    """What the paper's table of that label has itself: "42% to 19%"."""
    rows = load_paper()[table]
    return span(
        [1 - row["gini"] / rows["BPE"]["gini"] for row in rows.values() if "PA-BPE" in row["name"]], ".0%"
    )


def printed_loss(table: str, name: str = "PA-BPE") -> str:
    """By how much the paper's table has fewer lines per token in a row than in that of classical BPE."""
    rows = load_paper()[table]
    return f"{1 - rows[name]['compression_rate_line'] / rows['BPE']['compression_rate_line']:.1%}"
