"""Reading text: every format and compression gives the same texts, and every broken file is named."""

import gzip
import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from pairity.counts.counting import count
from pairity.errors import PairityError
from pairity.text import blocks, reading
from small_texts import PACK, TEXTS, jsonl, txt


def refused(source: object, *parts: str, **options: object) -> None:
    """Counting and reading both refuse the source with a message that has all `parts`."""
    for read in (count, reading.read_texts):
        with pytest.raises(PairityError) as caught:
            read(source, **options)
        for part in parts:
            assert part in str(caught.value)


@pytest.fixture
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 7)
    monkeypatch.setattr(blocks, "LINE_BYTES", 3)


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("kind", [txt, jsonl])
def test_text_and_json_lines(tmp_path: Path, kind: Callable[[list[str]], bytes], packing: str) -> None:
    path = tmp_path / f"eng_Latn.{kind.__name__}{packing}"
    path.write_bytes(PACK[packing](kind(TEXTS)))
    assert reading.read_texts(tmp_path) == {"eng_Latn": TEXTS}
    assert count(tmp_path) == count({"eng_Latn": TEXTS})


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("kind", [txt, jsonl])
def test_blocks_end_where_lines_end(tmp_path: Path, kind: Callable[[list[str]], bytes], packing: str) -> None:
    test_text_and_json_lines(tmp_path, kind, packing)


@pytest.mark.parametrize(
    "type_",
    [pa.string(), pa.large_string(), pa.binary(), pa.large_binary(), pa.dictionary(pa.int32(), pa.string())],
)
@pytest.mark.parametrize("row_group_size", [2, 100])
def test_parquet(tmp_path: Path, type_: pa.DataType, row_group_size: int) -> None:
    table = pa.table({"id": range(len(TEXTS)), "text": pa.array(TEXTS, pa.string()).cast(type_)})
    pq.write_table(table, tmp_path / "eng_Latn.parquet", row_group_size=row_group_size)
    assert reading.read_texts(tmp_path) == {"eng_Latn": TEXTS}
    assert count(tmp_path) == count({"eng_Latn": TEXTS})


def test_line_ends_are_no_part_of_a_line(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\n\nfour\r\n")
    expected = ["one", "two", "", "four"]
    assert reading.read_texts({"a": path}) == {"a": expected}
    with path.open(encoding="utf-8-sig", newline="") as lines:
        assert reading.read_texts({"a": lines}) == {"a": expected}
    assert count({"a": path}) == count({"a": expected}) == count({"a": [b"one", b"two\r\n", "\n", "four\n"]})
    assert count({"a": path})["a"].lines == 4


def test_concatenated_gzip_members_are_all_read(tmp_path: Path) -> None:
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"one\n") + gzip.compress(b"two\n"))
    assert reading.read_texts(tmp_path) == {"a": ["one", "two"]}


