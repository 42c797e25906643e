"""Where outputs may go, that it is known before the work, and that nothing is replaced unasked."""

import subprocess
import sys
from pathlib import Path

import pytest
from click import BadParameter

from filesystems import as_ordinary_user, small_disk, without_right_to_write
from pairity import Counts, PairityError, Scores, Tokenizer, sample
from pairity.cli.outputs import resumable
from pairity.cli.program import main
from program import PROGRAM, pairity

DEV = str(sample.FOLDER / "dev")
TRAIN = ["train", "--train", DEV, "--dev", DEV, "--num-merges", 20]


def hidden(folder):
    """What is left of the work: temporaries, locks, checkpoints."""
    return [
        path.name for path in Path(folder).iterdir() if path.name.startswith(".") or "checkpoint" in path.name
    ]


@pytest.fixture(scope="module")
def scores(trained, tmp_path_factory):
    folder = tmp_path_factory.mktemp("judged") / "scores"
    data = str(sample.FOLDER / "test")
    done = pairity("eval", f"a={trained}", "--data", data, "--metric", "cost", "--resamples", 0, "-o", folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.mark.parametrize(
    "given", [["--train", "."], ["--train", "x=."], ["--train", "x", "--dev-set", "a=."]]
)
def test_no_tokenizer_goes_where_the_text_is(tmp_path, monkeypatch, given):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PairityError, match="is where the text is: choose another folder"):
        main(["train", *given, "--num-merges", "5", "-o", str(tmp_path)], standalone_mode=False)


def test_a_mount_point(trained, tmp_path):
    with small_disk(tmp_path / "out", "8m") as out:
        for force in ([], ["--force"]):
            done = pairity(*TRAIN, "-o", out, *force)
            assert done.returncode == 0, done.stderr
            assert Tokenizer.load(out).record["merges"] == 20
            assert hidden(out) == []
            assert hidden(tmp_path) == []
        done = pairity("export", trained, "--to", "tiktoken", "-o", out / "x.tiktoken")
        assert done.returncode == 0, done.stderr


def test_a_mount_of_the_same_filesystem(tmp_path):
    """A folder of a host in a container may have the device number of what is around it."""
    with small_disk(tmp_path / "disk", "8m") as disk:
        (disk / "host").mkdir()
        (disk / "out").mkdir()
        subprocess.run(["mount", "--bind", disk / "host", disk / "out"], check=True)
        try:
            for force in ([], ["--force"]):
                done = pairity(*TRAIN, "-o", disk / "out", *force)
                assert done.returncode == 0, done.stderr
            assert Tokenizer.load(disk / "host").record["merges"] == 20
            assert hidden(disk / "host") == hidden(disk) == []
        finally:
            subprocess.run(["umount", disk / "out"], check=True)


def run_as_ordinary_user(*words):
    program = [*as_ordinary_user(), *PROGRAM]
    return subprocess.run([*program, *map(str, words)], capture_output=True, text=True, check=False)


def test_a_writable_folder_in_one_that_is_not(trained, tmp_path):
    out = tmp_path / "closed" / "out"
    out.mkdir(parents=True)
    with without_right_to_write(out.parent):
        for force in ([], ["--force"]):
            done = run_as_ordinary_user(*TRAIN, "-o", out, *force)
            assert done.returncode == 0, done.stderr
        assert Tokenizer.load(out).record["merges"] == 20
        for to, name in (("tiktoken", "x.tiktoken"), ("hf", "."), ("merges", "merges"), ("gguf", "x.gguf")):
            done = run_as_ordinary_user("export", trained, "--to", to, "-o", out / name, "--force")
            assert done.returncode == 0, done.stderr
        assert hidden(out) == hidden(out.parent) == []


