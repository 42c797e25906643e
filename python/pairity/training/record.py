"""The record: what pairity.json says about a run."""

from collections.abc import Collection, Mapping
from importlib.metadata import version
from typing import Any

from pairity.counts.pruning import pruning_notes
from pairity.errors import listed
from pairity.training.checks import lengths_of_lines, what_auto_means
from pairity.training.engine import Exhausted
from pairity.training.measure import Measure
from pairity.training.settings import Settings
from pairity.training.texts import Texts
from pairity.training.trace import STUCK_GAIN, STUCK_SERVICES, Trace


def record_of(settings: Settings, texts: Texts, trace: Trace, exhausted: Exhausted) -> dict[str, Any]:
    """Everything that explains the result to a reader of pairity.json."""
    retired = {trace.languages[language]: step for language, step in exhausted}
    return (
        settings.describe()
        | how_drawn(texts)
        | ({"dev_sets": dict(texts.weights)} if texts.weights else {})
        | {
            "pairity": version("pairity"),
            "languages": languages_of(texts, trace, retired, settings.policy.ratios),
            "merges": len(trace),
            "stuck": trace.stuck(),
            "starved": trace.starved(),
            "exhausted": retired,
            "notes": notes_of(settings, texts),
            "warnings": [*texts.warnings, *warnings_of(settings, texts, trace, retired)],
        }
        | ({"min_count": texts.min_count} if texts.min_count > 1 else {})
    )


def how_drawn(texts: Texts) -> dict[str, Any]:
    """{"draw": what training was told}, or {"drawn": [what the counts say of themselves]}."""
    if texts.draw:
        return {"draw": texts.draw}
    return {"drawn": list(texts.train.drawn.settings)} if texts.train.drawn else {}


def languages_of(
    texts: Texts, trace: Trace, retired: Mapping[str, int], ratios: Collection[str] | None
) -> dict[str, dict[str, Any]]:
    """{"eng_Latn": {"train": {...}, "dev": {...}, "served": 83, "cost": 30.2, "exhausted_at": 812}, ...}

    A language with a ratio also has the length of its line-equivalent, and the languages that this comes from:
    "line_equivalent": {"bytes": 130.4, "copied_from": "eng_Latn"}.
    """
    services, costs = trace.services(), trace.final_costs()
    equivalents = {
        language: {"line_equivalent": line_equivalent(measure)}
        for language, measure in texts.measures.items()
        if language in (ratios or ())
    }
    return {
        language: text
        | {"served": services[language], "cost": costs.get(language)}
        | equivalents.get(language, {})
        | ({"exhausted_at": retired[language]} if language in retired else {})
        for language, text in texts.descriptions.items()
    }


def line_equivalent(measure: Measure) -> dict[str, Any]:
    found: dict[str, Any] = {"bytes": measure.ratio, "copied_from": measure.copied_from}
    if guess := measure.estimate:
        found["estimated_from"] = {"languages": list(guess.languages), "lines": guess.lines}
    return found


def notes_of(settings: Settings, texts: Texts) -> list[str]:
    notes = [*texts.train.notes, *pruning_notes(texts.train.summary())]
    for dev in texts.dev_sets.values() or [texts.dev]:
        if dev is not None:
            notes += dev.notes
            for what, left_out in (
                ("that are not trained on", [one for one in dev.left_out if one not in texts.train]),
                ("with a ratio", [one for one in dev.left_out if one in texts.train]),
            ):
                if left_out:
                    notes.append(f"dev text of languages {what} was not used: {listed(left_out)}")
    if texts.dev is not None and settings.policy.on == "train":
        notes.append("dev text was not used: on='train' measures only training text")
    return notes


def warnings_of(settings: Settings, texts: Texts, trace: Trace, retired: Mapping[str, int]) -> list[str]:
    """Warnings for the user: languages that ran out of pairs, are stuck or starved, or had text that is not UTF-8."""
    found = []
    missing = settings.budget - learned_of(settings, trace)
    if missing:
        goal = "num_merges" if settings.vocab_size is None else "vocab_size"
        asked: int = getattr(settings, goal)
        found.append(
            stopped_early(f"{goal} is {asked - missing:,} instead of {asked:,}", settings.min_frequency)
        )
    elif retired:
        first = min(retired, key=retired.__getitem__)
        found.append(
            f"{listed(retired)} ran out of pairs (the first was {first}, after {retired[first]:,} merges) "
            "and could not be served after that: give more training text."
        )
    for language, merges in trace.stuck().items():
        found.append(
            f"{language} is stuck: {merges:,} merges were spent on it while its cost fell by less than "
            f"{STUCK_GAIN:.2%} per {STUCK_SERVICES} merges. Its dev text may not match its training text; "
            "window=100 limits the waste."
        )
    for language, times in trace.starved().items():
        found.append(
            f"{language} is starved: it costs {times:.2f} times the mean but was hardly served "
            f"({trace.services()[language]:,} merges). Check its training text and the name of its dev "
            "file."
        )
    for cause, languages in never_served(texts, trace, retired).items():
        found.append(f"{listed(languages)} {'was' if len(languages) == 1 else 'were'} never served: {cause}")
    for language, counts in texts.train.items():
        if counts.replaced:
            found.append(f"{language}: {counts.replaced:,} sequences that are not UTF-8 were replaced.")
    return found


def never_served(texts: Texts, trace: Trace, retired: Mapping[str, int]) -> dict[str, list[str]]:
    """{reason and advice: languages}"""
    found: dict[str, list[str]] = {}
    for language in trace.never_served():
        if language in trace.starved():  # its own warning says how often it was served
            continue
        if language in retired:
            cause = "no pair in the training text can become a token. Give more training text."
        elif language in trace.set_apart:
            cause = too_cheap(language, texts, trace)
        else:
            cause = (
                "others cost more at every merge, so no pair was chosen from this training text. If you "
                "did not expect that, check that the dev text is in the same language and script."
            )
        found.setdefault(cause, []).append(language)
    return found


def too_cheap(language: str, texts: Texts, trace: Trace) -> str:
    """Why a language with a ratio was never served."""
    ratio, lengths = texts.measures[language].ratio, lengths_of_lines(texts.dev or {})
    larger = "Give a larger number to serve it."
    if lengths and not texts.measures[language].estimate and ratio < min(lengths.values()):
        larger = what_auto_means(language, texts.train[language], texts.dev or {})
    return (
        f"its line-equivalent of {ratio:,.10g} bytes takes {trace.final_costs()[language]:,.2f} tokens, less than "
        f"a dev line of the languages that were. {larger}"
    )


def learned_of(settings: Settings, trace: Trace) -> int:
    """How much of the budget was learned: tokens, or merges if those are the goal."""
    known = len(settings.known)
    if settings.vocab_size is None:
        return len(trace) - known
    return int(trace.vocab_size[-1] - trace.vocab_size[known])


def stopped_early(result: str, min_frequency: int) -> str:
    """stopped_early("vocab_size is 290 instead of 5,000", 2)"""
    if min_frequency < 2:
        return f"training stopped early: no pairs are left, so {result}. Give more text."
    return (
        f"training stopped early: no pair occurs at least {min_frequency:,} times, so {result}. "
        "Give more text, or lower min_frequency."
    )
