"""The page about the paper's claims: made from the record, right about it, and what fails comes first."""

import json
import re
from importlib.util import find_spec
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

import paper
import studies
import study_claims
import study_record
import study_runs
from study_checks import Case
from study_claims import FAILS, HOLDS, PARTLY, UNTESTED, Answer

ROOT = Path(__file__).resolve().parents[2]
PAPER = ROOT.parent / "shared" / "paper" / "parity-aware-bpe.tex"
RECORD = json.loads((ROOT / "docs" / "results" / "studies.json").read_text(encoding="utf-8"))
PAGE = (ROOT / "docs" / "studies.md").read_text(encoding="utf-8")
PARITY = ("parity", "window", "hybrid", "hybrid + window", "ratios")


def rows_of(study: str) -> list[dict[str, Any]]:
    return [row for row in RECORD["rows"] if (row["study"], row["text"]) == (study, "devtest")]


def verdict(says: str) -> str:
    """The heading of the page that a claim stands under."""
    before = PAGE[: PAGE.index(f"- **{says}**")]
    return re.findall(r"^### ([A-Z][a-z ]+): ", before, re.MULTILINE)[-1].lower()


def verdict_of(passed: list[bool]) -> str:
    return HOLDS if all(passed) else PARTLY if any(passed) else FAILS


def table_1(size: int, seed: int) -> dict[str, dict[str, Any]]:
    rows = rows_of("table1")
    return {row["variant"]: row for row in rows if (row["vocab_size"], row["seed"]) == (size, seed)}


SIZES = sorted({row["vocab_size"] for row in rows_of("table1")})
SEEDS = sorted({row["seed"] for row in rows_of("table1")})


def test_the_page_its_tables_and_its_figures_are_those_of_the_record() -> None:
    assert studies.main(["--check"]) == 0


def test_the_main_table_has_three_sizes_and_three_samples_of_every_variant() -> None:
    assert (SIZES, SEEDS) == ([32_000, 64_000, 128_000], [1, 2, 3])
    for size in SIZES:
        for seed in SEEDS:
            assert set(table_1(size, seed)) == {"classical", *PARITY}


def test_every_parity_variant_lowers_gini_by_70_percent_or_the_page_says_that_it_does_not() -> None:
    passed = [
        all(
            table_1(size, seed)[name]["gini"] <= 0.3 * table_1(size, seed)["classical"]["gini"]
            for seed in SEEDS
        )
        for size in SIZES
        for name in PARITY
    ]
    says = "All variants substantially reduce the Gini coefficient relative to classical BPE."
    assert verdict(says) == verdict_of(passed)


def test_compression_is_within_a_percent_of_classical_or_the_page_says_that_it_is_not() -> None:
    passed = [
        all(
            table_1(size, seed)[name]["rate"] >= 0.99 * table_1(size, seed)["classical"]["rate"]
            for seed in SEEDS
        )
        for size in SIZES
        for name in PARITY
    ]
    assert verdict("Global compression rates remain essentially identical.") == verdict_of(passed)


def test_ratios_are_the_least_fair_variant_or_the_page_says_that_they_are_not() -> None:
    passed = [
        all(
            table_1(size, seed)["ratios"]["gini"] == max(table_1(size, seed)[name]["gini"] for name in PARITY)
            for seed in SEEDS
        )
        for size in SIZES
    ]
    says = "The variant with ratios is the least fair of the parity-aware ones."
    assert verdict(says) == verdict_of(passed)


def test_smaller_dev_sets_are_less_fair_and_far_better_than_classical_or_the_page_says_otherwise() -> None:
    rows = rows_of("dev")
    classical = next(row["gini"] for row in rows if row["method"] == "classical")
    passed = []
    for hybrid in (False, True):
        ginis = {
            row["dev_lines"]: row["gini"]
            for row in rows
            if row["method"] == "parity" and (row["global_share"] is not None) == hybrid
        }
        assert sorted(ginis) == [50, 100, 300, 997]
        passed += [ginis[fewer] > ginis[more] for fewer, more in ((50, 100), (100, 300), (300, 997))]
        passed += [ginis[lines] <= 0.3 * classical for lines in (50, 100, 300)]
    says = "A small dev set captures most of the gain; more lines are fairer."
    assert verdict(says) == verdict_of(passed)


