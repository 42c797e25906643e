"""`eval`, `report` and `tax`: what is printed, and what is written."""

from pairity import Scores, sample
from program import pairity

DEV = str(sample.FOLDER / "dev")


def test_judge_and_report(trained, tmp_path):
    scores = tmp_path / "scores"
    done = pairity(
        "eval", f"ours={trained}", "--data", sample.FOLDER / "test", "--resamples", 20, "-o", scores
    )
    assert done.returncode == 0, done.stderr
    found = Scores.load(scores)
    gini = found.interval("ours", "gini")
    assert f"ours {gini.value:.4f} {gini.low:.4f} to {gini.high:.4f} " in " ".join(done.stdout.split())
    page = tmp_path / "page.html"
    done = pairity(
        "report", scores, "-o", page, "--tokenizer", f"ours={trained}", "--sentences", sample.FOLDER / "test"
    )
    assert done.returncode == 0, done.stderr
    assert page.stat().st_size > 10_000
    leak = pairity("eval", f"ours={trained}", "--data", DEV, "--resamples", 20, "-o", tmp_path / "leak")
    assert [line.split(":")[:2] for line in leak.stderr.splitlines()] == [
        ["warning", " ours is evaluated on its own dev text"]
    ]
    priced = pairity("tax", trained, "--data", sample.FOLDER / "test", "--price", 2.5)
    assert priced.returncode == 0, priced.stderr
    tamil = next(line.split() for line in priced.stdout.splitlines() if "tam_Taml" in line)
    assert tamil[:4] == ["tokenizer", "tam_Taml", "Tamil", f"{found.costs('ours')['tam_Taml']:.2f}"]


def test_two_tokenizers_of_one_name(trained, tmp_path):
    for words in (
        ["eval", trained, trained, "--data", DEV],
        ["report", "nowhere", "--tokenizer", f"a={trained}", f"a={DEV}"],
    ):
        done = pairity(*words, "-o", tmp_path / "out")
        assert done.returncode == 1
        assert "two tokenizers have the same name" in done.stderr
        assert "first=TOKENIZER second=TOKENIZER" in done.stderr
        assert list(tmp_path.iterdir()) == []


def test_the_price_of_a_token(trained):
    refused = pairity("tax", trained, "--data", "nowhere", "--price", -2)
    assert refused.returncode == 1
    assert "the price of a million tokens is -2.0: give a number of 0 or more, such as 2.50" in refused.stderr
    assert pairity("tax", trained, "--data", sample.FOLDER / "test", "--price", 0).returncode == 0


def test_one_run_judges_many_sizes(trained, tmp_path):
    folder, data = tmp_path / "scores", sample.FOLDER / "test"
    done = pairity(
        "eval", f"ours={trained}", "--data", data, "--sizes", "400,900", "--resamples", 20, "-o", folder
    )
    assert done.returncode == 0, done.stderr
    rows = {words[0]: words[1] for line in done.stdout.splitlines() if len(words := line.split()) > 4}
    scores = Scores.load(folder)
    for name in ("ours@400", "ours@900"):
        assert rows[name] == f"{scores.value(name, 'gini'):.4f}"
    for sizes, message in (
        ("400,8k", "--sizes has '8k'"),
        ("400,400", "given twice"),
        ("100", "are already 257"),
    ):
        wrong = pairity("eval", trained, "--data", data, "--sizes", sizes, "-o", tmp_path / "wrong")
        assert wrong.returncode == 1
        assert message in wrong.stderr
        assert not (tmp_path / "wrong").exists()
