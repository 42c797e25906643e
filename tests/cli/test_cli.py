"""Every command as a user runs it, from text to a report, and the mistakes a user may make."""

import gzip
import re
from dataclasses import replace

import pytest

from pairity import Tokenizer, sample
from peer_tokenizers import write_ranks
from program import pairity
from small_tokenizers import SAVED

DEV = str(sample.FOLDER / "dev")


def test_the_folder_loads_everywhere(trained):
    import tokenizers

    names = {path.name for path in trained.iterdir()}
    assert names == SAVED
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


def test_a_special_token_in_a_text_is_refused_or_read_as_the_user_says(trained):
    own, text = Tokenizer.load(trained), "ok\nab<s>\n"
    refused = pairity("encode", trained, text=text)
    assert refused.returncode == 1
    assert refused.stdout.split() == [str(i) for i in own.encode("ok")], "what came before it is written"
    assert refused.stderr.startswith('error: line 2: the text contains the special token "<s>" (at byte 2)')
    for kind, option in (
        (own.encode("ab<s>", allowed_special="all"), "token"),
        (own.encode("ab<s>", disallowed_special=()), "text"),
    ):
        assert f"(--special-tokens {option})" in refused.stderr
        done = pairity("encode", trained, "--special-tokens", option, text=text)
        assert done.stdout.splitlines()[1].split() == [str(i) for i in kind], done.stderr
    assert pairity("encode", trained, "--special-tokens", "refuse", text=text).stderr == refused.stderr
    wrong = pairity("encode", trained, "--special-tokens", "read", text=text)
    assert wrong.returncode == 2
    assert "'refuse', 'token', 'text'" in wrong.stderr


@pytest.mark.parametrize(
    ("ids", "message"),
    [("1 2\n1 2 x\n", "line 2 must contain only token ids, but it is '1 2 x'"), ("99999\n", "99999")],
)
def test_decode_names_what_is_not_an_id(trained, ids, message):
    done = pairity("decode", trained, text=ids)
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_inspect(trained):
    shown = pairity("inspect", trained)
    assert shown.returncode == 0, shown.stderr
    assert "method: name=parity" in shown.stdout
    languages = Tokenizer.load(trained).record["languages"]
    rows = {words[0]: words[1:] for line in shown.stdout.splitlines() if len(words := line.split()) >= 4}
    for language in sample.read("dev"):
        assert rows[language][1] == f"{languages[language]['served']:,}"
        assert rows[language][2] == f"{languages[language]['cost']:.2f}"


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


def test_an_existing_tokenizer_is_not_replaced(trained):
    before = (trained / "tokenizer.json").read_bytes()
    words = ["train", "--train", DEV, "--dev", DEV, "--vocab-size", 600, "-o", trained]
    refused = pairity(*words)
    assert refused.returncode == 1
    assert "already holds a tokenizer" in refused.stderr
    assert "--force" in refused.stderr
    assert (trained / "tokenizer.json").read_bytes() == before


def test_force_replaces_a_tokenizer(tmp_path):
    words = ["train", "--train", DEV, "--dev", DEV, "-o", tmp_path / "t"]
    assert pairity(*words, "--num-merges", 5).returncode == 0
    assert pairity(*words, "--num-merges", 9, "--force").returncode == 0
    assert Tokenizer.load(tmp_path / "t").record["merges"] == 9


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


def test_a_size_that_the_data_cannot_reach_is_a_warning(tmp_path):
    (tmp_path / "a.txt").write_text("aaaa bbbb aaaa bbbb\n")
    done = pairity(
        "train", "--train", f"a={tmp_path}/a.txt", "--on", "train", "--vocab-size", 5000, "-o", tmp_path / "t"
    )
    assert done.returncode == 0
    tokenizer = Tokenizer.load(tmp_path / "t")
    assert tokenizer.vocab_size == 256 + tokenizer.record["merges"]
    warnings = [line for line in done.stderr.splitlines() if line.startswith("warning: ")]
    assert warnings == [f"warning: {warning}" for warning in tokenizer.record["warnings"]]
    assert len(warnings) == 1
    assert "5,000" in warnings[0]
    assert f"{tokenizer.vocab_size:,}" in warnings[0]
    assert warnings[0].startswith("warning: training stopped early")


