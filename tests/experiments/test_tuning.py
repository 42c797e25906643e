"""Tuning: targets are met on text that steered nothing, and what is chosen is what training gives."""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow.csv
import pytest

from pairity.cli.tuning import tune_command
from pairity.errors import PairityError
from pairity.experiments import Tuned, tune
from pairity.experiments.knobs import (
    CLASSICAL,
    FAIREST,
    KNOBS,
    LADDER,
    choose,
    fair,
    hybrid,
    in_order,
    search,
)
from pairity.experiments.sizing import Needed, needed_size
from pairity.experiments.targets import Measured, Target, check_floors, check_languages, read_targets
from pairity.experiments.trying import Bench
from pairity.judging.evaluation import evaluate
from pairity.reporting.pareto import on_front
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.policy import Classical, Fair, Parity
from pairity.training.training import train

SIZE = 330


def tuned_in(project: Path, out: str, *targets: str, **more: Any) -> Tuned:
    given: dict[str, Any] = {"vocab_size": SIZE, "judge": str(project / "test"), "targets": targets}
    given |= {"resamples": 0, "progress": False, **more}
    return tune(str(project / "train"), str(project / "dev"), project / out, **given)


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What is trained: the name of the method of each call."""
    calls: list[str] = []

    def counting(*args: Any, **settings: Any) -> Tokenizer:
        calls.append(f"{settings['method'].describe()['name']} {settings['vocab_size']}")
        return train(*args, **settings)

    monkeypatch.setattr("pairity.experiments.making.train", counting)
    return calls


@pytest.fixture
def no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing takes longer than all the rest, and one test looks at the page."""
    monkeypatch.setattr("pairity.experiments.tuned.write_page", lambda *_: None)


# Targets


def test_targets_are_read() -> None:
    found = read_targets(["eng_Latn<=+5%", " worst ≤ 45 ", "gini<=.01", "tam_Taml<=-2.5%", "every<=+10%"])
    assert found == (
        Target("eng_Latn<=+5%", "eng_Latn", 0.05, True),
        Target("worst<=45", "worst", 45, False),
        Target("gini<=.01", "gini", 0.01, False),
        Target("tam_Taml<=-2.5%", "tam_Taml", -0.025, True),
        Target("every<=+10%", "every", 0.1, True),
    )


@pytest.mark.parametrize(
    ("targets", "match"),
    [
        (["gini"], "'gini' cannot be read: give \"eng_Latn<=\\+5%\""),
        (["<=5"], "cannot be read"),
        (["gini<="], "cannot be read"),
        (["gini<=low"], "cannot be read"),
        (["gini<=0.1 or so"], "cannot be read"),
        (["gini<=nan"], "cannot be read"),
        (["gini<0.1"], "has '<': a target is a limit, as in 'gini<=0.1'"),
        (["gini>=0.1"], "has '>='"),
        (["eng_Latn=45"], "has '='"),
        (["eng_Latn<=5%"], "no sign: .* 'eng_Latn<=\\+5%' or 'eng_Latn<=-5%'"),
        (["gini<=1.5"], "out of reach or limits nothing"),
        (["gini<=-0.1"], "out of reach or limits nothing"),
        (["worst<=0"], "leaves no tokens"),
        (["eng_Latn<=-100%"], "leaves no tokens"),
        (["every<=45"], "write 'worst<=45'"),
        (["gini<=0.1", "gini<=0.2"], "'gini<=0.1' and 'gini<=0.2' limit the same"),
        (["eng_Latn<=+5%", "eng_Latn<=+5%"], "limit the same"),
    ],
)
def test_targets_that_make_no_sense_are_refused(targets: list[str], match: str) -> None:
    with pytest.raises(PairityError, match=match):
        read_targets(targets)


def test_a_language_may_have_a_limit_of_either_kind() -> None:
    assert len(read_targets(["eng_Latn<=+5%", "eng_Latn<=45"])) == 2


