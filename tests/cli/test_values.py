"""Options with several values: in a row, from a shell's glob, repeated, with commas, from a list, from TOML."""

import shlex
import shutil
import subprocess

import click
import pytest
from click.testing import CliRunner

from pairity import Scores, Tokenizer, sample
from pairity.cli.options import Command
from pairity.cli.values import lines_of, names_in, one_value_each, several
from pairity.errors import PairityError
from program import PROGRAM, pairity

LANGUAGES = ["deu_Latn", "eng_Latn", "tam_Taml"]


@pytest.fixture
def data(tmp_path):
    """A folder with three languages and a README."""
    folder = tmp_path / "data"
    folder.mkdir()
    for language in LANGUAGES:
        shutil.copy(sample.FOLDER / "dev" / f"{language}.txt", folder)
    (folder / "README.txt").write_text("What this is.\n")
    return folder


@click.command("try", cls=Command)
@click.argument("files", nargs=-1)
@several("--data")
@several("--skip", parts_of=names_in)
@click.option("--title", default="")
@click.option("-f", "--flag", is_flag=True)
@click.option("--yes/--no", default=None, expose_value=False)
def echo(files, data, skip, title, flag):
    print(f"{files=} {data=} {skip=} {title=} {flag=}")


def parsed(*words):
    done = CliRunner().invoke(echo, words)
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done.output.strip()


def shown(files=(), data=(), skip=(), title="", flag=False):
    return f"{files=} {data=} {skip=} {title=} {flag=}"


@pytest.mark.parametrize(
    ("words", "values"),
    [
        ("--data a b c", {"data": ("a", "b", "c")}),
        ("--data a --data b c", {"data": ("a", "b", "c")}),
        ("--data=a --flag x", {"data": ("a",), "flag": True, "files": ("x",)}),
        ("x --data=a b --skip=c, d", {"files": ("x",), "data": ("a", "b"), "skip": ("c", "d")}),
        ("--title=t --data a b", {"title": "t", "data": ("a", "b")}),
        ("--title= --flag --data a b", {"data": ("a", "b"), "flag": True}),
        ("--data=-a --data -.jsonl -- x", {"data": ("-a", "-.jsonl"), "files": ("x",)}),
        ("--data a,b LANG=c,d,OTHER=e", {"data": ("a", "b", "LANG=c,d", "OTHER=e")}),
        ("--data 's3://a/b,s3://c' https://a/b,c", {"data": ("s3://a/b", "s3://c", "https://a/b,c")}),
        ("--data 'C:\\x\\a.txt'", {"data": ("C:\\x\\a.txt",)}),
        ("x y --data a b --title t", {"files": ("x", "y"), "data": ("a", "b"), "title": "t"}),
        ("--data a b --title t x", {"files": ("x",), "data": ("a", "b"), "title": "t"}),
        ("--data a b -- x --skip", {"files": ("x", "--skip"), "data": ("a", "b")}),
        ("--data - a,b --skip c,d e", {"data": ("-", "a", "b"), "skip": ("c", "d", "e")}),
        ("--skip 'a, b' c, d", {"skip": ("a", "b", "c", "d")}),
        ("--title --data x", {"title": "--data", "files": ("x",)}),
        ("--data -5 -0.5,3 --flag", {"data": ("-5", "-0.5", "3"), "flag": True}),
        ("--flag --flag --title t", {"flag": True, "title": "t"}),
    ],
)
def test_which_words_belong_to_an_option(words, values):
    assert parsed(*shlex.split(words)) == shown(**values)


def test_an_option_without_a_value_is_refused():
    for words in (["--data"], ["--data", "--flag"], ["--data", "--", "x"]):
        assert "Option '--data' requires an argument." in parsed(*words)
    assert "'--skip': ',' is no value: it has only commas" in parsed("--skip", ",")
    for words in (["--data="], ["--data", "", "a"], ["--skip="]):
        assert "'' is no value: is a shell variable not set?" in parsed(*words)


def test_a_word_with_a_dash_that_is_no_option(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "-x.txt").touch()
    assert "Write --data=a, with two dashes." in parsed("-data=a")
    assert "For a file, write ./-x.txt." in parsed("-x.txt")
    assert "Write -.jsonl at the end, after --." in parsed("-.jsonl")
    assert parsed("--", "-.jsonl") == shown(files=("-.jsonl",))
    assert parsed("-z").endswith("No such option '-z'.")
    assert parsed("--data", "-.jsonl", "--zzz").endswith("No such option '--zzz'.")


