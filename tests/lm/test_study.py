"""The study's scripts in small: prepared, run where there is torch and no pyarrow, and made into tables."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import pairity
import tables
from pairity import sample
from pairity.lm.documents import Choice
from pairity.lm.texts import TextArray

ROOT = Path(__file__).resolve().parents[2]
LANGUAGES = ["deu_Latn", "eng_Latn", "hin_Deva"]


def test_carried_texts_come_back_in_their_order():
    import lm_carry

    random = np.random.default_rng(1)
    texts = TextArray.of((int(random.integers(3)), random.bytes(int(random.integers(9)))) for _ in range(200))
    again = lm_carry.mixed(lm_carry.grouped(texts))
    assert [*again.batches()] == [*texts.batches()]
    assert again.language.tolist() == texts.language.tolist()


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """What two calls where the GPU would be leave."""
    pytest.importorskip("torch")
    import lm_prepare

    folder = tmp_path_factory.mktemp("study")
    carry = lm_prepare.prepare(
        folder / "prepared",
        train=sample.FOLDER / "dev",
        dev=sample.FOLDER / "dev",
        test=sample.FOLDER / "test",
        languages=LANGUAGES,
        methods={"classical": pairity.Classical(), "parity": pairity.Parity()},
        vocab_size=500,
        choice=Choice(held_out=8),
    )
    copy = folder / "copy"
    (copy / "docs").mkdir(parents=True)
    for name in ("lm_run.py", "lm_carry.py"):
        shutil.copy(ROOT / "docs" / name, copy / "docs")
    shutil.copytree(ROOT / "python", copy / "python", ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    blocked = "import sys\nfor name in ('pyarrow', 'click', 'rich'): sys.modules[name] = None\n"
    started = f"{blocked}sys.path.insert(0, 'docs')\nimport lm_run; lm_run.main()"
    settings = [
        "--size",
        "5M",
        "--batch",
        "2",
        "--context",
        "32",
        "--epochs",
        "0.03",
        "--precision",
        "float32",
        "--seeds",
        "1",
        "2",
    ]
    for part in (["--most", "5"], ["--from", "5"]):
        words = ["--carry", carry, "--work", folder / "work", "-o", folder / "out", *settings, *part]
        done = subprocess.run(
            [sys.executable, "-c", started, *map(str, words)],
            cwd=copy,
            env={**os.environ, "PYTHONPATH": str(without_pairity()), "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        assert "the same ids as before" in done.stdout
    return sorted((folder / "out").glob("lm-*.json"))


def without_pairity() -> str:
    parts = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    return os.pathsep.join(part for part in parts if part and not (Path(part) / "pairity").exists())


def test_every_run_is_done_once_and_has_the_bits_of_every_line(measured):
    assert [file.name for file in measured] == ["lm-0.json", "lm-5.json"]
    runs = [run for file in measured for run in json.loads(file.read_text())["runs"]]
    assert [run["number"] for run in runs] == list(range(6))
    assert sum(run["equal"] == "compute" for run in runs) == 2
    lines = len((sample.FOLDER / "test" / "eng_Latn.txt").read_text().splitlines())
    for run in runs:
        assert {language: len(bits) for language, bits in run["bits"]["parallel"].items()} == dict.fromkeys(
            LANGUAGES, lines
        )
    compute = [run for run in runs if run["equal"] == "compute" or run["tokenizer"] == "classical"]
    assert len({run["steps"] for run in compute}) == 1, (
        "as many steps as the tokenizer with the fewest tokens"
    )


def test_tables_are_made_from_the_measurements(measured, tmp_path):
    import lm_tables
    import tables

    assert lm_tables.main([*map(str, measured), "-o", str(tmp_path), "--resamples", "50"]) == 0
    for name in lm_tables.TABLES:
        record = json.loads((tmp_path / f"lm-{name}.json").read_text())
        assert tables.render(record, name).startswith("| ")
    overview = json.loads((tmp_path / "lm-overview.json").read_text())["rows"]
    assert [row[0] for row in overview] == ["classical", "parity"]
    differences = json.loads((tmp_path / "lm-differences.json").read_text())["rows"]
    assert [row[0] for row in differences] == ["parity, equal bytes", "parity, equal compute"]
    run = json.loads(measured[0].read_text())["runs"]
    mean = {
        one["tokenizer"]: np.mean([np.mean(bits) for bits in one["bits"]["parallel"].values()])
        for one in run
        if one["seed"] == 1 and one["equal"] == "bytes"
    }
    assert differences[0][2].startswith(f"{mean['parity'] - mean['classical']:+.2f}")


def test_rank_correlation():
    import lm_tables

    assert lm_tables.spearman([1, 2, 3], [10, 20, 15]) == pytest.approx(0.5)
    assert lm_tables.spearman([1, 2, 3, 4], [4, 3, 2, 1]) == pytest.approx(-1)


def test_steps_are_timed_on_whatever_device_there_is(tmp_path):
    pytest.importorskip("torch")
    import torch

    import lm_speed

    given = [
        "--size",
        "5M",
        "--batch",
        "2",
        "4:2",
        "--context",
        "16",
        "--precision",
        "float32",
        "--steps",
        "2",
    ]
    lm_speed.main(["-o", str(tmp_path / "speed.json"), *given])
    record = json.loads((tmp_path / "speed.json").read_text())
    assert [row[:3] for row in record["rows"]] == [["5M", "2 x 16", "2"], ["5M", "4 x 16", "2"]]
    assert f"PyTorch {torch.__version__}," in record["note"]
    for _, batch, _, milliseconds, tokens, *_ in record["rows"]:
        a_second = int(batch.split()[0]) * 16 / (float(milliseconds) / 1000)
        # Both are rounded, which shows where a step takes under a millisecond or over ten seconds.
        assert int(tokens.replace(",", "")) == pytest.approx(a_second, rel=0.1, abs=1)
    assert tables.render(record, "speed.json").startswith("| model | batch |")
