"""What an experiment may say: every combination by name, and every mistake before any work."""

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from pairity.counts.counting import count
from pairity.errors import PairityError
from pairity.experiments import Experiment, read, run
from pairity.experiments.combinations import combinations
from pairity.experiments.plan import plan
from pairity.experiments.reading import as_toml
from pairity.experiments.running import check_places
from pairity.progress import Progress
from pairity.text.reading import read_texts
from pairity.training.policy import Fair, Parity


def experiment(**settings: Any) -> Experiment:
    given = {"train": "train", "judge": {"test": "test"}, "grid": {"vocab_size": 300}} | settings
    return Experiment(**given)


def names(**settings: Any) -> list[str]:
    return [one.name for one in combinations(experiment(**settings))]


DROPPED = "dev text of languages that are not trained on was not used: deu_Latn"


def test_the_rows_of_a_file(project: Path) -> None:
    made = plan(read(project / "grid.toml"))
    assert made.notes[0] == DROPPED, "as train says"
    rows = made.rows
    assert [row.name for row in rows] == [
        "classical@300", "classical@340", "parity, window=50@300", "parity, window=100@300", "parity, window=50@340",
        "parity, window=100@340", "hybrid@300", "hybrid@340",
    ]  # fmt: skip
    assert rows[2].training is not None
    assert rows[2].training.policy == Parity(window=50)
    assert rows[2].corpus == rows[0].corpus
    assert rows[0].corpus is not None
    assert rows[0].corpus.codes == ("eng_Latn", "jpn_Jpan", "tam_Taml")


@pytest.mark.parametrize(
    ("runs", "grid", "expected"),
    [
        ([{"window": [50, 100]}], {}, ["window=50", "window=100"]),
        ([{"name": "w{window}", "window": [50, 100]}], {}, ["w50", "w100"]),
        ([{"name": "w", "window": [50, 100]}], {}, ["w, window=50", "w, window=100"]),
        ([{}], {"vocab_size": [300, 400]}, ["parity@300", "parity@400"]),
        ([{}], {"vocab_size": [300, 400], "window": [9, 8]},
         ["window=9@300", "window=8@300", "window=9@400", "window=8@400"]),
        ([{}], {"method": ["classical", "parity"], "window": [9, 8]},
         ["classical", "parity, window=9", "parity, window=8"]),
        ([{}, {"method": "classical"}], {"window": 9}, ["parity", "classical"]),
        ([{"name": "o200k", "tokenizer": "tiktoken:o200k_base"}, {}], {}, ["o200k", "parity"]),
        ([{}], {"balance": ["natural", "balanced", "temperature"], "temperature": [2.0, 3.0], "seed": [1, 2]},
         ["balance=natural", "balance=balanced, seed=1", "balance=balanced, seed=2",
          "balance=temperature, temperature=2.0, seed=1", "balance=temperature, temperature=2.0, seed=2",
          "balance=temperature, temperature=3.0, seed=1", "balance=temperature, temperature=3.0, seed=2"]),
        ([{}], {"temperature": 3.3}, ["parity"]),
        ([{}], {"pretokenizer": ["gpt2", "(?x)\n\\S+"]}, ["pretokenizer=gpt2", "pretokenizer=(?x) \\S+"]),
    ],
)  # fmt: skip
def test_rows_are_called_after_what_differs(runs: Any, grid: Any, expected: list[str]) -> None:
    assert names(runs=runs, grid={"vocab_size": 300} | grid) == expected


def test_what_a_row_has_no_use_for_is_not_among_its_settings() -> None:
    rows = combinations(
        experiment(
            runs=[{"method": ["parity", "classical"], "on": ["dev", "train"]}],
            grid={"vocab_size": 300, "dev_lines": 5},
        )
    )
    assert [sorted(row.settings) for row in rows] == [
        ["dev_lines", "method", "on", "vocab_size"], ["method", "on", "vocab_size"], ["method", "vocab_size"],
    ]  # fmt: skip


