"""Options of `count` that choose an engine, where there is none to choose."""

import sys
from pathlib import Path

import pytest

import pairity
import pairity.spark
from pairity.errors import PairityError
from program import pairity as run


def test_spark_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspark", None)
    with pytest.raises(PairityError, match=r"needs the package pyspark.*pip install 'pairity\[spark\]'"):
        pairity.spark.count(object(), language="eng_Latn")
    with (
        pytest.raises(PairityError, match=r"pip install 'pairity\[spark\]'"),
        pairity.spark.start("local[2,4]"),
    ):
        pass


def test_a_master_is_for_spark(tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.txt").write_text("to be\n")
    done = run("count", tmp_path, "--master", "local[2,4]", "-o", tmp_path / "counts.parquet")
    assert done.returncode == 1
    assert "master is 'local[2,4]', but the engine is pairity: add --engine spark." in done.stderr


@pytest.mark.parametrize(
    "master", ["spark://127.0.0.1:1", "spark://127.0.0.1:1,127.0.0.1:2", "spark://h.invalid:7077"]
)
def test_a_master_that_is_not_there_is_found_out_at_once(master: str) -> None:
    with pytest.raises(PairityError, match="cannot be reached"):
        pairity.spark.check_master(master)


def test_threads_are_for_the_master_to_say(tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.txt").write_text("to be\n")
    words = ["--engine", "spark", "--threads", "2", "-o", tmp_path / "counts.parquet"]
    done = run("count", tmp_path / "eng_Latn.txt", *words)
    assert done.returncode == 1
    assert "threads is 2: leave it out, because on Spark the master decides how many" in done.stderr


@pytest.mark.parametrize("master", ["local[2,4]", "yarn", "k8s://https://host:443"])
def test_other_masters_are_for_spark_to_find(master: str) -> None:
    pairity.spark.check_master(master)
