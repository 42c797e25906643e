"""The commands: a killed one goes on, a sweep is an experiment, and mistakes are one sentence."""

import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from pairity.cli.experiments import sweep_command
from pairity.experiments import Experiment, read
from program import PROGRAM, pairity


def wait_for(found: Callable[[], bool], process: "subprocess.Popen[str]") -> None:
    until = time.monotonic() + 120
    while not found() and process.poll() is None and time.monotonic() < until:
        time.sleep(0.01)


def test_a_killed_experiment_goes_on_where_it_was(project: Path) -> None:
    out = project / "out"
    command = ["experiment", str(project / "grid.toml"), "-o", str(out)]
    notes: dict[Path, int] = {}
    for number, name in ((signal.SIGKILL, "classical@340"), (signal.SIGINT, "hybrid@300")):
        note = out / "notes" / "tokenizers" / f"{name}.json"
        with subprocess.Popen([*PROGRAM, *command], stderr=subprocess.PIPE, text=True) as process:
            wait_for(note.exists, process)
            process.send_signal(number)
            _, said = process.communicate()
        assert process.returncode == (130 if number == signal.SIGINT else -signal.SIGKILL)
        assert {path: path.stat().st_mtime_ns for path in notes} == notes, "it was made again"
        notes = {path: path.stat().st_mtime_ns for path in out.glob("notes/**/*.json")}
        assert note in notes
    (out / "tokenizers" / ".x.1-0.unfinished").mkdir()
    (out / "notes" / ".y.json.lock").touch()
    assert said == f"interrupted: finished parts are in {out}; run the same command again to continue\n"
    finished = pairity(*command)
    assert finished.returncode == 0, finished.stderr
    assert {path: path.stat().st_mtime_ns for path in notes} == notes
    assert "hybrid@340" in finished.stdout
    assert f"written: {out}/" in finished.stdout
    assert not list(out.glob("**/.*")), "something is left over"


def test_a_sweep_is_an_experiment_with_axes(project: Path) -> None:
    out = project / "sweep"
    finished = pairity(
        "sweep", "--train", project / "train", "--dev", project / "dev", "--data", project / "test",
        "--vocab-size", 300, "--window", "20,40", "--global-merges", "0", "0.5", "--resamples", 0, "-o", out,
    )  # fmt: skip
    assert finished.returncode == 0, finished.stderr
    rows = pq.read_table(out / "table.parquet").to_pylist()
    assert [(row["window"], row["global_share"]) for row in rows] == [
        (20, None),
        (20, 0.5),
        (40, None),
        (40, 0.5),
    ]
    assert "window=20, global_merges=0.5" in finished.stdout
    assert (out / "figures" / "global_merges.svg").exists() != (out / "figures" / "window.svg").exists()
    assert read(out / "experiment.toml").grid["window"] == [20, 40]


def test_the_order_of_options_is_not_that_of_names(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Experiment] = []
    monkeypatch.setattr("pairity.cli.experiments.carry_out", lambda experiment, *_: asked.append(experiment))
    axes = (["--window", "20,40"], ["--global-merges", "0,0.5"], ["--vocab-size", "300,340"])
    for order in (axes, axes[::-1]):
        words = [word for axis in order for word in axis]
        sweep_command.main(
            [
                "--train",
                "t",
                "--dev",
                "v",
                "--data",
                "d",
                *words,
                "--text-column",
                "body",
                "-o",
                str(project / "out"),
            ],
            standalone_mode=False,
        )
    assert [list(one.grid) for one in asked] == [["vocab_size", "window", "global_merges"]] * 2
    assert [one.chart for one in asked] == ["window"] * 2
    assert asked[0].text_column == "body"


def test_names_of_pretokenizers_are_cut_at_commas_but_no_regex_is(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Experiment] = []
    monkeypatch.setattr("pairity.cli.experiments.carry_out", lambda experiment, *_: asked.append(experiment))
    words = ["--train", "t", "--dev", "v", "--data", "d", "--vocab-size", "300,340", "-o", "out"]
    words += ["--pretokenizer", "gpt4o:words4,gpt2", r"\S{1,9}|\s"]
    sweep_command.main(words, standalone_mode=False)
    assert asked[0].grid["pretokenizer"] == ["gpt4o:words4", "gpt2", r"\S{1,9}|\s"]
    assert asked[0].grid["vocab_size"] == [300, 340]


def test_several_sets_of_languages_are_told_apart(project: Path) -> None:
    (project / "sets.toml").write_text(
        'train = "train"\n[judge]\ntest = "test"\n[evaluation]\nresamples = 0\n[languages]\n'
        'two = ["eng_Latn", "tam_Taml"]\n[grid]\nvocab_size = 270\nmethod = "classical"\n'
        'languages = ["two", "all"]\n',
        encoding="utf-8",
    )
    finished = pairity("experiment", project / "sets.toml", "-o", project / "out")
    assert finished.returncode == 0, finished.stderr
    header, *lines = finished.stdout.splitlines()[:3]
    assert header.split()[:4] == ["tokenizer", "text", "languages", "Gini"]
    assert [line.split()[2] for line in lines] == ["two", "all"]
    page = (project / "out" / "report.html").read_text(encoding="utf-8")
    section = page.split('<section id="texts">')[1].split("</section>")[0]
    assert "about test, the main text, and the tokenizers for two." in section
    assert section.count("<table") == 2


@pytest.mark.parametrize(
    ("words", "match"),
    [
        (
            ["--window", "wide"],
            "error: --window has 'wide': give a whole number, such as 100; several with commas",
        ),
        (["--joint", "half"], "error: --joint has 'half': give a share, such as 0.5; several with commas"),
        (["--method", "parrity"], "error: sweep: method is 'parrity': Did you mean 'parity'?"),
        (
            ["--vocab-size", "128,000"],
            "error: --vocab-size has '128,000': commas stand between several values, so write 128000.",
        ),
        (["--pretokenizer", "gpt4o,gpt5"], "error: sweep: unknown pre-tokenizer 'gpt5'"),
        (
            ["--global-merges", "0,0.5,1"],
            "error: sweep: global_merges is [0, 0.5, 1], where 1 is one merge: write 1.0 for a share.",
        ),
        (["--text-column", ""], "error: sweep: text_column is '': give the name of a column."),
        (["--threads", "0"], "error: threads is 0: give at least 1."),
        (["--alpha", "3"], "error: sweep: 'alpha' does nothing here, because there is no window"),
    ],
)
def test_a_mistake_on_the_command_line_is_one_sentence(project: Path, words: list[str], match: str) -> None:
    given = ["--train", project / "train", "--dev", project / "dev", "--data", project / "test"]
    failed = pairity("sweep", *given, "--vocab-size", "300", *words, "-o", project / "out")
    assert failed.returncode == 1
    assert failed.stderr.startswith(match)
    assert failed.stderr.count("\n") == 1
    assert not (project / "out").exists()


def test_a_sweep_without_dev_says_which_option_is_missing(project: Path) -> None:
    given = ["--train", project / "train", "--data", project / "test", "--vocab-size", "300"]
    failed = pairity("sweep", *given, "-o", project / "out")
    assert failed.returncode == 1
    assert "pass it with --dev, or use --method classical" in failed.stderr
    steered = pairity("sweep", *given, "--method", "parity-unigram", "-o", project / "out")
    assert "method parity-unigram compares languages on parallel text: pass it with --dev" in steered.stderr


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    failed = pairity("experiment", tmp_path / "none.toml", "-o", tmp_path / "out")
    assert failed.returncode == 1
    assert failed.stderr.startswith(f"error: there is no {tmp_path / 'none.toml'}")
