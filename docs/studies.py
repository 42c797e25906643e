"""The paper's claims, checked: docs/studies.md with its tables and figures, made from recorded runs only.

    python docs/studies.py --run RUNS           run experiments/*.toml, read the results, then write all
    python docs/studies.py --run RUNS --quick   the same in small, on the text that ships with pairity: to RUNS/pages
    python docs/studies.py                      write tables, figures and the page from docs/results/studies.json
    python docs/studies.py --check              write nothing; exit 1 where something is out of date

What is finished in RUNS is not done again. --train, --dev, --judge and --morph name other text; the page about that is
RUNS/pages, too.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

import study_claims
import study_record
import study_tables
from study_claims import BEYOND, ORDER, UNTESTED, Answer
from study_figures import FIGURES
from study_record import AWAY, HOME, Results
from study_runs import STUDIES as STUDIES_IN_ORDER
from study_runs import run_studies
from tables import render

DOCS = Path(__file__).parent

STUDIES = {
    "window": ("Size of the window", "The window limits how often one language is served."),
    "dev": (
        "Size of the dev set",
        "Training is steered by the first lines of FLORES dev and evaluated on all of devtest.",
    ),
    "share": (
        "Share of global merges",
        "The share of the merges that is learned from all languages together.",
    ),
    "languages": ("59 languages", "The paper's 60 languages, of which we have training text for 59."),
    "size": ("256,000 tokens", "At this size, the text of small languages runs out."),
    "balance": (
        "Balanced text",
        (
            "`balanced`: as many bytes of each language as the smallest has. A number: that many bytes of "
            "each language, or all if it has fewer. At 32,000 tokens, because there is little balanced text."
        ),
    ),
    "steering": (
        "What steers training",
        (
            "Parallel text; ratios of bytes per line, compared on training text; and training text alone "
            '(`on="train"`), which is not parallel.'
        ),
    ),
    "unigram": (
        "UnigramLM",
        (
            "Trained by SentencePiece on the same counts of the same pre-tokens, over bytes; its initial "
            "pieces are the substrings that cover most of the text."
        ),
    ),
    "pretokenizers": ("Pre-tokenizers", "How text is split before anything is learned."),
}
"""Study -> its heading, and what to know of it."""

HEAD = """\
# The paper, checked

*Written by `python docs/studies.py` from recorded runs: no number and no answer on this page was typed by hand.*

Foroutan et al. introduced parity-aware BPE. This page trains and evaluates every variant of their paper again, on other
text, and tests each claim with a rule that the numbers pass or fail. `make results` reproduces everything from scratch;
`make results QUICK=1` runs a small version on the text that ships with pairity. The studies are the files in
`experiments/`.

These differ from the paper: the training text (up to {megabytes:,.0f} MB of sentences, documentation and software
strings, where the paper has web text), FLORES-200 instead of FLORES+, and the pre-tokenizer (GPT-4o's, unless stated
otherwise). Levels therefore differ, and we compare directions. The paper's claims about perplexity have [their own
study](lm.md); its claims about benchmarks are not tested. {samples}

## The answers

"""


def records(results: Results, answers: Sequence[Answer]) -> dict[str, study_tables.Record]:
    """Name -> table, for docs/results/NAME.json."""
    found = {"studies-claims": study_tables.claims_table(answers)}
    if results.find("table1"):
        found |= {
            "studies-table1": study_tables.main_table(results),
            "studies-sizes": study_tables.sizes_table(results),
            "studies-price": study_tables.price_table(results),
            "studies-away": study_tables.away_table(results),
        }
    for study in STUDIES:
        if results.find(study):
            found[f"studies-{study}"] = study_tables.study_table(results, study)
    if states := study_tables.states_table(results):
        found["studies-states"] = states
    return found


def marked(name: str, tables: dict[str, study_tables.Record]) -> str:
    """A table as docs/tables.py would fill it in."""
    return f"<!-- table:{name} -->\n{render(tables[name], name)}<!-- /table -->\n"


def summary(answers: Sequence[Answer]) -> str:
    """The paper's claims, what fails first; then what it does not ask."""
    claimed = [answer for answer in answers if answer.claim.where != BEYOND]
    parts = []
    for verdict in ORDER:
        named = [answer for answer in claimed if answer.verdict == verdict]
        if named:
            parts.append(f"### {verdict[0].upper()}{verdict[1:]}: {len(named)} of {len(claimed)}\n")
            parts += [f"- **{one.claim.says}** ({one.claim.where}) {told(one)}\n" for one in named]
    parts.append("### What the paper does not ask\n")
    others = [answer for answer in answers if answer.claim.where == BEYOND]
    parts += [f"- **{one.claim.says}** This {one.verdict}. {told(one)}\n" for one in others]
    return "\n".join(parts)


def told(answer: Answer) -> str:
    found = "No run of it is recorded." if answer.verdict == UNTESTED else answer.sentence
    return f"*Passes: {answer.claim.rule}.* {found}"


def samples_sentence(results: Results) -> str:
    """How many samples of the text there are, and of what."""
    rows, unigram = results.find("table1"), results.find("unigram", variant="UnigramLM")
    if not rows:
        return "There is no recorded run of the main table."
    share = rows[0].sample or 1.0
    said = (
        f"The main table uses {len({row.seed for row in rows})} samples of {share:.0%} of the lines; the other studies "
        "use all lines, once."
    )
    if not unigram:
        return f"{said} UnigramLM was not trained."
    part = f"one sample of {unigram[0].sample:.0%}" if unigram[0].sample else "all lines"
    minutes = sum(row.seconds for row in unigram) / 60
    return (
        f"{said} UnigramLM uses {part}, took {minutes:.0f} minutes for {len({row.vocab_size for row in unigram})} "
        "vocabularies, and is compared with BPE trained on the same lines."
    )


