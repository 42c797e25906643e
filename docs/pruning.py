"""What `--min-count` costs: parity tokenizers of the paper's 30 languages, from all words and without the rare ones.

python docs/pruning.py ../shared/data        a minute; writes docs/results/pruning.json
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pairity import Parity, count, evaluate, train
from pairity.languages import SETS

SIZE = 32_000
RESULTS = Path(__file__).parent / "results" / "pruning.json"


def measure(data: Path) -> list[list[Any]]:
    languages = list(SETS["paper-30"])
    dev = count(data / "flores200" / "dev", languages=languages, split="dev")
    tokenizers, distinct = {}, {}
    for least in (1, 2, 3):
        counts = count(data / "train", languages=languages, min_count=least)
        distinct[least] = sum(one.distinct for one in counts.values())
        tokenizers[str(least)] = train(counts, dev=dev, vocab_size=SIZE, method=Parity())
    scores = evaluate(tokenizers, data / "flores200" / "devtest", languages=languages, resamples=0)
    rows: list[list[Any]] = []
    for least, words in distinct.items():
        costs = scores.select(str(least), "cost", per_language=True).column("value").to_pylist()
        mean = sum(costs) / len(costs)
        gini = scores.select(str(least), "gini").column("value")[0].as_py()
        change = mean / rows[0][2] - 1 if rows else None
        rows.append([least, words, mean, change, gini])
    return rows


if __name__ == "__main__":
    made = {
        "made_by": "python docs/pruning.py ../shared/data",
        "columns": [
            {"name": "min_count", "format": "d"},
            {"name": "distinct words", "format": ",d"},
            {"name": "tokens/line", "format": ".2f"},
            {"name": "more tokens", "format": "+.1%"},
            {"name": "Gini", "format": ".4f"},
        ],
        "rows": measure(Path(sys.argv[1])),
        "note": f"Parity, {SIZE:,} tokens, 30 languages, evaluated on FLORES-200 devtest.",
    }
    RESULTS.write_text(json.dumps(made, indent=1) + "\n", encoding="utf-8")