def test_unknown_languages_are_named_with_what_was_meant() -> None:
    with pytest.raises(
        PairityError, match=r"names 'english'.* Did you mean eng_Latn\? It has eng_Latn, tam_Taml; or 'gi"
    ):
        check_languages(read_targets(["english<=45"]), ["eng_Latn", "tam_Taml"])
    with pytest.raises(PairityError, match=r"Did you mean 'worst'\?"):
        check_languages(read_targets(["worts<=45"]), ["eng_Latn", "tam_Taml"])


@pytest.mark.parametrize(
    ("target", "reason"),
    [
        ("worst<=29", "b has 30.00"),
        ("a<=9.9", "a has 10.00"),
        ("mean<=19", "the mean of the languages is 20.00"),
    ],
)
def test_no_vocabulary_has_fewer_tokens_than_pre_tokens(target: str, reason: str) -> None:
    floors = {"a": 10.0, "b": 30.0}
    with pytest.raises(
        PairityError, match=f"out of reach for every vocabulary: {reason} pre-tokens per line"
    ):
        check_floors(read_targets([target]), floors)
    check_floors(read_targets(["worst<=30", "a<=10", "mean<=20", "gini<=0.1", "b<=-99%"]), floors)


def test_each_kind_of_target_measures_what_it_says() -> None:
    classical = Measured({"a": 40.0, "b": 80.0}, gini=0.2, rate=0.02)
    found = Measured({"a": 44.0, "b": 60.0}, gini=0.1, rate=0.02)

    def met(*targets: str) -> list[bool]:
        return [target.is_met(found, classical) for target in read_targets(targets)]

    assert met("a<=+10%", "b<=-25%", "worst<=60", "mean<=52", "every<=+10%", "gini<=0.1") == [True] * 6
    assert met("a<=+9%", "b<=-26%", "worst<=59", "mean<=51", "every<=+9%", "gini<=0.09") == [False] * 6
    assert met("a<=44", "gini<=-50%", "worst<=-25%") == [True] * 3
    assert met("a<=43", "gini<=-51%", "worst<=-26%") == [False] * 3


# The search, on numbers that can be checked by hand


def by_beta(measured: Callable[[float], Measured]) -> tuple[Callable[[Any], Measured], list[float]]:
    """A measure of `fair` settings, and the betas that it was asked for."""
    asked: list[float] = []

    def measure(setting: Any) -> Measured:
        if setting is CLASSICAL:
            return Measured({"a": 40.0, "b": 100.0}, gini=0.2, rate=0.015)
        asked.append(setting.given["beta"])
        return measured(setting.given["beta"])

    return measure, asked


def rising(beta: float) -> Measured:
    """The larger beta is, the more equal and the dearer."""
    return Measured({"a": 40 + beta / 10, "b": 60.0}, gini=0.1 / (1 + beta), rate=0.02 - beta / 1e5)


def test_the_search_comes_near_the_last_setting_that_keeps_a_price() -> None:
    measure, asked = by_beta(rising)
    found = search(KNOBS[1], read_targets(["a<=+5%"]), measure, steps=6)  # met up to beta 20
    assert all(16 < one.given["beta"] < 64 for one in found)
    tried = {one.name: measure(one) for one in [CLASSICAL, *KNOBS[1].settings, *found]}
    chosen, closest = choose(read_targets(["a<=+5%"]), tried)
    assert closest is None
    assert chosen is not None
    assert 19 < float(chosen.removeprefix("fair ")) <= 20
    assert len(set(asked)) <= 5 + 6


def test_the_search_comes_near_the_first_setting_that_is_fair_enough() -> None:
    measure, _ = by_beta(rising)
    targets = read_targets(["gini<=0.01"])  # met from beta 9 on
    found = search(KNOBS[1], targets, measure, steps=6)
    chosen, _ = choose(targets, {one.name: measure(one) for one in [CLASSICAL, *KNOBS[1].settings, *found]})
    assert chosen is not None
    assert 9 <= float(chosen.removeprefix("fair ")) < 9.5


def test_the_search_finds_a_gap_that_no_step_of_the_ladder_is_in() -> None:
    measure, _ = by_beta(rising)
    targets = read_targets(["gini<=0.003", "a<=44"])  # met from beta 32.3 to beta 40
    ladder = {one.name: measure(one) for one in [CLASSICAL, *KNOBS[1].settings]}
    assert choose(targets, ladder) == (None, "fair 64")
    found = search(KNOBS[1], targets, measure, steps=6)
    chosen, _ = choose(targets, ladder | {one.name: measure(one) for one in found})
    assert chosen is not None
    assert 32.3 < float(chosen.removeprefix("fair ")) < 40


