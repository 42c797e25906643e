"""Broken lines that are passed over, and equal ones that count once."""

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairity.counts.counting import count, count_texts
from pairity.counts.counts import Counts, merge
from pairity.counts.storage import Storage
from pairity.errors import PairityError
from pairity.text import blocks
from pairity.text.inputs import TextInput
from pairity.text.options import TextReading
from pairity.text.pretokenizers import Pretokenization
from pairity.text.reading import read_texts
from pairity.text.sources import resolve

CUT = Pretokenization.of("gpt4o", False, None)


def counted(sources: Any, threads: int = 2, **how: Any) -> tuple[Any, Any]:
    inputs = [part for part in resolve(sources).inputs if isinstance(part, TextInput)]
    return count_texts(inputs, CUT, TextReading(cut=CUT, **how), Storage(threads=threads))


BROKEN = [
    ("a.txt", b"good\n\xff\xfe\nfine \xc3\n\nlast\n", ["good", "", "last"], "2 lines", "line 2: not UTF-8"),
    (
        "a.jsonl",
        b'{"text": "good"}\n[1]\n{"other": 1}\nnot json\n{"text": null}\n\n{"text": "\\ud800"}\n{"text": "last"}\n',
        ["good", "last"],
        "5 lines",
        "line 2: not a JSON object",
    ),
    ("a.csv", b'id,text\n1,good\n2,b,c\n3,"last"\n4\n', ["good", "last"], "2 rows", "row 2: 3 columns where"),
    ("a.tsv", b"text\tid\ngood\t1\n\xff\t2\nlast\t3\n", ["good", "last"], "1 row was", "row 2: not UTF-8"),
    ("a.words.tsv", b"good\t2\nbad\nworse\t-1\n", None, "2 lines", "line 2: not a word, a tab and its count"),
    ("a.words.tsv", b"good\t2\n\nb\xffd\t3\nlast\t1\n", None, "1 line was", "line 3: not UTF-8. Convert"),
]


