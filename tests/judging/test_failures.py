"""Text that cannot be judged, tokenizers that fail, names that are not there: what is said, and what still counts."""

import gzip
from pathlib import Path
from typing import NoReturn

import pytest

from chunk_tokenizers import TEXTS, Chunks, Fussy, plain_costs, row, scores_of
from pairity.errors import PairityError
from pairity.judging.evaluation import LossWarning, evaluate, read_lines
from pairity.judging.tax import tax
from peer_tokenizers import characters


def test_lines_that_are_not_parallel() -> None:
    texts = TEXTS | {"deu_Latn": ["nur eine", "zwei"]}
    with pytest.raises(
        PairityError,
        match=r"the data is not parallel: most languages have 5 lines, but deu_Latn has 2.*--not-parallel",
    ):
        scores_of(texts=texts)
    scores = scores_of(texts=texts, parallel=False)
    assert scores.value("three", "cost", "deu_Latn") == pytest.approx(2.5)
    for metric in ("gini", "worst_best", "premium"):
        assert row(scores, "three", metric)["value"] is None
        assert "not parallel" in str(row(scores, "three", metric)["note"])
    assert not {"gini", "worst_best", "premium"} & set(scores.groups["metric"].to_pylist())
    assert not {"gini", "worst_best"} & set(scores.differences["metric"].to_pylist())
    assert scores.difference("two", "three", "cost", "deu_Latn").value > 0


def test_a_metric_of_parallel_lines_is_not_asked_for_where_there_are_none() -> None:
    with pytest.raises(PairityError, match="'premium', 'gini' cannot be had of text that is not parallel"):
        scores_of(parallel=False, metrics=["premium", "cost", "gini"])
    with pytest.raises(PairityError, match="'gini' cannot be had"):
        scores_of(parallel=False, metrics="gini")
    rest = scores_of(parallel=False, metrics=["fairness"])
    assert row(rest, "three", "gini")["value"] is None, "a family may have others"


def test_one_language_has_no_gini_and_the_scores_say_so() -> None:
    scores = scores_of(texts={"eng_Latn": TEXTS["eng_Latn"]})
    for metric in ("gini", "worst_best"):
        found = row(scores, "three", metric)
        assert found["value"] is None
        assert found["note"] == "needs at least 2 languages"
    assert any("only one language" in said for said in scores.warnings)


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ({}, "no SOURCE given"),
        (TEXTS | {"deu_Latn": []}, "no text for 'deu_Latn': .* is empty"),
        (TEXTS | {"deu_Latn": [""] * 5}, "no text for 'deu_Latn': .* 5 blank lines"),
        (TEXTS | {"deu_Latn": ["a", "b", 3, "d", "e"]}, "'deu_Latn', item 3 is int, not a string"),
        (TEXTS | {"deu_Latn": ["a", "b", "\udc00", "d", "e"]}, "'deu_Latn', item 3: not UTF-8"),
    ],
)
def test_text_that_cannot_be_judged(texts: dict[str, list[str]], message: str) -> None:
    with pytest.raises(PairityError, match=message):
        scores_of(texts=texts)


def test_languages_are_chosen_by_name_and_near_misses_are_explained() -> None:
    texts = TEXTS | {"tgl_Latn": TEXTS["eng_Latn"]}
    assert scores_of(texts=texts, languages=["zho_Hans", "eng_Latn"]).languages == ["zho_Hans", "eng_Latn"]
    with pytest.raises(PairityError, match=r"'fil_Latn' \(but tgl_Latn is the same language as fil_Latn\)"):
        scores_of(texts=texts, languages=["eng_Latn", "fil_Latn"])
    twice = scores_of(texts=texts | {"fil_Latn": TEXTS["eng_Latn"]})
    assert any(
        "fil_Latn and tgl_Latn are the same language under two names" in said for said in twice.warnings
    )


def test_a_reference_that_is_not_there_is_refused_before_any_work() -> None:
    class Untouched(Chunks):
        def encode_lines(self, lines: list[str]) -> NoReturn:
            pytest.fail("text was encoded")

    asked = r"no token premium: the text has no eng \(did you mean eng_Latn\?\)\..*\(--reference\) among eng_Latn, "
    with pytest.raises(PairityError, match=asked):
        scores_of([Untouched(3)], reference="eng")


