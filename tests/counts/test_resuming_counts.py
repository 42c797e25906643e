"""A count that was stopped goes on: the same result, and no finished file is read again; what does not fit is told."""

import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pairity.counts import checkpoint, tally
from pairity.counts.counting import count
from pairity.errors import PairityError, PairityWarning
from pairity.text import blocks, reading
from pairity.text.inputs import TextFile
from small_texts import PACK, jsonl, txt

LANGUAGES = ("aaa", "bbb", "ccc", "ddd")
Stopped = Callable[[int], None]


def lines_of(language: str) -> list[str]:
    return [f"{language} line {number} has {number * number % 97} of {language * 3}" for number in range(200)]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for language, ending in zip(LANGUAGES, (".txt", ".txt.gz", ".jsonl.zst", ".txt.xz"), strict=True):
        text = (jsonl if "jsonl" in ending else txt)(lines_of(language))
        kind = "." + ending.rpartition(".")[2]
        (folder / f"{language}{ending}").write_bytes(PACK.get(kind, PACK[""])(text))
    return folder


@pytest.fixture(autouse=True)
def keep_all(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small blocks, with a checkpoint after each."""
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1000)
    monkeypatch.setattr(checkpoint.Pace, "is_due", lambda self: True)


class StoppedError(Exception):
    """As a kill would end it, but for what the test itself needs."""


@contextmanager
def stopped_after(number: int) -> Iterator[None]:
    """Within it, counting ends before block `number` is counted."""
    with pytest.MonkeyPatch.context() as patch:
        feed, fed, lock = tally.Tally.feed, 0, threading.Lock()

        def counted(self: tally.Tally, language: str, block: blocks.Block) -> None:
            nonlocal fed
            with lock:
                fed += 1
            if fed > number:
                raise StoppedError
            feed(self, language, block)

        patch.setattr(tally.Tally, "feed", counted)
        with pytest.raises(StoppedError):
            yield


@pytest.fixture
def read_files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are opened."""
    opened: list[str] = []
    file_blocks = reading.file_blocks

    def watched(file: TextFile, *how: object) -> Iterator[tuple[int, blocks.Block]]:
        opened.append(file.path.name)
        yield from file_blocks(file, *how)  # type: ignore[arg-type]

    monkeypatch.setattr(reading, "file_blocks", watched)
    return opened


def journal(folder: Path) -> dict[str, dict[str, object]]:
    found = json.loads((folder / "journal.json").read_bytes())
    return {Path(file["path"]).name: file for file in found["files"]}


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("number", [0, 1, 5, 17, 30])
def test_a_stopped_count_goes_on(
    tmp_path: Path, corpus: Path, read_files: list[str], threads: int, number: int
) -> None:
    expected = count(corpus)
    kept = tmp_path / "kept"
    with stopped_after(number):
        count(corpus, threads=threads, checkpoint=kept)
    ended = [name for name, file in journal(kept).items() if file["ended"]] if kept.exists() else []
    read_files.clear()
    assert count(corpus, threads=threads, checkpoint=kept, resume=True) == expected
    assert set(read_files) == {path.name for path in corpus.iterdir()} - set(ended)
    if threads == 1:  # several may have all files open at once
        assert len(ended) >= (number - 12) // 8, "several files had ended by then"
    read_files.clear()
    assert count(corpus, threads=threads, checkpoint=kept, resume=True) == expected
    assert read_files == [], "all of it is kept until the folder is removed"


def test_it_may_be_stopped_again_and_again(tmp_path: Path, corpus: Path) -> None:
    expected = count(corpus)
    for number in (3, 4, 2, 6):
        with stopped_after(number + 10):
            count(corpus, threads=2, checkpoint=tmp_path / "kept", resume=True, memory=60_000)
    assert count(corpus, threads=1, checkpoint=tmp_path / "kept", resume=True) == expected


def test_without_resume_it_starts_over(tmp_path: Path, corpus: Path, read_files: list[str]) -> None:
    with stopped_after(17):
        count(corpus, checkpoint=tmp_path / "kept")
    read_files.clear()
    assert count(corpus, checkpoint=tmp_path / "kept") == count(corpus)
    assert len(read_files) == 2 * len(LANGUAGES)


def test_what_the_journal_does_not_name_goes(tmp_path: Path, corpus: Path) -> None:
    kept = tmp_path / "kept"
    with stopped_after(17):
        count(corpus, threads=1, checkpoint=kept)
    (kept / "999999.run").write_bytes(b"half a run")
    (kept / ".000099.run.4711-0.unfinished").write_bytes(b"less")
    count(corpus, threads=1, checkpoint=kept, resume=True)
    assert {path.suffix for path in kept.iterdir()} == {".run", ".json"}
    assert not (kept / "999999.run").exists()


def test_what_others_have_in_the_folder_stays(tmp_path: Path, corpus: Path) -> None:
    kept = tmp_path / "kept"
    (kept / "photos").mkdir(parents=True)
    for name in ("thesis.txt", "x.run", "photos/1.run"):
        (kept / name).write_text("mine")
    with stopped_after(17):
        count(corpus, threads=1, checkpoint=kept)
    assert count(corpus, checkpoint=kept, resume=True) == count(corpus)
    checkpoint.remove(kept)
    assert sorted(str(path.relative_to(kept)) for path in kept.rglob("*")) == [
        "photos",
        "photos/1.run",
        "thesis.txt",
        "x.run",
    ]


def test_counts_of_a_folder_that_another_count_took_are_refused(tmp_path: Path, corpus: Path) -> None:
    kept = tmp_path / "kept"
    before = count(corpus, threads=1, checkpoint=kept)
    count(corpus, threads=1, checkpoint=kept, pretokenizer="gpt2")
    with pytest.raises(PairityError, match=r"\.run is damaged or missing: delete .*kept to start over"):
        before.save(tmp_path / "counts.parquet")
    assert not (tmp_path / "counts.parquet").exists()


def test_what_does_not_change_the_counts_may_change(tmp_path: Path, corpus: Path) -> None:
    with stopped_after(17):
        count(corpus, threads=1, checkpoint=tmp_path / "kept")
    again = count(corpus, threads=2, checkpoint=tmp_path / "kept", resume=True, memory="60MB", min_count=2)
    assert again == count(corpus, min_count=2)


def test_a_file_that_was_not_begun_may_change(tmp_path: Path, corpus: Path) -> None:
    """A count that ended at a broken file goes on when the file is mended."""
    broken = corpus / "aaa.txt"
    broken.write_bytes(b"\xff\n")  # the smallest, so the last
    with pytest.raises(PairityError, match=r"aaa\.txt, line 1: not UTF-8"):
        count(corpus, threads=1, checkpoint=tmp_path / "kept")
    broken.write_bytes(txt(lines_of("aaa")))
    (corpus / "eee.txt").write_bytes(txt(lines_of("eee")))
    assert count(corpus, checkpoint=tmp_path / "kept", resume=True) == count(corpus)


def test_other_settings_and_other_text_are_refused(tmp_path: Path, corpus: Path) -> None:
    kept = tmp_path / "kept"
    with stopped_after(17):
        count(corpus, threads=1, checkpoint=kept)
    for options in (
        {"pretokenizer": "gpt2"},
        {"errors": "replace"},
        {"text_column": "x"},
        {"count_words": True},
    ):
        with pytest.raises(PairityError, match="belongs to a run with other settings"):
            count(corpus, checkpoint=kept, resume=True, **options)
    begun = corpus / next(iter(journal(kept)))
    with pytest.raises(PairityError, match=f"{begun.name} was counted for .* is not given now"):
        count([path for path in corpus.iterdir() if path != begun], checkpoint=kept, resume=True)
    os.utime(begun, ns=(1, 1))
    with pytest.raises(PairityError, match=f"{begun.name} has changed since it was counted: delete .*kept"):
        count(corpus, checkpoint=kept, resume=True)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b'{"format": 99}', b"[" * 100_000, b'{"format": 1}'])
