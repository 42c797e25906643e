"""`pairity inspect --language`: what is shown, in 80 columns, as a table, and for what cannot be shown."""

import os
import re

import pyarrow.parquet as pq
import pytest
from rich.cells import cell_len

from pairity import Tokenizer, sample
from pairity.cli.profiles import CUT, fitted
from pairity.judging.profile import inspect_language
from program import pairity, terminal_output

TEST = sample.FOLDER / "test"


def test_a_language_is_shown_with_its_numbers(trained, tmp_path):
    table = tmp_path / "tamil.parquet"
    done = pairity("inspect", trained, "--language", "tam_Taml", "--data", TEST, "--table", table)
    assert done.returncode == 0, done.stderr
    about = inspect_language(Tokenizer.load(trained), "tam_Taml", sample.read("test"))
    shown = dict(re.findall(r"(?m)^(\w[\w ]+?)  +(.+)$", done.stdout))
    assert shown["cost"] == f"{about.text.cost:.2f} tokens per line"
    assert shown["floor"].startswith(f"{about.text.floor:.2f} pre-tokens per line")
    assert shown["merges served"].startswith(f"{about.training.served:,} of {about.training.merges:,}")
    assert shown["measured on"] == "40 lines of the text given"
    assert fitted(about.text.words[0].shown, CUT) in done.stdout
    rows = pq.read_table(table).to_pylist()
    assert [row["value"] for row in rows if row["what"] == "cost"] == [about.text.cost]


def test_several_languages_and_the_sample_where_no_text_is_given(trained):
    done = pairity("inspect", trained, "--language", "tam_Taml,deu_Latn")
    assert done.returncode == 0, done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines() if "resource)" in line] == [
        "tam_Taml",
        "deu_Latn",
    ]
    assert done.stdout.count("40 lines of the embedded sample") == 2


def test_counts_stand_in_for_text(trained, tmp_path):
    counts, tokens = tmp_path / "counts.parquet", tmp_path / "tokens.csv"
    assert pairity("count", TEST, "-o", counts).returncode == 0
    done = pairity("inspect", trained, "--language", "tam_Taml", "--counts", counts, "--tokens", tokens)
    assert done.returncode == 0, done.stderr
    assert "40 lines of the text given" in done.stdout
    assert "in:tam_Taml" in tokens.read_text("utf-8").splitlines()[0]


def test_a_terminal_of_80_columns_is_enough(trained):
    words = ["inspect", str(trained), "--language", "tam_Taml,heb_Hebr,jpn_Jpan"]
    env = {**os.environ, "COLUMNS": "80", "TERM": "dumb", "NO_COLOR": "1", "PYTHONIOENCODING": "utf-8"}
    shown, code = terminal_output(words, env)
    assert code == 0, shown
    lines = [re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", line) for line in shown.replace("\r", "\n").split("\n")]
    assert any(
        "most expensive words, by tokens beyond the first at each occurrence" in line for line in lines
    )
    assert [line for line in lines if cell_len(line) > 80] == []


def test_an_imported_tokenizer_says_what_it_does_not_know(trained, tmp_path):
    imported = tmp_path / "imported"
    imported.mkdir()
    (imported / "tokenizer.json").write_bytes((trained / "tokenizer.json").read_bytes())
    done = pairity("inspect", imported, "--language", "tam_Taml")
    assert done.returncode == 0, done.stderr
    assert "merges served" not in done.stdout
    assert "note: tam_Taml: the tokenizer has no record and no trace of its training" in done.stderr


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--language", "Tamil"], "Did you mean tam_Taml?"),
        (["--language", "qqq_Latn"], "'qqq_Latn' is neither in the training nor in the embedded sample"),
        (["--language", "tam_Taml", "--data", "EMPTY"], "EMPTY"),
        (["--language", "tam_Taml", "--data", "tam_Taml=none.txt"], "no such file"),
        (["--language", "tam_Taml", "--table", "out.txt"], "a table is written as .parquet or .csv"),
        (["--data", "x/"], "--data needs --language"),
        (["--table", "x.csv"], "--table needs --language"),
        (["--counts", "x.parquet"], "--counts needs --tokens FILE"),
        (["--language", "a", "--data", "x", "--counts", "y"], "cannot be combined"),
        (["--language", "a", "--table", "x.csv", "--tokens", "x.csv"], "give different names"),
    ],
)
def test_mistakes_are_told_before_anything_is_written(trained, tmp_path, words, message):
    empty = tmp_path / "tam_Taml.txt"
    empty.write_text("")
    words = [str(empty) if word == "EMPTY" else word for word in words]
    done = pairity("inspect", trained, *words, cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert message.replace("EMPTY", str(empty)) in done.stderr
    assert "Traceback" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["tam_Taml.txt"]