@pytest.mark.parametrize(("name", "data", "good", "number", "first"), BROKEN)
@pytest.mark.parametrize("block", [9, 1 << 20])
def test_what_is_broken_is_skipped_and_reported(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    data: bytes,
    good: list[str] | None,
    number: str,
    first: str,
    block: int,
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", block)
    path = tmp_path / name
    path.write_bytes(data)
    with pytest.raises(PairityError):
        count({"eng_Latn": path})
    with pytest.raises(PairityError):
        count({"eng_Latn": path}, on_error="stop")
    counts = count({"eng_Latn": path}, on_error="skip")
    [note] = counts.notes
    assert note.startswith(f"{path}: {number}")
    assert f"the first: {path}, {first}" in note
    assert counts["eng_Latn"].skipped == int(number.split()[0])
    if good is not None:
        kept = count({"eng_Latn": good})["eng_Latn"]
        assert (counts["eng_Latn"].lines, counts["eng_Latn"].digest()) == (kept.lines, kept.digest())
        assert read_texts({"eng_Latn": path}, on_error="skip") == {"eng_Latn": good}


@pytest.mark.parametrize("how", [{}, {"dedup": "lines"}])
def test_the_last_part_of_a_long_line_may_be_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: dict[str, Any]
) -> None:
    """What came before it in the line is counted by then, and so is the line."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 64)
    monkeypatch.setattr(blocks, "LINE_BYTES", 16)
    path = tmp_path / "a.txt"
    path.write_bytes(b"good\n" + b"to be " * 40 + b"\xff\nlast\n")
    with pytest.raises(PairityError, match=r"a.txt, line 2: not UTF-8\. "):
        counted({"eng_Latn": path}, max_line=100)
    made, passed = counted({"eng_Latn": path}, max_line=100, on_error="skip", **how)
    assert passed.notes[0].startswith(f"{path}: 1 line was skipped, the first: {path}, line 2: not UTF-8. ")
    assert (made["eng_Latn"].skipped, made["eng_Latn"].lines) == (1, 3)
    assert {b"good", b" be", b"last"} <= set(made["eng_Latn"].pretokens.to_pylist())


def test_null_rows_and_items(tmp_path: Path) -> None:
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"text": ["good", None, "last"]}), path)
    with pytest.raises(PairityError, match="row 2: the text is null"):
        count({"eng_Latn": path})
    for source in (path, ["good", None, "last"], [{"text": "good"}, {"text": 3}, {"text": "last"}]):
        counts = count({"eng_Latn": source}, on_error="skip")
        assert counts["eng_Latn"].lines == 2
        assert counts["eng_Latn"].skipped == 1
        assert "2: " in counts.notes[0] or "item 2" in counts.notes[0]


def test_replaced_text_is_not_broken(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"good\n\xff\n")
    counts = count(tmp_path, on_error="skip", errors="replace")
    assert (counts["a"].skipped, counts["a"].replaced, counts["a"].lines) == (0, 1, 2)


def test_a_language_of_which_nothing_is_good(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"\xff\n")
    with pytest.raises(PairityError, match="no text for 'a'"):
        count(tmp_path, on_error="skip")


def test_a_broken_file_is_no_broken_record(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(b"no gzip")
    with pytest.raises(PairityError, match="broken gzip file"):
        count(tmp_path, on_error="skip")


def test_what_was_passed_over_is_in_the_file(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"good\n\xff\ngood\n")
    counts = count(tmp_path / "a.txt", on_error="skip", dedup="lines")
    counts.save(tmp_path / "counts.parquet")
    found = Counts.load(tmp_path / "counts.parquet")
    assert (found["a"].skipped, found["a"].duplicates) == (1, 1)
    both = merge([found, found])
    assert (both["a"].skipped, both["a"].duplicates) == (2, 2)
    metadata = json.loads(pq.read_metadata(tmp_path / "counts.parquet").metadata[b"pairity"])
    assert metadata["languages"]["a"]["skipped"] == metadata["languages"]["a"]["duplicates"] == 1
    count({"a": ["good"]}).save(tmp_path / "clean.parquet")
    metadata = json.loads(pq.read_metadata(tmp_path / "clean.parquet").metadata[b"pairity"])
    assert "skipped" not in metadata["languages"]["a"]


# Equal texts


def corpus(folder: Path) -> dict[str, list[str]]:
    """Two languages in several files with many equal lines, and what is left of them."""
    draw = random.Random(1)
    lines = {name: [f"{name} line {draw.randrange(150)}" for _ in range(400)] for name in ("aa", "bb")}
    lines["bb"] += lines["aa"][:50]  # equal to lines of another language
    for name, texts in lines.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "0.txt").write_text("\n".join(texts[:200]))
        (folder / name / "1.jsonl").write_text("\n".join(json.dumps({"text": text}) for text in texts[200:]))
    return {name: list(dict.fromkeys(texts)) for name, texts in lines.items()}


@pytest.mark.parametrize("room", [None, 40 * 100, 40 * 20])
def test_each_text_counts_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, room: int | None) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 500)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    distinct = corpus(tmp_path / "text")
    expected, _ = counted(distinct)
    for threads in (1, 4):
        found, passed = counted(tmp_path / "text", threads, dedup="lines", dedup_memory=room)
        for name, counts in found.items():
            assert counts.digest() == expected[name].digest()
            assert counts.lines == len(distinct[name])
            assert counts.duplicates == (400 if name == "aa" else 450) - len(distinct[name])
        assert passed.notes[0].startswith("duplicate texts were left out: aa ")
    assert list((tmp_path / "temporary").iterdir()) == []


def test_the_order_of_files_makes_no_difference(tmp_path: Path) -> None:
    corpus(tmp_path)
    files = sorted((tmp_path / "aa").iterdir())
    assert count({"a": files}, dedup="lines") == count({"a": files[::-1]}, dedup="lines")


def test_line_ends_are_no_difference(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one\r\none\none")
    assert count(tmp_path, dedup="lines")["a"].lines == 1
    assert read_texts(tmp_path, dedup="lines") == {"a": ["one"]}


def test_iterables_too() -> None:
    def lines() -> Any:
        yield from ["a", "b", "a", b"a\n"]

    assert count({"x": lines()}, dedup="lines")["x"].lines == 2


def test_a_full_disk_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
    with pytest.raises(PairityError, match=r"cannot set text aside in .*nowhere.*TMPDIR"):
        counted({"x": [str(number) for number in range(100)]}, dedup="lines", dedup_memory=40)


@pytest.mark.parametrize(
    ("option", "message"),
    [({"on_error": "ignore"}, "on_error is 'ignore'"), ({"dedup": "words"}, "dedup is")],
)
def test_bad_options(option: dict[str, str], message: str) -> None:
    with pytest.raises(PairityError, match=message):
        count({"a": ["x"]}, **option)  # type: ignore[arg-type]
