"""The record: what pairity.json says of a run."""

from collections.abc import Mapping
from importlib.metadata import version
from typing import Any

from pairity.errors import listed
from pairity.training.engine import Exhausted
from pairity.training.settings import Settings
from pairity.training.texts import Texts
from pairity.training.trace import STUCK_GAIN, STUCK_SERVICES, Trace


def record_of(settings: Settings, texts: Texts, trace: Trace, exhausted: Exhausted) -> dict[str, Any]:
    """All that explains the result to a reader of pairity.json."""
    retired = {trace.languages[language]: step for language, step in exhausted}
    return settings.describe() | {
        "pairity": version("pairity"),
        "languages": languages_of(texts, trace, retired),
        "merges": len(trace),
        "stuck": trace.stuck(),
        "starved": trace.starved(),
        "exhausted": retired,
        "notes": notes_of(settings, texts),
        "warnings": warnings_of(settings, texts, trace, retired),
    }


def languages_of(texts: Texts, trace: Trace, retired: Mapping[str, int]) -> dict[str, dict[str, Any]]:
    """{"eng_Latn": {"train": {...}, "dev": {...}, "served": 83, "cost": 30.2, "exhausted_at": 812}, ...}"""
    services, costs = trace.services(), trace.final_costs()
    return {
        language: text
        | {"served": services[language], "cost": costs.get(language)}
        | ({"exhausted_at": retired[language]} if language in retired else {})
        for language, text in texts.descriptions.items()
    }


def notes_of(settings: Settings, texts: Texts) -> list[str]:
    notes = list(texts.train.notes)
    if texts.dev is not None:
        notes += texts.dev.notes
        if texts.dev.left_out:
            notes.append(
                f"dev text of languages that are not trained on was not used: {listed(texts.dev.left_out)}"
            )
        if settings.policy.on == "train":
            notes.append("dev text was not used: on='train' measures train text alone")
    return notes


def warnings_of(settings: Settings, texts: Texts, trace: Trace, retired: Mapping[str, int]) -> list[str]:
    """What the user should hear: who ran out of pairs, who is stuck or starved, what was not UTF-8."""
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
            f"{listed(retired)} ran out of pairs (the first was {first}, after {retired[first]:,} merges) and could "
            "not be served after that: give more train text."
        )
    for language, merges in trace.stuck().items():
        found.append(
            f"{language} is stuck: {merges:,} merges were spent on it while its cost fell by less than "
            f"{STUCK_GAIN:.2%} per {STUCK_SERVICES} merges. Its dev text may not match its train text; window=100 "
            "limits the waste."
        )
    for language, times in trace.starved().items():
        found.append(
            f"{language} is starved: it costs {times:.2f} times the mean but was hardly served "
            f"({trace.services()[language]:,} merges). Check its train text and the name of its dev file."
        )
    for language, counts in texts.train.items():
        if counts.replaced:
            found.append(f"{language}: {counts.replaced:,} sequences that are not UTF-8 were replaced.")
    return found


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
