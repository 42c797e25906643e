"""Merging counts files, some rows at a time: the same result in any order, and what does not fit is refused."""

import itertools
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from pairity.counts import parquet, runs
from pairity.counts.counting import count
from pairity.counts.counts import Counts, merge, order_of
from pairity.counts.merging import merge_files
from pairity.counts.values import Pruned
from pairity.errors import PairityError
from small_counts import DICTS, LINES


@pytest.fixture
def parts(tmp_path: Path) -> list[Path]:
    """A file of all languages and one of each."""
    count(LINES).save(tmp_path / "all.parquet")
    for language in LINES:
        count({language: ["to be", "or not", *LINES[language]]}).save(tmp_path / f"{language}.parquet")
    return sorted(tmp_path.glob("*.parquet"))


def test_any_order_gives_the_same_bytes(tmp_path: Path, parts: list[Path]) -> None:
    found = set()
    for order in itertools.permutations(parts):
        merged = merge_files(order, tmp_path / "runs")
        merged.save(tmp_path / "merged.parquet")
        found.add((tmp_path / "merged.parquet").read_bytes())
        assert merged == Counts.load(list(order))
    assert len(found) == 1


@settings(max_examples=40, deadline=None)
@given(one=DICTS, other=DICTS)
def test_files_merge_as_counts_in_memory_do(
    tmp_path_factory: pytest.TempPathFactory,
    one: dict[str, dict[bytes, int]],
    other: dict[str, dict[bytes, int]],
) -> None:
    folder = tmp_path_factory.mktemp("merge")
    counts = [Counts.from_dicts(one, lines=dict.fromkeys(one, 3)), Counts.from_dicts(other)]
    files = [folder / "0.parquet", folder / "1.parquet"]
    for part, path in zip(counts, files, strict=True):
        part.save(path)
    merged, expected = merge_files(files, folder / "runs"), merge(counts)
    assert merged == expected
    assert list(merged) == list(expected)


def test_the_order_of_languages_is_one_that_no_part_contradicts() -> None:
    assert order_of(["bac", "bc"]) == list("bac")
    assert order_of(["bd", "ab"]) == order_of(["ab", "bd"]) == list("abd")
    assert order_of(["xa", "yb"]) == order_of(["yb", "xa"]) == list("xayb")
    assert order_of(["ab", "ba"]) == list("ab"), "by name"


def test_tables_of_other_programs_are_merged(tmp_path: Path) -> None:
    """Rows in any order, languages mixed, keys twice, small row groups."""
    rows = [
        ("b", "to", 2),
        ("a", "be", 1),
        ("b", "be", 3),
        ("a", "be", 4),
        ("b", "to", 5),
        ("a", "ab", 1),
    ] * 3
    table = pa.table(dict(zip(("language", "pretoken", "count"), zip(*rows, strict=True), strict=True)))
    made = count({"a": ["x"]}).pretokenization
    pq.write_table(table, tmp_path / "other.parquet", row_group_size=2)
    with pytest.raises(PairityError, match="does not record how its text was split"):
        merge_files([tmp_path / "other.parquet"], tmp_path / "runs")
    header = parquet.read_header(tmp_path / "other.parquet", made, "train")
    assert header.sizes is None
    Counts(*parquet.read(tmp_path / "other.parquet", made, None)).save(tmp_path / "made.parquet")
    merged = merge_files([tmp_path / "made.parquet"], tmp_path / "runs")
    assert merged["a"].counts.tolist() == [3, 15]
    assert merged["b"].counts.tolist() == [9, 21]


def test_unsorted_rows_of_a_file_become_several_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parquet, "BATCH_ROWS", 3)
    rows = [("a", f"w{number * 7 % 20}", 1) for number in range(20)] + [("b", "x", 1)] + [("a", "w1", 5)]
    table = pa.table(dict(zip(("language", "pretoken", "count"), zip(*rows, strict=True), strict=True)))
    pq.write_table(table, tmp_path / "other.parquet")
    found = count([tmp_path / "other.parquet"], memory="60MB", threads=1)
    assert found == count([tmp_path / "other.parquet"])
    assert found["a"].total == 25