def test_the_search_goes_to_where_text_is_shorter_if_that_is_in_the_middle_of_a_knob() -> None:
    def measure(setting: Any) -> Measured:
        """Compression is best at a share of 0.6, and the languages are the more equal the smaller the share is."""
        share = {CLASSICAL: 1.0, FAIREST: 0.0}.get(setting, setting.given.get("global_merges"))
        return Measured(
            {"a": 50 - 10 * share, "b": 60.0}, gini=share / 10, rate=0.02 - abs(share - 0.6) / 1000
        )

    targets = read_targets(["gini<=0.045", "a<=47"])  # met from 0.45 to 0.3
    found = search(KNOBS[0], targets, measure, steps=6)
    chosen, _ = choose(targets, {one.name: measure(one) for one in [CLASSICAL, *found]})
    assert chosen is not None
    assert 0.44 < float(chosen.removeprefix("hybrid ")) <= 0.45


def test_the_search_ends_where_targets_exclude_each_other() -> None:
    measure, _ = by_beta(rising)
    found = search(KNOBS[1], read_targets(["gini<=0.003", "a<=43"]), measure, steps=6)
    assert len(found) < 6, "one step showed that both are missed"
    nothing = search(KNOBS[1], read_targets(["a<=+50%"]), measure, steps=6)
    assert nothing == [], "all meet it, and the last is the best"


def test_the_ladder_goes_from_classical_to_parity() -> None:
    assert LADDER[0] is CLASSICAL
    assert hybrid(1) is CLASSICAL
    assert hybrid(0) is FAIREST
    assert in_order([*reversed(LADDER)])[:-2] == list(LADDER)[:-2]
    mixed = in_order([fair(30), hybrid(0.6), CLASSICAL, fair(4), hybrid(0.9)])
    assert [one.name for one in mixed] == ["classical", "hybrid 0.9", "hybrid 0.6", "fair 4", "fair 30"]
    assert [one.options for one in mixed[2:4]] == [
        "--joint 0.5 --global-merges 0.6",
        "--method fair --beta 4",
    ]


@pytest.mark.parametrize(
    ("target", "best"), [("a<=50", "equal"), ("gini<=0.5", "short"), ("worst<=99", "short")]
)
def test_what_is_best_depends_on_what_is_limited(target: str, best: str) -> None:
    tried = {
        "classical": Measured({"a": 60.0, "b": 100.0}, gini=0.6, rate=0.01),
        "equal": Measured({"a": 40.0, "b": 60.0}, gini=0.1, rate=0.02),
        "short": Measured({"a": 40.0, "b": 50.0}, gini=0.2, rate=0.03),
    }
    assert choose(read_targets([target]), tried) == (best, None)
    assert choose([], tried) == (None, None)


def test_the_size_that_is_needed_is_between_two_that_were_looked_at() -> None:
    def measured(setting: Any, size: int) -> tuple[Measured, int]:
        cost = 4e5 / size
        return Measured({"a": cost, "b": cost * (1.5 if setting is CLASSICAL else 1)}, 0.1, 1 / cost), size

    targets = read_targets(["worst<=30"])  # met from 13,334 tokens on
    found = needed_size(measured, FAIREST, targets, 8000, 32000)
    assert found.vocab_size is not None
    assert found.too_small < 13334 <= found.vocab_size <= found.too_small * 1.05
    assert needed_size(measured, FAIREST, targets, 8000, 13000) == Needed(FAIREST.name, None, 13000)
    assert needed_size(measured, FAIREST, read_targets(["b<=-40%"]), 8000, 9000).vocab_size is None, (
        "-33% at any size"
    )

    def ends(setting: Any, size: int) -> tuple[Measured, int]:
        return measured(setting, min(size, 12000))

    assert needed_size(ends, FAIREST, targets, 8000, 32000) == Needed(
        FAIREST.name, None, 12000, all_learned=True
    )


