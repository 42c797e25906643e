"""Tuning: targets are met on text that steered nothing, and what is chosen is what training gives."""

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

from pairity.cli.tuning import tune_command
from pairity.errors import PairityError
from pairity.experiments import Tuned, run, tune
from pairity.experiments.folder import Folder
from pairity.experiments.knobs import CLASSICAL, FAIREST, KNOBS, fair, hybrid
from pairity.experiments.targets import Measured
from pairity.experiments.trying import Bench
from pairity.judging.evaluation import evaluate
from pairity.reporting.look import SHAPES
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.policy import Classical, Fair, Parity
from pairity.training.training import train

SIZE = 330


def tuned_in(project: Path, out: str, *targets: str, **more: Any) -> Tuned:
    given: dict[str, Any] = {"vocab_size": SIZE, "judge": str(project / "test"), "targets": targets}
    given |= {"resamples": 0, "progress": False, **more}
    dev = given.pop("dev", str(project / "dev"))
    return tune(str(project / "train"), dev, project / out, **given)


SHORT = (CLASSICAL, hybrid(0.5), fair(0), fair(16), FAIREST)


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Few settings and no page, which take most of the time: one test has all of them, and looks at the page."""
    hybrids, fairs = KNOBS
    knobs = (replace(hybrids, values=(1, 0.5, 0)), replace(fairs, values=(0, 16)))
    monkeypatch.setattr("pairity.experiments.tuning.KNOBS", knobs)
    monkeypatch.setattr("pairity.experiments.tuning.LADDER", SHORT)
    monkeypatch.setattr("pairity.experiments.tuned.write_page", lambda *_: None)


def test_what_is_chosen_meets_the_target_and_is_what_training_gives(
    project: Path, trained: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned = tuned_in(project, "out", "eng_Latn<=+6%", compare=[f"mine={save_other(project)}"], steps=2)
    found = tuned.chosen
    assert found is not None
    assert not found.misses
    assert found.changes["eng_Latn"] <= 0.06
    assert (
        min(point.gini or 1 for point in tuned.points if point.kind != "other" and not point.misses)
        == found.gini
    )
    # The numbers are those that `evaluate` gives on text that steered nothing.
    shipped = Tokenizer.load(tuned.folder / "tokenizer")
    alone = evaluate({"it": shipped}, str(project / "test"), resamples=0)
    assert alone.value("it", "gini") == found.gini
    assert alone.costs("it") == found.costs
    assert not alone.leaks
    words = found.options.split()
    settings = {
        key.lstrip("-").replace("-", "_"): value for key, value in zip(words[::2], words[1::2], strict=True)
    }
    method = settings.pop("method", "parity")
    assert method in ("parity", "fair", "classical")
    if method != "classical":
        policy = {"parity": Parity, "fair": Fair}[method](
            **{key: float(value) for key, value in settings.items()}
        )
        dev = {code: lines for code, lines in read(project / "dev").items() if code != "deu_Latn"}
        again = train(str(project / "train"), dev=dev, vocab_size=SIZE, method=policy, progress=False)
        assert again.model == shipped.model
    check_files(tuned)
    monkeypatch.setattr("pairity.experiments.tuned.write_page", lambda *_: None)
    # Another target: what was tried is not trained again, and the tokenizer is another one.
    before = len(trained)
    other = tuned_in(project, "out", "gini<=0.5", steps=2)
    assert len(trained) == before
    assert other.chosen is not None
    assert other.chosen.name != found.name
    assert other.chosen.rate == max(point.rate or 0 for point in other.points)
    assert Tokenizer.load(other.folder / "tokenizer").model != shipped.model
    # And with the first target the first result, with nothing trained again.
    again_tuned = tuned_in(project, "out", "eng_Latn<=+6%", compare=[f"mine={project / 'mine'}"], steps=2)
    assert len(trained) == before
    assert replace(again_tuned, warnings=()) == replace(tuned, warnings=())
    assert Tokenizer.load(tuned.folder / "tokenizer").model == shipped.model


def save_other(project: Path) -> Path:
    """A tokenizer that exists."""
    other = train(str(project / "train"), vocab_size=SIZE + 50, method=Classical(), progress=False)
    other.save(project / "mine")
    return project / "mine"


def read(folder: Path) -> dict[str, list[str]]:
    return {path.stem: path.read_text(encoding="utf-8").splitlines() for path in sorted(folder.iterdir())}


LOOK = re.compile(r'<path d="([^"]+)" fill="var\(--(\w+)\)"/></svg>')
"""The symbols of legends: shape and colour."""
CLASSICAL_LOOK = (SHAPES[0], "base")


def check_files(tuned: Tuned) -> None:
    table = pyarrow.csv.read_csv(tuned.folder / "curve.csv").to_pylist()
    assert [row["name"] for row in table] == [point.name for point in tuned.points]
    assert [row["change:eng_Latn"] for row in table] == [point.changes["eng_Latn"] for point in tuned.points]
    assert [row["name"] for row in table if row["chosen"]] == [tuned.chosen and tuned.chosen.name]
    told = json.loads((tuned.folder / "curve.json").read_bytes())
    assert told["chosen"] == (tuned.chosen and tuned.chosen.name)
    assert told["points"][0]["costs"] == tuned.points[0].costs
    page = (tuned.folder / "tune.html").read_text(encoding="utf-8")
    section = page.split('<section id="pareto">')[1].split("</section>")[0]
    assert page.index('<section id="pareto">') < page.index('<section id="summary">')
    assert all(f">{point.name}</bdi>" in section for point in tuned.points)
    assert "mine" in section.split("</figure>")[0], "what to compare with is a point of the figure"
    assert (tuned.folder / "figures" / "pareto.svg").exists()
    tried = sum(point.kind != "other" for point in tuned.points)
    assert f"<span>{tried} settings tried</span>" in page.split("</header>")[0]
    assert "tokenizers compared in detail</span>" in page.split("</header>")[0]
    families, below = (set(LOOK.findall(part)) for part in page.split('<section id="summary">'))
    assert families & below == {CLASSICAL_LOOK}, "no other symbol in one colour means two things"


def test_without_other_text_half_of_dev_judges_and_all_of_it_steers_the_result(
    project: Path, quick: None
) -> None:
    tuned = tuned_in(project, "out", "eng_Latn<=+2%", judge=None, steps=0)
    assert "odd dev lines" in tuned.notes[-1]
    assert not any(point.kind == "other" for point in tuned.points)
    assert tuned.chosen is not None
    dev = {code: lines for code, lines in read(project / "dev").items() if code != "deu_Latn"}
    half = {code: lines[1::2] for code, lines in dev.items()}
    tried = Tokenizer.load(tuned.folder / "tokenizers" / "joint-0.5")
    assert tried.steered_by(dev["eng_Latn"][::2])
    judged = evaluate({"it": tried}, half, resamples=0)
    assert judged.value("it", "gini") == tuned.points[-1].gini
    shipped = Tokenizer.load(tuned.folder / "tokenizer")
    assert shipped.record["languages"]["eng_Latn"]["dev"]["lines"] == 10
    assert (
        shipped.record["method"]["name"]
        == Tokenizer.load(tuned.folder / "tokenizers" / tuned.chosen.name.replace(" ", "-")).record["method"][
            "name"
        ]
    )


def test_out_of_reach_is_said_with_what_is_closest_and_what_would_be_needed(
    project: Path, quick: None, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--train", project / "train", "--dev", project / "dev", "--judge", project / "test"]
    given += ["--vocab-size", SIZE, "--resamples", 0, "-o", project / "out", "--target", "worst<=65"]
    with pytest.raises(
        PairityError, match=r"No setting meets worst<=65 at 330 tokens\. The closest is .* would be enough: "
    ):
        tune_command.main(list(map(str, given)), standalone_mode=False)
    printed = capsys.readouterr().out
    assert "misses worst<=65" in printed
    assert "chosen" not in printed
    assert not (project / "out" / "tokenizer").exists()
    told = json.loads((project / "out" / "curve.json").read_bytes())
    assert told["chosen"] is None
    needed = told["needed"]
    assert SIZE < needed["vocab_size"] <= 4 * SIZE
    # It is so: that setting meets it at that size, and not at the smaller one.
    kept = project / "out" / "tokenizers"
    for size, met in ((needed["vocab_size"], True), (needed["too_small"], False)):
        name = needed["setting"].replace(" ", "-") + ("" if size == SIZE else f"@{size}")
        costs = evaluate({"it": Tokenizer.load(kept / name)}, str(project / "test"), resamples=0).costs("it")
        assert (max(costs.values()) <= 65) is met


@pytest.mark.parametrize(
    ("more", "match"),
    [
        ({"targets": ["jpn<=45"]}, "the target 'jpn<=45' names 'jpn', .* Did you mean jpn_Jpan"),
        ({"targets": ["deu_Latn<=45"]}, "names 'deu_Latn', which train, dev and the evaluation text do not"),
        ({"targets": ["worst<=3"]}, "no vocabulary can meet the target"),
        ({"targets": ["gini<=0.1", "gini<=0.2"]}, "limit the same"),
        ({"price": "fra_Latn"}, "price names 'fra_Latn'"),
        ({"vocab_size": -5}, "^vocab_size is -5, but the bytes .* give more than 256"),
        ({"vocab_size": [300, 400]}, r"vocab_size is \[300, 400\]: give a whole number"),
        ({"compare": ["a=train", "a=dev"]}, "^tune: two rows are called 'a': write NAME=TOKENIZER"),
        (
            {"judge": None, "dev": "gaps"},
            "^tune: the even lines of dev, which are to evaluate, have no text in tam_Taml",
        ),
        ({"judge": "odd"}, "^tune, the text to judge on: the text is not parallel"),
        ({"judge": None, "dev": "odd"}, "^tune, dev: the text is not parallel"),
        ({"largest": 300}, "largest is 300: give a vocabulary size, 330 or more"),
        ({"steps": -1}, "steps is -1"),
        ({"threads": 0}, "^threads is 0: give at least 1"),
        ({"compare": ["nowhere/"]}, "nowhere"),
        ({"resamples": -1}, "resamples is -1"),
        ({"judge": "away/eng_Latn.txt"}, "one language in common"),
        (
            {"judge": "dev"},
            "^tune: the text to judge on is the dev text in eng_Latn, jpn_Jpan, tam_Taml, and",
        ),
    ],
)
def test_mistakes_are_errors_before_any_work(
    project: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any], match: str
) -> None:
    monkeypatch.chdir(project)
    (project / "odd").mkdir()
    for code, lines in (("eng_Latn", 2), ("jpn_Jpan", 3), ("tam_Taml", 3)):
        (project / "odd" / f"{code}.txt").write_text("a\n" * lines)
    (project / "gaps").mkdir()
    for code, text in (("eng_Latn", "a\na\na\n"), ("jpn_Jpan", "a\na\na\n"), ("tam_Taml", "a\n\na\n")):
        (project / "gaps" / f"{code}.txt").write_text(text)
    with pytest.raises(PairityError, match=match):
        tuned_in(project, "out", **more)
    assert not (project / "out").exists()


def test_a_folder_of_something_else_is_refused(project: Path) -> None:
    (project / "out").mkdir()
    (project / "out" / "experiment.toml").touch()
    with pytest.raises(PairityError, match="has the results of an experiment: choose another folder"):
        tuned_in(project, "out")
    (project / "tuned").mkdir()
    (project / "tuned" / "curve.json").touch()
    with pytest.raises(PairityError, match="has the results of a tuning: choose another folder"):
        run(project / "grid.toml", project / "tuned")


def test_a_compared_tokenizer_that_the_text_steered_is_said_once(project: Path, quick: None) -> None:
    given = {"dev": str(project / "test"), "vocab_size": SIZE, "progress": False}
    train(str(project / "train"), **given).save(project / "mine")
    tuned = tuned_in(project, "out", compare=[f"mine={project / 'mine'}"])
    said = [warning for warning in tuned.warnings if "new text" in warning]
    assert len(said) == 1
    assert said[0].startswith("judged on the text that steered them: mine. ")


def test_tokenizers_that_another_size_left_are_named(project: Path, quick: None) -> None:
    first = tuned_in(project, "out", "eng_Latn<=+6%", steps=1)
    tried = {point.name for point in first.points} - {one.name for one in SHORT}
    assert tried, "more than the settings that are always tried"
    assert not any("no longer" in note for note in tuned_in(project, "out", "gini<=0.5", steps=0).notes)
    (project / "out" / "tokenizers" / sorted(tried)[0].replace(" ", "-") / "pairity.json").write_text("{")
    other = tuned_in(project, "out", vocab_size=300)
    names = [f"tokenizers/{name.replace(' ', '-')}" for name in sorted(tried)]
    said = f"no longer part of this tuning: {', '.join(names)}; delete them if you do not need them"
    assert said in other.notes
    assert said not in (project / "out" / "curve.json").read_text(encoding="utf-8")


def test_the_page_of_other_targets_is_gone_where_a_tuning_is_killed_before_its_own(
    project: Path, quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    tuned_in(project, "out", "gini<=0.5", steps=0)
    (project / "out" / "tune.html").touch()

    def killed(*_: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pairity.experiments.tuned.write_page", killed)
    with pytest.raises(KeyboardInterrupt):
        tuned_in(project, "out", "eng_Latn<=+1%", steps=0)
    assert not (project / "out" / "tune.html").exists()


def test_a_killed_tuning_goes_on(
    project: Path, trained: list[str], quick: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Bench.judge

    def killed(self: Bench, name: str) -> tuple[Measured, int]:
        if name == "fair 16":
            raise KeyboardInterrupt
        return judge(self, name)

    monkeypatch.setattr(Bench, "judge", killed)
    with pytest.raises(KeyboardInterrupt):
        tuned_in(project, "out", "gini<=0.5", steps=1)
    assert len(trained) == len(SHORT)
    monkeypatch.setattr(Bench, "judge", judge)
    tuned = tuned_in(project, "out", "gini<=0.5", steps=1)
    assert tuned.chosen is not None
    assert len(trained) == len(SHORT), "nothing was trained twice"


def test_a_tokenizer_that_was_copied_by_a_killed_tuning_is_no_other_targets(
    project: Path, quick: None
) -> None:
    first = tuned_in(project, "out", "gini<=0.5", steps=0)
    other = next(point for point in first.points if point.name != (first.chosen and first.chosen.name))
    there = Tokenizer.load(project / "out" / "tokenizer")
    other_place = Folder(project / "out").tokenizer(other.name)
    Tokenizer.load(other_place).save(project / "out" / "tokenizer", force=True)
    (project / "out" / "notes" / "tokenizer.json").unlink()  # killed before it was noted
    tuned_in(project, "out", "gini<=0.5", steps=0)
    assert Tokenizer.load(project / "out" / "tokenizer") == there