def test_a_damaged_journal_is_refused(tmp_path: Path, corpus: Path, data: bytes) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "journal.json").write_bytes(data)
    with pytest.raises(PairityError, match=r"delete .*kept to start over|pip install -U pairity"):
        count(corpus, checkpoint=kept, resume=True)


def test_damaged_and_missing_runs_are_refused(tmp_path: Path, corpus: Path) -> None:
    kept = tmp_path / "kept"
    with stopped_after(17):
        count(corpus, threads=1, checkpoint=kept)
    run = next(kept.glob("*.run"))
    whole = run.read_bytes()
    for data in (b"", whole[:-1], whole[:-24] + bytes(24)):
        run.write_bytes(data)
        with pytest.raises(PairityError, match=f"{run.name} is damaged or missing: delete .*kept"):
            count(corpus, checkpoint=kept, resume=True)
    run.unlink()
    with pytest.raises(PairityError, match=f"{run.name} is damaged or missing"):
        count(corpus, checkpoint=kept, resume=True)


def test_a_journal_of_other_blocks_is_refused(tmp_path: Path, corpus: Path) -> None:
    kept = tmp_path / "kept"
    with stopped_after(3):
        count(corpus, threads=1, checkpoint=kept)
    changed = json.loads((kept / "journal.json").read_bytes())
    changed["files"][0]["blocks"] = [1_000_000]
    changed["digest"] = checkpoint.digest_of(changed)
    (kept / "journal.json").write_text(json.dumps(changed))
    with pytest.raises(PairityError, match="is not the file that was counted before"):
        count(corpus, checkpoint=kept, resume=True)


def test_lines_from_python_cannot_be_found_again(tmp_path: Path) -> None:
    lines = {"aaa": iter(lines_of("aaa"))}
    assert count(lines, checkpoint=tmp_path / "kept", memory=60_000, threads=1) == count(
        {"aaa": lines_of("aaa")}
    )
    assert not (tmp_path / "kept" / "journal.json").exists()


def test_resuming_needs_a_folder(corpus: Path) -> None:
    with pytest.raises(PairityError, match="resume needs a checkpoint"):
        count(corpus, resume=True)


def test_a_checkpoint_that_cannot_be_written_does_not_end_the_count(tmp_path: Path, corpus: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.warns(PairityWarning, match="the checkpoint is not up to date: cannot write"):
        found = count(corpus, checkpoint=tmp_path / "file" / "kept")
    assert found == count(corpus)


def test_a_short_count_writes_nothing(tmp_path: Path, corpus: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    count(corpus, checkpoint=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