def test_what_fails_comes_first() -> None:
    headings = re.findall(r"^### ([A-Z][a-z ]+): ", PAGE, re.MULTILINE)
    order = [FAILS, PARTLY, HOLDS, UNTESTED]
    assert [heading.lower() for heading in headings] == sorted(
        (heading.lower() for heading in headings), key=order.index
    )
    assert PAGE.index("## The answers") < PAGE.index("## The paper's Table 1")


def test_the_main_table_shows_means_over_the_samples_beside_what_the_paper_prints() -> None:
    table = json.loads((ROOT / "docs" / "results" / "studies-table1.json").read_text(encoding="utf-8"))
    shown = {row[0]: row for row in table["rows"] if row[0] != "paper"}
    mean = fmean(table_1(SIZES[-1], seed)["parity"]["gini"] for seed in SEEDS)
    assert shown["parity"][1:3] == [3, pytest.approx(mean)]
    at = [row[0] for row in table["rows"]].index("parity")
    assert table["rows"][at + 1][:3] == ["paper", None, 0.007]


def test_the_record_says_nothing_of_the_machine_and_holds_no_text() -> None:
    text = json.dumps(RECORD)
    assert "/work" not in text
    assert "shared" not in text


@pytest.mark.skipif(not PAPER.exists(), reason="needs ../shared/paper")
def test_the_paper_is_quoted_as_it_is_printed() -> None:
    assert paper.read_paper(PAPER.read_text(encoding="utf-8")) == json.loads(
        (ROOT / "docs" / "results" / "paper.json").read_text(encoding="utf-8")
    )


def test_a_cell_of_the_paper_is_read_with_its_decorations() -> None:
    assert paper.number(r"\textbf{0.434 {\small $\pm$ 0.045}}") == 0.434
    assert paper.number(r"67.0\%") == 0.67
    with pytest.raises(ValueError, match="no number in '-'"):
        paper.number("-")


@pytest.mark.parametrize(
    ("good", "expected"),
    [([True, True], HOLDS), ([True, False], PARTLY), ([False, False], FAILS), ([], UNTESTED)],
)
def test_a_claim_holds_if_all_of_its_cases_do(good: list[bool], expected: str) -> None:
    cases = tuple(Case(f"case {number}", "1", one) for number, one in enumerate(good))
    answer = Answer(study_claims.CLAIMS[0], cases)
    assert answer.verdict == expected
    if expected == PARTLY:
        assert "1 of 2 cases pass. Those that do not: case 1: 1." in answer.sentence


def test_every_file_of_a_study_is_run() -> None:
    assert set(study_runs.STUDIES) == {file.stem for file in (ROOT / "experiments").glob("*.toml")}


def test_the_studies_run_in_small_and_go_on_where_they_ended(tmp_path: Path) -> None:
    some = ["steering", "dev"] + (["unigram"] if find_spec("sentencepiece") else [])
    arguments = ["--run", str(tmp_path), "--quick", "--threads", "2", "--only", *some]
    assert studies.main(arguments) == 0
    pages = tmp_path / "pages"
    results = study_record.load(pages / "results" / "studies.json")
    assert {row.study for row in results.rows} == set(some)
    page = (pages / "studies.md").read_text(encoding="utf-8")
    assert "<!-- table:studies-steering -->" in page
    assert "No run of it is recorded." in page, "the other studies were not run"

    made = tmp_path / "steering" / "tokenizers" / "parity" / "pairity.json"
    before = made.stat().st_mtime_ns
    assert studies.main(arguments) == 0
    assert made.stat().st_mtime_ns == before, "a finished tokenizer was made again"


def test_a_study_can_be_run_on_other_text() -> None:
    sample = study_runs.FOLDER
    other = {"train": [str(sample / "dev")], "judge": {"devtest": str(sample / "test")}, "morph": None}
    experiment = study_runs.on_other_text(study_runs.read(ROOT / "experiments" / "steering.toml"), other)
    assert experiment.train == [str(sample / "dev")]
    assert experiment.judge == {"devtest": str(sample / "test")}