BAD = {
    "there is no key 'vocab_sise'. Did you mean 'vocab_size'?": {"grid": {"vocab_sise": 300}},
    "[[run]] 1: there is no key 'windw'. Did you mean 'window'?": {"runs": [{"windw": 3}]},
    "[[run]] mine: method is 'parrity': Did you mean 'parity'? give one of": {
        "runs": [{"name": "mine", "method": "parrity"}]
    },
    "method classical does not use 'window': leave it out": {"runs": [{"method": "classical", "window": 3}]},
    "'alpha' does nothing here, because there is no window": {"runs": [{"alpha": 3.0}]},
    "[grid]: 'alpha' does nothing here": {"grid": {"alpha": 3.0, "vocab_size": 300}},
    "[grid]: no run uses 'window'": {
        "grid": {"window": 3, "vocab_size": 300},
        "runs": [{"method": "classical"}],
    },
    "[grid]: 'seed' does nothing here, because nothing is sampled": {
        "grid": {"seed": [1, 2], "vocab_size": 300}
    },
    "'temperature' does nothing here, because balance is not": {
        "grid": {"temperature": 3.3, "balance": "natural", "vocab_size": 300}
    },
    "'dev_seed' does nothing here": {"runs": [{"dev_seed": 3}]},
    "vocab_size is '300': give a whole number": {"grid": {"vocab_size": "300"}},
    "vocab_size is []: give one or more values": {"grid": {"vocab_size": []}},
    "window is [5, 5]: give one or more values, each once": {"runs": [{"window": [5, 5]}]},
    "an existing tokenizer is evaluated as it is: leave out 'window'": {
        "runs": [{"tokenizer": "x", "window": 3}]
    },
    "two rows are called 'parity': give their runs different names": {"runs": [{}, {"sample": 0.5}]},
    "the name has {window}, which has no value": {"runs": [{"name": "w{window}"}]},
    "[evaluation]: there is no key 'resample'. Did you mean 'resamples'?": {"evaluation": {"resample": 3}},
    "[judge]: names no text": {"judge": {}},
    "'a/b' cannot be the name of a text": {"judge": {"a/b": "test"}},
    "[[run]]: there is none": {"runs": []},
    "[languages]: 'mine' is 'eng_Latn': give 'paper-30', 'paper-60', or a list": {
        "languages": {"mine": "eng_Latn"}
    },
    "chart: there is no setting 'windo'. Did you mean 'window'?": {"chart": "windo"},
    "chart: 'window' has at most one value": {"chart": "window", "runs": [{"window": 50}]},
    "chart: a value of 'ratios' is a table": {
        "chart": "ratios",
        "runs": [{"ratios": [{"eng_Latn": 100.0}, {"eng_Latn": 120.0}]}],
    },
    "chart: tokenizers for different languages are evaluated on different text": {
        "chart": "languages",
        "grid": {"vocab_size": 300, "languages": ["all", "paper-30"]},
    },
    "[languages]: 'all' is reserved": {"languages": {"all": ["eng_Latn"]}},
    "[languages]: no run uses 'few': write languages = 'few'": {"languages": {"few": ["eng_Latn"]}},
    "[judge]: it is 't': give names with values": {"judge": "t"},
    "[[run]]: runs is {'method': 'parity'}: give a list": {"runs": {"method": "parity"}},
    "[evaluation]: morph is {}: give text": {"evaluation": {"morph": {}}},
    "[[run]] 1: name is 3: give text": {"runs": [{"name": 3, "tokenizer": "x"}]},
    "text_column: it is 3": {"text_column": 3},
    r"[[run]] 1: name is 'a\nb': give text, without line breaks": {"runs": [{"name": "a\nb"}]},
    r"[[run]] 1: name is 'a\x00b': give text, without line breaks": {"runs": [{"name": "a\0b"}]},
    "[[run]] 1: name is '  ': give text": {"runs": [{"name": "  "}]},
    r"[judge]: 'a\nb' cannot be the name of a text": {"judge": {"a\nb": "test"}},
    r"[languages]: a set is called ' ': give text": {"languages": {" ": ["eng_Latn"]}},
    "[languages]: 'two' is ['eng_Latn', 'eng_Latn']: give codes of languages, each once": {
        "languages": {"two": ["eng_Latn", "eng_Latn"]}
    },
    "global_merges is [0, 0.5, 1], where 1 is one merge: write 1.0 for a share": {
        "runs": [{"global_merges": [0, 0.5, 1]}]
    },
    "seed: it is 9223372036854775808: give a whole number below 2**63": {"seed": 2**63},
    "[[run]] 1: seed is 9223372036854775808: give a whole number below 2**63": {
        "runs": [{"sample": 0.5, "seed": 2**63}]
    },
    "[grid]: dev_seed is 9223372036854775808: give a whole number below 2**63": {
        "grid": {"vocab_size": 300, "dev_lines": 3, "dev_seed": [1, 2**63]}
    },
}


