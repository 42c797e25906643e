"""The program as a user runs it: in a process of its own."""

import gzip
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from pairity import Tokenizer, sample
from pairity.cli import main

DEV = str(sample.FOLDER / "dev")


def pairity(*words, text=None):
    return subprocess.run(
        [sys.executable, "-c", "from pairity.cli import run; run()", *map(str, words)],
        input=text,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cli") / "tokenizer"
    done = pairity(
        "train", "--train", DEV, "--dev", DEV, "--vocab-size", 900, "--special-token", "<s>", "-o", folder
    )
    assert done.returncode == 0, done.stderr
    assert "900 tokens" in done.stdout
    assert [path.name for path in folder.parent.iterdir()] == ["tokenizer"], "no checkpoint is left"
    assert "dev Gini" in done.stdout
    return folder


def test_the_folder_loads_everywhere(trained):
    import tokenizers

    names = {path.name for path in trained.iterdir()}
    assert names == {
        "tokenizer.json",
        "tokenizer_config.json",
        "special_tokens_map.json",
        "merges.txt",
        "vocab.json",
        "pairity.json",
        "trace.parquet",
    }
    own = Tokenizer.load(trained)
    other = tokenizers.Tokenizer.from_file(str(trained / "tokenizer.json"))
    transformers = pytest.importorskip("transformers")
    auto = transformers.AutoTokenizer.from_pretrained(str(trained))
    for lines in sample.read("test").values():
        for line in lines[:5]:
            ids = own.encode(line)
            assert own.decode(ids) == line
            assert other.encode(line, add_special_tokens=False).ids == ids
            assert auto(line, add_special_tokens=False)["input_ids"] == ids
            assert auto.decode(ids) == line


def test_encode_and_decode_are_inverse(trained):
    text = "Grüße, мир!\n\nනමස්කාරය  two spaces \n"
    ids = pairity("encode", trained, text=text)
    assert ids.returncode == 0
    assert pairity("decode", trained, text=ids.stdout).stdout == text
    bad = pairity("decode", trained, text="1 2 x\n")
    assert bad.returncode == 1
    assert "line 1" in bad.stderr
    assert "out of range" in pairity("decode", trained, text="99999\n").stderr or pairity(
        "decode", trained, text="99999\n"
    ).stderr.startswith("error:")


def test_inspect(trained):
    shown = pairity("inspect", trained)
    assert "method: name=parity" in shown.stdout
    assert "tel_Telu" not in shown.stdout
    assert "tam_Taml" in shown.stdout


def test_table_of_tokens(trained, tmp_path):
    import pyarrow.parquet as pq

    counts = tmp_path / "counts.parquet"
    assert pairity("count", DEV, "-o", counts).returncode == 0
    done = pairity("inspect", trained, "--tokens", tmp_path / "tokens.parquet", "--counts", counts)
    assert done.returncode == 0, done.stderr
    table = pq.read_table(tmp_path / "tokens.parquet").to_pydict()
    tokenizer = Tokenizer.load(trained)
    assert len(table["id"]) == tokenizer.vocab_size
    assert sum(table["in:tam_Taml"]) == tokenizer.count(sample.read("dev")["tam_Taml"]).sum()
    learned = table["kind"].index("learned")
    assert table["step"][learned] == 1
    assert table["language"][learned] == tokenizer.trace["language"][1].as_py()
    assert pairity("inspect", trained, "--tokens", tmp_path / "t.csv").returncode == 0
    assert (tmp_path / "t.csv").read_text(encoding="utf-8").startswith('"id","bytes"')
    assert "as .parquet or .csv" in pairity("inspect", trained, "--tokens", tmp_path / "t.xls").stderr


def test_an_existing_tokenizer_is_not_replaced_unless_told(trained):
    before = (trained / "tokenizer.json").read_bytes()
    words = ["train", "--train", DEV, "--dev", DEV, "--vocab-size", 600, "-o", trained]
    refused = pairity(*words)
    assert refused.returncode == 1
    assert "already holds a tokenizer" in refused.stderr
    assert "--force" in refused.stderr
    assert (trained / "tokenizer.json").read_bytes() == before


def test_count_merge_train(tmp_path):
    halves = []
    for part in ("dev", "test"):
        path = tmp_path / f"{part}.parquet"
        done = pairity("count", sample.FOLDER / part, "-o", path)
        assert done.returncode == 0, done.stderr
        assert "tam_Taml" in done.stdout
        halves.append(path)
    merged = tmp_path / "all.parquet"
    assert pairity("merge", *halves, "-o", merged).returncode == 0
    done = pairity("train", "--train", merged, "--dev", DEV, "--num-merges", 100, "-o", tmp_path / "t")
    assert done.returncode == 0, done.stderr


def test_config_file_and_command_line(tmp_path):
    config = tmp_path / "run.toml"
    config.write_text(
        f'train = ["{DEV}"]\ndev = ["{DEV}"]\nvocab-size = 400\nwindow = 50\nglobal-merges = 0.25\n'
        'special-token = ["<a>", "<b>"]\n'
    )
    done = pairity("train", "--config", config, "--vocab-size", 500, "-o", tmp_path / "t")
    assert done.returncode == 0, done.stderr
    tokenizer = Tokenizer.load(tmp_path / "t")
    assert tokenizer.vocab_size == 500
    assert tokenizer.record["method"]["window"] == 50
    assert tokenizer.record["method"]["global_merges"] == 0.25
    config.write_text("vocabsize = 3\n")
    assert "no option 'vocabsize'" in pairity("train", "--config", config, "-o", tmp_path / "u").stderr


def test_a_size_that_the_data_cannot_reach_is_a_warning(tmp_path):
    (tmp_path / "a.txt").write_text("aaaa bbbb aaaa bbbb\n")
    done = pairity(
        "train", "--train", f"a={tmp_path}/a.txt", "--on", "train", "--vocab-size", 5000, "-o", tmp_path / "t"
    )
    assert done.returncode == 0
    assert "warning: training stopped early" in done.stderr
    assert Tokenizer.load(tmp_path / "t").vocab_size == 256 + Tokenizer.load(tmp_path / "t").record["merges"]


BAD_RUNS = {
    "missing dev": (["--train", DEV, "--vocab-size", "500"], "--on train"),
    "unknown ratio": (["--train", DEV, "--dev", DEV, "--vocab-size", "500", "--ratio", "xx=3"], "'xx'"),
    "ratio without value": (
        ["--train", DEV, "--dev", DEV, "--vocab-size", "500", "--ratio", "xx"],
        "LANG=BYTES",
    ),
    "zero ratio": (
        ["--train", DEV, "--dev", DEV, "--vocab-size", "500", "--ratio", "eng_Latn=0"],
        "positive",
    ),
    "classical with window": (
        ["--train", DEV, "--method", "classical", "--window", "5", "--num-merges", "9"],
        "--window",
    ),
    "share": (
        ["--train", DEV, "--dev", DEV, "--vocab-size", "500", "--global-merges", "lots"],
        "share such as 0.5",
    ),
    "ratio twice": (
        ["--train", DEV, "--vocab-size", "500", "--ratio", "eng_Latn=1", "--ratio", "eng_Latn=2"],
        "twice for 'eng_Latn'",
    ),
    "no such folder": (
        ["--train", "nowhere", "--on", "train", "--vocab-size", "500"],
        "no such file or folder",
    ),
    "twice": (
        ["--train", DEV, "--train", f"eng_Latn={DEV}/eng_Latn.txt", "--dev", DEV, "--vocab-size", "500"],
        "eng_Latn",
    ),
}


@pytest.mark.parametrize("case", BAD_RUNS)
def test_bad_runs_say_what_to_do_and_write_nothing(tmp_path, case):
    words, message = BAD_RUNS[case]
    done = pairity("train", *words, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_made_is_told_before_any_work(tmp_path):
    (tmp_path / "file").write_text("")
    done = pairity("train", "--train", DEV, "--dev", DEV, "--num-merges", 5, "-o", tmp_path / "file" / "t")
    assert done.returncode == 1
    assert "is a file" in done.stderr
    assert "Traceback" not in done.stderr


def test_names_are_shown_as_they_are(tmp_path):
    done = pairity(
        "train", "--train", f":apple:={DEV}/eng_Latn.txt", "--on", "train", "--num-merges", 1,
        "-o", tmp_path / "[red]o",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert ":apple:" in done.stdout
    assert "[red]o" in done.stdout
    assert "tokens per train byte" in done.stdout


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("vocab-size = [400]", "'vocab-size' takes one value"),
        ("vocab-size = 400.5", "'400.5' is not a valid integer"),
        ("vocab-size = true", "'True' is not a valid integer"),
    ],
)
def test_config_values_of_the_wrong_kind(tmp_path, line, message):
    (tmp_path / "run.toml").write_text(f'train = "{DEV}"\ndev = "{DEV}"\n{line}\n')
    done = pairity("train", "--config", tmp_path / "run.toml", "-o", tmp_path / "t")
    assert done.returncode > 0
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_broken_gz_names_the_file(tmp_path):
    (tmp_path / "in").mkdir()
    path = tmp_path / "in" / "eng.txt.gz"
    path.write_bytes(gzip.compress(b"hello world\n" * 1000)[:-20])
    done = pairity(
        "train", "--train", tmp_path / "in", "--on", "train", "--num-merges", 5, "-o", tmp_path / "out"
    )
    assert done.returncode == 1
    assert "eng.txt.gz" in done.stderr
    assert not (tmp_path / "out").exists()


def test_ctrl_c_stops_within_a_second_and_leaves_nothing(tmp_path):
    source = tmp_path / "train"
    source.mkdir()
    chance = random.Random(0)
    with (source / "x.txt").open("w") as file:
        for _ in range(40_000):  # long words with nothing in common, so that learning takes long
            file.write(" ".join(chance.randbytes(60).hex() for _ in range(5)) + "\n")
    run = subprocess.Popen(
        [
            sys.executable,
            "-c",
            "from pairity.cli import run; run()",
            "train",
            "--train",
            str(source),
            "--on",
            "train",
            "--pretokenizer",
            "whitespace",
            "--num-merges",
            "3000000",
            "--min-frequency",
            "1",
            "-o",
            str(tmp_path / "out"),
        ],
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        env=os.environ | {"PYTHONUNBUFFERED": "1"},
    )
    time.sleep(4)
    assert run.poll() is None, "the run ended before it could be interrupted"
    sent = time.monotonic()
    run.send_signal(signal.SIGINT)
    _, stderr = run.communicate(timeout=20)
    assert run.returncode == 130
    assert time.monotonic() - sent < 5, (
        "Ctrl-C must stop at once (a loaded machine may be slower than the promised second)"
    )
    assert b"interrupted" in stderr
    assert [path.name for path in tmp_path.iterdir()] == ["train"]


def test_every_command_has_help_with_an_example():
    runner = CliRunner()
    listed = runner.invoke(main, ["--help"]).output
    for name in main.commands:
        assert name in listed
        shown = runner.invoke(main, [name, "--help"]).output
        assert "Examples" in shown
        assert "pairity" in shown


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion(shell):
    done = pairity("completion", shell)
    assert done.returncode == 0
    assert "pairity" in done.stdout


def test_judge_and_report(trained, tmp_path):
    scores = tmp_path / "scores"
    done = pairity(
        "eval", f"ours={trained}", "--data", sample.FOLDER / "test", "--resamples", 20, "-o", scores
    )
    assert done.returncode == 0, done.stderr
    assert "ours" in done.stdout
    page = tmp_path / "page.html"
    done = pairity(
        "report", scores, "-o", page, "--tokenizer", f"ours={trained}", "--sentences", sample.FOLDER / "test"
    )
    assert done.returncode == 0, done.stderr
    assert page.stat().st_size > 10_000
    leak = pairity("eval", f"ours={trained}", "--data", DEV, "--resamples", 5, "-o", tmp_path / "leak")
    assert "steered" in leak.stderr
    priced = pairity("tax", trained, "--data", sample.FOLDER / "test", "--price", 2.5)
    assert priced.returncode == 0, priced.stderr
    assert "Tamil" in priced.stdout


def test_export(trained, tmp_path):
    done = pairity("export", trained, "--to", "merges", "-o", tmp_path / "m")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "m").iterdir()} == {"merges.txt", "vocab.json"}
    refused = pairity("export", trained, "--to", "sentencepiece", "-o", tmp_path / "s")
    assert refused.returncode == 1
    assert "SentencePiece cannot" in refused.stderr
    assert not Path(tmp_path / "s").exists()