def test_another_text_column(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text('{"body": "x y"}\n')
    pq.write_table(pa.table({"body": ["x y"]}), tmp_path / "b.parquet")
    assert reading.read_texts(tmp_path, text_column="body") == {"a": ["x y"], "b": ["x y"]}
    counts = count({"a": tmp_path / "a.jsonl", "c": [{"body": "x y"}]}, text_column="body")
    assert counts["a"] == counts["c"]


def test_a_field_inside_another(tmp_path: Path) -> None:
    records = [{"id": n, "message": {"by": "x", "parts": {"text": text}}} for n, text in enumerate(TEXTS)]
    lines = [json.dumps(record).encode() for record in records]
    (tmp_path / "eng_Latn.jsonl").write_bytes(b"\n".join(lines))
    (tmp_path / "deu_Latn.jsonl").write_bytes(b"\n\n".join(lines))  # the slow way
    pq.write_table(pa.Table.from_pylist(records), tmp_path / "fra_Latn.parquet")
    expected = dict.fromkeys(("deu_Latn", "eng_Latn", "fra_Latn"), TEXTS)
    assert reading.read_texts(tmp_path, text_column="message.parts.text") == expected
    assert reading.read_texts({"ita_Latn": records}, text_column="message.parts.text") == {"ita_Latn": TEXTS}
    for wrong in ("message.text", "message.parts.text.x", "parts.text"):
        for name in expected:
            source = next(tmp_path.glob(f"{name}.*"))
            refused(source, f"no column '{wrong}'", "id, message", text_column=wrong)


def test_a_name_with_a_dot_is_a_name_first(tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.jsonl").write_text('{"a.b": "name", "a": {"b": "path"}}\n{"a.b": "again"}\n')
    (tmp_path / "deu_Latn.jsonl").write_text('{"a.b": "name"}\n{"a": {"b": "path"}}\n')
    found = reading.read_texts(tmp_path, text_column="a.b")
    assert found == {"deu_Latn": ["name", "path"], "eng_Latn": ["name", "again"]}


def test_json_lines_that_only_the_slow_parser_takes(tmp_path: Path) -> None:
    (tmp_path / "a.jsonl").write_text(
        '\n{"text": "one"}\n\n{"text": "x", "text": "two"}\n  \n{"text": "three"}'
    )
    assert reading.read_texts(tmp_path) == {"a": ["one", "two", "three"]}
    assert count(tmp_path)["a"].lines == 3


# Broken input


@pytest.mark.parametrize(
    ("line", "parts"),
    [
        (b'{"text": "x"', ("line 3", "column 13", "not JSON")),
        (b'{"text": "x"} {"text": "y"}', ("line 3", "column 15", "not JSON")),
        (b'{"text": 5}', ("line 3", "'text' is a number, not a string")),
        (b'{"text": null}', ("line 3", "'text' is null, not a string")),
        (b'{"text": ["x"]}', ("line 3", "'text' is a list, not a string")),
        (b'{"body": "x", "id": 1}', ("line 3", "no column 'text'", "there are: body, id", "text_column")),
        (b'["x"]', ("line 3", "not a JSON object", "a list")),
        (b'{"text": "\xff"}', ("line 3", "not UTF-8")),
        (b'{"text": "\\ud800"}', ("line 3", "not UTF-8")),
        (b"[" * 100_000, ("line 3", "cannot be read")),
    ],
)
def test_broken_json_names_the_line(tmp_path: Path, line: bytes, parts: tuple[str, ...]) -> None:
    path = tmp_path / "eng_Latn.jsonl"
    path.write_bytes(b'{"text": "fine"}\n\n' + line + b'\n{"text": "fine"}\n')
    refused(tmp_path, str(path), *parts)
    path.write_bytes(b'{"text": "fine"}\n{"text": "fine"}\n' + line)
    refused(tmp_path, str(path), *parts)


@pytest.mark.parametrize("kind", [txt, jsonl])
@pytest.mark.parametrize("packing", [".gz", ".zst"])
@pytest.mark.parametrize("keep", [0, 2, 0.5, -1])
def test_truncated_files_are_found(
    tmp_path: Path, kind: Callable[[list[str]], bytes], packing: str, keep: float
) -> None:
    path = tmp_path / f"eng_Latn.{kind.__name__}{packing}"
    whole = PACK[packing](kind([f"line {n} {os.urandom(8).hex()}" for n in range(1000)]))
    path.write_bytes(whole[: int(keep * len(whole)) if 0 < keep < 1 else int(keep)])
    refused(tmp_path, str(path), "broken", "download it again")


def test_a_broken_file_says_how_far_it_was_read(tmp_path: Path) -> None:
    whole = bytearray(gzip.compress(b"0123456789\n" * 400_000))
    whole[-6] ^= 0xFF  # the checksum
    (tmp_path / "a.txt.gz").write_bytes(whole)
    with pytest.raises(PairityError, match=r"a\.txt\.gz, near line \d{6}: broken gzip file"):
        count(tmp_path)


def test_broken_parquet_is_found(tmp_path: Path) -> None:
    path = tmp_path / "eng_Latn.parquet"
    table = pa.table({"text": [f"text {n * n}" for n in range(1000)]})
    pq.write_table(table, path, compression="none", use_dictionary=False, write_page_checksum=True)
    whole = path.read_bytes()
    assert len(reading.read_texts(tmp_path)["eng_Latn"]) == 1000
    path.write_bytes(whole.replace(b"text 81", b"text 82", 1))  # decodes well: only the checksum can tell
    refused(tmp_path, str(path), "near row 1", "broken Parquet")
    path.write_bytes(whole[:-100])
    refused(tmp_path, str(path), "broken Parquet")


@pytest.mark.parametrize(
    ("table", "parts"),
    [
        ({"body": ["x"], "id": [1]}, ("no column 'text'", "there are: body, id", "text_column")),
        ({"text": [1, 2]}, ("'text'", "int64", "not text")),
        ({"text": ["a", None, "b"]}, ("row 2", "null")),
        ({"text": [b"a", b"b", b"\xff"]}, ("row 3", "not UTF-8")),
    ],
)
def test_parquet_without_text(tmp_path: Path, table: dict[str, list[object]], parts: tuple[str, ...]) -> None:
    pq.write_table(pa.table(table), tmp_path / "eng_Latn.parquet")
    refused(tmp_path, str(tmp_path / "eng_Latn.parquet"), *parts)


@pytest.mark.usefixtures("small_blocks")
@pytest.mark.parametrize("packing", PACK)
def test_text_that_is_not_utf8_names_the_line(tmp_path: Path, packing: str) -> None:
    path = tmp_path / f"eng_Latn.txt{packing}"
    path.write_bytes(PACK[packing](b"good\ngood\ngood\nbad: \xe4\nbad: \xe4\n"))
    refused(tmp_path, f"{path}, line 4", "not UTF-8 (byte 6)", "errors='replace'")


@pytest.mark.parametrize("read", [count, reading.read_texts])
def test_errors_may_only_be_strict_or_replace(read: Callable[..., object]) -> None:
    with pytest.raises(PairityError, match="errors is 'ignore': give 'strict' or 'replace'"):
        read({"a": ["text"]}, errors="ignore")


def test_bytes_that_are_not_utf8_can_be_replaced(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"good\nbad \xe4\xe4\n")
    (tmp_path / "b.jsonl").write_bytes(b'{"text": "good"}\n{"text": "bad \xe4\xe4"}\n')
    (tmp_path / "c.jsonl").write_bytes(b'{"text": "good"}\n\n{"text": "bad \xe4\xe4"}\n')
    expected = ["good", "bad \ufffd\ufffd"]
    assert reading.read_texts(tmp_path, errors="replace") == {"a": expected, "b": expected, "c": expected}
    counts = count(tmp_path, errors="replace")
    for language in counts:
        assert counts[language].replaced == 2
        assert counts[language].digest() == count({"x": expected})["x"].digest()


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (gzip.compress(b"x", mtime=0), "gzip data"),
        (zstandard.ZstdCompressor().compress(b"x"), "zstd data"),
        ("x\n".encode("utf-16"), "UTF-16"),
    ],
    ids=["gzip", "zstd", "utf-16"],
)
def test_a_file_that_is_something_else_is_refused_even_with_replace(
    tmp_path: Path, data: bytes, what: str
) -> None:
    (tmp_path / "a.txt").write_bytes(data)
    refused(tmp_path, "a.txt, line 1", what, errors="replace")