@pytest.mark.parametrize("match", BAD, ids=str)
def test_a_mistake_is_named(match: str) -> None:
    with pytest.raises(PairityError, match=re.escape(match)):
        combinations(experiment(**BAD[match]))


def test_text_that_does_not_fit_is_named_before_any_work(project: Path) -> None:
    file = project / "grid.toml"
    (project / "away" / "jpn_Jpan.txt").write_text("one line\n", encoding="utf-8")
    with pytest.raises(PairityError, match=r"\[judge\] away: the text is not parallel"):
        plan(read(file))
    (project / "away" / "jpn_Jpan.txt").unlink()
    (project / "away" / "eng_Latn.txt").rename(project / "away" / "deu_Latn.txt")
    with pytest.raises(PairityError, match=r"\[judge\] away: it has none of the languages of train"):
        plan(read(file))
    (project / "away" / "deu_Latn.txt").rename(project / "away" / "eng_Latn.txt")
    (project / "dev" / "tam_Taml.txt").write_text("one line\n", encoding="utf-8")
    with pytest.raises(PairityError, match="dev text is not parallel"):
        plan(read(file))


def test_what_a_set_lacks_is_told_where_it_is_a_preset(project: Path) -> None:
    file = project / "grid.toml"
    text = file.read_text(encoding="utf-8").replace("[grid]", '[grid]\nlanguages = "paper-30"', 1)
    file.write_text(text, encoding="utf-8")
    made = plan(read(file))
    assert made.sets() == {"paper-30": ("eng_Latn", "jpn_Jpan", "tam_Taml")}
    assert any(note.startswith("paper-30 is used without deu_Latn") for note in made.notes)
    assert "away has no text in tam_Taml: evaluated without them" in made.notes


def test_counts_can_be_trained_on_and_not_drawn_from(project: Path) -> None:
    count(project / "train").save(project / "counts.parquet")
    given = {"train": str(project / "counts.parquet"), "judge": {"test": str(project / "test")}}
    assert plan(experiment(**given, runs=[{"method": "classical"}])).data.counted
    with pytest.raises(PairityError, match="train holds counts, and lines cannot be sampled"):
        plan(experiment(**given, runs=[{"method": "classical", "sample": 0.5}]))


def test_a_file_that_is_written_reads_as_the_same_experiment(project: Path) -> None:
    file = project / "grid.toml"
    text = file.read_text(encoding="utf-8") + '\n[[run]]\nname = "r \\"1\\""\nratios = { eng_Latn = 130.5 }\n'
    file.write_text(text, encoding="utf-8")
    one = read(file)
    (project / "copy.toml").write_text(as_toml(one), encoding="utf-8")
    assert read(project / "copy.toml") == one


def test_a_run_of_each_beta(project: Path) -> None:
    file = project / "grid.toml"
    more = '\n[[run]]\nmethod = "fair"\nbeta = [4, 64]\nunit = "byte"\n'
    file.write_text(file.read_text(encoding="utf-8") + more, encoding="utf-8")
    found = [row for row in plan(read(file)).rows if row.method == "fair"]
    assert [row.name for row in found[:2]] == ["fair, beta=4@300", "fair, beta=64@300"]
    assert [row.training and row.training.policy for row in found[:2]] == [
        Fair(beta=4, unit="byte"),
        Fair(beta=64, unit="byte"),
    ]
    assert all(row.is_prefix for row in found)


