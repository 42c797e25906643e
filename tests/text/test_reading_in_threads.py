"""Reading with several threads: the same result, the first error, and an end to it when asked."""

import gzip
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairity.counts.counting import count
from pairity.errors import PairityError
from pairity.text import blocks, reading
from small_texts import PACK, TEXTS, jsonl, txt


def test_an_iterable_is_read_by_the_calling_thread() -> None:
    def lines() -> Iterator[str]:
        yield threading.current_thread().name

    assert count({"a": lines()}) == count({"a": [threading.current_thread().name]})


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
    files: list[str] = []

    def feed(language: str, block: blocks.Block) -> None:
        time.sleep(0.001)
        fed.append(language)

    reading.read(
        inputs,
        feed,
        lambda language: ended.setdefault(language, []).append(fed.count(language)),
        lambda language, file: files.append(f"{language} {file.path.name}"),
        threads=threads,
    )
    assert sorted(files) == sorted(f"{name[0]} {name}" for name in names)
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