def test_resume_with_nothing_to_resume_says_so_and_starts(tmp_path):
    words = [
        "train",
        "--train",
        DEV,
        "--dev",
        DEV,
        "--special-token",
        "<s>",
        "--resume",
        "-o",
        tmp_path / "t",
    ]
    done = pairity(*words, "--num-merges", 5)
    assert done.returncode == 0, done.stderr
    assert done.stderr.startswith("note: there is no ")
    assert "checkpoint.parquet to resume from; this run starts from the beginning\n" in done.stderr
    assert Tokenizer.load(tmp_path / "t").record["merges"] == 5


def test_resume_of_a_finished_run_has_no_work(tmp_path):
    """A queue starts a job again from its first command."""
    words = ["train", "--train", DEV, "--dev", DEV, "--resume", "-o", tmp_path / "t", "--num-merges"]
    special = ["--special-token", "<s>"]
    assert pairity(*words, 5, *special).returncode == 0
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "t").iterdir()}
    done = pairity(*words, 5, *special)
    assert (done.returncode, done.stdout) == (0, "")
    assert (
        "t is finished: it holds a tokenizer with these settings, and there is nothing to resume"
        in done.stderr
    )
    for other in (
        [6, *special],
        [5],
        [5, *special, "--unit", "byte"],
        [5, *special, "--method", "classical"],
    ):
        refused = pairity(*words, *other)
        assert refused.returncode == 1, other
        assert "already holds a tokenizer" in refused.stderr
    (tmp_path / "t.checkpoint.parquet").write_bytes(b"of a run with --force that was killed")
    assert "already holds a tokenizer" in pairity(*words, 5, *special).stderr
    (tmp_path / "t.checkpoint.parquet").unlink()
    (tmp_path / "t.checkpoint.parquet.counting").mkdir()  # without a journal there is nothing to go on from
    assert "t is finished" in pairity(*words, 5, *special).stderr
    assert {path.name: path.stat().st_mtime_ns for path in (tmp_path / "t").iterdir()} == before
    assert pairity(*words, 5, *special, "--force").returncode == 0


def test_resume_tells_starts_of_one_size_apart(tmp_path):
    for language in ("deu_Latn", "tam_Taml"):
        first = ("train", "--train", f"{DEV}/{language}.txt", "--method", "classical", "--vocab-size", 300)
        assert pairity(*first, "-o", tmp_path / language).returncode == 0
    words = ["train", "--train", DEV, "--dev", DEV, "--resume", "-o", tmp_path / "t", "--add-tokens", 5]
    assert pairity(*words, "--continue", tmp_path / "deu_Latn").returncode == 0
    assert "t is finished" in pairity(*words, "--continue", tmp_path / "deu_Latn").stderr
    refused = pairity(*words, "--continue", tmp_path / "tam_Taml")
    assert refused.returncode == 1
    assert "already holds a tokenizer" in refused.stderr
    older = Tokenizer.load(tmp_path / "t")
    start = {name: value for name, value in older.record["continued_from"].items() if name != "digest"}
    record = dict(older.record) | {"continued_from": start}
    Tokenizer.from_model(replace(older.model, record=record)).save(tmp_path / "t", force=True)
    assert "already holds a tokenizer" in pairity(*words, "--continue", tmp_path / "deu_Latn").stderr


def test_a_start_is_opened_once_and_warned_of_once(tmp_path):
    ranks = write_ranks(tmp_path / "x.tiktoken")
    (tmp_path / "eng.txt").write_text("abab abab\n" * 5)
    words = ["train", "--train", tmp_path / "eng.txt", "--method", "classical", "--num-merges", 1, "--resume"]
    done = pairity(*words, "--continue", f"{ranks}@gpt2", "-o", tmp_path / "t")
    assert done.returncode == 0, done.stderr
    assert done.stderr.count("lists no special tokens") == 1


