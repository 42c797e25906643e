"""What is in the folder of an experiment belongs to the experiment: nothing stale, nothing damaged, nothing foreign."""

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pairity.errors import PairityError
from pairity.experiments import Result, read, run
from pairity.experiments.data import digests_of, place_digest
from pairity.experiments.reading import tokenizer_beside
from pairity.judging.evaluation import evaluate
from pairity.progress import Progress
from pairity.text.sources import resolve
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.policy import Classical
from pairity.training.training import train

SMALL = """
train = "train"
dev = "dev"

[judge]
home = "test"

[evaluation]
resamples = 0

[grid]
vocab_size = 280

[[run]]
method = "classical"

[[run]]
name = "parity"
window = 20
"""


@pytest.fixture
def study(project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A small experiment, grid.toml; its page has the title of the report alone, which is quicker to write."""

    def write_title(scores: Any, page: Path, *, title: str, sections: Any) -> None:
        page.write_text(title, encoding="utf-8")

    monkeypatch.setattr("pairity.experiments.pages.report", write_title)
    (project / "grid.toml").write_text(SMALL, encoding="utf-8")
    return project


def carry_out(study: Path) -> Result:
    return run(study / "grid.toml", study / "out", progress=False)


def change(study: Path, old: str, new: str) -> None:
    file = study / "grid.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


@pytest.fixture
def done_again(study: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], list[str]]:
    """Runs the experiment, and tells what it did: the trainings and the texts that were judged."""
    did: list[str] = []

    def training(*args: Any, **settings: Any) -> Tokenizer:
        did.append("train")
        return train(*args, **settings)

    def judging(*args: Any, **settings: Any) -> Any:
        did.append("judge")
        return evaluate(*args, **settings)

    monkeypatch.setattr("pairity.experiments.making.train", training)
    monkeypatch.setattr("pairity.experiments.scoring.evaluate", judging)

    def again() -> list[str]:
        did.clear()
        carry_out(study)
        return list(did)

    return again


def test_a_file_of_the_user_is_not_replaced(study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(study)
    (study / "grid.toml").rename(study / "experiment.toml")
    with pytest.raises(PairityError, match=r"contains other files .* choose a new folder"):
        run("experiment.toml", ".", progress=False)
    assert (study / "experiment.toml").read_text(encoding="utf-8") == SMALL


def test_the_file_that_was_written_can_be_run_and_a_changed_one_is_kept(study: Path) -> None:
    rows = carry_out(study).rows
    written = study / "out" / "experiment.toml"
    assert run(written, study / "out", progress=False).rows == rows
    changed = written.read_text(encoding="utf-8").replace("280", "290  # larger")
    written.write_text(changed, encoding="utf-8")
    with pytest.raises(PairityError, match=r"experiment\.toml was changed after it was written"):
        run(written, study / "out", progress=False)
    assert written.read_text(encoding="utf-8") == changed


def test_the_chart_of_another_page_goes_with_it(study: Path) -> None:
    change(study, "window = 20", "window = [20, 30]")
    change(study, 'dev = "dev"', 'dev = "dev"\nchart = "window"')
    carry_out(study)
    figures = study / "out" / "figures"
    assert (figures / "window.svg").exists()
    (figures / "mine.svg").touch()
    change(study, 'chart = "window"', "")
    carry_out(study)
    assert [file.name for file in figures.iterdir()] == ["mine.svg"]


def test_an_interrupted_run_leaves_no_file_that_tells_of_another(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def told() -> tuple[Any, Any, Any]:
        out = study / "out"
        page = out / "report.html"
        sizes = set(pq.read_table(out / "table.parquet")["vocab_size"].to_pylist())
        title = page.read_text(encoding="utf-8") if page.exists() else None
        return read(out / "experiment.toml").grid["vocab_size"], sizes, title

    change(study, "train =", 'title = "first"\ntrain =')
    carry_out(study)
    assert told() == (280, {280}, "first")
    change(study, "280", "290")
    change(study, "first", "second")

    def stop(*args: Any) -> None:
        raise KeyboardInterrupt

    for stage, expected in (("score_all", (280, {280}, "first")), ("write_page", (290, {290}, None))):
        with monkeypatch.context() as patch:
            patch.setattr(f"pairity.experiments.running.{stage}", stop)
            with pytest.raises(KeyboardInterrupt):
                carry_out(study)
        assert told() == expected
    carry_out(study)
    assert told() == (290, {290}, "second")


def test_what_is_damaged_or_missing_is_made_again(study: Path, done_again: Callable[[], list[str]]) -> None:
    assert done_again() == ["train", "train", "judge"]
    for path, expected in {
        "tokenizers/parity/tokenizer.json": ["train"],
        "tokenizers/parity/pairity.json": ["train"],
        "scores/home/lengths.npz": ["judge"],
        "scores/home/scores.parquet": ["judge"],
        "report.html": [],
    }.items():
        file = study / "out" / path
        damaged = file.read_bytes()[:-3]
        file.unlink()
        assert done_again() == expected, path
        file.write_bytes(damaged)
        assert done_again() == expected, path
        assert file.read_bytes() != damaged
    assert done_again() == []


def test_the_cache_may_be_deleted(study: Path, done_again: Callable[[], list[str]]) -> None:
    done_again()
    shutil.rmtree(study / "out" / "cache")
    assert done_again() == []


def test_a_tokenizer_that_gets_another_name_is_not_trained_again(
    study: Path, done_again: Callable[[], list[str]]
) -> None:
    done_again()
    change(study, "window = 20", "window = [20, 50]")
    assert done_again() == ["train", "judge"]
    found = Tokenizer.load(study / "out" / "tokenizers" / "parity,-window=20")
    assert found.record["method"]["window"] == 20
    said = "no longer part of this experiment: tokenizers/parity; delete them if you do not need them"
    assert carry_out(study).notes[-1] == said


def test_a_text_that_gets_another_name_gets_another_page(
    study: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def write_names(scores: Any, page: Path, *, title: str, sections: Any) -> None:
        page.write_text(" ".join(section.html for section in sections), encoding="utf-8")

    monkeypatch.setattr("pairity.experiments.pages.report", write_names)
    change(study, "[evaluation]", 'away = "away"\n[evaluation]')
    carry_out(study)
    change(study, "away =", "abroad =")
    carry_out(study)
    page = (study / "out" / "report.html").read_text(encoding="utf-8")
    assert "abroad" in page
    assert "away" not in page


def test_other_gold_words_are_noticed(study: Path, done_again: Callable[[], list[str]]) -> None:
    gold = study / "gold"
    gold.mkdir()
    (gold / "eng_Latn.csv").write_text("full_word,pt1,rest\nwalking,walk,ing\n", encoding="utf-8")
    change(study, "resamples = 0", 'resamples = 0\nmorph = "gold"')
    done_again()
    assert done_again() == []
    (gold / "eng_Latn.csv").write_text("full_word,pt1,rest\ntalking,talk,ing\n", encoding="utf-8")
    assert done_again() == ["judge"]


@pytest.mark.parametrize(
    "spec",
    [
        "ranks.tiktoken@gpt4", "mine=ranks.tiktoken@gpt4", "sentencepiece:some.model", "mine=sentencepiece:some.model",
        "mine=some.model", "some.model",
    ],
)  # fmt: skip
def test_another_tokenizer_in_the_same_place_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, spec: str
) -> None:
    (tmp_path / "here").mkdir()
    for name in ("ranks.tiktoken", "some.model"):
        (tmp_path / "here" / name).write_bytes(b"IQ== 0\n" if name.startswith("ranks") else b"\n\x0e\n")
    monkeypatch.chdir(tmp_path)
    seen = tokenizer_beside(Path("here"), spec)
    assert seen.count("here/") == 1, "it is beside the file of the experiment"
    before = place_digest(seen)
    assert place_digest(seen) == before
    for name in ("ranks.tiktoken", "some.model"):
        with (tmp_path / "here" / name).open("ab") as file:
            file.write(b"Ig== 1\n")
    assert place_digest(seen) != before


def test_another_pattern_is_another_tokenizer(tmp_path: Path) -> None:
    file = tmp_path / "ranks.tiktoken"
    file.write_bytes(b"IQ== 0\n")
    assert place_digest(f"{file}@gpt4") != place_digest(f"{file}@gpt4o")
    assert place_digest("x=tiktoken:o200k_base") == place_digest("tiktoken:o200k_base")


def test_the_same_bytes_read_in_another_way_are_another_text(tmp_path: Path) -> None:
    file = tmp_path / "eng_Latn.jsonl"
    file.write_text('{"text": "words"}\n', encoding="utf-8")
    with Progress(False) as silent:
        before = digests_of(resolve([str(file)]), silent)
        other = file.rename(tmp_path / "eng_Latn.txt")
        assert digests_of(resolve([str(other)]), silent) != before


def test_text_in_another_column(study: Path, done_again: Callable[[], list[str]]) -> None:
    for file in list(study.glob("t*/*.txt")):
        lines = file.read_text(encoding="utf-8").splitlines()
        rows = "".join(f"{line[::-1]}\t{line}\n" for line in ("left", *lines) if "\t" not in line)
        file.with_suffix(".tsv").write_text(rows.replace("tfel\tleft", "left\tright"), encoding="utf-8")
        file.unlink()
    change(study, 'dev = "dev"', 'text_column = "left"')
    change(study, "window = 20", 'on = "train"')
    assert len(done_again()) == 3
    change(study, '"left"', '"right"')
    assert len(done_again()) == 3
    assert read(study / "out" / "experiment.toml").text_column == "right"
    alone = train(
        str(study / "train"), vocab_size=280, method=Classical(), text_column="right", progress=False
    )
    assert Tokenizer.load(study / "out" / "tokenizers" / "classical").model == alone.model
