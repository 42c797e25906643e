"""Train with every policy on real text and record how fair it is: docs/results/fairness.json.

    python docs/fairness.py DATA

DATA holds train/ (a .txt.gz per language) and flores200/dev and devtest. FLORES dev steers, devtest judges;
the languages are the 30 of the paper.
"""

import argparse
import json
import sys
import warnings
from pathlib import Path

from pairity import Classical, PairityWarning, Parity, count, evaluate, train
from pairity.languages import LANGUAGES_30

MERGES = 32_000


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, help="folder with train/ and flores200/")
    parser.add_argument("--merges", type=int, default=MERGES)
    arguments = parser.parse_args()
    warnings.simplefilter("ignore", PairityWarning)

    def sources(folder: Path) -> list[str]:
        return [f"{code}={folder / code}.txt.gz" for code in LANGUAGES_30]

    corpus = count(sources(arguments.data / "train"))
    dev = count(sources(arguments.data / "flores200" / "dev"), split="dev")
    bytes_per_line = {code: text.bytes / (text.lines or 1) for code, text in dev.items()}
    policies = {
        "classical": Classical(),
        "parity": Parity(),
        "window": Parity(window=100),
        "hybrid": Parity(global_merges=0.5),
        "hybrid + window": Parity(global_merges=0.5, window=100),
        "ratios": Parity(ratios=bytes_per_line),
        "on train": Parity(on="train"),
    }
    tokenizers = {}
    for name, policy in policies.items():
        print(f"training {name} ...", file=sys.stderr)
        tokenizers[name] = train(corpus, dev=dev, num_merges=arguments.merges, method=policy)
    scores = evaluate(
        tokenizers,
        sources(arguments.data / "flores200" / "devtest"),
        metrics=["gini", "compression_rate_line", "worst_best", "worst_language", "cost"],
        baseline="classical",
    )
    rows = []
    for one in scores.overview():
        assert one.gini is not None
        rows.append(
            [
                one.tokenizer,
                one.gini.value,
                f"{one.gini.low:.4f} to {one.gini.high:.4f}",
                one.compression_rate,
                one.worst_best,
                one.worst_language,
            ]
        )
        print(rows[-1])
    record = {
        "made_by": "python docs/fairness.py DATA",
        "columns": [
            {"name": "method"},
            {"name": "Gini", "format": ".4f"},
            {"name": "95% interval"},
            {"name": "lines/token", "format": ".4f"},
            {"name": "worst/best", "format": ".2f"},
            {"name": "worst language"},
        ],
        "rows": rows,
        "note": (
            f"{arguments.merges:,} merges, pattern gpt4o; 30 languages, "
            f"{sum(text.bytes for text in corpus.values()) / 1e6:.0f} MB of unbalanced training text; "
            "steered by FLORES-200 dev, evaluated on devtest."
        ),
    }
    target = Path(__file__).parent / "results" / "fairness.json"
    target.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
