"""Reading text: every format and compression gives the same texts, and every broken file is named."""

import gzip
import json
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

from pairity.counts.counting import count
from pairity.errors import PairityError
from pairity.text import blocks, reading

TEXTS = [
    "The first line.",
    "",
    "Zweite Zeile: äöü",
    "మూడవ పంక్తి",
    "  spaces  ",
    "emoji 👩‍👩‍👧",
    "last, without a line end",
]
PACK: dict[str, Callable[[bytes], bytes]] = {
    "": lambda data: data,
    ".gz": gzip.compress,
    ".zst": zstandard.ZstdCompressor().compress,
}


def txt(texts: list[str]) -> bytes:
    return "\n".join(texts).encode()


def jsonl(texts: list[str]) -> bytes:
    return b"".join(json.dumps({"id": n, "text": text}).encode() + b"\n" for n, text in enumerate(texts))


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
    refused(tmp_path, str(path), "broken", "fetch it again")


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


def test_an_iterable_is_read_by_the_calling_thread() -> None:
    def lines() -> Iterator[str]:
        yield threading.current_thread().name

    assert count({"a": lines()}) == count({"a": [threading.current_thread().name]})


# Threads


def write_corpus(folder: Path) -> None:
    """Several languages of unequal size, one of them in parts and in all formats."""
    for number, language in enumerate(["aaa", "bbb", "ccc"]):
        lines = [f"line {n % 97} of {language} {n * n % 1013}" for n in range(300 * (number + 1))]
        (folder / f"{language}.txt.gz").write_bytes(gzip.compress(txt(lines)))
    parts = folder / "ddd"
    parts.mkdir()
    (parts / "0.txt").write_bytes(txt(TEXTS * 100))
    (parts / "1.jsonl.zst").write_bytes(PACK[".zst"](jsonl(TEXTS * 100)))
    pq.write_table(pa.table({"text": TEXTS * 100}), parts / "2.parquet", row_group_size=99)


def test_threads_and_block_sizes_do_not_change_the_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_corpus(tmp_path)
    expected = count(tmp_path, threads=1, count_words=True)
    assert expected["ddd"].lines == 300 * len(TEXTS)
    for block in (50, 1000, 1 << 20):
        monkeypatch.setattr(blocks, "BLOCK_BYTES", block)
        for threads in (1, 2, 7):
            found = count(tmp_path, threads=threads, count_words=True)
            assert list(found) == list(expected)
            assert found == expected


def test_the_order_of_files_does_not_change_the_result(tmp_path: Path) -> None:
    write_corpus(tmp_path)
    files = sorted((tmp_path / "ddd").iterdir())
    assert count({"ddd": files}) == count({"ddd": files[::-1]}) == count(f"ddd={tmp_path}/ddd")


def test_one_big_file_is_counted_by_all_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 100)
    (tmp_path / "a.txt.gz").write_bytes(gzip.compress(b"0123456789\n" * 1000))
    meeting = threading.Barrier(3, timeout=60)
    met = threading.local()
    seen: list[int] = []

    def feed(language: str, block: blocks.Block) -> None:
        if not hasattr(met, "others"):
            meeting.wait()  # passes only when three threads have a block of the file at the same time
            met.others = True
        seen.append(block.first)

    inputs = reading.resolve(tmp_path).inputs
    reading.read([part for part in inputs if isinstance(part, reading.TextInput)], feed, threads=3)
    assert len(seen) == len(set(seen)) > 100


def test_the_first_error_of_a_file_is_the_one_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 20)
    (tmp_path / "a.txt").write_bytes(b"fine\n" * 50 + b"\xff\n" * 50)
    for threads in (1, 4):
        for _ in range(10):
            refused_at = pytest.raises(PairityError, match="line 51: not UTF-8")
            with refused_at:
                count(tmp_path, threads=threads)


def test_progress_ends_at_the_size_of_the_files(tmp_path: Path) -> None:
    write_corpus(tmp_path)
    calls: list[tuple[int, int, str]] = []
    count(tmp_path, progress=lambda *call: calls.append(call))
    size = sum(path.stat().st_size for path in tmp_path.rglob("*") if path.is_file())
    assert calls[-1][:2] == (size, size)
    assert [call[0] for call in calls] == sorted(call[0] for call in calls)
    assert {call[2] for call in calls} <= {"aaa", "bbb", "ccc", "ddd"}


def test_an_error_in_the_callback_stops_the_work(tmp_path: Path) -> None:
    write_corpus(tmp_path)

    def progress(done: int, total: int, what: str) -> None:
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError, match="no more"):
        count(tmp_path, progress=progress)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_language_ends_once_when_all_its_text_was_fed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 20)
    names = [f"{language}-{number}.txt" for language in "ab" for number in range(4)]
    for name in names:
        (tmp_path / name).write_bytes(b"some words\n" * 30)
    paths = {language: [tmp_path / name for name in names if name[0] == language] for language in "ab"}
    inputs = reading.resolve({**paths, "c": ["one", "two"]}).inputs
    fed: list[str] = []
    ended: dict[str, list[int]] = {}

    def feed(language: str, block: blocks.Block) -> None:
        time.sleep(0.001)
        fed.append(language)

    reading.read(
        inputs,
        feed,
        lambda language: ended.setdefault(language, []).append(fed.count(language)),
        threads=threads,
    )
    assert ended == {language: [fed.count(language)] for language in "abc"}
    assert min(fed.count(language) for language in "ab") > 40


def test_a_language_that_fails_does_not_end(tmp_path: Path) -> None:
    for language in "ab":
        (tmp_path / f"{language}.txt").write_bytes(b"some words\n")
    ended: list[str] = []

    def feed(language: str, block: blocks.Block) -> None:
        if language == "b":
            raise PairityError("broken")

    with pytest.raises(PairityError, match="broken"):
        reading.read(reading.resolve(tmp_path).inputs, feed, ended.append, threads=2)
    assert "b" not in ended


def test_threads_must_be_positive() -> None:
    with pytest.raises(PairityError, match="at least 1"):
        count({"a": ["x"]}, threads=0)


def test_ctrl_c_ends_the_reading(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"one more line\n" * 100_000)
    script = textwrap.dedent(
        """
        import sys, time
        from pairity.text import blocks, reading
        from pairity.text.sources import resolve

        blocks.BLOCK_BYTES = 100
        inputs = reading.resolve(sys.argv[1]).inputs
        def slow(language, block):
            time.sleep(0.1)
        def progress(done, total, what):
            if done:
                print("started", flush=True)
        reading.read(inputs, slow, progress=progress)
        print("finished")
        """
    )
    run = [sys.executable, "-c", script, str(tmp_path)]
    with subprocess.Popen(run, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            assert process.stdout.readline() == "started\n"
            process.send_signal(signal.SIGINT)
            rest, said = process.communicate(timeout=60)  # against hanging; what is promised is counted below
        finally:
            process.kill()
    assert "KeyboardInterrupt" in said
    assert "finished" not in rest


def test_real_text_is_read_whole(shared: Path) -> None:
    texts = reading.read_texts(shared / "data" / "flores200" / "dev", languages=["eng_Latn", "tel_Telu"])
    assert {language: len(lines) for language, lines in texts.items()} == {"eng_Latn": 997, "tel_Telu": 997}
    assert count(shared / "data" / "flores200" / "dev", languages=texts) == count(texts)
