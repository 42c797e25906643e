"""`count`, `merge` and `train` with --memory, --min-count and --resume, as a user runs them."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pairity import Counts, Tokenizer, sample
from program import PROGRAM, pairity
from spilling_text import LIMIT, write_text

DEV = sample.FOLDER / "dev"


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_text(tmp_path_factory.mktemp("counting") / "text")


@pytest.fixture(scope="module")
def expected(text: Path) -> bytes:
    done = pairity("count", text, "-o", text.parent / "expected.parquet")
    assert done.returncode == 0, done.stderr
    return (text.parent / "expected.parquet").read_bytes()


def stopped(words: list[object], journal: Path) -> None:
    """Run a command and kill it as soon as it has kept something."""
    with subprocess.Popen([*PROGRAM, *map(str, words)], stdout=subprocess.DEVNULL) as run:
        while not journal.exists():
            assert run.poll() is None, "it ended before it could be killed"
            time.sleep(0.01)
        run.send_signal(signal.SIGKILL)


def test_a_killed_count_goes_on_and_gives_the_same_bytes(tmp_path: Path, text: Path, expected: bytes) -> None:
    output, kept = tmp_path / "counts.parquet", tmp_path / "counts.parquet.checkpoint"
    words = ["count", text, *LIMIT, "-o", output]
    stopped(words, kept / "journal.json")
    assert not output.exists()
    other = pairity(*words, "--resume", "--pretokenizer", "gpt2")
    assert other.returncode == 1
    assert "checkpoint belongs to a run with other settings" in other.stderr
    done = pairity(*words, "--resume")
    assert done.returncode == 0, done.stderr
    assert "note" not in done.stderr
    assert output.read_bytes() == expected
    assert list(tmp_path.iterdir()) == [output]
    again = pairity(*words, "--resume")
    assert again.returncode == 0
    assert "is finished: it holds counts with these settings" in again.stderr
    assert pairity(*words, "--resume", "--min-count", 2).returncode == 1, "other settings"


@pytest.mark.parametrize("counted", [False, True])
def test_a_finished_run_is_of_these_languages(tmp_path: Path, counted: bool) -> None:
    source = tmp_path / "all.parquet"
    assert pairity("count", DEV, "-o", source).returncode == 0
    given = source if counted else DEV
    for name, words, without in (
        (
            "t",
            ["train", "--train", given, "--on", "train", "--num-merges", 5, "--resume"],
            ["--skip", "tam_Taml"],
        ),
        ("c.parquet", ["count", given, "--resume"], ["--languages", "eng_Latn,deu_Latn"]),
    ):
        words += ["-o", tmp_path / name]
        assert pairity(*words, *without).returncode == 0
        assert f"{name} is finished" in pairity(*words, *without).stderr
        more = pairity(*words)
        assert more.returncode == 1, "languages that were left out before"
        assert "already" in more.stderr
    if counted:
        source.unlink()
        train = ["train", "--train", source, "--on", "train", "--num-merges", 5, "--resume"]
        assert "t is finished" in pairity(*train, "--skip", "tam_Taml", "-o", tmp_path / "t").stderr


def test_without_resume_a_killed_count_starts_over(tmp_path: Path, text: Path, expected: bytes) -> None:
    output = tmp_path / "counts.parquet"
    words = ["count", text, *LIMIT, "-o", output]
    stopped(words, tmp_path / "counts.parquet.checkpoint" / "journal.json")
    done = pairity(*words)
    assert done.returncode == 0, done.stderr
    assert "checkpoint is from an interrupted run; this run starts over" in done.stderr
    assert output.read_bytes() == expected
    assert list(tmp_path.iterdir()) == [output]


def test_training_under_a_limit_gives_the_same_tokenizer(tmp_path: Path, text: Path) -> None:
    words = ["train", "--train", text, "--on", "train", "--num-merges", 50]
    plain, limited = tmp_path / "plain", tmp_path / "limited"
    assert pairity(*words, "-o", plain).returncode == 0
    kept = tmp_path / "limited.checkpoint.parquet.counting"
    stopped([*words, *LIMIT, "-o", limited], kept / "journal.json")
    done = pairity(*words, *LIMIT, "--resume", "-o", limited)
    assert done.returncode == 0, done.stderr
    assert (limited / "tokenizer.json").read_bytes() == (plain / "tokenizer.json").read_bytes()
    assert {path.name for path in tmp_path.iterdir()} == {"plain", "limited"}


def test_pruning_is_told_and_recorded(tmp_path: Path) -> None:
    output = tmp_path / "counts.parquet"
    done = pairity("count", DEV, "--min-count", 2, "-o", output)
    assert done.returncode == 0, done.stderr
    assert "note: min_count 2 left out " in done.stderr
    metadata = json.loads(pq.ParquetFile(output).metadata.metadata[b"pairity"])
    assert all(size["pruned"]["min_count"] == 2 for size in metadata["languages"].values())
    merged = pairity("merge", output, "-o", tmp_path / "merged.parquet")
    assert "note: min_count 2 left out " in merged.stderr
    assert (tmp_path / "merged.parquet").read_bytes() == output.read_bytes()
    words = [
        "train",
        "--train",
        DEV,
        "--dev",
        DEV,
        "--min-count",
        3,
        "--num-merges",
        20,
        "-o",
        tmp_path / "tok",
    ]
    trained = pairity(*words)
    assert trained.returncode == 0, trained.stderr
    assert "note: min_count 3 left out " in trained.stderr
    assert Tokenizer.load(tmp_path / "tok").record["min_count"] == 3
    assert "is finished" in pairity(*words, "--resume").stderr
    words[words.index(3)] = 4
    assert "already holds a tokenizer" in pairity(*words, "--resume").stderr


def test_parts_are_merged_and_pruned(tmp_path: Path) -> None:
    for part in ("dev", "test"):
        assert pairity("count", sample.FOLDER / part, "-o", tmp_path / f"{part}.parquet").returncode == 0
    files = [tmp_path / "dev.parquet", tmp_path / "test.parquet"]
    for order, name in ((files, "one"), (files[::-1], "other")):
        done = pairity("merge", *order, "--min-count", 2, "-o", tmp_path / f"{name}.parquet")
        assert done.returncode == 0, done.stderr
    assert (tmp_path / "one.parquet").read_bytes() == (tmp_path / "other.parquet").read_bytes()
    assert min(counts.counts.min() for counts in Counts.load(tmp_path / "one.parquet").values()) == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--memory", "some"], "'some' is not a size: write a number and a unit, as in 512MB"),
        (["--memory", "1MB"], "error: memory is 1.0 MB, but"),
        (["--min-count", "0"], "error: min_count is 0: give a whole number, at least 1."),
        (
            ["--min-count", "2", "--split", "dev"],
            "error: min_count is 2, but languages are compared on dev text",
        ),
    ],
)
def test_bad_values_are_refused(tmp_path: Path, words: list[str], said: str) -> None:
    done = pairity("count", DEV, *words, "-o", tmp_path / "counts.parquet")
    assert done.returncode in (1, 2)
    assert said in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_the_options_stand_in_a_config_file(tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text('[count]\nmemory = "1MB"\n')
    done = pairity("count", DEV, "--config", config, "-o", tmp_path / "counts.parquet")
    assert f"error: {config}: memory is 1.0 MB" in done.stderr
    config.write_text('[count]\nmemory = "1GB"\nmin-count = 2\nresume = true\n')
    done = pairity("count", DEV, "--config", config, "-o", tmp_path / "counts.parquet")
    assert done.returncode == 0, done.stderr
    assert "min_count 2 left out" in done.stderr
