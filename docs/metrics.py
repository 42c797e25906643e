"""Write docs/metrics.md from the entries and docstrings in python/pairity/judging/metrics/.

python docs/metrics.py            write the page
python docs/metrics.py --check    write nothing; exit 1 if the page is out of date
"""

import inspect
import sys
from functools import partial
from pathlib import Path
from typing import Any

from generated import write_or_check
from pairity.judging.metrics import FAMILIES, METRICS
from pairity.judging.metrics.metric import AnyMetric

PAGE = Path(__file__).parent / "metrics.md"

INTRODUCTION = """\
# The metrics

*Written by `python docs/metrics.py` from the code: change the entries and docstrings in
`python/pairity/judging/metrics/`, not this page.*

Tokens never include BOS, EOS or other special tokens. Types are the distinct tokens seen in the text, |V| is
the size of the vocabulary. The cost c of a language is its tokens per line.

Every metric has a value per language, a value over all languages, or both. The last column says how the value
over all languages comes about:

- **pooled**: from the text of all languages as if it were one;
- **mean over languages**: the mean of the values of the languages, each with the same weight;
- **across languages**: by comparing the languages with each other.

What is made of costs and sums over lines has a 95% interval: bootstrap over aligned lines, with the same
resampled lines for every language and tokenizer. The intervals of what compares languages (Gini, worst/best, the
largest rise) are corrected for the noise of lines, and those of MorphScore are over resampled words:
[how sure a number is](statistics.md).
"""


def formula(metric: AnyMetric) -> str:
    """The first paragraph of the function's docstring, in one line; with the arguments that the entry fixes."""
    function: Any = metric.function
    fixed = function.keywords if isinstance(function, partial) else {}
    function = function.func if isinstance(function, partial) else function
    text = inspect.getdoc(function)
    if not text:
        raise SystemExit(
            f"{metric.name}: the function {function.__name__} needs a docstring with its formula."
        )
    sentence = " ".join(text.split("\n\n")[0].split())
    return sentence + "".join(f" Here {name} = {value:g}." for name, value in fixed.items())


def table(family: str) -> str:
    rows = [
        ("name", "what it is", "formula", "unit", "better", "over all languages"),
        ("---",) * 6,
        *(
            (
                f"`{metric.name}`",
                metric.title,
                formula(metric),
                metric.unit or "none",
                metric.better,
                metric.over_languages,
            )
            for metric in METRICS.values()
            if metric.family == family
        ),
    ]
    return "\n".join("| " + " | ".join(cell.replace("|", r"\|") for cell in row) + " |" for row in rows)


def page() -> str:
    families = [f"## {family.replace('_', ' ').capitalize()}\n\n{table(family)}\n" for family in FAMILIES]
    return "\n".join([INTRODUCTION, *families])


def main(arguments: list[str] | None = None) -> int:
    """Write or check the page; the exit code."""
    return write_or_check(__file__, __doc__, PAGE, page, arguments)


if __name__ == "__main__":
    sys.exit(main())
