"""Counting in bounded memory: the same counts, byte for byte, as without a limit and as a plain Counter."""

import gzip
import itertools
import random
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from filesystems import small_disk
from pairity.counts import parquet, runs, tally
from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.counts.merging import merge_files
from pairity.errors import PairityError
from pairity.languages import LANGUAGES_30
from pairity.text import blocks
from pairity.text.pretokenizers import pattern_of
from small_counts import as_dict
from small_texts import PACK, jsonl, txt

regex = pytest.importorskip("regex")
LETTERS = ["abcdefgh", "абвгдежз", "กขคงจฉชซ"]


def made_up(letters: str, lines: int, seed: int) -> list[str]:
    """Words of few letters, so that some occur often and many once."""
    chance = random.Random(seed)
    words = ("".join(chance.choices(letters, k=chance.randint(1, 6))) for _ in itertools.count())
    return [" ".join(itertools.islice(words, 12)) for _ in range(lines)]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    """Three languages in files of several kinds."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    one, two, three = (made_up(letters, 1200, seed) for seed, letters in enumerate(LETTERS))
    (folder / "aaa.txt").write_bytes(txt(one))
    (folder / "bbb").mkdir()
    (folder / "bbb" / "0.jsonl.gz").write_bytes(gzip.compress(jsonl(two[:500])))
    (folder / "bbb" / "1.txt.zst").write_bytes(PACK[".zst"](txt(two[500:])))
    pq.write_table(pa.table({"text": three}), folder / "ccc.parquet", row_group_size=100)
    return folder


@pytest.fixture
def spills(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Small blocks, so that a small limit is enough of one; how many runs there were at each spill."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 4000)
    seen: list[int] = []
    spill = tally.Tally.spill

    def watched(self: tally.Tally) -> None:
        spill(self)
        seen.append(len(list(self.runs)))

    monkeypatch.setattr(tally.Tally, "spill", watched)
    return seen


def saved(counts: Counts, path: Path) -> bytes:
    counts.save(path)
    return path.read_bytes()


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_limit_does_not_change_the_bytes(
    tmp_path: Path, corpus: Path, spills: list[int], threads: int
) -> None:
    expected = count(corpus, threads=threads, count_words=True)
    limited = count(corpus, threads=threads, count_words=True, memory=12 * 4000 * threads)
    assert len(spills) > 3
    assert repr(limited) == "<Counts of train: 3 languages, on disk>"
    assert saved(limited, tmp_path / "limited.parquet") == saved(expected, tmp_path / "plain.parquet")
    assert limited == expected
    assert limited.summary() == expected.summary()
    assert repr(limited) == repr(expected)


def test_all_of_it_is_what_a_counter_in_python_counts(corpus: Path, spills: list[int]) -> None:
    limited = count(corpus, threads=2, memory=100_000)
    assert spills
    pattern = regex.compile(pattern_of("gpt4o") or "")
    for seed, (language, letters) in enumerate(zip(("aaa", "bbb", "ccc"), LETTERS, strict=True)):
        expected = Counter(
            match.group().encode()
            for line in made_up(letters, 1200, seed)
            for match in pattern.finditer(line)
        )
        assert as_dict(limited[language]) == expected


def test_more_runs_than_can_be_merged_at_once(
    tmp_path: Path, corpus: Path, spills: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "FAN_IN", 2)
    monkeypatch.setattr(runs, "CHUNK_ROWS", 7)
    limited = count(corpus, threads=1, memory=48_000)
    assert max(spills) > 10
    assert saved(limited, tmp_path / "limited.parquet") == saved(count(corpus), tmp_path / "plain.parquet")


@pytest.mark.parametrize("rows", [1, 3, 7, 100])
@pytest.mark.parametrize("size", [1, 10, 1000])
def test_row_groups_are_the_same_however_rows_come(
    monkeypatch: pytest.MonkeyPatch, rows: int, size: int
) -> None:
    monkeypatch.setattr(parquet, "ROW_GROUP_ROWS", rows)
    monkeypatch.setattr(parquet, "ROW_GROUP_BYTES", size)
    words = sorted({word.encode() for line in made_up("abc", 4, 0) for word in line.split()})
    pretokens, counts = pa.array(words, pa.large_binary()), np.arange(1, len(words) + 1, dtype=np.uint64)
    expected = list(parquet.row_groups("aaa", [(pretokens, counts)]))
    assert pa.concat_tables(expected)["pretoken"].to_pylist() == words
    for group, following in itertools.pairwise([*expected, None]):
        assert group is not None
        total = sum(map(len, group["pretoken"].to_pylist()))
        assert len(group) <= rows
        assert total <= size or len(group) == 1
        assert following is None or len(group) == rows or total + len(following["pretoken"][0].as_py()) > size
    for step in (1, 2, 5, 30):
        starts = range(0, len(words), step)
        chunks = [(pretokens.slice(start, step), counts[start : start + step]) for start in starts]
        assert list(parquet.row_groups("aaa", chunks)) == expected
    assert list(parquet.row_groups("aaa", [])) == []


def test_lines_from_python_are_counted_under_a_limit(spills: list[int]) -> None:
    lines = {"aaa": made_up(LETTERS[0], 2000, 1)}
    assert count(lines, memory=48_000, threads=1) == count(lines)
    assert spills


def test_counts_among_the_sources_are_summed_under_a_limit(tmp_path: Path, corpus: Path) -> None:
    for number in (1, 2):
        count({"aaa": made_up(LETTERS[0], 300, number)}).save(tmp_path / f"{number}.parquet")
    given = [
        tmp_path / "1.parquet",
        f"bbb={corpus / 'bbb'}",
        tmp_path / "2.parquet",
        count({"ddd": ["to be"]}),
    ]
    limited = count(given, memory="60MB", threads=1)
    assert limited == count(given)
    assert list(limited) == ["aaa", "bbb", "ddd"]
    with pytest.raises(PairityError, match=r"'aaa' is given twice: as counts \(.*1\.parquet\) and as text"):
        count([*given, f"aaa={corpus / 'aaa.txt'}"], memory="60MB", threads=1)


def test_runs_go_when_the_counts_are_gone(
    tmp_path: Path, corpus: Path, spills: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    limited = count(corpus, memory=48_000, threads=1)
    assert list(tmp_path.glob("pairity-*/*.run"))
    del limited
    assert not list(tmp_path.glob("pairity-*"))


def test_progress_goes_on_while_merging(tmp_path: Path, corpus: Path, spills: list[int]) -> None:
    heard: list[tuple[int, int, str]] = []
    limited = count(corpus, memory=48_000, threads=1, progress=lambda *said: heard.append(said))
    reading = len(heard)
    limited.save(tmp_path / "counts.parquet")
    merging = heard[reading:]
    assert {what for *_, what in merging} == {"merging aaa", "merging bbb", "merging ccc"}
    assert [done for done, *_ in merging] == sorted(done for done, *_ in merging)
    assert merging[-1][0] == merging[-1][1] > 0


@pytest.mark.parametrize(
    ("memory", "threads", "said"),
    [
        ("1MB", 1, "memory is 1.0 MB, but 1 threads need 25 MB .*: give more."),
        ("64MB", 7, "memory is 64 MB, but 7 threads need 176 MB .*: give more, or fewer threads"),
        ("much", 1, "memory is 'much', which is not a size: write a number"),
        (0, 1, "memory is 0 bytes"),
    ],
)
def test_a_limit_below_one_block_is_refused(memory: Any, threads: int, said: str) -> None:
    with pytest.raises(PairityError, match=said):
        count({"a": ["to be"]}, memory=memory, threads=threads)


def test_a_place_for_runs_that_cannot_be_written_is_named(
    tmp_path: Path, corpus: Path, spills: list[int]
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(PairityError, match=r"cannot write .*file/runs/.*: Not a directory"):
        count(corpus, memory=48_000, threads=1, checkpoint=tmp_path / "file" / "runs")


def test_a_full_disk_is_named(tmp_path: Path, corpus: Path, spills: list[int]) -> None:
    with small_disk(tmp_path / "disk", "64k") as disk:
        refused_at = pytest.raises(
            PairityError, match=r"cannot write .*disk/runs/.*: No space left on device"
        )
        with refused_at:
            count(corpus, memory=48_000, threads=1, checkpoint=disk / "runs")


def test_a_damaged_run_is_named(tmp_path: Path, corpus: Path, spills: list[int]) -> None:
    limited = count(corpus, memory=48_000, threads=1, checkpoint=tmp_path / "runs")
    some = next((tmp_path / "runs").glob("*.run"))
    data = bytearray(some.read_bytes())
    data[len(data) // 2] ^= 4
    some.write_bytes(data)
    with pytest.raises(PairityError, match=r"\.run is damaged: .* Delete .*runs and count again"):
        limited.save(tmp_path / "counts.parquet")
    assert not (tmp_path / "counts.parquet").exists()


def test_real_text_in_30_languages(shared: Path, tmp_path: Path) -> None:
    """1 thread, 2 threads, 7 parts merged in two orders, a limit of 64 MB, and a plain Counter."""
    folder = tmp_path / "text"
    folder.mkdir()
    lines = {}
    for language in LANGUAGES_30:
        with gzip.open(
            shared / "data" / "train" / f"{language}.txt.gz", "rt", encoding="utf-8", newline="\n"
        ) as file:
            lines[language] = [line.removesuffix("\n") for line in itertools.islice(file, 1500)]
        text = "".join(f"{line}\n" for line in lines[language])
        # Twenty times, with other endings: 64 MB are too little for the words of all that.
        endings = ["", *"qxzjkvwy", *(a + b for a in "qx" for b in "zjkvw")]
        copies = "".join(text.replace(" ", f"{ending} ") for ending in endings)
        (folder / f"{language}.txt").write_text(copies, encoding="utf-8", newline="\n")
    one = saved(count(folder, threads=1), tmp_path / "one.parquet")
    assert saved(count(folder, threads=2), tmp_path / "two.parquet") == one
    limited = count(folder, threads=2, memory="64MB", checkpoint=tmp_path / "runs")
    assert list((tmp_path / "runs").glob("*.run")), "64 MB were enough"
    assert saved(limited, tmp_path / "limited.parquet") == one

    parts = []
    for number in range(7):
        parts.append(tmp_path / f"part-{number}.parquet")
        count({language: text[number::7] for language, text in lines.items()}).save(parts[-1])
    whole = saved(count(lines), tmp_path / "whole.parquet")
    for order in (parts, parts[3:] + parts[2::-1]):
        assert saved(merge_files(order, tmp_path / "merging"), tmp_path / "merged.parquet") == whole

    pattern = regex.compile(pattern_of("gpt4o") or "")
    counted = Counts.load(tmp_path / "whole.parquet")
    for language, text in lines.items():
        expected = Counter(match.group().encode() for line in text for match in pattern.finditer(line))
        assert as_dict(counted[language]) == expected, language
