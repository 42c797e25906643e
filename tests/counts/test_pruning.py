"""Pruning: what is rare is left out when asked, at the end, and what it costs is told and recorded."""

import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from pairity import Classical, train
from pairity.counts.counting import count
from pairity.counts.counts import Counts, merge
from pairity.counts.merging import merge_files
from pairity.counts.pruning import pruning_notes
from pairity.counts.values import Pruned
from pairity.errors import PairityError
from small_counts import as_dict

TEXT = {"eng_Latn": ["to be or not to be", "to be"], "deu_Latn": ["sein sein sein oder"]}


@pytest.mark.parametrize("memory", [None, "60MB"])
def test_rare_words_are_left_out(memory: Any) -> None:
    whole = count(TEXT, pretokenizer="gpt2")
    pruned = count(TEXT, pretokenizer="gpt2", min_count=2, memory=memory, threads=1)
    for language in TEXT:
        often = {word: number for word, number in as_dict(whole[language]).items() if number >= 2}
        assert as_dict(pruned[language]) == often
        assert pruned[language].size == whole[language].size, "of the text, which is as it was"
    assert pruned["eng_Latn"].pruned == Pruned(min_count=2, distinct=3, occurrences=3)
    assert whole["eng_Latn"].pruned is None


def test_what_it_costs_is_told() -> None:
    pruned = count(TEXT, pretokenizer="gpt2", min_count=2)
    # English: " or", " not", " to" of 8 words, 5 of them distinct; German: "sein", " oder" of 4, 3 distinct.
    assert pruning_notes(pruned.summary()) == [
        "min_count 2 left out 41.7% of all pre-tokens, most of deu_Latn (50.0%), and 62.5% of the distinct ones"
    ]
    alone = count({"eng_Latn": TEXT["eng_Latn"]}, pretokenizer="gpt2", min_count=2)
    assert pruning_notes(alone.summary()) == [
        "min_count 2 left out 37.5% of all pre-tokens of eng_Latn, and 60.0% of the distinct ones"
    ]
    assert pruning_notes(count(TEXT).summary()) == []


def test_it_is_recorded_in_the_file_and_in_the_tokenizer(tmp_path: Path) -> None:
    counts = count(TEXT, pretokenizer="gpt2", min_count=2)
    path = tmp_path / "counts.parquet"
    counts.save(path)
    metadata = json.loads(pq.ParquetFile(path).metadata.metadata[b"pairity"])
    assert metadata["languages"]["eng_Latn"]["pruned"] == {"min_count": 2, "distinct": 3, "occurrences": 3}
    assert Counts.load(path) == counts
    for given, options in ((path, {}), (TEXT, {"min_count": 2, "pretokenizer": "gpt2"})):
        tokenizer = train(
            given, method=Classical(), num_merges=2, progress=False, **{"pretokenizer": "gpt2"} | options
        )
        trained_on = tokenizer.record["languages"]["eng_Latn"]["train"]
        assert trained_on["pruned"] == {"min_count": 2, "distinct": 3, "occurrences": 3}
        assert tokenizer.record["notes"][0].startswith("min_count 2 left out 41.7% of all pre-tokens")
        assert tokenizer.record.get("min_count") == options.get("min_count")
    plain = train(TEXT, method=Classical(), num_merges=2, progress=False)
    assert "pruned" not in plain.record["languages"]["eng_Latn"]["train"]


def test_a_sum_of_pruned_counts_says_so(tmp_path: Path) -> None:
    """However it is made; a single part has lost nothing by it."""
    pruned = count({"eng_Latn": TEXT["eng_Latn"]}, min_count=2)
    paths = [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for path, counts in zip(paths, (pruned, count({"eng_Latn": ["be"], "deu_Latn": ["sein"]})), strict=True):
        counts.save(path)
    sums = (
        Counts.load(paths),
        merge([Counts.load(path) for path in paths]),
        count(paths),
        count(paths, memory="60MB", threads=1),
        merge_files(paths, tmp_path),
    )
    for summed in sums:
        [note] = summed.notes
        assert note.startswith("counts of eng_Latn were pruned before they were merged, so words")
    assert Counts.load(paths[0]).notes == ()


def test_a_language_that_would_be_empty_is_refused() -> None:
    with pytest.raises(
        PairityError, match="min_count is 4, but no pre-token of 'eng_Latn' occurs that often"
    ):
        count(TEXT, min_count=4)


@pytest.mark.parametrize("min_count", [0, -1, True, 1.5, "2"])
def test_bad_numbers_are_refused(min_count: Any) -> None:
    with pytest.raises(PairityError, match=r"min_count is .*: give a whole number, at least 1"):
        count(TEXT, min_count=min_count)


def test_dev_text_stays_whole() -> None:
    with pytest.raises(PairityError, match="min_count is 2, but languages are compared on dev text"):
        count(TEXT, split="dev", min_count=2)
    train_text, dev = {"eng_Latn": TEXT["eng_Latn"]}, {"eng_Latn": ["to be"]}
    languages = train(train_text, dev=dev, min_count=2, num_merges=2, progress=False).record["languages"]
    assert "pruned" in languages["eng_Latn"]["train"]
    assert "pruned" not in languages["eng_Latn"]["dev"]
    assert languages["eng_Latn"]["dev"]["pretokens"] == 2