@pytest.mark.parametrize(
    ("name", "data", "what"),
    [
        ("a.txt", b"", "is empty"),
        ("a.txt.gz", gzip.compress(b"", mtime=0), "is empty"),
        ("a.jsonl", b"\n\n", "is empty"),
        ("a.txt", b"\n\n\n", "3 blank lines"),
        ("a.txt", b"\xef\xbb\xbf", "is empty"),
    ],
    ids=["empty", "empty gzip", "empty lines", "blank lines", "byte order mark alone"],
)
def test_a_language_without_text_is_an_error(tmp_path: Path, name: str, data: bytes, what: str) -> None:
    (tmp_path / "eng_Latn.txt").write_text("text")
    (tmp_path / name).write_bytes(data)
    refused(tmp_path, "no text for 'a'", str(tmp_path / name), what, "leave a out")


def test_a_pattern_that_finds_only_folders_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "texts" / "folder").mkdir(parents=True)
    refused(f"eng_Latn={tmp_path}/texts/*", "eng_Latn", str(tmp_path))


def test_an_empty_iterable_is_an_error() -> None:
    refused({"eng_Latn": []}, "no text for 'eng_Latn'", "empty")


@pytest.mark.parametrize(
    ("item", "parts"),
    [
        (3, ("item 2", "is int, not a string")),
        ("\ud800", ("item 2", "not UTF-8")),
        (b"\xff", ("item 2", "not UTF-8")),
        ({"body": "x"}, ("item 2", "no column 'text'", "body")),
    ],
)
def test_lines_that_are_no_text(item: object, parts: tuple[str, ...]) -> None:
    refused({"eng_Latn": ["fine", item]}, "'eng_Latn'", *parts)


def test_counts_are_no_text() -> None:
    with pytest.raises(PairityError, match="'eng_Latn' holds counts"):
        reading.read_texts({"eng_Latn": {"x": 1}})


def test_errors_of_an_iterable_come_through() -> None:
    def lines() -> Iterator[str]:
        yield "one"
        raise RuntimeError("the disk is gone")

    with pytest.raises(RuntimeError, match="the disk is gone"):
        count({"eng_Latn": lines()})


# Threads


def test_real_text_is_read_whole(shared: Path) -> None:
    texts = reading.read_texts(shared / "data" / "flores200" / "dev", languages=["eng_Latn", "tel_Telu"])
    assert {language: len(lines) for language, lines in texts.items()} == {"eng_Latn": 997, "tel_Telu": 997}
    assert count(shared / "data" / "flores200" / "dev", languages=texts) == count(texts)