def away_sentence(results: Results) -> str:
    """Who is the fairest at home, and who away."""
    each = {
        text: min(results.parity("table1", text, vocab_size=results.largest), key=lambda row: row.gini)
        for text in (HOME, AWAY)
    }
    home, away = each[HOME].variant, each[AWAY].variant
    return (
        f"The fairest variant on FLORES is {home}, with a Gini coefficient of {each[HOME].gini:.3f}. On software "
        f"strings it is {'also ' if home == away else ''}{away}, with {each[AWAY].gini:.3f}.\n\n"
    )


def page(results: Results) -> str:
    answers = study_claims.answers(results)
    tables = records(results, answers)
    largest = max(row.train_bytes for row in results.rows) / 1e6
    parts = [HEAD.format(megabytes=largest, samples=samples_sentence(results)), summary(answers), "\n"]
    parts += ["## All claims in a table\n\n", marked("studies-claims", tables), "\n"]
    if "studies-table1" in tables:
        parts += [
            "## The paper's Table 1\n\n",
            marked("studies-table1", tables),
            "\n## Every size\n\n![Gini against the size of the vocabulary](studies-sizes.svg)\n\n",
            marked("studies-sizes", tables),
            (
                "\n"
                "## The price, and who pays it\n"
                "\n"
                "The paper does not show what fairness costs the languages with the most text.\n"
                "\n"
                "![Tokens per line of each language](studies-languages.svg)\n"
                "\n"
            ),
            marked("studies-price", tables),
            (
                "\n"
                "## On other text\n"
                "\n"
                "In the paper and here, FLORES both steers training and evaluates it. Software strings are "
                "another domain: some are in the training text, but none of them steered training.\n"
                "\n"
                "![Gini on FLORES and on software strings](studies-away.svg)\n"
                "\n"
            ),
            away_sentence(results),
            marked("studies-away", tables),
        ]
    for study, (heading, about) in STUDIES.items():
        if f"studies-{study}" in tables:
            parts.append(f"\n## {heading}\n\n{about}\n\n")
            if study == "share":
                parts.append("![Gini against lines per token](studies-trade.svg)\n\n")
            parts.append(marked(f"studies-{study}", tables))
    if "studies-states" in tables:
        parts.append(
            "\n"
            "## Languages that ran out, got stuck or were starved\n"
            "\n"
            "Gini alone can hide a language that got nothing. Every training run reports which languages "
            "had no pair left (`exhausted`), which were served without getting cheaper (`stuck`), and "
            "which were hardly served while they stayed expensive (`starved`).\n"
            "\n"
        )
        parts.append(marked("studies-states", tables))
    versions = ", ".join(f"{name} {version}" for name, version in results.versions.items())
    number = len({(row.study, row.name) for row in results.rows})
    parts.append(
        "\n"
        "## Versions\n"
        "\n"
        f"{number} tokenizers, each evaluated on `{HOME}` and `{AWAY}`; {versions}; {results.machine}.\n"
    )
    return "".join(parts)


def files(results: Results, docs: Path = DOCS) -> dict[Path, str]:
    """Every file that is made from the record, with its content."""
    tables = records(results, study_claims.answers(results))
    found = {
        docs / "results" / f"{name}.json": json.dumps(table, indent=1, ensure_ascii=False) + "\n"
        for name, table in tables.items()
    }
    needs = {"studies-trade": "share"}
    found |= {
        docs / f"{name}.svg": draw(results)
        for name, draw in FIGURES.items()
        if results.find(needs.get(name, "table1"))
    }
    return found | {docs / "studies.md": page(results)}


def run_and_collect(options: argparse.Namespace) -> Path:
    """Run the studies, and where the pages about them belong."""
    judge = dict(one.partition("=")[::2] for one in options.judge)
    paths = {"train": options.train, "dev": options.dev, "judge": judge, "morph": options.morph}
    run_studies(
        options.run,
        options.only or STUDIES_IN_ORDER,
        quick=options.quick,
        paths=paths,
        threads=options.threads,
    )
    docs = options.run / "pages" if options.quick or any(paths.values()) else DOCS
    (docs / "results").mkdir(parents=True, exist_ok=True)
    study_record.save(study_record.collect(options.run), docs / "results" / "studies.json")
    return Path(docs)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--run", type=Path, metavar="RUNS", help="run the studies, a folder for each in RUNS")
    parser.add_argument("--only", nargs="+", choices=STUDIES_IN_ORDER, help="only these studies")
    parser.add_argument("--quick", action="store_true", help="tiny sizes on the text that ships with pairity")
    parser.add_argument("--train", nargs="+", metavar="SOURCE", help="other text to learn from")
    parser.add_argument("--dev", nargs="+", metavar="SOURCE", help="other parallel text to steer training")
    parser.add_argument(
        "--judge",
        nargs="+",
        default=[],
        metavar="NAME=SOURCE",
        help="other text to judge on: devtest=..., ui=...",
    )
    parser.add_argument("--morph", metavar="FOLDER", help="other gold words for MorphScore")
    parser.add_argument("--threads", type=int, help="default: one per core")
    parser.add_argument("--check", action="store_true", help="only say what is out of date")
    options = parser.parse_args(arguments)
    docs = run_and_collect(options) if options.run else DOCS
    stale = 0
    for path, content in files(study_record.load(docs / "results" / "studies.json"), docs).items():
        if path.exists() and path.read_text(encoding="utf-8") == content:
            continue
        if options.check:
            stale += 1
            print(
                f"docs/{path.relative_to(docs)} is out of date. Run: python docs/studies.py", file=sys.stderr
            )
        else:
            path.write_text(content, encoding="utf-8")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