def test_a_language_without_dev_text(tmp_path):
    (tmp_path / "code.txt").write_text("def f(x):\n    return x\n" * 500)
    (tmp_path / "ratios.toml").write_text('code = "auto"\n')
    words = ["train", "--train", DEV, f"code={tmp_path}/code.txt", "--dev", DEV, "--vocab-size", 700]
    for name, ratio in (("a", ["--ratio", "code=auto"]), ("b", ["--ratios", tmp_path / "ratios.toml"])):
        done = pairity(*words, *ratio, "-o", tmp_path / name)
        assert done.returncode == 0, done.stderr
        shown = " ".join(done.stdout.split())
        assert "with a ratio, measured on training text:" in shown
        estimated = re.search(
            r"a line-equivalent is [\d.]+ train bytes \(estimated from its training text\)", shown
        )
        assert estimated
        assert shown.index("tokens per line ") < shown.index("tokens per line-equivalent")
        assert "worst code" not in shown
        assert "best code" not in shown
        assert " ".join(pairity("inspect", tmp_path / name).stdout.split()).count(estimated[0]) == 1
    assert Tokenizer.load(tmp_path / "a") == Tokenizer.load(tmp_path / "b")


BOTH = f"--train {DEV} --dev {DEV}"
CLASSICAL = f"--train {DEV} --method classical --num-merges 9"
BAD_RUNS = {
    "missing dev": (f"--train {DEV}", "give parallel dev text (--dev)"),
    "unknown ratio": (f"{BOTH} --ratio xx=3", "a ratio is given for 'xx'"),
    "ratio without value": (f"{BOTH} --ratio xx", "LANG=BYTES"),
    "zero ratio": (f"{BOTH} --ratio eng_Latn=0", "positive"),
    "ratios that are no TOML": (
        f"{BOTH} --ratios {DEV}/eng_Latn.txt",
        "--ratios takes a .toml file (code = 130) or a .json file",
    ),
    "classical with window": (
        f"{CLASSICAL} --window 5",
        "--method classical does not serve particular languages and does not use --window: leave it out",
    ),
    "classical with all that parity takes": (
        f"{CLASSICAL} --alpha 2 --unit line --global-merges 0 --on dev --ratio a=auto --ratios no.json",
        "not use --global-merges, --alpha, --ratio, --ratios, --unit, --on",
    ),
    "parity with beta": (
        f"{BOTH} --beta 3",
        "--method parity does not use --beta: leave it out, or train with --method fair",
    ),
    "fair with window": (
        f"{BOTH} --method fair --beta 3 --window 5",
        "--method fair does not use --window: leave it out.",
    ),
    "negative beta": (
        f"{BOTH} --method fair --beta -1",
        "beta is -1.0: it must be a finite number, 0 or more",
    ),
    "alpha alone": (
        f"{BOTH} --alpha 2",
        "without a window it has no effect: also give window=100 (--window 100)",
    ),
    "unknown languages": (
        f"{BOTH} --skip xx,eng_Latn,fil_Latn",
        "'xx', 'fil_Latn' are in --skip, but train has no such language (but tgl_Latn is the same language as "
        "fil_Latn)",
    ),
    "share": (f"{BOTH} --global-merges lots", "share such as 0.5"),
    "ratio twice": (f"--train {DEV} --ratio eng_Latn=1 --ratio eng_Latn=2", "twice for 'eng_Latn'"),
    "no such folder": ("--train nowhere --on train", "no such file or folder"),
    "twice": (
        f"--train {DEV} --train eng_Latn={DEV}/eng_Latn.txt --dev {DEV}",
        "the language 'eng_Latn' is given twice",
    ),
}


@pytest.mark.parametrize("case", BAD_RUNS)
def test_bad_runs_say_what_to_do_and_write_nothing(tmp_path, case):
    words, message = BAD_RUNS[case]
    goal = [] if "--num-merges" in words else ["--vocab-size", 500]
    done = pairity("train", *words.split(), *goal, "-o", tmp_path / "out")
    assert done.returncode == 1
    assert done.stderr.startswith("error: ")
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_an_output_that_cannot_be_made_is_refused(tmp_path):
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


def test_export(trained, tmp_path):
    done = pairity("export", trained, "--to", "merges", "-o", tmp_path / "m")
    assert done.returncode == 0, done.stderr
    assert {path.name for path in (tmp_path / "m").iterdir()} == {"merges.txt", "vocab.json"}
    (tmp_path / "chat.jinja").write_bytes(b"\xff\xfe")
    refused = pairity(
        "export",
        trained,
        "--to",
        "transformers",
        "--chat-template",
        tmp_path / "chat.jinja",
        "-o",
        tmp_path / "s",
    )
    assert refused.returncode == 1
    assert "chat.jinja is not a Jinja template" in refused.stderr
    assert not (tmp_path / "s").exists()