def test_ratios_of_dev_are_those_of_each_language(project: Path) -> None:
    file = project / "grid.toml"
    file.write_text(
        file.read_text(encoding="utf-8") + '\n[[run]]\nname = "ratios"\nratios = "dev"\n', encoding="utf-8"
    )
    last = plan(read(file)).rows[-1]
    assert last.training is not None
    assert last.training.policy.ratios == {code: code for code in ("eng_Latn", "jpn_Jpan", "tam_Taml")}


def test_a_ratio_replaces_dev_text_if_all_rows_of_the_set_have_it(project: Path) -> None:
    (project / "dev" / "jpn_Jpan.txt").unlink()
    given = {name: str(project / name) for name in ("train", "dev")} | {
        "judge": {"test": str(project / "test")}
    }
    rated = {"ratios": {"jpn_Jpan": 130.0}}
    classical = {"method": "classical"}
    made = plan(experiment(**given, runs=[rated, rated | {"name": "joint", "joint": 0.5}, classical]))
    assert {row.corpus and row.corpus.codes for row in made.rows} == {("eng_Latn", "jpn_Jpan", "tam_Taml")}
    assert list(made.rows[0].dev or {}) == ["eng_Latn", "tam_Taml"]
    assert made.notes == (DROPPED,)
    with pytest.raises(
        PairityError,
        match=r"a ratio is given for 'jpn_Jpan', but the rows for the languages 'all' are trained without",
    ):
        plan(experiment(**given, runs=[rated, {"name": "plain"}]))
    only = {"languages": {"both": ["eng_Latn", "jpn_Jpan"]}}
    made = plan(experiment(**given, **only, runs=[rated | {"languages": "both"}, {"name": "plain"}]))
    assert made.sets() == {"both": ("eng_Latn", "jpn_Jpan"), "all": ("eng_Latn", "tam_Taml")}


