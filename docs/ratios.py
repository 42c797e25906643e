"""What `--ratio LANG=auto` is worth: every language that has dev text, as if it had none.

python docs/ratios.py ../shared/data        an hour; writes docs/results/ratios*.json, and goes on after a stop

Errors: the estimated bytes of a dev line against the true ones, of 59 languages, each by the other 58.
Gini: the paper's 30 languages, each in turn without dev text, judged on FLORES-200 devtest.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import exp, log, log2
from pathlib import Path
from statistics import fmean, median
from typing import Any

import numpy as np

from pairity import Counts, Parity, Tokenizer, count, evaluate, train
from pairity.counts.values import LanguageCounts
from pairity.languages import SETS
from pairity.text.reading import read_texts
from pairity.training.estimating import estimate, estimate_by_lines

SIZE = 8_000
LINES = (5, 20, 50)
RESULTS = Path(__file__).parent / "results"
BY_LANGUAGE = RESULTS / "ratios-languages.json"

Texts = Mapping[str, Sequence[str]]


def errors(counts: Counts, dev: Counts, texts: Texts) -> list[list[Any]]:
    """A row for each way to estimate: its error over the languages."""
    true = {code: text.bytes / (text.lines or 1) for code, text in dev.items()}
    size = {code: text.bytes / text.chars for code, text in counts.items()}
    entropy = {code: entropy_of(text) for code, text in counts.items()}
    lines = {code: [len(line.encode()) for line in text] for code, text in texts.items()}

    def others(code: str) -> dict[str, LanguageCounts]:
        return {other: text for other, text in dev.items() if other != code}

    def english(code: str) -> float:
        return true["deu_Latn" if code == "eng_Latn" else "eng_Latn"]

    def by_all(code: str) -> float:
        return median(true[other] for other in others(code))

    def by_characters(code: str) -> float:
        return median(true[other] / size[other] for other in others(code)) * size[code]

    def by_entropy(code: str) -> float:
        """Log bytes of a line, linear in log bytes per character and log bits per character."""
        known = list(others(code))
        features = [[1.0, log(size[one]), log(entropy[one])] for one in known]
        fitted, *_ = np.linalg.lstsq(np.array(features), np.log([true[one] for one in known]), rcond=None)
        return exp(fitted @ [1.0, log(size[code]), log(entropy[code])])

    def auto(code: str) -> float:
        found = estimate(counts[code], others(code))
        assert found
        return found.bytes

    def by_lines(number: int, first: int) -> Callable[[str], float]:
        """By `number` lines from the line `first` on, as if the dev text began there."""

        def guess(code: str) -> float:
            moved = {one: sizes[first:] + sizes[:first] for one, sizes in lines.items()}
            return estimate_by_lines(code, moved | {code: moved[code][:number]}).bytes

        return guess

    rows = [
        row("a dev line of English", true, [english]),
        row("the median dev line of all languages", true, [by_all]),
        row("the same in characters, times own bytes per character", true, [by_characters]),
        row("linear in bytes and bits per character", true, [by_entropy]),
        row(
            "**auto**: dev lines of the same script in characters, times own bytes per character",
            true,
            [auto],
        ),
    ]
    for number in LINES:
        starts = range(0, 1000 - 100, 100)
        rows.append(row(f"**auto** with {number} dev lines", true, [by_lines(number, at) for at in starts]))
    return rows


def row(name: str, true: Mapping[str, float], guesses: Sequence[Callable[[str], float]]) -> list[Any]:
    found = {code: [guess(code) / true[code] - 1 for guess in guesses] for code in true}
    sizes = [abs(error) for several in found.values() for error in several]
    worst = max(found, key=lambda code: max(map(abs, found[code])))
    return [name, median(sizes), float(np.quantile(sizes, 0.9)), max(sizes), worst]


def entropy_of(counts: LanguageCounts) -> float:
    """Bits per character, as if each came alone."""
    found: Counter[str] = Counter()
    for word, times in zip(counts.pretokens.to_pylist(), counts.counts.tolist(), strict=True):
        for character in word.decode(errors="replace"):
            found[character] += times
    total = sum(found.values())
    return -sum(times / total * log2(times / total) for times in found.values())


def without_dev(counts: Counts, dev: Counts, texts: Texts, devtest: Path) -> dict[str, dict[str, Any]]:
    """For each language what became of it without dev text, {way to serve it: [Gini, change of its own tokens]}.

    What a run before this one has written is not measured again.
    """
    languages = list(SETS["paper-30"])
    text = {code: counts[code] for code in languages}
    english = dev["eng_Latn"].bytes / (dev["eng_Latn"].lines or 1)

    def learn(ratios: dict[str, Any] | None, given: Mapping[str, Any]) -> Tokenizer:
        return train(text, dev=given, vocab_size=SIZE, method=Parity(ratios=ratios), progress=False)

    def judge(made: dict[str, Tokenizer]) -> dict[str, tuple[float, dict[str, float]]]:
        scores = evaluate(made, devtest, languages=languages, metrics=["cost", "gini"], resamples=0)
        return {name: (scores.value(name, "gini") or 0.0, scores.costs(name)) for name in made}

    whole = {code: dev[code] for code in languages}
    [(gini, costs)] = judge({"dev": learn(None, whole)}).values()
    found: dict[str, dict[str, Any]] = json.loads(BY_LANGUAGE.read_text()) if BY_LANGUAGE.exists() else {}
    for code in languages:
        if code in found:
            continue
        rest = {other: whole[other] for other in languages if other != code}
        lines = {other: texts[other] for other in rest} | {code: texts[code][:20]}
        made = {
            "its true bytes per line": learn({code: dev[code].bytes / (dev[code].lines or 1)}, rest),
            "a dev line of English": learn({code: english}, rest),
            "auto": learn({code: "auto"}, rest),
            "auto with 20 dev lines": learn({code: "auto"}, lines),
        }
        found[code] = {"dev text": [gini, 0.0]} | {
            name: [there, own[code] / costs[code] - 1] for name, (there, own) in judge(made).items()
        }
        BY_LANGUAGE.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    return found


def ginis(found: Mapping[str, Mapping[str, Sequence[float]]]) -> list[list[Any]]:
    """A row for each way to serve a language without dev text: what it does to that language, and to Gini."""
    rows = []
    for name in next(iter(found.values())):
        there, changes = (
            [one[name][0] for one in found.values()],
            [abs(one[name][1]) for one in found.values()],
        )
        ninety = float(np.quantile(changes, 0.9))
        rows.append([name, fmean(there), max(there), median(changes), ninety, max(changes)])
    return rows


def write(name: str, columns: list[tuple[str, str | None]], rows: list[list[Any]], note: str) -> None:
    made = {
        "made_by": "python docs/ratios.py ../shared/data",
        "columns": [{"name": column} | ({"format": kind} if kind else {}) for column, kind in columns],
        "rows": rows,
        "note": note,
    }
    text = json.dumps(made, indent=1, ensure_ascii=False) + "\n"
    (RESULTS / f"{name}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # languages that are starved, as some are here
    data = Path(sys.argv[1])
    counts = count(data / "train")
    dev = count(data / "flores200" / "dev", languages=list(counts), split="dev")
    texts = read_texts(data / "flores200" / "dev", languages=list(counts))
    write(
        "ratios",
        [
            ("estimate", None),
            ("median error", ".1%"),
            ("90th percentile", ".1%"),
            ("largest", ".1%"),
            ("language", None),
        ],
        errors(counts, dev, texts),
        f"Bytes per line of FLORES-200 dev, each of {len(dev)} languages estimated from the others; few "
        "dev lines: taken at nine places.",
    )
    found = without_dev(counts, dev, texts, data / "flores200" / "devtest")
    write(
        "ratios-gini",
        [
            ("instead of dev text", None),
            ("Gini, mean", ".4f"),
            ("Gini, worst", ".4f"),
            ("own tokens, median change", ".1%"),
            ("90th percentile", ".1%"),
            ("largest", ".1%"),
        ],
        ginis(found),
        f"Parity, {SIZE:,} tokens, 30 languages, {len(found)} of them in turn without dev text, evaluated "
        "on FLORES-200 devtest. Change: in the language's own tokens, up or down, compared with dev "
        "text.",
    )
