"""Running: what is shared gives exactly what work from scratch gives, and only what is missing is done."""

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

from pairity.counts.counting import count
from pairity.errors import PairityError
from pairity.experiments import Result, read, run
from pairity.experiments.corpus import count_all
from pairity.experiments.folder import Folder
from pairity.experiments.making import Made, make_all
from pairity.experiments.parity_unigram import SETTINGS, train_parity_unigram
from pairity.experiments.plan import plan
from pairity.judging.evaluation import evaluate
from pairity.judging.scores import Scores
from pairity.progress import Progress
from pairity.text.sampling import Draw
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.policy import Classical, Parity
from pairity.training.training import train


def make(project: Path) -> list[Made]:
    """The tokenizers of grid.toml, without judging them."""
    planned, folder = plan(read(project / "grid.toml")), Folder(project / "out")
    with Progress(False) as show:
        corpora = list(dict.fromkeys(row.corpus for row in planned.rows if row.corpus))
        counted = count_all(corpora, planned.data, folder, None, show)
        return make_all(planned.rows, counted, folder, None, show)


def change(project: Path, old: str, new: str) -> None:
    file = project / "grid.toml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new, 1), encoding="utf-8")


def test_unigram_with_parity_is_learned_from_train_and_dev(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = project / "grid.toml"
    text = file.read_text(encoding="utf-8")
    file.write_text(text[: text.index("[[run]]")] + '[[run]]\nmethod = "parity-unigram"\n', encoding="utf-8")
    [one, other] = make(project)
    corpus, dev = count(project / "train"), count(project / "dev", split="dev")
    for made in (one, other):
        expected = train_parity_unigram(corpus, dev, made.row.vocab_size or 0)
        folder = project / "out" / "tokenizers" / made.row.name
        assert (folder / "tokenizer.json").read_text(encoding="utf-8") == expected.to_str(pretty=True)
        settings = json.loads((folder / "unigram.json").read_text(encoding="utf-8"))
        assert settings == {
            "method": "parity-unigram", "vocab_size": made.row.vocab_size, "settings": dict(SETTINGS)
        }  # fmt: skip
    monkeypatch.setattr("pairity.experiments.running.write_page", lambda *_: None)
    assert {row.dev_lines for row in run(file, project / "judged", progress=False).rows} == {10}


def test_a_language_with_a_ratio_instead_of_dev_text_is_trained_as_training_alone_does(project: Path) -> None:
    (project / "dev" / "jpn_Jpan.txt").unlink()
    change(project, "global_merges = 0.5", "")
    change(project, "vocab_size = [300, 340]", "vocab_size = 300\nratios = { jpn_Jpan = 130.0 }")
    found = {one.row.name: one for one in make(project)}["hybrid"]
    dev = [str(project / "dev" / f"{code}.txt") for code in ("eng_Latn", "tam_Taml")]
    method = Parity(ratios={"jpn_Jpan": 130.0})
    alone = train(project / "train", dev=dev, vocab_size=300, method=method, progress=False)
    assert Tokenizer.load(project / "out" / "tokenizers" / found.row.name).model == alone.model


def test_every_tokenizer_is_the_one_that_training_alone_gives(project: Path, trained: list[str]) -> None:
    change(project, "0.5", "[0.5, 30]")
    change(project, "[300, 340]", "[300, 340]\ndev_lines = 7")
    made = {one.row.name: one for one in make(project)}
    assert sorted(trained) == ["classical 340", "parity 300", *["parity 340"] * 4], "the rest is cut"
    policies = {
        "classical": Classical(),
        "parity, window=50": Parity(window=50),
        "parity, window=100": Parity(window=100),
        "hybrid, global_merges=0.5": Parity(global_merges=0.5),
        "hybrid, global_merges=30": Parity(global_merges=30),
    }
    whole = {
        path.stem: path.read_text(encoding="utf-8").splitlines()
        for path in sorted((project / "dev").iterdir())
        if path.stem != "deu_Latn"
    }
    first = {code: lines[:7] for code, lines in whole.items()}
    for family, policy in policies.items():
        for size in (300, 340):
            name = f"{family}@{size}"
            dev = whole if family == "classical" else first
            alone = train(str(project / "train"), dev=dev, vocab_size=size, method=policy, progress=False)
            found = Tokenizer.load(Folder(project / "out").tokenizer(name))
            assert found.model == alone.model, name
            cut = made[name].cut_from is not None
            assert cut == (size == 300 and family != "hybrid, global_merges=0.5")
            if not cut:
                assert found.trace is not None
                assert alone.trace is not None
                assert found.trace.equals(alone.trace), name
                assert found.record == json.loads(json.dumps(alone.record)), name


def test_global_merges_are_learned_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    begun: list[tuple[str, int]] = []

    def watching(*args: Any, **settings: Any) -> Tokenizer:
        checkpoint = Path(settings["checkpoint"])
        known = len(pq.read_table(checkpoint)) if checkpoint.exists() else 0
        begun.append((settings["method"].describe()["name"], known))
        return train(*args, **settings)

    monkeypatch.setattr("pairity.experiments.making.train", watching)
    change(project, "[300, 340]", "340")
    change(project, "0.5", "[0.25, 0.5]")
    make(project)
    assert begun == [("classical", 0), ("parity", 42), ("parity", 21), ("parity", 0), ("parity", 0)]
    assert not list((project / "out" / "cache").glob("*.checkpoint.parquet"))


def test_a_second_run_trains_nothing(project: Path, trained: list[str]) -> None:
    first = make(project)
    number = len(trained)
    assert make(project) == first
    assert len(trained) == number


def test_only_what_is_missing_is_made(project: Path, trained: list[str]) -> None:
    make(project)
    trained.clear()
    change(project, "[50, 100]", "[50, 100, 200]")
    change(project, "[300, 340]", "[300, 320, 340]")
    names = {one.row.name: one for one in make(project)}
    assert sorted(trained) == ["parity 320", "parity 340"], "the hybrid of 320 tokens, and the new window"
    assert names["parity, window=50@320"].cut_from == "parity, window=50@340"


def test_an_error_in_between_loses_nothing_that_is_finished(
    project: Path, trained: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    make_it = trained.append

    def failing(*args: Any, **settings: Any) -> Tokenizer:
        if settings["method"] == Parity(window=100):
            raise KeyboardInterrupt
        make_it(str(settings["method"]))
        return train(*args, **settings)

    with monkeypatch.context() as patch:
        patch.setattr("pairity.experiments.making.train", failing)
        with pytest.raises(KeyboardInterrupt):
            make(project)
    before = list(trained)
    trained.clear()
    make(project)
    assert len(before) == 4
    assert trained == ["parity 340"]


@pytest.mark.parametrize(
    ("path", "again"),
    [
        ("train/eng_Latn.txt", {"classical", "parity"}),
        ("dev/eng_Latn.txt", {"classical", "parity"}),
        ("train/README.md", set()),
        ("out/tokenizers/classical@340/pairity.json", {"classical"}),
    ],
)
def test_what_was_made_from_other_data_is_made_again(
    project: Path, trained: list[str], path: str, again: set[str]
) -> None:
    make(project)
    trained.clear()
    file = project / path
    text = file.read_text(encoding="utf-8") if file.exists() else "words"
    file.write_text(text.replace("the", "then") if file.suffix == ".txt" else f"{text} ", encoding="utf-8")
    make(project)
    assert {call.partition(" ")[0] for call in trained} == again


def test_a_tokenizer_of_another_name_is_not_taken_for_this_one(project: Path, trained: list[str]) -> None:
    make(project)
    trained.clear()
    places = [
        Folder(project / "out").tokenizer(name)
        for name in ("parity, window=50@340", "parity, window=100@340")
    ]
    places[0].rename(project / "away from here")
    places[1].rename(places[0])
    make(project)
    assert trained == ["parity 340", "parity 340"]
    assert Tokenizer.load(places[0]).record["method"]["window"] == 50


def test_text_is_drawn_as_asked_and_counted_once(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    change(project, "[300, 340]", "300\nbalance = ['natural', 'balanced']\nseed = [1, 2]")
    made = make(project)
    by_corpus = {one.row.corpus: one.counted for one in made if one.row.corpus}
    assert [corpus.draw for corpus in by_corpus] == [
        Draw(), Draw(balance="balanced", seed=1), Draw(balance="balanced", seed=2),
    ]  # fmt: skip
    natural, first, second = by_corpus.values()
    assert first is not None
    assert second is not None
    assert natural is not None
    least = min(one["bytes"] for one in natural.given.values())
    assert all(one["bytes"] <= least for one in first.given.values())
    assert first.given != second.given
    assert len(list((project / "out" / "cache").glob("counts-*.parquet"))) == 3
    monkeypatch.setattr("pairity.experiments.corpus.count", None)
    assert [one.counted for one in make(project)] == [one.counted for one in made]


# ---------------------------------------------------------------- all of it


@pytest.fixture(scope="module")
def done(lasting_project: Path) -> Result:
    """An experiment with everything: several texts, sizes, a tokenizer that exists, and a chart."""
    folder = lasting_project
    change(folder, 'dev = "dev"', 'dev = "dev"\nchart = "window"')
    change(folder, "resamples = 0", "resamples = 20")
    tokenizer = train(str(folder / "train"), vocab_size=280, method=Classical(), progress=False)
    tokenizer.save(folder / "mine")
    with (folder / "grid.toml").open("a", encoding="utf-8") as file:
        file.write('\n[[run]]\nname = "mine"\ntokenizer = "mine"\n')
        file.write('\n[[run]]\nname = "half{vocab_size}"\nsample = 0.5\nvocab_size = 300\nseed = 4\n')
    return run(folder / "grid.toml", folder / "out", progress=False)


def test_the_table_has_a_row_per_tokenizer_and_text(done: Result) -> None:
    assert [(row.name, row.text) for row in done.rows[:2]] == [
        ("classical@300", "home"),
        ("classical@340", "home"),
    ]
    assert len(done.rows) == 20
    assert {row.text for row in done.rows} == {"home", "away"}
    assert pq.read_table(done.folder / "table.parquet").equals(done.table)
    assert len(pyarrow.csv.read_csv(done.folder / "table.csv")) == 20
    row = done.rows[6]
    settings = (
        row.name,
        row.method,
        row.vocab_size,
        row.tokens,
        row.global_merges,
        row.global_share,
        row.window,
    )
    assert settings == ("hybrid@300", "parity", 300, 300, 22, 0.5, None)
    assert (row.dev_lines, row.languages_judged, row.cut_from, row.leak) == (10, 3, None, False)
    assert row.seconds is not None
    assert all(len(digest or "") == 64 for digest in (row.train_sha256, row.dev_sha256, row.text_sha256))
    assert json.loads(row.versions)["pairity"]
    mine = done.rows[8]
    assert (mine.name, mine.method, mine.tokens, mine.vocab_size) == ("mine", "existing", 280, None)


def test_what_every_language_gave_is_told(done: Result) -> None:
    rows = pyarrow.csv.read_csv(done.folder / "text.csv").to_pylist()
    assert [(row["language"], row["sample"], row["seed"]) for row in rows] == [
        (code, sample, seed)
        for sample, seed in ((1.0, 0), (0.5, 4))
        for code in ("eng_Latn", "jpn_Jpan", "tam_Taml")
    ]
    assert all(row["lines"] == row["of_lines"] == 60 for row in rows[:3])
    assert all(0 < row["lines"] < row["of_lines"] == 60 for row in rows[3:])
    assert all(row["bytes"] < row["of_bytes"] for row in rows[3:])
    assert sum(row["bytes"] for row in rows[3:]) == done.rows[9].train_bytes


def test_the_scores_are_those_of_evaluate(done: Result) -> None:
    scores = Scores.load(done.folder / "scores" / "away")
    alone = evaluate(
        {"hybrid@340": str(done.folder / "tokenizers" / "hybrid@340")},
        str(done.folder.parent / "away"),
        resamples=20,
    )
    assert scores.interval("hybrid@340", "gini") == alone.interval("hybrid@340", "gini")
    [row] = [row for row in done.rows if (row.name, row.text) == ("hybrid@340", "away")]
    assert row.gini == alone.value("hybrid@340", "gini")
    assert row.tokens_per_line == alone.value("hybrid@340", "cost")
    assert row.rate == alone.value("hybrid@340", "compression_rate_line")
    assert scores.curves()["classical"] == ["classical@300", "classical@340"]
    assert scores.value("classical@300", "change", "eng_Latn") == 0, "against the baseline of the same size"


def test_the_page_shows_fairness_at_home_and_away_and_the_chart(done: Result) -> None:
    page = (done.folder / "report.html").read_text(encoding="utf-8")
    assert '<section id="texts">' in page
    assert '<section id="axis">' in page
    assert "home (main text)" in page
    section = page.split('<section id="texts">')[1].split("</section>")[0]
    assert section.count("<tr>") == 2 + 10
    assert section.count("best") >= 2
    names = {path.name for path in (done.folder / "figures").iterdir()}
    assert names == {"window.svg", "window.png", "window.pdf", "window.csv"}
    columns = pyarrow.csv.read_csv(done.folder / "figures" / "window.csv")
    assert set(columns["series"].to_pylist()) == {
        "classical@300", "classical@340", "parity@300", "parity@340", "hybrid@300", "hybrid@340", "mine", "half300",
    }  # fmt: skip


def test_what_is_finished_is_neither_judged_nor_written_again(
    done: Result, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("making.train", "scoring.evaluate", "pages.report", "corpus.count"):
        monkeypatch.setattr(f"pairity.experiments.{name}", None)
    again = run(done.folder.parent / "grid.toml", done.folder, progress=False)
    assert again == done


def test_a_folder_with_other_things_is_left_alone(project: Path) -> None:
    (project / "out").mkdir()
    (project / "out" / "thesis.tex").touch()
    with pytest.raises(PairityError, match=r"contains other files \(thesis.tex\) and no results"):
        run(project / "grid.toml", project / "out")
    assert [path.name for path in (project / "out").iterdir()] == ["thesis.tex"]


def test_rows_are_an_arrow_table(done: Result) -> None:
    assert done.table.schema.field("gini").type == pa.float64()
    assert done.table.schema.field("leak").type == pa.bool_()
    assert done.table.column_names[:3] == ["name", "family", "text"]
