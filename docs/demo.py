"""Record what the demo found, for README.md: docs/results/demo.json and docs/demo.svg.

pairity demo -o demo && python docs/demo.py demo
"""

import argparse
import json
from pathlib import Path

import altair as alt
import vl_convert

from pairity import Scores
from pairity.languages import language

DOCS = Path(__file__).parent
SHOWN = {"classical": "#b4530a", "parity": "#1f6feb"}


def table(scores: Scores) -> dict[str, object]:
    rows = []
    for one in scores.overview():
        assert one.gini is not None
        assert one.worst_language is not None
        rows.append(
            [
                one.tokenizer,
                one.gini.value,
                f"{one.gini.low:.3f} to {one.gini.high:.3f}",
                one.compression_rate,
                one.worst_best,
                language(one.worst_language).name,
            ]
        )
    return {
        "made_by": "pairity demo -o demo && python docs/demo.py demo",
        "columns": [
            {"name": "tokenizer"},
            {"name": "Gini", "format": ".3f"},
            {"name": "95% interval"},
            {"name": "lines/token", "format": ".4f"},
            {"name": "worst/best", "format": ".2f"},
            {"name": "worst language"},
        ],
        "rows": rows,
        "note": f"32,000 tokens, {len(scores.languages)} languages, the 40 test lines of the embedded sample.",
    }


def figure(scores: Scores) -> str:
    """Tokens per line of every language: ordinary BPE as one dot, parity-aware BPE as another."""
    rows = [
        {"language": language(code).name, "tokenizer": name, "tokens per line": cost}
        for name in SHOWN
        for code, cost in scores.costs(name).items()
    ]
    order = sorted(scores.costs("classical"), key=lambda code: -scores.costs("classical")[code])
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_circle(size=70, opacity=1)
        .encode(
            x=alt.X(
                "language:N",
                sort=[language(code).name for code in order],
                axis=alt.Axis(labelAngle=-50, title=None),
            ),
            y=alt.Y("tokens per line:Q", scale=alt.Scale(zero=True)),
            color=alt.Color(
                "tokenizer:N",
                scale=alt.Scale(domain=list(SHOWN), range=list(SHOWN.values())),
                legend=alt.Legend(title=None, orient="top-right"),
            ),
            shape=alt.Shape("tokenizer:N"),
        )
        .properties(
            width=680, height=240, title="What the same 40 lines cost in 25 languages, before and after"
        )
        .configure(background="white", font="sans-serif")
        .configure_view(stroke=None)
    )
    return str(vl_convert.vegalite_to_svg(chart.to_json()))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where `pairity demo -o` wrote")
    scores = Scores.load(parser.parse_args().folder / "scores")
    record = json.dumps(table(scores), indent=1, ensure_ascii=False)
    (DOCS / "results" / "demo.json").write_text(record + "\n", encoding="utf-8")
    (DOCS / "demo.svg").write_text(figure(scores), encoding="utf-8")


if __name__ == "__main__":
    main()
