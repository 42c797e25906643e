"""Options of counting that meet each other: each pair here gave wrong counts, or failed at the end, when it was new."""

import json
from pathlib import Path
from typing import Any

import pytest

from pairity import Counts, Draw, PairityError, count
from pairity.counts import checkpoint
from pairity.counts.counting import count_texts
from pairity.counts.counts import merge
from pairity.counts.storage import Storage
from pairity.text.inputs import TextInput
from pairity.text.options import TextReading
from pairity.text.pretokenizers import Pretokenization
from pairity.text.sources import resolve

CUT = Pretokenization.of("gpt4o")


def records(path: Path, languages: dict[str, int], word: str = "word") -> str:
    rows = [
        {"lang": language, "text": f"{word} {number} of {language}"}
        for language, lines in languages.items()
        for number in range(lines)
    ]
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def lines_of(counts: Counts) -> dict[str, int | None]:
    return {language: one.lines for language, one in counts.items()}


def test_shards_of_records(tmp_path: Path) -> None:
    sources = [records(tmp_path / f"{name}.jsonl", {"aaa": 50, "bbb": 50}, name) for name in ("x", "y", "z")]
    whole = count(sources, language_column="lang")
    parts = [count(sources, language_column="lang", shard=(number, 2)) for number in (1, 2)]
    assert merge(parts) == whole
    again = [count(sources[::-1], language_column="lang", shard=(number, 2)) for number in (1, 2)]
    assert again == parts
    only = [
        count(sources, language_column="lang", shard=(number, 5), choose=["aaa"]) for number in range(1, 6)
    ]
    assert lines_of(merge(only)) == {"aaa": 150}


@pytest.mark.parametrize("room", [None, 2000])
@pytest.mark.parametrize("limit", [None, 40_000_000])
def test_equal_records_where_the_sieve_is_full(tmp_path: Path, room: int | None, limit: int | None) -> None:
    path = records(tmp_path / "x.jsonl", {"aaa": 300, "bbb": 300})
    inputs = [one for one in resolve(path, language_column="lang").inputs if isinstance(one, TextInput)]
    how = TextReading(language_column="lang", dedup="lines", dedup_memory=room, cut=CUT)
    made, _ = count_texts(inputs, CUT, how, Storage(1, limit))
    assert {language: rows.size.lines for language, rows in made.items()} == {"aaa": 300, "bbb": 300}


def test_a_draw_of_records_is_of_the_chosen_languages(tmp_path: Path) -> None:
    path = records(tmp_path / "x.jsonl", {"aaa": 200, "bbb": 200, "junk": 1})
    some: dict[str, Any] = {"language_column": "lang", "choose": ["aaa", "bbb"]}
    assert lines_of(count(path, draw=Draw(budget="100 lines"), **some)) == {"aaa": 50, "bbb": 50}
    assert lines_of(count(path, draw=Draw(balance="balanced"), **some)) == {"aaa": 200, "bbb": 200}
    assert lines_of(count(path, min_count=2, **some)) == {"aaa": 200, "bbb": 200}
    (tmp_path / "empty.txt").write_text("")
    named = [path, f"eee={tmp_path / 'empty.txt'}"]
    assert lines_of(count(named, **some)) == {"aaa": 200, "bbb": 200}


def test_nothing_is_drawn_of_lists_of_words(tmp_path: Path) -> None:
    (tmp_path / "aaa.words.tsv").write_text("the\t5\nof\t3\n")
    for words in (tmp_path / "aaa.words.tsv", {"eng_Latn": "wordfreq:en"}):
        with pytest.raises(PairityError, match="is a word list, and lines cannot be sampled"):
            count(words, draw=Draw(sample=0.5))


def test_a_draw_is_resumed_only_with_the_same_outcome(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "SECONDS", 0)
    for name in ("aaa", "bbb", "ccc"):
        (tmp_path / f"{name}.txt").write_text("".join(f"{name} line {n}\n" for n in range(200)))
    files = {name: str(tmp_path / f"{name}.txt") for name in ("aaa", "bbb")}
    kept = {"draw": Draw(budget="100 lines"), "checkpoint": tmp_path / "kept"}
    count(files, **kept)
    with pytest.raises(PairityError, match="belongs to a run with other settings"):
        count({**files, "ccc": str(tmp_path / "ccc.txt")}, **kept, resume=True)
    with pytest.raises(PairityError, match="belongs to a run with other settings"):
        count(files, checkpoint=tmp_path / "kept", resume=True, on_error="skip")


def test_a_shard_without_files_of_a_language_is_kept_at_checkpoints(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkpoint, "SECONDS", 0)
    for name in ("aaa", "bbb"):
        (tmp_path / f"{name}.txt").write_text("".join(f"{name} line {n}\n" for n in range(200)))
    files = {name: str(tmp_path / f"{name}.txt") for name in ("aaa", "bbb")}
    parts = [count(files, shard=(n, 2), checkpoint=tmp_path / f"kept{n}") for n in (1, 2)]
    assert merge(parts) == count(files)
    (tmp_path / "bbb.txt").write_text("\n\n\n")
    with pytest.raises(PairityError, match=r"no text for 'bbb': .* contains 3 blank lines"):
        count(files, checkpoint=tmp_path / "kept")


def test_drawn_counts_beside_text_and_foreign_tables(tmp_path: Path) -> None:
    drawn = count({"aaa": [f"line {n}" for n in range(100)]}, draw=Draw(budget="10 lines"))
    drawn.save(tmp_path / "drawn.parquet")
    both = count([str(tmp_path / "drawn.parquet"), {"bbb": ["some text", "more"]}])
    assert both.drawn is not None
    assert {language: (one.lines, one.of_lines) for language, one in both.drawn.given.items()} == {
        "aaa": (10, 100),
        "bbb": (2, 2),
    }
    foreign = Counts.from_dicts({"zzz": {"word": 3}})
    for memory in (None, "100MB"):
        summed = count([str(tmp_path / "drawn.parquet"), foreign], memory=memory, threads=1)
        assert summed.drawn is not None
        assert set(summed.drawn.given) == {"aaa", "zzz"}
        summed.save(tmp_path / "sum.parquet")
        assert set(Counts.load(tmp_path / "sum.parquet")) == {"aaa", "zzz"}
