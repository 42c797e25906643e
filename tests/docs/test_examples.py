"""Every example of the pages runs, and prints what the page says."""

import re
from pathlib import Path

import pytest

from examples import PAGES, ROOT, TUTORIAL, Block, blocks_of, install_program, run_page, same_output

NOT_RUN = {
    "docs/lm.md": 3,
    "README.md": 1,
    "docs/howto/cluster.md": 3,
    "docs/howto/evaluate.md": 1,
    "docs/howto/sampling.md": 1,
    "docs/howto/ship.md": 1,
    "docs/input.md": 3,
    "docs/tutorial.md": 1,
}
"""Page -> blocks that no test can run, each with its reason in the page."""

BLOCKS = [block for page in PAGES for block in blocks_of(page)]
WITH_EXAMPLES = [page for page in PAGES if page != TUTORIAL and any(block.runs for block in blocks_of(page))]


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def check(outputs: list[tuple[Block, str]]) -> None:
    for block, printed in outputs:
        assert same_output(block.text, printed), (
            f"{block.place} shows other output than what is printed (python docs/examples.py writes it):\n{printed}"
        )


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return install_program(tmp_path_factory.mktemp("program"))


@pytest.fixture(scope="module")
def tutorial(tmp_path_factory: pytest.TempPathFactory, program: Path) -> tuple[Path, list[tuple[Block, str]]]:
    """The folder of someone who has followed the tutorial, and what was printed."""
    folder = tmp_path_factory.mktemp("tutorial")
    return folder, run_page(TUTORIAL, folder, program, start=None)


def test_the_tutorial_runs(tutorial: tuple[Path, list[tuple[Block, str]]]) -> None:
    folder, outputs = tutorial
    assert (folder / "tokenizer" / "tokenizer.json").is_file()
    check(outputs)


@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=name_of)
def test_examples_run(page: Path, tutorial: tuple[Path, object], program: Path, tmp_path: Path) -> None:
    check(run_page(page, tmp_path, program, start=tutorial[0], without=("pyspark",)))  # see tests/spark


@pytest.mark.parametrize("block", [block for block in BLOCKS if block.needs], ids=lambda block: block.place)
def test_examples_have_their_packages(block: Block) -> None:
    """The tests above leave such a block out where its package is missing; here it is named."""
    if block.missing:
        pytest.skip(f"not run, because it is not installed: {', '.join(block.missing)}")
    assert block.runs


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_are_of_a_kind_and_mark_that_is_known(page: Path) -> None:
    runs = r"(not run: .+|fresh|(fresh; )?needs: \w+(, \w+)*)?"
    kinds = {"sh": runs, "python": runs, "text": "(output)?"}
    blocks = blocks_of(page)
    for block in blocks:
        assert block.kind in kinds, f"{block.place}: a block of {block.kind!r}, which nothing runs or checks"
        assert re.fullmatch(kinds[block.kind], block.mark), f"{block.place}: <!-- {block.mark} --> is unknown"
    fences = len(re.findall(r"^ *```", page.read_text(encoding="utf-8"), re.MULTILINE))
    assert fences == 2 * len(blocks), "a block that is not found cannot be run"


def test_the_blocks_that_cannot_run_are_these() -> None:
    found = [block.page for block in BLOCKS if block.mark.startswith("not run")]
    assert {page: found.count(page) for page in found} == NOT_RUN


def test_output_is_compared_line_by_line() -> None:
    assert same_output("a\nb\n", "a  \nb\n\n")
    assert same_output("a\n...\nd\n", "a\nb\nc\nd\n")
    assert not same_output("a\nc\n", "a\nb\n")
    assert not same_output("a\n", "a\nb\n")
