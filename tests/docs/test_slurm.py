"""The job files for Slurm: the page shows them, and they give what one process gives."""

import os
import re
import subprocess
from pathlib import Path

import pytest

from examples import ROOT, install_program
from pairity import sample
from program import pairity

JOBS = {name: (ROOT / "examples" / "slurm" / name).read_text() for name in ("count.sbatch", "merge.sbatch")}


@pytest.mark.parametrize("name", JOBS)
def test_the_page_shows_the_file(name: str) -> None:
    page = (ROOT / "docs" / "howto" / "cluster.md").read_text(encoding="utf-8")
    assert f"```sh\n{JOBS[name]}```" in page


def test_the_array_has_as_many_tasks_as_there_are_shards() -> None:
    assert re.findall(r"--array=1-(\d+)|^shards=(\d+)", JOBS["count.sbatch"], re.MULTILINE) == [
        ("16", ""),
        ("", "16"),
    ]


def test_the_jobs_give_the_counts_of_one_process(tmp_path: Path) -> None:
    """With three shards instead of 16; a task that failed runs again."""
    install_program(tmp_path)

    def job(name: str, *words: str, **variables: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            ["bash", "-c", JOBS[name].replace("shards=16", "shards=3"), name, *words],
            cwd=tmp_path,
            env={**os.environ, "PATH": f"{tmp_path}{os.pathsep}{os.environ['PATH']}", **variables},
            capture_output=True,
            text=True,
            check=False,
        )

    corpus = str(sample.FOLDER / "dev")
    for task in ("3", "1", "3"):
        done = job("count.sbatch", corpus, SLURM_ARRAY_TASK_ID=task, SLURM_CPUS_PER_TASK="2")
        assert done.returncode == 0, done.stderr
    done = job("merge.sbatch")
    assert done.returncode == 1
    assert "but 2 is missing" in done.stderr
    job("count.sbatch", corpus, SLURM_ARRAY_TASK_ID="2", SLURM_CPUS_PER_TASK="2")
    done = job("merge.sbatch")
    assert done.returncode == 0, done.stderr
    pairity("count", corpus, "-o", tmp_path / "one.parquet")
    assert (tmp_path / "counts.parquet").read_bytes() == (tmp_path / "one.parquet").read_bytes()
