"""The pages hold: tables come from records, links lead somewhere, errors are quoted as they are raised."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import tables
from pairity import PairityError, train

ROOT = Path(__file__).resolve().parents[1]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]

RECORD = {
    "made_by": "pairity demo",
    "columns": [{"name": "tokenizer"}, {"name": "Gini", "format": ".3f"}, {"name": "tokens", "format": ",d"}],
    "rows": [["classical", 0.28649, 12345], ["a|b", None, 7]],
    "note": "Sample text.",
}
TABLE = (
    "| tokenizer | Gini | tokens |\n"
    "|---|--:|--:|\n"
    "| classical | 0.286 | 12,345 |\n"
    "| a\\|b | – | 7 |\n"
    "\n"
    "Made by `pairity demo`. Sample text.\n"
)
PAGE = "# Title\n\n<!-- table:demo -->\nold\n<!-- /table -->\n\nafter\n"


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with one page, one marker and its record."""
    (tmp_path / "docs" / "results").mkdir(parents=True)
    (tmp_path / "README.md").write_text(PAGE, encoding="utf-8")
    (tmp_path / "docs" / "results" / "demo.json").write_text(json.dumps(RECORD), encoding="utf-8")
    return tmp_path


def test_pages_are_up_to_date() -> None:
    assert tables.main(["--check"]) == 0


def test_the_map_of_the_code_is_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "docs" / "map.py", "--check"], check=False, capture_output=True, text=True
    )
    assert (done.returncode, done.stdout) == (0, "")


def test_files_can_be_read_in_one_sitting() -> None:
    """One that has more than 400 lines says in its head why."""
    rooms = ("python", "src", "tests", "benches", "docs", "examples")
    files = [
        path for room in rooms for path in (ROOT / room).rglob("*") if path.suffix in (".py", ".rs", ".js")
    ]
    assert len(files) > 200
    texts = {path: path.read_text(encoding="utf-8").splitlines() for path in files}
    long = [path for path, lines in texts.items() if len(lines) > 400]
    assert [path for path in long if "Longer than other files" not in " ".join(texts[path][:12])] == []


def test_no_two_tests_have_one_name() -> None:
    """pytest imports a file by its name alone."""
    names = [path.name for path in (ROOT / "tests").rglob("*.py") if path.name != "conftest.py"]
    assert [name for name in set(names) if names.count(name) > 1] == []


def test_a_table_is_written_once_and_then_is_up_to_date(
    checkout: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = ["--root", str(checkout)]
    assert tables.main([*arguments, "--check"]) == 1
    assert "README.md: a table is out of date. Run: make docs-numbers" in capsys.readouterr().err
    assert (checkout / "README.md").read_text(encoding="utf-8") == PAGE, "--check wrote something"

    assert tables.main(arguments) == 0
    filled = (checkout / "README.md").read_text(encoding="utf-8")
    assert filled == PAGE.replace("old\n", TABLE)
    assert tables.main([*arguments, "--check"]) == 0
    assert tables.main(arguments) == 0
    assert (checkout / "README.md").read_text(encoding="utf-8") == filled


def test_a_page_may_show_some_of_the_rows(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = checkout / "README.md"
    page.write_text(PAGE.replace("table:demo", "table:demo 2"), encoding="utf-8")
    tables.main(["--root", str(checkout)])
    some = "".join(line for line in TABLE.splitlines(keepends=True) if "classical" not in line)
    assert page.read_text(encoding="utf-8") == PAGE.replace("table:demo", "table:demo 2").replace(
        "old\n", some
    )
    page.write_text(PAGE.replace("table:demo", "table:demo 3"), encoding="utf-8")
    assert tables.main(["--root", str(checkout)]) == 1
    assert "README.md: rows 3 of a table that has 2." in capsys.readouterr().err


def test_a_changed_number_is_out_of_date(checkout: Path) -> None:
    tables.main(["--root", str(checkout)])
    page = checkout / "README.md"
    page.write_text(page.read_text(encoding="utf-8").replace("0.286", "0.186"), encoding="utf-8")
    assert tables.main(["--root", str(checkout), "--check"]) == 1


def test_without_a_record_no_old_number_stays(checkout: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "docs" / "results" / "demo.json").unlink()
    assert tables.main(["--root", str(checkout)]) == 0
    assert "no record for table 'demo'" in capsys.readouterr().err
    assert (checkout / "README.md").read_text(encoding="utf-8") == PAGE.replace("old\n", tables.NOT_MEASURED)


@pytest.mark.parametrize(
    "page",
    [
        "<!-- table:demo -->\n| 1 |\n",
        "<!-- /table -->\n",
        "<!-- table:demo -->\n<!-- table:other -->\n<!-- /table -->\n",
    ],
)
def test_markers_must_pair_up(checkout: Path, page: str, capsys: pytest.CaptureFixture[str]) -> None:
    (checkout / "README.md").write_text(page, encoding="utf-8")
    assert tables.main(["--root", str(checkout)]) == 1
    assert "README.md" in capsys.readouterr().err
    assert (checkout / "README.md").read_text(encoding="utf-8") == page


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": []}, "'rows' is missing or empty"),
        ({"made_by": ""}, "'made_by' is missing or empty"),
        ({"rows": [["classical", 0.1]]}, "row 1 has 2 values for 3 columns"),
        ({"rows": [["classical", "much", 3]]}, "'much' in column 'Gini' does not fit the format '.3f'"),
    ],
)
def test_a_broken_record_is_named(change: dict[str, object], message: str) -> None:
    with pytest.raises(tables.TableError, match=re.escape(f"demo.json: {message}")):
        tables.render(RECORD | change, "demo.json")


def _anchor(heading: str) -> str:
    """GitHub's anchor of a heading: 'The limit' -> 'the-limit'."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\(([^)\s]+)\)", page.read_text(encoding="utf-8")):
        if target.startswith("https://"):
            continue
        path, _, anchor = target.partition("#")
        linked = (page.parent / path).resolve() if path else page
        assert linked.is_file(), f"{target} does not exist"
        if anchor:
            headings = re.findall(r"^#+ (.+)$", linked.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in map(_anchor, headings), f"{target}: no such heading"


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/input.md"])
def test_the_error_that_pages_quote_is_the_one_that_is_raised(page: str) -> None:
    text = {f"language_{number}": ["text"] for number in range(29)}
    with pytest.raises(PairityError) as raised:
        train(text | {"tel_Telu": ["text"]}, dev=text, vocab_size=300, progress=False)
    assert f"\n    {raised.value}\n" in (ROOT / page).read_text(encoding="utf-8")


def test_readme_says_how_to_install_by_line_20() -> None:
    first = "\n".join((ROOT / "README.md").read_text(encoding="utf-8").splitlines()[:20])
    assert "make demo" in first
    assert "make test" in first
    assert "pip install" in first


def test_make_help_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.+)$", makefile, re.MULTILINE)
    assert phony is not None
    listed = subprocess.run(
        ["make", "-s", "help"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout
    for target in phony[1].split():
        assert re.search(rf"^make {target} +\w", listed, re.MULTILINE), f"{target} has no ## help line"
