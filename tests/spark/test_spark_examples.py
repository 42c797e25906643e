"""The examples of the pages that need Spark, which the tests of the pages leave out."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from examples import PAGES, ROOT, blocks_of, install_program
from pairity import sample
from spark_here import needs_spark

pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore")]

WITH_SPARK = [page for page in PAGES if any("pyspark" in block.needs for block in blocks_of(page))]


@pytest.fixture
def start(tmp_path: Path) -> Path:
    """What these pages use of the folder that the tutorial makes."""
    folder = tmp_path / "start"
    for name in ("train", "dev"):
        shutil.copytree(sample.FOLDER / "dev", folder / name)
    for name in ("devtest", "tokenizer"):
        (folder / name).mkdir()
    return folder


@needs_spark
@pytest.mark.parametrize("page", WITH_SPARK, ids=lambda page: page.name)
def test_examples_with_spark(page: Path, start: Path, tmp_path: Path) -> None:
    """In a process of its own: Java stays in the folder that it was started in."""
    program = tmp_path / "program"
    program.mkdir()
    script = "import sys; from pathlib import Path; from examples import run_page\n"
    script += "page, folder, program, start = map(Path, sys.argv[1:])\n"
    script += "run_page(page, folder, program, start=start)"
    paths = [str(ROOT / "docs"), *sys.path]
    done = subprocess.run(
        [sys.executable, "-c", script, page, tmp_path / "work", install_program(program), start],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