def test_premiums_are_left_out_where_nobody_asked_for_a_reference() -> None:
    scores = scores_of(texts={code: lines for code, lines in TEXTS.items() if code != "eng_Latn"})
    found = row(scores, "three", "premium")
    assert found["value"] is None
    assert "no cost for the reference language eng_Latn" in str(found["note"])
    assert any("no token premium: the data has no eng_Latn" in said for said in scores.warnings)
    assert "premium" not in scores_of(reference=None).table["metric"].to_pylist()


def test_tokenizers_and_baseline_must_have_names_of_their_own() -> None:
    with pytest.raises(PairityError, match=r"two tokenizers have the same name \(chunks, chunks\)"):
        scores_of([Chunks(2), Chunks(3)])
    with pytest.raises(PairityError, match="no tokenizer to evaluate"):
        scores_of([])
    with pytest.raises(PairityError, match="baseline 'four' is not one of the tokenizers: three, two"):
        scores_of(baseline="four")
    assert scores_of(Chunks(2)).tokenizers == ["chunks"]


@pytest.mark.parametrize("name", ["a\nb", "a\u2028b", "a\0b", "  ", "\t", "a\udc80", "\u200b"])
def test_the_name_of_a_tokenizer_must_fit_a_line(name: str) -> None:
    with pytest.raises(PairityError, match=r"the name '.*' of a tokenizer cannot be shown.*one line"):
        scores_of({name: Chunks(2)})


def test_the_name_of_a_tokenizer_may_be_in_any_script() -> None:
    name = "می\N{ZERO WIDTH NON-JOINER}خواهم"
    assert scores_of({name: Chunks(2)}).tokenizers == [name]


def test_a_tokenizer_that_fails_on_some_lines_is_judged_on_the_others() -> None:
    scores = scores_of({"fussy": Fussy("γάτα"), "three": Chunks(3)}, baseline="three")
    assert scores.lengths["fussy"]["ell_Grek"].tolist()[2] == -1
    assert row(scores, "fussy", "failed_lines", "ell_Grek")["value"] == 1
    assert scores.value("fussy", "failed_lines") == 1
    rest = plain_costs(3, [0, 1, 3, 4])  # the line goes in all languages: what is compared stays parallel
    assert scores.costs("fussy") == pytest.approx(rest)
    assert row(scores, "fussy", "cost", "eng_Latn")["n"] == 4
    assert "failed on 1 of 5 lines (the first is line 3: RuntimeError" in str(
        row(scores, "fussy", "cost", "ell_Grek")["note"]
    )
    assert "without the lines it failed on in ell_Grek" in str(row(scores, "fussy", "gini")["note"])
    assert scores.costs("three") == pytest.approx(plain_costs(3))  # the others are judged on everything
    assert scores.value("fussy", "change") == pytest.approx(0)  # and compared on the lines that both have
    assert scores.difference("fussy", "three", "gini").value == pytest.approx(0)
    assert scores.value("fussy", "round_trip", "ell_Grek") == pytest.approx(4 / 5)
    assert "fussy on ell_Grek: failed on 1 of 5" in scores.warnings[0]


def test_a_tokenizer_that_fails_on_a_language_is_judged_without_it() -> None:
    texts = TEXTS | {"xxx_Latn": ["bad"] * 5}
    scores = scores_of({"fussy": Fussy("bad"), "three": Chunks(3)}, texts)
    assert row(scores, "fussy", "cost", "xxx_Latn")["value"] is None
    assert "failed on 5 of 5 lines" in str(row(scores, "fussy", "cost", "xxx_Latn")["note"])
    assert "without xxx_Latn, where it failed" in str(row(scores, "fussy", "gini")["note"])
    assert row(scores, "fussy", "gini")["n"] == 3
    assert row(scores, "three", "gini")["n"] == 4
    assert scores.difference("fussy", "three", "gini").value == pytest.approx(0)  # over the languages of both
    assert scores.costs("fussy").keys() == TEXTS.keys()


def test_a_tokenizer_that_fails_on_everything_leaves_nulls() -> None:
    scores = scores_of({"fussy": Fussy(""), "three": Chunks(3)}, baseline="three")
    assert scores.costs("fussy") == {}
    assert row(scores, "fussy", "gini")["value"] is None
    assert row(scores, "fussy", "cost")["value"] is None
    assert row(scores, "fussy", "type_token_ratio")["value"] is None
    assert scores.value("fussy", "failed_lines") == 15
    assert scores.value("three", "gini") is not None


