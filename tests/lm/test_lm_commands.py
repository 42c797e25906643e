"""`pack` and `lm` as a user runs them."""

import importlib.util
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pairity import sample
from pairity.lm.model_scores import read_model_scores
from pairity.lm.packs import Pack
from program import pairity

DEV, TEST = sample.FOLDER / "dev", sample.FOLDER / "test"
LANGUAGES = "deu_Latn,eng_Latn"
has_torch = importlib.util.find_spec("torch") is not None


@pytest.fixture(scope="module")
def folder(tokenizers, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two tokenizers, and packs of them made by the command."""
    made = tmp_path_factory.mktemp("commands")
    for name, tokenizer in tokenizers.items():
        tokenizer.save(made / name)
    (made / "pack.toml").write_text('[pack]\nheld-out = 5\nseed = 2\n\n[lm.train]\nsize = "5M"\n')
    words = ["--tokenizer", *(f"{name}={made / name}" for name in tokenizers), "--language", LANGUAGES]
    done = pairity(
        "pack", DEV, *words, "--parallel", TEST, "--config", made / "pack.toml", "-o", made / "packs"
    )
    assert done.returncode == 0, done.stderr
    assert "bytes per token" in done.stdout
    return made


def test_pack_reads_its_options_from_a_config_file(folder):
    packs = [Pack(folder / "packs" / name) for name in ("classical", "parity")]
    assert packs[0].manifest["documents"] == packs[1].manifest["documents"]
    assert packs[0].manifest["settings"]["held_out"] == 5
    assert packs[0].manifest["settings"]["seed"] == 2
    assert packs[0].languages == ["deu_Latn", "eng_Latn"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--held-out", "-1"], "held_out is -1"),
        (["--balanced", "--temperature", "3.3"], "cannot be combined"),
        (["--weight", "eng_Latn"], "write LANG=W"),
        (["--end-token", "<x>"], "has no special token '<x>' (its special tokens: "),
        (["--language", "xyz_Latn"], "xyz_Latn"),
    ],
)
def test_bad_options_are_told_before_the_work(folder, tmp_path, words, message):
    done = pairity("pack", DEV, "--tokenizer", f"a={folder / 'parity'}", *words, "-o", tmp_path / "p")
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.glob("p/**/pack.json"))


@pytest.mark.skipif(has_torch, reason="torch is installed")
def test_without_torch_the_error_names_the_extra(folder, tmp_path):
    done = pairity("lm", "train", folder / "packs" / "parity", "-o", tmp_path / "m")
    assert done.returncode == 1
    assert "pip install 'pairity[lm]'" in done.stderr


@pytest.mark.skipif(not has_torch, reason="torch is not installed")
def test_models_are_trained_and_measured(folder, tmp_path):
    small = [
        "--batch",
        2,
        "--context",
        32,
        "--tokens",
        128,
        "--precision",
        "float32",
        "--config",
        folder / "pack.toml",
    ]
    for name in ("classical", "parity"):
        done = pairity("lm", "train", folder / "packs" / name, "-o", tmp_path / name, *small)
        assert done.returncode == 0, done.stderr
        assert json.loads((tmp_path / name / "lm.json").read_text())["recipe"]["size"] == "5M", (
            "from [lm.train]"
        )
    models = [tmp_path / "classical", tmp_path / "parity"]
    done = pairity("lm", "measure", *models, "-o", tmp_path / "bits.parquet", "--resamples", 20)
    assert done.returncode == 0, done.stderr
    assert "bits per line, parallel" in done.stdout
    assert "against classical" in done.stdout
    table = pq.read_table(tmp_path / "bits.parquet")
    assert set(table["text"].to_pylist()) == {"held-out", "parallel"}
    assert table.num_rows == 2 * 3 * 3
    assert {one.tokenizer for one in read_model_scores(tmp_path / "bits.parquet")} == {"classical", "parity"}
    done = pairity("lm", "measure", *models, "--baseline", "none", "-o", tmp_path / "b.csv")
    assert "no model has the tokenizer 'none': choose one of classical, parity." in done.stderr
    assert not (tmp_path / "b.csv").exists(), "known before anything is measured"


def test_results_of_benchmarks_are_scored(tmp_path):
    for name, value in (("a", 0.5), ("b", 0.25)):
        results = {"xnli_el": {"acc,none": value, "acc_stderr,none": 0.1}}
        (tmp_path / f"{name}.json").write_text(json.dumps({"results": results}))
    files = [f"{name}={tmp_path / name}.json" for name in "ab"]
    done = pairity("lm", "score", *files, "-o", tmp_path / "scores.csv")
    assert done.returncode == 0, done.stderr
    assert "50.00 ± 10.00" in done.stdout
    assert "33.33" in done.stdout
    first, second = read_model_scores(tmp_path / "scores.csv")
    assert (first.tokenizer, first.language, first.measure) == ("a", "ell_Grek", "accuracy")
    assert (first.value, first.low, first.high) == pytest.approx((0.5, 0.304, 0.696))
    assert (second.value, second.random) == pytest.approx((0.25, 1 / 3))


def test_results_go_by_the_names_of_their_files_and_a_model_may_have_several(tmp_path):
    for name, task in (("a", "xnli_el"), ("b", "belebele_ell_Grek"), ("c", "xnli_el")):
        (tmp_path / f"{name}.json").write_text(json.dumps({"results": {task: {"acc,none": 0.5}}}))
    done = pairity("lm", "score", tmp_path / "a.json", tmp_path / "c.json", "-o", tmp_path / "s.csv")
    assert done.returncode == 0, done.stderr
    assert [one.tokenizer for one in read_model_scores(tmp_path / "s.csv")] == ["a", "c"]
    several = [f"parity={tmp_path / name}.json" for name in "ab"]
    done = pairity("lm", "score", *several, "-o", tmp_path / "t.parquet")
    assert done.returncode == 0, done.stderr
    table = pq.read_table(tmp_path / "t.parquet")
    assert table["benchmarks"].to_pylist() == ["XNLI, Belebele"]
    done = pairity("lm", "score", tmp_path / "a.json", tmp_path / "a.json", "-o", tmp_path / "u.csv")
    assert "have the same name: write NAME=" in done.stderr


@pytest.mark.parametrize("command", ["measure", "score"])
def test_the_ending_of_a_table_is_checked_before_the_work(tmp_path, command):
    done = pairity("lm", command, tmp_path / "none", "-o", tmp_path / "s.xlsx")
    assert done.returncode == 1
    assert "choose one of these extensions" in done.stderr
