"""Signals, pipes and closed streams: no traceback, the right exit code, and what was learned is kept."""

import os
import pty
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from rich.console import Console

from pairity import Tokenizer, sample
from pairity.progress import Progress
from program import PROGRAM, pairity, read_until_closed, terminal_output

DEV = str(sample.FOLDER / "dev")

ENDS_ITSELF = """
import os, signal, sys
from pairity.cli import run

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == {module!r}:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.{signal})
sys.meta_path.insert(0, Finder())
run()
"""


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
@pytest.mark.parametrize(
    "module", ["pairity.cli.program", "click", "numpy", "pyarrow", "pairity.training.training"]
)
def test_a_signal_during_imports_shows_no_traceback(tmp_path, name, module):
    words = ["train", "--train", DEV, "--dev", DEV, "--num-merges", "5", "-o", str(tmp_path / "out")]
    done = subprocess.run(
        [sys.executable, "-c", ENDS_ITSELF.format(module=module, signal=name), *words],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (128 + signal.Signals[name], "interrupted\n")
    assert list(tmp_path.iterdir()) == []


def start_endless_training(folder, **settings):
    """A run that would take minutes; returns it and the terminal that shows its bar."""
    source = folder / "train"
    if not source.exists():
        source.mkdir()
        chance = random.Random(0)
        with (source / "x.txt").open("w") as file:
            for _ in range(40_000):  # long words with nothing in common
                file.write(" ".join(chance.randbytes(60).hex() for _ in range(5)) + "\n")
    words = [
        "train", "--train", str(source), "--on", "train", "--pretokenizer", "whitespace", "--num-merges", "3000000",
        "--min-frequency", "1", "-o", str(folder / "out"),
    ]  # fmt: skip
    leader, follower = pty.openpty()  # the bar that says what is being done needs a terminal
    run = subprocess.Popen(
        [*PROGRAM, *words, *settings.pop("more", [])],
        stdout=subprocess.DEVNULL,
        stderr=follower,
        env=os.environ | {"TERM": "xterm", "COLUMNS": "200"},
        **settings,
    )
    os.close(follower)
    return run, leader


def wait_until_learning(run, leader):
    shown = b""
    for part in read_until_closed(leader):
        shown += part
        if b"merges/s" in shown:  # the engine has begun
            break
    assert run.poll() is None, f"the run ended before it could be interrupted: {shown!r}"


def test_a_signal_while_learning_keeps_the_merges_and_says_how_to_go_on(tmp_path):
    for name, more in (("SIGINT", []), ("SIGTERM", ["--resume"]), ("SIGHUP", ["--resume"])):
        run, leader = start_endless_training(tmp_path, more=more)
        try:
            wait_until_learning(run, leader)
            if name == "SIGHUP":  # a closed terminal is heard twice
                run.send_signal(signal.SIGHUP)
            run.send_signal(signal.Signals[name])
            shown = b"".join(read_until_closed(leader)).decode()
            assert run.wait() == 128 + signal.Signals[name]
        finally:
            run.kill()
            run.wait()
            os.close(leader)
        # Whether a first second of learning was over by then, a machine's speed decides; the next run has more.
        kept = (tmp_path / "out.checkpoint.parquet").exists()
        said = "interrupted: no result was written" + ("; --resume continues" if kept else "")
        assert shown.splitlines()[-1].endswith(said), shown
        assert {path.name for path in tmp_path.iterdir()} - {"out.checkpoint.parquet"} == {"train"}


def test_ignored_signals_stay_ignored(tmp_path):
    """nohup: a terminal that is closed does not end the run."""
    script = ENDS_ITSELF.format(module="pairity.training.training", signal="SIGHUP")
    words = ["train", "--train", DEV, "--dev", DEV, "--num-merges", "5", "-o", str(tmp_path / "out")]
    done = subprocess.run(["nohup", sys.executable, "-c", script, *words], capture_output=True, check=False)
    assert done.returncode == 0
    assert Tokenizer.load(tmp_path / "out").record["merges"] == 5


def in_pipe(words, reader, text=None):
    """Exit code of the command (as Python counts: -13 is SIGPIPE), what the reader got, and standard error."""
    with subprocess.Popen(
        [*PROGRAM, *map(str, words)], stdin=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as run:
        read = subprocess.run(reader, stdin=run.stdout, capture_output=True, check=True)
        run.stdout.close()
        return run.wait(), read.stdout, run.stderr.read()


def test_encoding_for_a_reader_who_leaves_ends_as_other_tools_do(trained, tmp_path):
    (tmp_path / "big").write_text("hello world\n" * 200_000)
    for words in (["encode", trained], ["encode", trained, "--tokens"]):
        with (tmp_path / "big").open() as text:
            code, read, errors = in_pipe(words, ["head", "-1"], text)
        assert (code, errors) == (-signal.SIGPIPE, b"")
        assert read.endswith(b"\n")
    (tmp_path / "ids").write_text("1 2 3\n" * 200_000)
    with (tmp_path / "ids").open() as text:
        code, _, errors = in_pipe(["decode", trained], ["head", "-1"], text)
    assert (code, errors) == (-signal.SIGPIPE, b"")


@pytest.mark.parametrize(
    "words",
    [
        ["train", "--train", DEV, "--dev", DEV, "--num-merges", 5, "-o", "out"],
        ["--help"],
        ["train", "--help"],
        ["count", DEV, "-o", "out.parquet"],
    ],
)
def test_a_reader_who_never_reads_costs_no_result(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    code, _, errors = in_pipe(words, ["true"])
    assert code in (-signal.SIGPIPE, 0)  # all may be in the pipe before its reader has left
    assert errors == b""
    if "-o" in words:
        assert (tmp_path / words[-1]).exists()


def test_nobody_who_reads_the_notes_costs_no_result(tmp_path):
    reader, writer = os.pipe()
    os.close(reader)
    words = ["train", "--train", DEV, "--dev", DEV, "--num-merges", 5, "--resume", "-o", tmp_path / "out"]
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run([*PROGRAM, *map(str, words)], stdout=closed, stderr=closed, check=False)
    assert done.returncode == -signal.SIGPIPE
    assert Tokenizer.load(tmp_path / "out").record["merges"] == 5


def test_closed_streams(trained, tmp_path):
    program = subprocess.list2cmdline(PROGRAM)
    for words in (f"encode {trained} <&-", f"decode {trained} <&-", f"encode {trained} <&- >&-"):
        done = subprocess.run(f"{program} {words}", shell=True, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), words
    count = f"count {DEV} -o {tmp_path}/c.parquet <&- >&- 2>&-"
    done = subprocess.run(f"{program} {count}", shell=True, check=False)
    assert done.returncode == 0
    assert (tmp_path / "c.parquet").exists()


def test_names_that_look_like_markup_are_shown_on_a_terminal(tmp_path):
    (tmp_path / "in[").mkdir()
    (tmp_path / "in[" / "b].txt").write_text("aa bb\n" * 1000)  # the path has [/b] in it
    (tmp_path / "in[" / "[red].txt").write_text("cc dd\n" * 1000)
    words = ["train", "--train", str(tmp_path / "in["), "--on", "train", "--num-merges", "5"]
    env = os.environ | {"TERM": "xterm", "COLUMNS": "200"}
    output, code = terminal_output([*words, "-o", str(tmp_path / "[") + "/o]"], env)
    assert code == 0, output
    assert "[red]" in output
    assert "[/o]" in output


def test_the_bar_shows_names_as_they_are(capsys):
    with Progress(True) as show:
        show.stage("reading [/b]", unit="B", total=2)
        show.at(1, "[/red] :apple:")
        shown = list(show._bars.get_renderables())
        Console(file=sys.stderr, width=200).print(*shown)
    error = capsys.readouterr().err
    assert "reading [/b]" in error
    assert "[/red] :apple:" in error


def test_names_that_are_not_utf8_are_printed_as_they_are(tmp_path):
    out = os.fsencode(tmp_path) + b"/\xff\xfe"
    words = [b"train", b"--train", DEV.encode(), b"--dev", DEV.encode(), b"--num-merges", b"5", b"-o", out]
    done = subprocess.run([*PROGRAM, *words], capture_output=True, check=False)
    assert done.returncode == 0, done.stderr
    assert b"written: " + out + b"/" in done.stdout
    again = subprocess.run([*PROGRAM, *words], capture_output=True, check=False)
    assert again.returncode == 1
    assert again.stderr.startswith(b"error: ")


def test_what_the_terminal_cannot_show_is_escaped(trained):
    env = os.environ | {"PYTHONIOENCODING": "latin-1"}
    done = pairity("encode", trained, "--tokens", text="a\u1000\n", env=env)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("'a' ")
    assert "\\ufffd" in done.stdout


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_a_full_disk_behind_standard_output_is_an_error(trained):
    with Path("/dev/full").open("wb") as full:
        for words, text in (
            (["encode", trained], b"a\n"),
            (["decode", trained], b"1 2\n"),
            (["--help"], b""),
        ):
            done = subprocess.run(
                [*PROGRAM, *map(str, words)], input=text, stdout=full, stderr=subprocess.PIPE, check=False
            )
            assert (done.returncode, done.stderr) == (1, b"error: [Errno 28] No space left on device\n")
