"""`count` and `train` with options that say how much of the text is taken."""

import shutil
from pathlib import Path

import pytest

from pairity import Counts, Tokenizer, sample
from pairity.cli.drawing import parse_limits, parse_weights
from pairity.errors import PairityError
from program import pairity

LANGUAGES = ["deu_Latn", "eng_Latn", "tam_Taml"]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    folder = tmp_path / "data"
    folder.mkdir()
    for language in LANGUAGES:
        shutil.copy(sample.FOLDER / "dev" / f"{language}.txt", folder)
    shutil.copy(sample.FOLDER / "dev" / "eng_Latn.txt", folder / "xyz_Latn.txt")
    return folder


def test_count_draws_prints_what_each_gave_and_records_it(data: Path, tmp_path: Path) -> None:
    output = tmp_path / "counts.parquet"
    done = pairity(
        *("count", data, "--languages", "eng_Latn,tam_Taml", "--temperature", 3.3, "--by", "bytes"),
        *("--budget", "4KB", "--weight", "tam_Taml=0.5", "--seed", 7, "-o", output),
    )
    assert done.returncode == 0, done.stderr
    header, *rows = (line.split() for line in done.stdout.splitlines()[:3])
    assert header == ["language", "lines", "of", "bytes", "of", "distinct", "pre-tokens"]
    counts = Counts.load(output)
    assert counts.drawn is not None
    assert [row[:5] for row in rows] == [
        [code, f"{one.lines:,}", f"{one.of_lines:,}", f"{one.bytes:,}", f"{one.of_bytes:,}"]
        for code, one in counts.drawn.given.items()
    ]
    assert sum(counts[code].bytes for code in counts) <= 4000
    assert counts.drawn.settings == (
        {
            "sample": 1.0,
            "balance": "temperature",
            "temperature": 3.3,
            "seed": 7,
            "by": "bytes",
            "weights": {"tam_Taml": 0.5},
            "budget": "4KB",
        },
    )


def test_the_same_from_a_config_file_is_the_same(data: Path, tmp_path: Path) -> None:
    config = tmp_path / "run.toml"
    config.write_text(
        'sources = ["data"]\nlanguages = ["eng_Latn", "tam_Taml"]\nbalanced = true\nby = "lines"\nseed = 3\n'
        'max-bytes = { "*" = "9KB", eng_Latn = 6000 }\nweight = { tam_Taml = 2 }\nbudget = "20 lines"\n'
    )
    words = (
        "--language eng_Latn tam_Taml --balanced --by lines --seed 3 --max-bytes 9KB eng_Latn=6000 "
        "--weight tam_Taml=2 --budget 20lines"
    )
    for name, given in (("a", ["--config", config]), ("b", [data, *words.split()])):
        done = pairity("count", *given, "-o", tmp_path / f"{name}.parquet", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    one, other = Counts.load(tmp_path / "a.parquet"), Counts.load(tmp_path / "b.parquet")
    assert one.drawn is not None
    assert other.drawn is not None
    assert one.drawn.given == other.drawn.given
    assert {code: given.lines for code, given in one.drawn.given.items()} == {"eng_Latn": 6, "tam_Taml": 13}


def test_train_draws_and_the_tokenizer_says_from_what(data: Path, tmp_path: Path) -> None:
    words = ["train", "--train", data, "--dev", data, "--vocab-size", 400, "--max-bytes", "3KB"]
    words += ["--languages", "paper-30", "-o", tmp_path / "tok"]
    done = pairity(*words)
    assert done.returncode == 0, done.stderr
    assert "sampled from" in done.stdout
    assert "paper-30 is used without" in done.stderr
    record = Tokenizer.load(tmp_path / "tok").record
    assert record["draw"]["max_bytes"] == {"*": 3000}
    train = record["languages"]["eng_Latn"]["train"]
    assert train["bytes"] <= 3000 < train["of_bytes"]
    assert list(record["languages"]) == ["deu_Latn", "eng_Latn", "tam_Taml"]
    again = pairity(*words, "--resume")
    assert "is finished" in again.stderr
    other = pairity(*words, "--seed", 1, "--resume")
    assert "is finished" not in other.stderr, "other text is another run"


def test_drawn_counts_give_the_same_tokenizer_and_say_that_they_were_drawn(
    data: Path, tmp_path: Path
) -> None:
    pairity("count", data, "--max-bytes", "3KB", "-o", tmp_path / "c.parquet")
    for name, given in (("a", [tmp_path / "c.parquet"]), ("b", [data, "--max-bytes", "3KB"])):
        done = pairity(
            *("train", "--train", *given, "--dev", data, "--vocab-size", 400, "-o", tmp_path / name)
        )
        assert done.returncode == 0, done.stderr
    one, other = Tokenizer.load(tmp_path / "a"), Tokenizer.load(tmp_path / "b")
    assert one == other
    assert one.record["drawn"] == [other.record["draw"]]
    assert one.record["languages"] == other.record["languages"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--balanced --temperature 3", "--balanced and --temperature cannot be combined"),
        ("--temperature 0.5", "temperature is 0.5: give a number, at least 1"),
        ("--weight eng_Latn=-1", "weight is -1.0 for 'eng_Latn': give a number above 0"),
        ("--weight eng_Latn", "--weight 'eng_Latn': write LANG=W, as in eng_Latn=0.3"),
        ("--weight eng=2", "Did you mean eng_Latn?"),
        ("--max-bytes 0", "give at least 1 byte"),
        ("--max-bytes 1GB 2GB", "--max-bytes is given twice for every language"),
        ("--budget much", "budget is 'much'"),
        ("--budget 3B", "less than its first line"),
        ("--language klingon", "the text has no language 'klingon'"),
        ("--seed 3", "--seed chooses lines, but no option says how many"),
        ("--by lines", "neither balanced nor sampled by temperature"),
        ("--sample 2", "sample is 2.0: give a share"),
    ],
)
def test_what_means_nothing_is_one_sentence(data: Path, tmp_path: Path, words: str, message: str) -> None:
    done = pairity("count", data, *words.split(), "-o", tmp_path / "counts.parquet")
    assert done.returncode != 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "counts.parquet").exists()


def test_counts_cannot_be_drawn_from(data: Path, tmp_path: Path) -> None:
    pairity("count", data, "-o", tmp_path / "c.parquet")
    done = pairity("count", tmp_path / "c.parquet", "--budget", "1KB", "-o", tmp_path / "d.parquet")
    assert "holds counts, and lines cannot be sampled" in done.stderr


def test_values_become_numbers_by_language() -> None:
    assert parse_weights(["a=0.3", "b=2"]) == {"a": 0.3, "b": 2.0}
    assert parse_limits(["5GB", "a=1GB"]) == {"*": "5GB", "a": "1GB"}
    assert parse_limits([]) is None
    with pytest.raises(PairityError, match="twice for 'a'"):
        parse_weights(["a=1", "a=2"])
