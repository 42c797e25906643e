"""WordPiece and UnigramLM beside BPE, each as it ever was and with parity: docs/results/other-algorithms.json.

    python docs/other_algorithms.py DATA WORK

DATA holds train/, flores200/dev and devtest, and domains/ui. A fifth of the lines of the paper's 30 languages is
learned from, FLORES dev steers, devtest and strings of software judge. WORK keeps every tokenizer as a tokenizer.json,
so that a run that was stopped goes on. Half an hour, most of it SentencePiece.
"""

from __future__ import annotations

import json
import sys
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import tokenizers

from pairity import Classical, Counts, PairityWarning, Parity, count, evaluate, train
from pairity.experiments.parity_unigram import train_parity_unigram
from pairity.experiments.unigram import train_unigram
from pairity.formats import wordpiece
from pairity.judging.scores import Scores
from pairity.languages import SETS
from pairity.text.sampling import Draw

SIZE = 32_000
LANGUAGES = list(SETS["paper-30"])
RESULTS = Path(__file__).parent / "results" / "other-algorithms.json"
ORDINARY = {
    "BPE": "BPE",
    "parity BPE": "BPE",
    "WordPiece": "WordPiece",
    "parity WordPiece": "WordPiece",
    "UnigramLM": "UnigramLM",
    "parity UnigramLM": "UnigramLM",
}
"""Tokenizer -> the one that it is compared with, language by language."""


def texts_of(data: Path) -> tuple[Counts, Counts]:
    corpus = count(data / "train", languages=LANGUAGES, draw=Draw(sample=0.2, seed=1))
    return corpus, count(data / "flores200" / "dev", languages=LANGUAGES, split="dev")


def makers(corpus: Counts, dev: Counts) -> dict[str, Callable[[], Any]]:
    def bpe(**how: Any) -> Any:
        return train(corpus, vocab_size=SIZE, progress=False, **how)

    def longest_first(**how: Any) -> Any:
        return tokenizers.Tokenizer.from_str(json.dumps(wordpiece.write(bpe(**how).model)))

    return {
        "BPE": lambda: bpe(method=Classical()).to_huggingface(),
        "parity BPE": lambda: bpe(method=Parity(), dev=dev).to_huggingface(),
        "WordPiece": lambda: longest_first(method=Classical()),
        "parity WordPiece": lambda: longest_first(method=Parity(), dev=dev),
        "UnigramLM": lambda: train_unigram(corpus, SIZE),
        "parity UnigramLM": lambda: train_parity_unigram(corpus, dev, SIZE),
    }


def made(makers: dict[str, Callable[[], Any]], work: Path) -> dict[str, Any]:
    work.mkdir(parents=True, exist_ok=True)
    found = {}
    for name, make in makers.items():
        file = work / f"{name}.json"
        if not file.exists():
            print(f"training {name} ...", file=sys.stderr)
            make().save(str(file))
        found[name] = tokenizers.Tokenizer.from_file(str(file))
    return found


def compared(scores: Scores, name: str, against: str) -> str | None:
    """In how many languages a line costs less, and in how many more, beyond the 95% interval of the difference."""
    if name == against:
        return None
    gaps = [scores.difference(name, against, "cost", language) for language in scores.languages]
    fewer = sum(gap is not None and gap.high < 0 for gap in gaps)
    more = sum(gap is not None and gap.low > 0 for gap in gaps)
    return f"{fewer} and {more}"


def measure(found: dict[str, Any], ordinary: dict[str, str], data: Path) -> list[list[Any]]:
    rows: list[list[Any]] = [[name] for name in found]
    for place in ("flores200/devtest", "domains/ui"):
        scores = evaluate(found, data / place, languages=LANGUAGES, metrics=["cost", "gini", "round_trip"])
        for row in rows:
            name = row[0]
            costs = scores.costs(name)
            worst = max(costs, key=lambda language: costs[language])
            assert scores.value(name, "round_trip") == 1
            row += [
                scores.value(name, "gini"),
                scores.value(name, "cost"),
                f"{worst} {costs[worst]:.1f}",
                costs["eng_Latn"],
                compared(scores, name, ordinary[name]),
            ]
    return rows


def write_record(path: Path, rows: Sequence[Any], made_by: str, note: str) -> None:
    columns = [{"name": "tokenizer"}]
    for text in ("", ", software strings"):
        columns += [
            {"name": f"Gini{text}", "format": ".4f"},
            {"name": f"tokens/line{text}", "format": ".2f"},
            {"name": f"worst language{text}"},
            {"name": f"English{text}", "format": ".1f"},
            {"name": f"languages with fewer and more tokens{text}"},
        ]
    record = {"made_by": made_by, "columns": columns, "rows": rows, "note": note}
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    warnings.simplefilter("ignore", PairityWarning)
    data, work = map(Path, sys.argv[1:])
    rows = measure(made(makers(*texts_of(data)), work), ORDINARY, data)
    note = (
        f"{SIZE:,} tokens, 30 languages, a fifth of the training text, steered by FLORES-200 dev, "
        "evaluated on devtest. Fewer and more tokens: than BPE, WordPiece or SentencePiece's UnigramLM "
        "without parity, where the 95% interval of the paired difference excludes 0."
    )
    write_record(RESULTS, rows, "python docs/other_algorithms.py ../shared/data WORK", note)