@pytest.mark.parametrize("words", ["--title a --title b", "--title=a x --title b", "--yes --no"])
def test_an_option_for_one_value_is_not_given_two(words):
    option = words.split("=")[0].split()[0].replace("--yes", "--yes/--no")
    assert f"Option '{option}' takes one value but is given twice: leave one out." in parsed(*words.split())


def test_a_row_of_values_is_written_out_for_click():
    options = {option.opts[0]: option for option in echo.params}
    words, rows = one_value_each(["--data", "a", "b", "--title", "-x", "c"], options)
    assert words == ["--data", "a", "--data", "b", "--title", "-x", "c"]
    assert rows == {"--data": ["a", "b"]}


def test_a_list_file(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a,b.txt").touch()
    (tmp_path / "list").write_text(
        "\ufeff# languages\n\neng_Latn=a,b.txt\na,b.txt\n  c#d.txt \r\n", encoding="utf-8"
    )
    (tmp_path / "names").write_text("x,y\nz\n", encoding="utf-8")
    assert lines_of("@list") == ["eng_Latn=a,b.txt", "a,b.txt", "c#d.txt"]
    assert parsed("--data", "@list", "more", "--skip=@names", "w") == shown(
        data=("eng_Latn=a,b.txt", "a,b.txt", "c#d.txt", "more"), skip=("x", "y", "z", "w")
    )


def test_a_list_in_a_list(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "outer").write_text("a\n@inner\n", encoding="utf-8")
    (tmp_path / "inner").write_text("b\n", encoding="utf-8")
    assert parsed("--data", "@outer", "@inner") == shown(data=("a", "b", "b"))
    (tmp_path / "inner").write_text("b\n@outer\n", encoding="utf-8")
    with pytest.raises(PairityError, match="the list @outer contains itself: remove the line @outer"):
        parsed("--data", "@outer")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "the list @list cannot be read: No such file or directory"),
        (b"# nothing\n\n", "the list @list is empty"),
        (b"\xff\n", "the list @list cannot be read: it is not UTF-8"),
    ],
)
def test_a_list_file_that_gives_nothing_is_named(tmp_path, monkeypatch, content, message):
    monkeypatch.chdir(tmp_path)
    if content is not None:
        (tmp_path / "list").write_bytes(content)
    with pytest.raises(PairityError, match=message):
        parsed("--data", "@list")


def test_a_list_file_of_nobody_is_named():
    with pytest.raises(PairityError, match="the list @~nobody-has-this-name/x cannot be read: No such file"):
        parsed("--data", "@~nobody-has-this-name/x")


def in_shell(line, cwd):
    program = " ".join(shlex.quote(word) for word in PROGRAM)
    script = f'pairity() {{ {program} "$@"; }}\n{line}'
    done = subprocess.run(
        ["sh", "-c", script], cwd=cwd, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def test_every_way_to_give_several_files_trains_the_same_tokenizer(data):
    (data.parent / "files").write_text("".join(f"data/{language}.txt\n" for language in LANGUAGES))
    ways = {
        "folder": "--train data/ --dev data/",
        "glob": "--train data/*.txt --dev data/*.txt",
        "row": "--train data/tam_Taml.txt data/eng_Latn.txt data/deu_Latn.txt --dev data",
        "repeated": "--train data/tam_Taml.txt --dev=data/ --train data/eng_Latn.txt data/deu_Latn.txt",
        "list": "--train @files --dev @files",
        "commas": "--train data/eng_Latn.txt,data/deu_Latn.txt,data/tam_Taml.txt --dev=data/*.txt",
        "equals": "--train=data/deu_Latn.txt data/eng_Latn.txt data/tam_Taml.txt --dev data/",
        "chosen": "--train data/ --dev data/ --language eng_Latn,deu_Latn tam_Taml",
    }
    for name, words in ways.items():
        in_shell(f"pairity train {words} --skip deu_Latn --num-merges 60 -o {name}", data.parent)
    first = (data.parent / "folder" / "tokenizer.json").read_bytes()
    for name in ways:
        assert (data.parent / name / "tokenizer.json").read_bytes() == first, name
        assert list(Tokenizer.load(data.parent / name).record["languages"]) == ["eng_Latn", "tam_Taml"]


def test_lists_in_toml(data):
    (data.parent / "sources").write_text("# one per line\ndata/eng_Latn.txt\ndata/deu_Latn.txt\n")
    config = data.parent / "run.toml"
    config.write_text(
        'train = ["@sources", "data/tam_Taml.txt"]\ndev = ["data/"]\nskip = ["deu_Latn", "tam_Taml"]\nnum-merges = 5\n'
    )
    done = pairity("train", "--config", config, "-o", "t", cwd=data.parent)
    assert done.returncode == 0, done.stderr
    assert list(Tokenizer.load(data.parent / "t").record["languages"]) == ["eng_Latn"]
    config.write_text('sources = ["data/eng_Latn.txt", "data/deu_Latn.txt"]\n')
    done = pairity("count", "--config", config, "-o", "counts.parquet", cwd=data.parent)
    assert done.returncode == 0, done.stderr
    assert "deu_Latn" in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        [
            "TOKENIZER",
            "--data",
            "data/eng_Latn.txt",
            "data/tam_Taml.txt",
            "--resamples",
            "20",
            "-o",
            "scores",
        ],
        [
            "--data",
            "data/",
            "--language",
            "eng_Latn,tam_Taml",
            "--resamples",
            "20",
            "-o",
            "scores",
            "TOKENIZER",
        ],
        [
            "--resamples",
            "20",
            "-o",
            "scores",
            "--language",
            "eng_Latn",
            "tam_Taml",
            "--data",
            "data",
            "--",
            "TOKENIZER",
        ],
    ],
)
def test_eval_with_tokenizers_before_and_after_the_data(trained, data, words):
    done = pairity("eval", *(trained if word == "TOKENIZER" else word for word in words), cwd=data.parent)
    assert done.returncode == 0, done.stderr
    assert Scores.load(data.parent / "scores").languages == ["eng_Latn", "tam_Taml"]


