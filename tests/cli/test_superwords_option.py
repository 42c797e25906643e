"""Superwords on the command line: one option, and counts of phrases."""

from pairity import Tokenizer, sample
from program import pairity

DEV = sample.FOLDER / "dev"


def test_superwords_from_text_and_from_counts_of_phrases(tmp_path):
    words = ["--dev", DEV, "--vocab-size", 1500, "--superwords", 0.6, "--joint", 0.5]
    done = pairity("train", "--train", DEV, *words, "-o", tmp_path / "text")
    assert done.returncode == 0, done.stderr
    (english,) = (line for line in done.stdout.splitlines() if line.strip().startswith("eng_Latn"))
    assert english.rstrip().endswith("% superwords")
    assert (
        "is finished" in pairity("train", "--train", DEV, *words, "--resume", "-o", tmp_path / "text").stderr
    )

    counts = tmp_path / "phrases.parquet"
    assert pairity("count", DEV, "--pretokenizer", "gpt4o:words4", "-o", counts).returncode == 0
    done = pairity("train", "--train", counts, *words, "-o", tmp_path / "counts")
    assert done.returncode == 0, done.stderr
    assert Tokenizer.load(tmp_path / "counts") == Tokenizer.load(tmp_path / "text")


def test_mistakes_are_told_before_any_work(tmp_path):
    words = ["train", "--train", DEV, "--dev", DEV, "--vocab-size", 900, "-o", tmp_path / "t"]
    for wrong, message in (
        (["--superwords", 1.5], "superwords is 1.5: give the share of the tokens"),
        (["--superwords", 0.5, "--pretokenizer", "none"], "are not known. Choose one of gpt4o"),
    ):
        done = pairity(*words, *wrong)
        assert done.returncode != 0
        assert message in done.stderr
        assert "Traceback" not in done.stderr
    assert not (tmp_path / "t").exists()