def test_runs_of_large_sums_are_refused(tmp_path: Path) -> None:
    for number in range(2):
        Counts.from_dicts({"a": {"x": 2**62 + number}}).save(tmp_path / f"{number}.parquet")
    merged = merge_files(sorted(tmp_path.glob("*.parquet")), tmp_path / "runs")
    with pytest.raises(PairityError, match=r"'a' add up to more than 2\*\*63"):
        merged.save(tmp_path / "merged.parquet")
    assert not (tmp_path / "merged.parquet").exists()


def test_what_does_not_fit_together_is_refused(tmp_path: Path) -> None:
    count(LINES).save(tmp_path / "0.parquet")
    for options, said in (
        ({"pretokenizer": "gpt2"}, "were split in different ways"),
        ({"normalize": "nfc"}, "were split in different ways"),
        ({"split": "dev"}, "keep train and dev separate"),
    ):
        count(LINES, **options).save(tmp_path / "1.parquet")
        with pytest.raises(PairityError, match=said):
            merge_files([tmp_path / "0.parquet", tmp_path / "1.parquet"], tmp_path / "runs")
    assert not (tmp_path / "runs").exists(), "nothing was written before that was known"


def test_truncated_and_changed_files_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "0.parquet"
    count(LINES).save(path)
    whole, table = path.read_bytes(), pq.read_table(path)
    for size in (0, 4, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(PairityError, match=r"0\.parquet: broken Parquet file"):
            merge_files([path], tmp_path / "runs")
    pq.write_table(table.slice(1), path)
    with pytest.raises(PairityError, match=r"0\.parquet is damaged: its rows do not match"):
        merge_files([path], tmp_path / "runs")
    pq.write_table(table, path, row_group_size=5)  # the same rows, laid out anew
    assert merge_files([path], tmp_path / "runs") == count(LINES)


def test_pruning_comes_after_merging(tmp_path: Path) -> None:
    for number, lines in enumerate((["to be"], ["to see"])):
        count({"a": lines}, pretokenizer="whitespace").save(tmp_path / f"{number}.parquet")
    files = sorted(tmp_path.glob("?.parquet"))
    merged = merge_files(files, tmp_path / "runs", min_count=2)
    merged.save(tmp_path / "merged.parquet")
    assert merged["a"].pretokens.to_pylist() == [b"to"]
    assert merged["a"].pruned == Counts.load(tmp_path / "merged.parquet")["a"].pruned == Pruned(2, 2, 2)
    assert merged.notes == ()


def test_merging_what_was_pruned_is_told(tmp_path: Path) -> None:
    for number in range(2):
        count({"a": ["to to be"], "b": ["x"]}, pretokenizer="gpt2").save(tmp_path / f"{number}.parquet")
    count({"a": ["to be be to to to"]}, min_count=2, pretokenizer="gpt2").save(tmp_path / "0.parquet")
    merged = merge_files([tmp_path / "0.parquet", tmp_path / "1.parquet"], tmp_path / "runs")
    assert "counts of a were pruned before they were merged" in merged.notes[0]
    assert merged["a"].pruned == Pruned(2, 1, 1)


def test_progress_is_heard(tmp_path: Path, parts: list[Path], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runs, "CHUNK_ROWS", 2)
    heard: list[tuple[int, int, str]] = []
    merged = merge_files(parts, tmp_path / "runs", heard=lambda *said: heard.append(said))
    assert [what for *_, what in heard] == [path.name for path in parts]
    heard.clear()
    merged.save(tmp_path / "merged.parquet")
    size = sum(run.stat().st_size for run in (tmp_path / "runs").glob("*.run"))
    assert heard[-1][:2] == (size, size)
    assert [done for done, *_ in heard] == sorted(done for done, *_ in heard)