def test_unigram_is_refused_where_there_is_no_trainer(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    given = {"train": str(project / "train"), "judge": {"test": str(project / "test")}}
    with pytest.raises(
        PairityError, match=r"method unigram needs the package sentencepiece.*pip install 'pairity\[peers\]'"
    ):
        plan(experiment(**given, runs=[{"method": "unigram"}]))


def test_unigram_with_parity_is_steered_by_dev_text(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentencepiece", None)
    given = {"train": str(project / "train"), "judge": {"test": str(project / "test")}}
    [row] = plan(experiment(**given, dev=str(project / "dev"), runs=[{"method": "parity-unigram"}])).rows
    assert row.dev is not None
    assert row.recipe["dev"] is not None
    assert row.recipe["training"]["share"] == 0.75
    with pytest.raises(PairityError, match="parity-unigram measures languages by parallel text: give dev"):
        plan(experiment(**given, runs=[{"method": "parity-unigram"}]))


def test_what_needs_no_text_is_checked_before_it_is_read(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pairity.experiments.plan.read_data", None)
    given = {"train": str(project / "train"), "judge": {"test": str(project / "test")}}
    for match, settings in {
        "vocab_size is missing": {"grid": {}},
        "window is 0": {"runs": [{"window": 0}]},
        "sample is 2": {"runs": [{"sample": 2}]},
        "there is no set of languages": {"runs": [{"languages": "few"}]},
        "temperature is 0.5": {"runs": [{"temperature": 0.5}]},
        "vocab_size is 256, but the bytes": {"runs": [{"method": "parity-unigram", "vocab_size": 256}]},
        "unknown pre-tokenizer": {"runs": [{"pretokenizer": "gpt5", "method": "unigram"}]},
    }.items():
        with pytest.raises(PairityError, match=match):
            plan(experiment(**given | settings))


def test_text_that_is_read_is_a_stage_of_the_progress(project: Path) -> None:
    stages: list[str] = []
    with Progress(lambda stage, *_: stages.append(stage)) as show:
        plan(read(project / "grid.toml"), show)
    assert "reading train" in stages


def test_an_empty_file_and_a_draw_of_nothing_are_named_with_the_experiment(project: Path) -> None:
    file = project / "grid.toml"
    for sample, match in (("sample = 0.001", "takes nothing from "), ("balance = 10", "would be 10 bytes")):
        change = file.read_text(encoding="utf-8").replace("[grid]", f"[grid]\n{sample}", 1)
        (project / "drawn.toml").write_text(change, encoding="utf-8")
        with pytest.raises(PairityError, match=rf"drawn.toml, train: .*{match}"):
            run(project / "drawn.toml", project / "new" / "out", progress=False)
        assert not (project / "new").exists(), "a folder without any result is not left"
    (project / "train" / "eng_Latn.txt").write_text("", encoding="utf-8")
    with pytest.raises(
        PairityError, match=r"grid.toml, train: no text for 'eng_Latn': .*eng_Latn.txt is empty"
    ):
        plan(read(file))


def test_lines_of_dev_that_are_not_parallel_are_not_drawn(project: Path) -> None:
    given = {
        "train": str(project / "train"),
        "dev": str(project / "dev"),
        "judge": {"test": str(project / "test")},
    }
    (project / "dev" / "tam_Taml.txt").write_text("one\ntwo\nthree\n", encoding="utf-8")
    drawn = {"unit": "byte", "dev_lines": 3}
    assert plan(experiment(**given, runs=[drawn])).rows[0].dev == {
        code: lines[:3] for code, lines in read_texts(str(project / "dev")).items() if code != "deu_Latn"
    }
    with pytest.raises(PairityError, match=r"dev text is not parallel: .* or leave dev_seed out"):
        plan(experiment(**given, runs=[drawn | {"dev_seed": 1}]))


def test_sets_of_languages_whose_scores_would_share_a_folder(project: Path) -> None:
    made = experiment(
        train=str(project / "train"),
        judge={"test": str(project / "test")},
        languages={"x y": ["eng_Latn"], "x-y": ["tam_Taml"]},
        grid={"vocab_size": 300, "method": "classical"},
        runs=[{"languages": "x y", "name": "one"}, {"languages": "x-y", "name": "other"}],
    )
    with pytest.raises(PairityError, match="'test, x y', 'test, x-y' would share a folder"):
        check_places(plan(made))


def test_a_tokenizer_is_called_as_it_is_written_wherever_one_is(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("mine", "other"):
        (project / "sub" / name).mkdir(parents=True)
    (project / "sub" / "grid.toml").write_text(
        'train = "../train"\n[judge]\ntest = "../test"\n[[run]]\ntokenizer = "mine"\n'
        '[[run]]\ntokenizer = "yours=other"\n',
        encoding="utf-8",
    )
    found = []
    for folder in (project, project / "sub", project / "train"):
        monkeypatch.chdir(folder)
        one = read(os.path.relpath(project / "sub" / "grid.toml"))
        (project / "copy.toml").write_text(as_toml(one), encoding="utf-8")
        assert [row.name for row in combinations(one)] == ["mine", "yours"]
        copy = read(project / "copy.toml")
        assert [row.name for row in combinations(copy)] == ["mine", "yours"]
        found.append([os.path.normpath(run["tokenizer"]) for run in copy.runs])
    assert found == [[str(project / "sub" / "mine"), f"yours={project / 'sub' / 'other'}"]] * 3


def test_a_reference_may_be_in_only_some_of_the_texts(project: Path) -> None:
    file = project / "grid.toml"
    file.write_text(
        file.read_text("utf-8").replace("resamples = 0", 'resamples = 0\nreference = "tam_Taml"'), "utf-8"
    )
    made = run(file, project / "out")
    assert {row["text"]: row["reference"] for row in made.table.to_pylist()} == {
        "home": "tam_Taml",
        "away": None,
    }
    assert "away has no token premiums, because it has no tam_Taml" in made.notes
