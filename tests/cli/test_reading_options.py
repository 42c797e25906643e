"""The options that say how text is read, on the command line and in config files."""

import json
from pathlib import Path

import pytest

from pairity.counts.counting import count
from pairity.counts.counts import Counts
from program import pairity

RECORDS = [
    {"body": "one two", "lang": "eng"},
    {"body": "eins", "lang": "deu"},
    {"body": "one two", "lang": "eng"},
]
EXPECTED = {"deu": ["eins"], "eng": ["one two"] * 2}


def lines_of(records: list[dict[str, str]]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "all.jsonl").write_text(lines_of(RECORDS))
    return tmp_path


def test_records_that_name_their_languages(folder: Path) -> None:
    options = ["--language-column", "lang", "--text-column", "body"]
    done = pairity("count", "all.jsonl", *options, "-o", "a.parquet", cwd=folder)
    assert done.returncode == 0, done.stderr
    piped = pairity("count", "-", *options, "-o", "b.parquet", text=lines_of(RECORDS), cwd=folder)
    assert piped.returncode == 0, piped.stderr
    assert Counts.load(folder / "a.parquet") == Counts.load(folder / "b.parquet") == count(EXPECTED)
    table = "lang,body\neng,one two\ndeu,eins\neng,one two\n"
    piped = pairity("count", *options, "-o", "c.parquet", "--", "-.csv", text=table, cwd=folder)
    assert piped.returncode == 0, piped.stderr
    assert Counts.load(folder / "c.parquet") == count(EXPECTED)


def test_cleaning_is_reported_and_kept(folder: Path) -> None:
    (folder / "all.jsonl").write_text(lines_of(RECORDS) + "no json\n")
    (folder / "count.toml").write_text(
        'sources = "all.jsonl"\nlanguage-column = "lang"\ntext-column = "body"\non-error = "skip"\ndedup = "lines"\n'
    )
    done = pairity("count", "--config", "count.toml", "-o", "a.parquet", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert (
        "note: all.jsonl: 1 line was skipped, the first: all.jsonl, line 4, column 1: not JSON" in done.stderr
    )
    assert "note: duplicate texts were left out: eng 1." in done.stderr
    assert Counts.load(folder / "a.parquet")["eng"].duplicates == 1
    strict = pairity("count", "--config", "count.toml", "--on-error", "stop", "-o", "b.parquet", cwd=folder)
    assert strict.returncode == 1
    assert "all.jsonl, line 4, column 1: not JSON" in strict.stderr
    assert not (folder / "b.parquet").exists()


def test_a_text_column_for_each_language(folder: Path) -> None:
    (folder / "eng.jsonl").write_text('{"content": "one"}\n')
    (folder / "deu.jsonl").write_text('{"body": "eins"}\n')
    sources = ["eng=eng.jsonl", "deu=deu.jsonl"]
    columns = ["--text-column", "eng=content", "--text-column", "deu=body"]
    done = pairity("count", *sources, *columns, "-o", "a.parquet", cwd=folder)
    assert done.returncode == 0, done.stderr
    (folder / "c.toml").write_text('text-column = { eng = "content", deu = "body" }\n')
    done = pairity("count", *sources, "--config", "c.toml", "-o", "b.parquet", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert Counts.load(folder / "a.parquet") == Counts.load(folder / "b.parquet")
    for words, message in (
        (["body", "eng=content"], "give one name for all languages, or one LANG=NAME per language"),
        (["a", "b"], "give one name for all languages"),
        (["fra=content"], "text_column has a name for 'fra', but there is no such text"),
    ):
        given = [part for word in words for part in ("--text-column", word)]
        done = pairity("count", *sources, *given, "-o", "x.parquet", cwd=folder)
        assert done.returncode != 0
        assert message in done.stderr


def test_training_from_standard_input(folder: Path) -> None:
    records = [
        {"text": f"the {word} of {number % 9}", "lang": "eng"} for number, word in enumerate("ab" * 30)
    ]
    done = pairity(
        "train", "--train", "-", "--language-column", "lang", "--method", "classical", "--num-merges", "5",
        "--dedup", "lines", "--on-error", "skip", "-o", "tok",
        text=lines_of(records) + "broken\n", cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert "1 line was skipped" in done.stderr


def test_help_says_what_a_source_may_be() -> None:
    said = " ".join(pairity("--help").stdout.split())
    for part in (
        "standard input",
        "s3://bucket/en/",
        "wordfreq:en",
        ".words.tsv",
        "--language-column",
        "pairity[remote]",
    ):
        assert part in said