def test_a_decoder_that_fails_is_text_lost() -> None:
    class Mute(Chunks):
        def decode(self, ids):  # type: ignore[no-untyped-def]
            raise RuntimeError("no")

    with pytest.warns(LossWarning, match="chunks loses text in 15 of 15 lines"):
        scores = scores_of([Mute(3)])
    assert scores.value("chunks", "round_trip") == 0


def test_the_user_can_interrupt() -> None:
    class Stop(Chunks):
        def encode(self, line: str) -> list[int]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        scores_of([Stop(3)])


def test_read_lines_from_files_and_folders(tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.txt").write_bytes("a\r\nb\u2028c\x85d\n\nlast".encode())
    (tmp_path / "deu_Latn.txt.gz").write_bytes(gzip.compress(b"x\ny\n"))
    (tmp_path / "fra_Latn").mkdir()
    (tmp_path / "fra_Latn" / "2.txt").write_text("zwei\n")
    (tmp_path / "fra_Latn" / "1.txt").write_text("eins\n")
    (tmp_path / "notes.md").write_text("not text of a language")
    everything = read_lines(tmp_path)
    assert everything == {
        "deu_Latn": ["x", "y"],
        "eng_Latn": ["a", "b\u2028c\x85d", "", "last"],
        "fra_Latn": ["eins", "zwei"],
    }
    assert read_lines(f"mine={tmp_path / 'eng_Latn.txt'}") == {"mine": everything["eng_Latn"]}
    assert read_lines([f"f={tmp_path / 'fra_Latn'}", f"deu_Latn={tmp_path / 'deu_Latn.txt.gz'}"]) == {
        "f": ["eins", "zwei"],
        "deu_Latn": ["x", "y"],
    }
    assert read_lines({"e": tmp_path / "eng_Latn.txt"}) == {"e": everything["eng_Latn"]}
    assert read_lines({"e": iter(["a\r\n", "b\n"])}) == {"e": ["a", "b"]}


def test_read_lines_names_the_file_and_line(tmp_path: Path) -> None:
    with pytest.raises(PairityError, match="holds no text"):
        read_lines(tmp_path)
    with pytest.raises(PairityError, match="no such file or folder"):
        read_lines(tmp_path / "none")
    bad = tmp_path / "eng_Latn.txt"
    bad.write_bytes(b"fine\n\xff\n")
    with pytest.raises(PairityError, match=r"eng_Latn\.txt, line 2: not UTF-8"):
        read_lines(tmp_path)
    bad.rename(tmp_path / "eng_Latn.txt.gz")
    with pytest.raises(PairityError, match=r"eng_Latn\.txt\.gz, near line 1: broken gzip file"):
        read_lines(tmp_path)


ENGLISH = characters("".join(TEXTS["eng_Latn"]))
LOSES = "latin loses text in 10 of 15 lines; in ell_Grek, in 5 of 5 lines"


def test_a_tokenizer_that_drops_characters_is_named_and_marked() -> None:
    with pytest.warns(LossWarning, match=LOSES):
        scores = evaluate({"latin": ENGLISH, "three": Chunks(3)}, TEXTS, metrics=["cost"], resamples=0)
    assert scores.value("latin", "round_trip") == pytest.approx(1 / 3), "whatever metrics were chosen"
    assert [said for said in scores.warnings if said.startswith(LOSES)]
    assert not [said for said in scores.warnings if said.startswith("three")]
    assert scores.meta["losses"] == {"latin": {"ell_Grek": 5, "zho_Hans": 5}}
    assert [one.lost_lines for one in scores.overview()] == [10, 0]
    assert row(scores, "latin", "cost", "ell_Grek")["note"] == "loses text in 5 of 5 lines"
    assert row(scores, "latin", "cost", "eng_Latn")["note"] is None


def test_a_price_without_its_reference_names_those_that_are_there() -> None:
    with pytest.raises(
        PairityError, match=r"the text has no deu_Latn.*\(--reference\) among eng_Latn, ell_Grek, zho"
    ):
        tax(Chunks(3), 2.0, data=TEXTS, reference="deu_Latn")


def test_a_price_says_where_text_is_lost() -> None:
    with pytest.warns(LossWarning, match="latin loses text in"):
        table = tax({"latin": ENGLISH}, 2.0, data=TEXTS).to_pylist()
    notes = {one["language"]: one["note"] for one in table}
    assert notes == {code: None if code == "eng_Latn" else "loses text in 5 of 5 lines" for code in TEXTS}