def test_the_front_is_what_nothing_beats() -> None:
    places: Mapping[str, tuple[float, float]] = {
        "a": (0, 3),
        "b": (1, 1),
        "c": (1, 2),
        "d": (3, 0),
        "e": (1, 1),
    }
    assert on_front(places) == {"a", "b", "d", "e"}


# The whole


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


def test_without_other_text_half_of_dev_judges_and_all_of_it_steers_the_result(
    project: Path, no_page: None
) -> None:
    tuned = tuned_in(project, "out", "eng_Latn<=+2%", judge=None, steps=0)
    assert "odd lines of dev" in tuned.notes[-1]
    assert not any(point.kind == "other" for point in tuned.points)
    assert tuned.chosen is not None
    dev = {code: lines for code, lines in read(project / "dev").items() if code != "deu_Latn"}
    half = {code: lines[1::2] for code, lines in dev.items()}
    tried = Tokenizer.load(tuned.folder / "tokenizers" / "parity")
    assert tried.steered_by(dev["eng_Latn"][::2])
    judged = evaluate({"parity": tried}, half, resamples=0)
    assert judged.value("parity", "gini") == next(p.gini for p in tuned.points if p.name == "parity")
    shipped = Tokenizer.load(tuned.folder / "tokenizer")
    assert shipped.record["languages"]["eng_Latn"]["dev"]["lines"] == 10
    assert (
        shipped.record["method"]["name"]
        == Tokenizer.load(tuned.folder / "tokenizers" / tuned.chosen.name.replace(" ", "-")).record["method"][
            "name"
        ]
    )


def test_out_of_reach_is_said_with_what_is_closest_and_what_would_be_needed(
    project: Path, no_page: None, capsys: pytest.CaptureFixture[str]
) -> None:
    given = ["--train", project / "train", "--dev", project / "dev", "--judge", project / "test"]
    given += ["--vocab-size", SIZE, "--resamples", 0, "-o", project / "out", "--target", "worst<=65"]
    with pytest.raises(
        PairityError, match=r"No setting meets worst<=65 at 330 tokens\. Closest is .* would do: "
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
        ({"targets": ["deu_Latn<=45"]}, "names 'deu_Latn', which the text to judge on does not have"),
        ({"targets": ["worst<=3"]}, "out of reach for every vocabulary"),
        ({"targets": ["gini<=0.1", "gini<=0.2"]}, "limit the same"),
        ({"price": "fra_Latn"}, "price names 'fra_Latn'"),
        ({"vocab_size": 100}, "vocab_size"),
        ({"largest": 300}, "largest is 300: give a vocabulary size, 330 or more"),
        ({"steps": -1}, "steps is -1"),
        ({"compare": ["nowhere/"]}, "nowhere"),
        ({"resamples": -1}, "resamples is -1"),
        ({"judge": "away/eng_Latn.txt"}, "one language in common"),
    ],
)
def test_mistakes_are_errors_before_any_work(
    project: Path, monkeypatch: pytest.MonkeyPatch, more: dict[str, Any], match: str
) -> None:
    monkeypatch.chdir(project)
    with pytest.raises(PairityError, match=match):
        tuned_in(project, "out", **more)
    assert not (project / "out").exists()


def test_a_folder_of_something_else_is_refused(project: Path) -> None:
    (project / "out").mkdir()
    (project / "out" / "experiment.toml").touch()
    with pytest.raises(PairityError, match="has the results of an experiment: choose another folder"):
        tuned_in(project, "out")


def test_a_killed_tuning_goes_on(
    project: Path, trained: list[str], no_page: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = Bench.judge

    def killed(self: Bench, name: str) -> tuple[Measured, int]:
        if name == "fair 16":
            raise KeyboardInterrupt
        return judge(self, name)

    monkeypatch.setattr(Bench, "judge", killed)
    with pytest.raises(KeyboardInterrupt):
        tuned_in(project, "out", "gini<=0.5", steps=1)
    assert len(trained) == len(LADDER)
    monkeypatch.setattr(Bench, "judge", judge)
    tuned = tuned_in(project, "out", "gini<=0.5", steps=1)
    assert tuned.chosen is not None
    assert len(trained) == len(LADDER), "nothing was trained twice"