def test_metrics_by_commas(trained, data):
    words = [
        "--data",
        data,
        "--metric",
        "gini,cost",
        "worst_best",
        "--resamples",
        20,
        "-o",
        data.parent / "scores",
    ]
    done = pairity("eval", trained, *words)
    assert done.returncode == 0, done.stderr
    metrics = set(Scores.load(data.parent / "scores").table["metric"].to_pylist())
    assert metrics == {"gini", "cost", "worst_best", "failed_lines", "round_trip"}


def test_words_that_could_be_data_or_tokenizers(data):
    done = pairity("eval", "--data", data, "tok1", "-o", data.parent / "scores")
    assert done.returncode == 2
    assert f"Missing argument 'TOKENIZER...': --data took every word after it ({data} tok1)" in done.stderr
    assert "pairity eval TOKENIZER... --data ..." in done.stderr
    assert "pairity eval --data ... -- TOKENIZER..." in done.stderr
    plain = pairity("eval", "--data", data, "-o", data.parent / "scores")
    assert "Missing argument 'TOKENIZER...'" in plain.stderr
    assert "took every word" not in plain.stderr


def test_report_takes_several_tokenizers_and_sentences(trained, data):
    scores = data.parent / "scores"
    done = pairity("eval", f"a={trained}", f"b={trained}", "--data", data, "--resamples", 20, "-o", scores)
    assert done.returncode == 0, done.stderr
    one, two = data / "eng_Latn.txt", data / "tam_Taml.txt"
    words = ["--tokenizer", f"a={trained}", f"b={trained}", "--sentences", one, two]
    done = pairity("report", scores, *words, "-o", data.parent / "page.html")
    assert done.returncode == 0, done.stderr
    page = (data.parent / "page.html").read_text(encoding="utf-8")
    assert "tam_Taml" in page


@pytest.mark.parametrize("train", ["data", "counts.parquet"])
def test_a_chosen_language_can_be_skipped(data, train):
    if train != "data":
        in_shell(f"pairity count data/ -o {train}", data.parent)
    words = ["train", "--train", train, "--dev", "data/", "--num-merges", 5, "-o", "t"]
    done = pairity(
        *words, "--language", "eng_Latn,tam_Taml", "--skip", "tam_Taml", "deu_Latn", cwd=data.parent
    )
    assert done.returncode == 0, done.stderr
    assert list(Tokenizer.load(data.parent / "t").record["languages"]) == ["eng_Latn"]
    done = pairity(*words, "--language", "eng_Latn", "--skip", "tam_Tmal", "--force", cwd=data.parent)
    assert done.returncode == 1
    assert "Did you mean tam_Taml?" in done.stderr
    done = pairity(*words, "--language", "eng_Latn", "--skip", "eng_Latn", "--force", cwd=data.parent)
    assert done.returncode == 1
    assert "is skipped, so there is nothing to learn from" in done.stderr
