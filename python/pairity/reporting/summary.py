"""The results in words: each tokenizer against the baseline."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from pairity.errors import PairityError
from pairity.judging.scores import LEAK, Interval
from pairity.reporting.cells import Cell, Cells
from pairity.reporting.numbers import form_of, percent, write_interval
from pairity.reporting.scoreboard import alike

ARROW = "\N{RIGHTWARDS ARROW}"


@dataclass(frozen=True)
class Verdict:
    """About one tokenizer: the main sentence, and the numbers behind it."""

    tokenizer: str
    lead: str
    details: list[str] = field(default_factory=list)
    warning: str = ""
    aside: str = ""
    """A caveat to read before the numbers."""


def summary(cells: Cells) -> list[Verdict]:
    """A verdict on every tokenizer except the baseline; on the baseline if it is the only one."""
    others = [name for name in cells.tokenizers if name != cells.baseline]
    if not others:
        name = cells.baseline
        return [Verdict(name, state_of(cells, name), extremes_of(cells, name), leak_of(cells, name))]
    return [compared(cells, name) for name in others]


def compared(cells: Cells, name: str) -> Verdict:
    changes = {
        code: change for code in cells.languages if (change := change_of(cells, name, code)) is not None
    }
    lead, numbers = inequality(cells, name)
    who = gains_and_pays(cells, changes)
    details = [
        *numbers,
        *numbers_behind(cells, name, changes),
        *compression_of(cells, name),
        *worst_of(cells, name),
    ]
    said = f"{lead}: {who}" if who else lead
    return Verdict(name, said, details, leak_of(cells, name), sizes_of(cells, name))


def inequality(cells: Cells, name: str) -> tuple[str, list[str]]:
    """The verdict on the Gini coefficients, and the numbers behind it."""
    base = cells.baseline
    new, old = cells.get(name, "gini"), cells.get(base, "gini")
    if new is None or old is None:
        return f"against {base}", ["The Gini coefficient was not evaluated."]
    if new.value is None or old.value is None:
        why = new.note or old.note or "it is not defined here"
        return f"against {base}", [f"There is no Gini coefficient: {why}."]
    numbers = f"Gini {old.text} {ARROW} {new.text}"
    gap = difference_of(cells, name, "gini")
    if gap is not None and gap.low is not None and gap.high is not None:
        numbers += f": {effect(new.value, old.value, gap.low, gap.high)}"
        if gap.low <= 0 <= gap.high:
            return f"is about as unequal as {base}", [numbers + "."]
    if new.value == old.value:
        return f"is exactly as unequal as {base}", [numbers + "."]
    if old.value == 0:
        return f"is less equal than {base}", [numbers + "."]
    verb = "cuts" if new.value < old.value else "raises"
    return f"{verb} inequality by {percent(new.value / old.value - 1)} compared with {base}", [numbers + "."]


def sizes_of(cells: Cells, name: str) -> str:
    """A remark if the two vocabularies are not of similar size."""
    new, old = cells.sizes.get(name), cells.sizes.get(cells.baseline)
    if not new or not old or alike([new, old]):
        return ""
    return f"Note the sizes: {new:,} tokens and {old:,}."


def effect(new: float, old: float, low: float, high: float) -> str:
    """How large the difference is, in words: "0.0903 lower (95% interval 0.0871 to 0.0934), a reduction of 90%"."""
    lower, gap = new < old, abs(new - old)
    if low <= 0 <= high:
        form = replace(form_of("gini"), signed=True)
        said = f"{form.write(low)} to {form.write(high)}, which includes 0"
    else:
        said = write_interval("gini", *sorted((abs(low), abs(high))))
    way = "lower" if lower else "higher"
    amount = f"{form_of('gini').write(gap)} {way}" if gap else "no difference"
    share = (
        f", {'a reduction' if lower else 'an increase'} of {percent(new / old - 1)}" if old and gap else ""
    )
    return f"{amount} (95% interval {said}){share}"


def extreme_changes(changes: dict[str, float]) -> list[str]:
    """The language that gains most and the one that pays most, if any do."""
    if not changes:
        return []
    gains, pays = min(changes, key=changes.__getitem__), max(changes, key=changes.__getitem__)
    return [code for code, found in ((gains, changes[gains] < 0), (pays, changes[pays] > 0)) if found]


def gains_and_pays(cells: Cells, changes: dict[str, float]) -> str:
    said = [
        f"{name_of(cells, code)} pays {percent(changes[code])} {'less' if changes[code] < 0 else 'more'}"
        for code in extreme_changes(changes)
    ]
    return ", ".join(said)


def numbers_behind(cells: Cells, name: str, changes: dict[str, float]) -> list[str]:
    if not changes:
        return []
    shown = extreme_changes(changes)
    reference = cells.scores.meta.get("reference")
    if reference in changes and reference not in shown:
        shown.append(reference)
    costs = []
    for code in shown:
        old, new = cells.get(cells.baseline, "cost", code), cells.get(name, "cost", code)
        if old is not None and new is not None:
            costs.append(f"{name_of(cells, code)} {old.text} {ARROW} {new.text}")
    cheaper, costlier = (sum(sign * change > 0 for change in changes.values()) for sign in (-1, 1))
    count = f"{cheaper} of {len(changes)} languages get cheaper, {costlier} more expensive."
    return [count, f"Tokens per line: {', '.join(costs)}."] if costs else [count]


def compression_of(cells: Cells, name: str) -> list[str]:
    new, old = cells.get(name, "compression_rate_line"), cells.get(cells.baseline, "compression_rate_line")
    if new is None or old is None or not new.value or not old.value:
        return []
    change = old.value / new.value - 1  # tokens for the same lines
    gap = difference_of(cells, name, "compression_rate_line")
    numbers = f"{old.text} {ARROW} {new.text} lines per token"
    if gap is not None and gap.low is not None and gap.high is not None and gap.low <= 0 <= gap.high:
        numbers += "; the interval of the difference includes 0"
        return [f"Over all languages it needs about as many tokens ({numbers})."]
    word = "more" if change > 0 else "fewer"
    return [f"Over all languages it needs {percent(change, 1)} {word} tokens for the same text ({numbers})."]


def worst_of(cells: Cells, name: str) -> list[str]:
    new, old = cells.get(name, "worst_language"), cells.get(cells.baseline, "worst_language")
    if new is None or old is None or new.value is None or old.value is None:
        return []
    now = f"The most expensive language is {name_of(cells, new.language)}, at {new.text} tokens per line"
    if new.language == old.language:
        return [f"{now}; with {cells.baseline} it cost {old.text}."]
    return [f"{now}; with {cells.baseline} it was {name_of(cells, old.language)}, at {old.text}."]


def state_of(cells: Cells, name: str) -> str:
    """The sentence about the only tokenizer, which has nothing to be compared with."""
    gini = cells.get(name, "gini")
    if gini is None:
        return "was evaluated without a Gini coefficient"
    if gini.value is None:
        return f"has no Gini coefficient ({gini.note or 'it is not defined here'})"
    return f"has a Gini coefficient of {gini.shown}; 0 would mean that every language costs the same"


def extremes_of(cells: Cells, name: str) -> list[str]:
    worst, best = cells.get(name, "worst_language"), cells.get(name, "best_language")
    ratio = cells.get(name, "worst_best")
    if worst is None or best is None or ratio is None or None in (worst.value, best.value, ratio.value):
        return []
    return [
        f"The most expensive language, {name_of(cells, worst.language)}, takes {ratio.text} times the tokens of the "
        f"cheapest, {name_of(cells, best.language)} ({worst.text} and {best.text} tokens per line)."
    ]


def leak_of(cells: Cells, name: str) -> str:
    leaked = cells.scores.leaks.get(name, [])
    if not leaked:
        return ""
    return (
        f"Evaluated on its own dev text, in {len(leaked)} of {len(cells.languages)} languages: its "
        "numbers there say nothing about new text."
    )


def change_of(cells: Cells, name: str, code: str) -> float | None:
    """Change in cost against the baseline: from the table, or from the two costs if no baseline was named."""
    change = cells.value(name, "change", code)
    if change is not None:
        return change
    new, old = cells.value(name, "cost", code), cells.value(cells.baseline, "cost", code)
    return new / old - 1 if new is not None and old else None


def difference_of(cells: Cells, name: str, metric: str) -> Interval | None:
    try:
        return cells.scores.difference(name, cells.baseline, metric)
    except PairityError:
        return None


def name_of(cells: Cells, code: str) -> str:
    return cells.facts[code].name if code in cells.facts else code


@dataclass(frozen=True)
class Difference:
    """A tokenizer minus the baseline, whether the interval excludes 0, and the corrected p-value as text."""

    cell: Cell
    verdict: str
    p: str = ""


def difference_rows(cells: Cells) -> list[tuple[str, dict[str, Difference]]]:
    """Paired differences against the baseline, by metric and tokenizer."""
    rows = []
    for metric in ("gini", "worst_best", "cost", "compression_rate_line", "fertility"):
        found = {}
        for name in cells.tokenizers:
            gap = None if name == cells.baseline else difference_of(cells, name, metric)
            if gap is None:
                continue
            form = replace(form_of(metric), signed=True)
            interval, verdict = "", "no interval"
            if gap.low is not None and gap.high is not None:
                interval = f"{form.write(gap.low)} to {form.write(gap.high)}"
                verdict = "not clear" if gap.low <= 0 <= gap.high else "clear"
            cell = Cell(gap.value, gap.low, gap.high, form.write(gap.value), interval)
            p = cells.scores.p_value(name, cells.baseline, metric)
            found[name] = Difference(cell, verdict, "" if p is None else written_p(p))
        if found:
            rows.append((metric, found))
    return rows


def written_p(p: float) -> str:
    return "p < 0.001" if p < 0.001 else f"p = {p:.3f}"


def warnings_besides(cells: Cells) -> list[str]:
    """The warnings of the evaluation except leaks and failures, which are shown elsewhere."""
    scores = cells.scores
    leaks = tuple(f"{name} is {LEAK}" for name in scores.leaks)
    failures = {
        f"{name} on {code}: {failure}"
        for name, failed in scores.meta.get("failures", {}).items()
        for code, failure in failed.items()
    }
    return [said for said in scores.warnings if not said.startswith(leaks) and said not in failures]