def test_a_folder_that_may_not_be_written_is_refused_before_the_work(tmp_path):
    (tmp_path / "closed").mkdir()
    with without_right_to_write(tmp_path / "closed") as closed:
        for words in ([*TRAIN, "-o", closed / "out"], ["count", DEV, "-o", closed / "c.parquet"]):
            done = run_as_ordinary_user(*words)
            assert (done.returncode, done.stdout) == (1, "")
            assert "cannot be written: Permission denied" in done.stderr
            assert "Traceback" not in done.stderr
        assert list(closed.iterdir()) == []


def test_links_stay_and_their_targets_are_written(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert pairity(*TRAIN, "-o", tmp_path / "link").returncode == 0
    assert (tmp_path / "link").is_symlink()
    assert Tokenizer.load(tmp_path / "real").record["merges"] == 20
    (tmp_path / "c.parquet").symlink_to("elsewhere.parquet")  # it leads nowhere yet
    for force in ([], ["--force"]):
        assert pairity("count", DEV, "-o", tmp_path / "c.parquet", *force).returncode == 0
        assert (tmp_path / "c.parquet").is_symlink()
    assert set(Counts.load(tmp_path / "elsewhere.parquet")) == set(sample.read("dev"))
    assert hidden(tmp_path) == []


def test_the_current_folder(trained, tmp_path):
    for force in ([], ["--force"]):
        done = pairity(*TRAIN, "-o", ".", *force, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
    assert Tokenizer.load(tmp_path).record["merges"] == 20
    assert hidden(tmp_path) == []
    assert pairity("export", trained, "--to", "merges", "-o", ".", "--force", cwd=tmp_path).returncode == 0


def test_a_long_name(trained, tmp_path):
    for letter in ("a", "ß"):
        name = letter * (250 // len(letter.encode()))
        for force in ([], ["--force"]):
            done = pairity(*TRAIN, "-o", tmp_path / name, *force)
            assert done.returncode == 0, done.stderr
        assert Tokenizer.load(tmp_path / name).record["merges"] == 20
    assert hidden(tmp_path) == []
    done = pairity(*TRAIN, "-o", tmp_path / ("a" * 300))
    assert (done.returncode, "File name too long" in done.stderr) == (1, True)


def test_a_device_is_never_replaced(scores, tmp_path):
    done = pairity("report", scores, "-o", "/dev/null", "--force")
    assert done.returncode == 1
    assert "/dev/null is a device or a pipe" in done.stderr
    assert Path("/dev/null").is_char_device()


@pytest.fixture
def writing(trained, scores, tmp_path):
    """Every command that writes -> its words without the output, and where that is."""
    counts = tmp_path / "in.parquet"
    call("count", DEV, "-o", counts)
    data = str(sample.FOLDER / "test")
    return {
        "train": (TRAIN, "-o", tmp_path / "tok"),
        "count": (["count", DEV], "-o", tmp_path / "c.parquet"),
        "merge": (["merge", counts], "-o", tmp_path / "m.parquet"),
        "eval": (
            ["eval", trained, "--data", data, "--resamples", 0, "--metric", "cost"],
            "-o",
            tmp_path / "s",
        ),
        "report": (["report", scores], "-o", tmp_path / "r.html"),
        "inspect": (["inspect", trained], "--tokens", tmp_path / "t.csv"),
        **{
            f"export to {to}": (["export", trained, "--to", to], "-o", tmp_path / f"{to}.x")
            for to in ("hf", "transformers", "tiktoken", "merges", "gguf")
        },
    }


def call(*words):
    """A command in this process, which saves the time to start one."""
    main([str(word) for word in words], standalone_mode=False)


@pytest.mark.filterwarnings("ignore::pairity.PairityWarning")
def test_nothing_is_replaced_without_force(writing, tmp_path, capsys):
    for name, (words, option, output) in writing.items():
        call(*words, option, output)
        before = {path: path.stat().st_ino for path in tmp_path.rglob("*")}
        capsys.readouterr()
        with pytest.raises(PairityError, match=r"already .*--force"):
            call(*words, option, output)
        assert capsys.readouterr().out == "", name
        assert {path: path.stat().st_ino for path in tmp_path.rglob("*")} == before, name
        call(*words, option, output, "--force")
        assert hidden(tmp_path) == [], name


def test_a_second_writer_is_refused_with_the_name_of_the_first(writing, tmp_path):
    holder = (
        "import sys; from pathlib import Path; from pairity.files.locks import locked\n"
        "with locked(Path(sys.argv[1])):\n    print('held', flush=True); sys.stdin.read()"
    )
    for name, (words, option, output) in writing.items():
        with subprocess.Popen(
            [sys.executable, "-c", holder, output], stdin=subprocess.PIPE, stdout=subprocess.PIPE
        ) as first:
            assert first.stdout.readline() == b"held\n"
            with pytest.raises(PairityError, match=f"is being written by process {first.pid} on "):
                call(*words, option, output)
            first.stdin.close()
        assert not output.exists(), name
    assert hidden(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["count", "nowhere", "-o", "c.csv"], "counts are saved as one Parquet file"),
        (["merge", "nowhere", "-o", "c.csv"], "counts are saved as one Parquet file"),
        (["inspect", "nowhere", "--tokens", "t.xls"], "as .parquet or .csv"),
        (["export", "nowhere", "--to", "tiktoken", "-o", "x.json"], "the ranks cannot be named"),
        (["export", "nowhere", "--to", "gguf", "-o", "file/x.gguf"], "file is a file"),
        (["eval", "nowhere", "--data", "nowhere", "-o", "file"], "is a file, but scores needs a folder"),
        (
            ["pack", "nowhere", "--tokenizer", "a=nowhere", "-o", "file"],
            "is a file, but a pack needs a folder",
        ),
        (["report", "nowhere", "-o", "folder"], "is a folder, so no file can be written there"),
        (["report", "nowhere", "-o", "r.html", "--figures", "file"], "is a file, but figures needs a folder"),
        (
            ["report", "nowhere", "-o", "r.html", "--figures", ".", "--force"],
            r"\. contains other files \((file|folder)\) and no figures: choose a new folder",
        ),
        (
            ["train", "--train", "nowhere", "--num-merges", "5", "-o", "file"],
            "is a file, but a tokenizer needs",
        ),
    ],
)
def test_what_can_be_known_is_known_before_anything_is_read(tmp_path, monkeypatch, words, message):
    (tmp_path / "file").write_text("")
    (tmp_path / "folder").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(PairityError, match=message):
        call(*words)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


@pytest.mark.parametrize("words", [["experiment", "grid.toml"], ["train", "--train", "x"], ["count", "x"]])
def test_an_empty_output_is_not_the_current_folder(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(BadParameter, match="'' is no value: is a shell variable not set"):
        call(*words, "-o", "")
    with pytest.raises(BadParameter, match="'' is no value: is a shell variable not set"):
        call("report", "scores", "-o", "page.html", "--figures", "")


@pytest.mark.parametrize(
    ("words", "module"),
    [
        (["report", "nowhere"], "jinja2"),
        (["report", "nowhere", "--figures", "f"], "vl_convert"),
        (["export", "nowhere", "--to", "gguf", "-o", "x.gguf"], "gguf"),
        (["demo"], "wordfreq"),
        (["demo"], "jinja2"),
    ],
)
def test_a_missing_package_is_named_before_the_work(tmp_path, monkeypatch, words, module):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, module, None)  # as if it were not installed
    with pytest.raises(ValueError, match=f"needs the package {module}, which is not installed: pip install"):
        main(words, standalone_mode=False)
    assert list(tmp_path.iterdir()) == []


def test_special_tokens_that_files_cannot_tell_apart_are_refused_before_learning(tmp_path, monkeypatch):
    from pairity.training import training

    monkeypatch.setattr(training, "learn", lambda *_, **__: pytest.fail("learned before it was checked"))
    words = [*map(str, TRAIN), "-o", str(tmp_path / "t"), "--special-token"]
    for name, message in {
        "a": "also how tokenizer files spell",
        "the": "could be learned as an ordinary",
    }.items():
        with pytest.raises(ValueError, match=message):
            main([*words, name], standalone_mode=False)
    assert list(tmp_path.iterdir()) == []


def test_resume_says_when_there_is_nothing_to_resume(tmp_path):
    done = pairity(*TRAIN, "--resume", "-o", tmp_path / "t")
    assert done.returncode == 0
    assert f"note: there is no {tmp_path}/t.checkpoint.parquet to resume from" in done.stderr


def test_a_disk_that_is_full_after_training_keeps_the_merges(tmp_path):
    whole = tmp_path / "whole"
    words = ["train", "--train", DEV, "--dev", DEV, "--num-merges", 2000]
    assert pairity(*words, "-o", whole).returncode == 0
    with small_disk(tmp_path / "disk", "200k") as disk:
        done = pairity(*words, "-o", disk / "t")
        assert done.returncode == 1
        assert "No space left on device" in done.stderr
        kept = disk / "t.checkpoint.parquet"
        assert (
            f"The merges are saved in {kept}: run the same command with --resume to continue." in done.stderr
        )
        assert [path.name for path in disk.iterdir()] == [kept.name]
        subprocess.run(["mount", "-o", "remount,size=8m", disk], check=True)
        done = pairity(*words, "-o", disk / "t", "--resume")
        assert done.returncode == 0, done.stderr
        assert Tokenizer.load(disk / "t") == Tokenizer.load(whole)
        assert [path.name for path in disk.iterdir()] == ["t"]


def test_keys_with_dashes_in_a_config_file(tmp_path):
    (tmp_path / "run.toml").write_text('"--vocab-size" = 400\n')
    done = pairity(*TRAIN, "--config", tmp_path / "run.toml", "-o", tmp_path / "t")
    assert done.returncode == 1
    assert "write 'vocab-size' instead of '--vocab-size', without the dashes" in done.stderr


def test_report_names_a_tokenizer_as_eval_does(trained, tmp_path):
    scores = tmp_path / "scores"
    data = str(sample.FOLDER / "test")
    done = pairity("eval", trained, "--data", data, "--metric", "cost", "--resamples", 0, "-o", scores)
    assert done.returncode == 0, done.stderr
    assert Scores.load(scores).tokenizers == ["tokenizer"]
    sentence = sample.FOLDER / "test" / "eng_Latn.txt"
    pages = {}
    for name, words in {
        "without": [],
        "with": ["--tokenizer", trained, "--sentences", sentence],
        "named": ["--tokenizer", f"tokenizer={trained}", "--sentences", sentence],
    }.items():
        done = pairity("report", scores, *words, "-o", tmp_path / f"{name}.html")
        assert done.returncode == 0, done.stderr
        pages[name] = (tmp_path / f"{name}.html").read_bytes()
    assert pages["with"] == pages["named"]
    assert len(pages["with"]) > len(pages["without"])
    wrong = pairity("report", scores, "--tokenizer", f"other={trained}", "-o", tmp_path / "other.html")
    assert wrong.returncode == 1
    assert "these scores have no tokenizer 'other'" in wrong.stderr


def test_a_checkpoint_without_a_journal_is_nothing_to_go_on_from(tmp_path):
    """What a count leaves that was killed before its first checkpoint."""
    (tmp_path / "t.checkpoint.parquet.counting").mkdir()
    (tmp_path / "t.checkpoint.parquet.counting" / "000000.run").write_bytes(b"")
    done = pairity(*TRAIN, "-o", tmp_path / "t")
    assert done.returncode == 0, done.stderr
    assert "--resume continues" not in done.stderr
    assert {path.name for path in tmp_path.iterdir()} == {"t"}


@pytest.mark.parametrize("kept", [True, False])
def test_an_interruption_says_how_to_go_on_only_where_something_is_kept(kept):
    with pytest.raises(KeyboardInterrupt) as stop, resumable(lambda: kept):
        raise KeyboardInterrupt
    assert getattr(stop.value, "__notes__", []) == (["--resume continues"] if kept else [])
