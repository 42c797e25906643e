"""What a second dev set does: parity tokenizers of 30 languages, steered by FLORES, by software strings, and by both.

python docs/dev_sets.py ../shared/data        ten minutes; writes docs/results/dev-sets.json

Every other line of the software strings steers, and those between them judge; FLORES-200 dev steers, devtest judges.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from statistics import fmean
from typing import Any

from pairity import DevSets, Tokenizer, count, evaluate, train
from pairity.judging.scores import Scores
from pairity.languages import SETS
from pairity.text.reading import read_texts

SIZE = 16_000
RESULTS = Path(__file__).parent / "results" / "dev-sets.json"


def measure(data: Path) -> list[list[Any]]:
    languages = list(SETS["paper-30"])
    counts = count(data / "train", languages=languages)
    flores = read_texts(data / "flores200" / "dev", languages=languages)
    strings = read_texts(data / "domains" / "ui", languages=languages)
    sets = {"FLORES": flores, "strings": {code: lines[::2] for code, lines in strings.items()}}
    judges = {
        "FLORES": read_texts(data / "flores200" / "devtest", languages=languages),
        "strings": {code: lines[1::2] for code, lines in strings.items()},
    }

    def learn(**weights: float) -> Tokenizer:
        dev = DevSets({name: sets[name] for name in weights}, weights)
        return train(counts, dev=dev, vocab_size=SIZE, progress=False)

    made = {"FLORES": learn(FLORES=1), "software strings": learn(strings=1)}
    for weight in (1, 0.5, 0.25):
        made[f"both, weights 1 and {weight:g}"] = learn(FLORES=1, strings=weight)
    # The mean of a set is the one before the first merge. Had it been the one after the last, it would be this weight:
    both = made["both, weights 1 and 1"]
    shrunk = {name: bytes_per_token(both, texts) for name, texts in sets.items()}
    made["both, means of the finished tokenizer"] = learn(
        FLORES=1, strings=shrunk["strings"] / shrunk["FLORES"]
    )

    scores = {
        name: evaluate(made, texts, languages=languages, metrics=["cost", "gini"], baseline="FLORES")
        for name, texts in judges.items()
    }
    return [
        [name]
        + [cell for judged in scores.values() for cell in cells(judged, name)]
        + [max(judged.value(name, "gini") or 0.0 for judged in scores.values())]
        for name in made
    ]


def bytes_per_token(tokenizer: Tokenizer, texts: dict[str, list[str]]) -> float:
    """Mean bytes of a language over its mean tokens."""
    sizes = [sum(len(line.encode()) for line in lines) for lines in texts.values()]
    return fmean(sizes) / fmean(float(tokenizer.count(lines).sum()) for lines in texts.values())


def cells(scores: Scores, name: str) -> list[Any]:
    """Gini, its interval, and the interval of the difference to FLORES alone."""
    gini = scores.interval(name, "gini")
    assert gini
    change = None if name == "FLORES" else scores.difference(name, "FLORES", "gini")
    against = None if change is None else f"{change.low:+.4f} to {change.high:+.4f}"
    return [gini.value, f"{gini.low:.4f} to {gini.high:.4f}", against]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    made = {
        "made_by": "python docs/dev_sets.py ../shared/data",
        "columns": [
            {"name": "steered by"},
            {"name": "Gini, FLORES devtest", "format": ".4f"},
            {"name": "95% interval"},
            {"name": "against FLORES alone"},
            {"name": "Gini, software strings", "format": ".4f"},
            {"name": "95% interval there"},
            {"name": "against FLORES alone there"},
            {"name": "the worse of the two", "format": ".4f"},
        ],
        "rows": measure(Path(sys.argv[1])),
        "note": (
            f"Parity, {SIZE:,} tokens, 30 languages; FLORES-200 dev has 997 lines, and of 862 software "
            "strings every other one steers; 95% intervals from resampled lines, paired for differences."
        ),
    }
    RESULTS.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
