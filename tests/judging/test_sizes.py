"""Many vocabularies from one: what is judged at a size is what truncation gives."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import pairity
from chunk_tokenizers import Chunks
from pairity import sample
from pairity.errors import PairityError
from pairity.judging.evaluation import evaluate
from pairity.judging.scores import Scores
from pairity.judging.sizes import at_sizes, cut_to
from pairity.tokenizer.tokenizer import Tokenizer
from small_tokenizers import small

TEXTS = {code: sample.read("test")[code][:12] for code in ("eng_Latn", "tam_Taml", "jpn_Jpan")}
ONE, OTHER = small(merges=1500), small("gpt2", merges=700)


def judged(tokenizers: Any = None, sizes: Any = (400, 800), **options: Any) -> Scores:
    given = {"one": ONE, "other": OTHER} if tokenizers is None else tokenizers
    return evaluate(given, TEXTS, sizes=sizes, **{"resamples": 20, **options})


def imported_out_of_order() -> Tokenizer:
    """Two learned tokens have changed places, as in tables that were sorted by something else than their merges."""
    new, tokens = ONE.merges[:, 2].tolist(), dict(enumerate(ONE.tokens))
    first, last = new[0], new[-1]
    swap = {first: last, last: first}
    merges = np.array([[swap.get(part, part) for part in row] for row in ONE.merges.tolist()])
    plain = {swap.get(i, i): token for i, token in tokens.items() if i not in ONE.special_tokens.values()}
    return Tokenizer(plain, merges, pattern=ONE.pattern, special_tokens=ONE.special_tokens)


def test_every_size_is_judged_as_the_truncated_tokenizer_is() -> None:
    scores = judged(baseline="other")
    assert scores.tokenizers == ["one@400", "one@800", "other@400", "other@800"]
    assert scores.curves() == {"one": ["one@400", "one@800"], "other": ["other@400", "other@800"]}
    assert scores.about("one@400") == {"vocab_size": 400, "cut_from": "one"}
    for size in (400, 800):
        alone = {"one": ONE.truncate(size), "other": OTHER.truncate(size)}
        apart = evaluate(alone, TEXTS, baseline="other", resamples=20)
        expected = {
            (row["tokenizer"], row["language"], row["metric"]): row for row in apart.table.to_pylist()
        }
        found = [row for row in scores.table.to_pylist() if row["tokenizer"].endswith(f"@{size}")]
        assert len(found) == len(expected)
        for row in found:
            other = expected[row["tokenizer"].partition("@")[0], row["language"], row["metric"]]
            assert [row[name] for name in ("value", "low", "high", "n")] == [
                other[name] for name in ("value", "low", "high", "n")
            ], row
        assert scores.difference(f"one@{size}", f"other@{size}") == apart.difference("one", "other")


def test_differences_are_between_sizes_or_between_tokenizers_and_not_both() -> None:
    rows = judged().differences.to_pylist()
    pairs = {(row["tokenizer"], row["against"]) for row in rows}
    assert pairs == {
        ("one@400", "one@800"),
        ("other@400", "other@800"),
        ("one@400", "other@400"),
        ("one@800", "other@800"),
    }


def test_the_largest_size_of_each_under_its_own_name(tmp_path: Path) -> None:
    judged(baseline="other").save(tmp_path / "scores")
    largest = Scores.load(tmp_path / "scores").at_largest_size()
    alone = evaluate(
        {"one": ONE.truncate(800), "other": OTHER.truncate(800)}, TEXTS, baseline="other", resamples=20
    )
    assert largest.tokenizers == alone.tokenizers == ["one", "other"]
    assert largest.meta["baseline"] == "other"
    columns = ["tokenizer", "language", "metric", "value", "low", "high"]
    assert largest.table.select(columns) == alone.table.select(columns)
    assert largest.differences.num_rows == alone.differences.num_rows
    assert largest.groups.select(["tokenizer", "value"]) == alone.groups.select(["tokenizer", "value"])
    assert alone.at_largest_size() is alone
    assert alone.curves() == {}


def test_what_cannot_be_cut_is_judged_as_it_is_and_said() -> None:
    scores = judged({"one": ONE, "chunks": Chunks(2), "odd": imported_out_of_order()})
    assert scores.tokenizers == ["one@400", "one@800", "chunks", "odd"]
    assert any("chunks is evaluated as it is: only pairity's own" in said for said in scores.warnings)
    assert any("odd is evaluated as it is: cannot truncate to 400" in said for said in scores.warnings)
    assert scores.curves()["odd"] == ["odd"]


def test_a_hybrid_by_share_is_not_cut() -> None:
    """Cut to 456 tokens, this one would be the classical part of it alone."""
    texts = {code: sample.read("dev")[code] for code in TEXTS}

    def trained(size: int, method: Any) -> Tokenizer:
        return pairity.train(texts, dev=texts, vocab_size=size, method=method, progress=False)

    hybrid, counted = (trained(656, pairity.Parity(global_merges=number)) for number in (0.5, 50))
    assert counted.truncate(456) == trained(456, pairity.Parity(global_merges=50))
    with pytest.warns(
        pairity.PairityWarning, match="the first 50% of this tokenizer was learned for all languages together"
    ):
        assert hybrid.truncate(456) == trained(456, pairity.Classical())
    scores = judged({"hybrid": hybrid, "counted": counted}, sizes=(456,))
    assert scores.tokenizers == ["hybrid", "counted@456"]
    assert any(note.startswith("hybrid is evaluated as it is: the 50%") for note in scores.meta["warnings"])


def test_a_size_that_only_the_larger_has_is_left_out_of_the_other_and_said() -> None:
    scores = judged(sizes=[400, 1500], baseline="other")
    assert scores.tokenizers == ["one@400", "one@1500", "other@400"]
    assert any(
        f"other is evaluated without 1,500: it has {len(OTHER)} tokens" in said for said in scores.warnings
    )
    note = next(
        row["note"]
        for row in scores.table.to_pylist()
        if (row["tokenizer"], row["metric"], row["language"]) == ("one@1500", "change", "eng_Latn")
    )
    assert note == "against other@400", "the baseline at its largest, where it has not the same size"


def test_a_leak_is_told_once_for_all_sizes() -> None:
    dev = {code: sample.read("dev")[code] for code in TEXTS}
    tokenizer = pairity.train(dev, dev=dev, vocab_size=400, method=pairity.Parity(), progress=False)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        scores = evaluate({"ours": tokenizer}, dev, sizes=[300, 400], resamples=0)
    assert len(caught) == 1
    assert [said.partition(":")[0] for said in scores.warnings] == ["ours is evaluated on its own dev text"]
    assert list(scores.leaks) == ["ours@300", "ours@400"]
    assert list(scores.at_largest_size().leaks) == ["ours"]


@pytest.mark.parametrize(
    ("sizes", "message"),
    [
        ([], "sizes is empty"),
        ("8000", "sizes has '8000': give"),
        ([400, 8.5], "sizes has 8.5: give"),
        ([True], "sizes has True: give"),
        ([-5], "sizes has -5: give"),
        ([400, 800, 400], "the size 400 is given twice"),
        (
            [100, 400],
            "one cannot be truncated to 100 tokens: the bytes and its special tokens are already 259",
        ),
        ([400, 99_999], "no tokenizer can be truncated to 99,999 tokens. one is evaluated without 99,999"),
    ],
)
def test_sizes_that_cannot_be_are_refused_before_the_work(sizes: Any, message: str) -> None:
    with pytest.raises(PairityError) as error:
        evaluate({"one": ONE}, "no such text", sizes=sizes)
    assert message in str(error.value)


def test_no_tokenizer_that_can_be_cut_and_names_that_meet() -> None:
    with pytest.raises(
        PairityError, match=r"no tokenizer can be truncated to 400 tokens\. chunks is evaluated as it is"
    ):
        judged({"chunks": Chunks(2)})
    with pytest.raises(PairityError, match=r"'one@400' .* of 'one' truncated to 400.*another name"):
        judged({"one": ONE, "one@400": Chunks(2, "one@400")})
    with pytest.raises(PairityError, match="the baseline 'one@400' is not one of the tokenizers: one, other"):
        judged(baseline="one@400")


def test_without_sizes_nothing_is_cut() -> None:
    chunks = Chunks(2)
    assert at_sizes({"chunks": chunks}, None).tokenizers == {"chunks": chunks}
    assert cut_to(chunks, 5) is chunks
