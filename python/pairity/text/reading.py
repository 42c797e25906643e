"""Reading: all text of all languages, handed block by block to as many threads as there are."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from pairity.errors import PairityError
from pairity.text.blocks import Block, file_blocks, iterable_blocks, no_text, not_utf8, parse
from pairity.text.columns import check_errors
from pairity.text.inputs import CountsInput, TextFile, TextInput
from pairity.text.sources import resolve
from pairity.threads import thread_count

BytesListener = Callable[[int, int, str], None]
"""Hears (bytes done, bytes in all, the language at work)."""


@dataclass
class Stream:
    """One file being read. Threads take its blocks in turn and work on them at the same time."""

    order: int
    language: str
    file: TextFile
    blocks: Iterator[tuple[int, Block]]  # with how many bytes of the file are read
    lock: threading.Lock = field(default_factory=threading.Lock)
    done: int = 0
    threads: int = 0
    finished: bool = False

    def take(self) -> Block | None:
        with self.lock:
            self.done, block = next(self.blocks, (self.file.size, None))
            return block


def read(
    inputs: Sequence[TextInput],
    feed: Callable[[str, Block], None],
    ended: Callable[[str], None] = lambda language: None,
    ended_file: Callable[[str, TextFile], None] = lambda language, file: None,
    *,
    text_column: str = "text",
    threads: int | None = None,
    progress: BytesListener | None = None,
) -> None:
    """Call `feed(language, block)` for all text, from `threads` threads at once and in no defined order.

    `ended(language)` is called once for each language when all its text was fed, by the thread that fed the last of
    it, and before it `ended_file(language, file)` for each of its files; not after an error.
    Threads begin with the largest files, one each. When no file is left, they help with those still being
    read: one reads and decompresses, the others work on the blocks, so one big file keeps all of them busy.
    Iterables are read by the calling thread, as their owner expects. The first error or Ctrl-C ends it all.
    """
    number = thread_count(threads)
    ordered = [(part.language, file) for part in inputs for file in part.files]
    streams = [
        Stream(n, lang, file, file_blocks(file, text_column)) for n, (lang, file) in enumerate(ordered)
    ]
    waiting = sorted(streams, key=lambda stream: stream.file.size)  # the largest is popped first
    left = Counter([stream.language for stream in streams])  # how many sources of a language are not yet read
    left.update(part.language for part in inputs if part.lines is not None)
    choosing = threading.Lock()
    failures: list[tuple[int, int, BaseException]] = []
    stop = threading.Event()
    total = sum(stream.file.size for stream in streams)
    now = streams[0].language if streams else ""

    def choose() -> Stream | None:
        with choosing:
            if waiting:
                stream = waiting.pop()
            else:
                being_read = [stream for stream in streams if stream.threads and not stream.finished]
                if not being_read:
                    return None
                stream = min(being_read, key=lambda stream: (stream.threads, -stream.file.size))
            stream.threads += 1
            return stream

    def leave(stream: Stream) -> None:
        with choosing:
            stream.finished = True
            stream.threads -= 1
            if stream.threads:
                return
        if not stop.is_set():
            ended_file(stream.language, stream.file)
        close(stream.language)

    def close(language: str) -> None:
        with choosing:
            left[language] -= 1
            last = not left[language]
        if last and not stop.is_set():
            ended(language)

    def work() -> None:
        nonlocal now
        while not stop.is_set() and (stream := choose()):
            now = stream.language
            first = -1
            try:
                while not stop.is_set() and (block := stream.take()):
                    first = block.first
                    feed(stream.language, parse(block, stream.file, text_column))
                leave(stream)
            except BaseException as error:
                failures.append((stream.order, first, error))
                stop.set()

    def report() -> None:
        if progress:
            progress(sum(stream.done for stream in streams), total, now)

    def meanwhile() -> None:
        for part in inputs:
            for block in iterable_blocks(part.language, part.lines or (), text_column):
                if stop.is_set():
                    return
                feed(part.language, block)
                report()
            if part.lines is not None:
                close(part.language)

    for part in inputs:
        if part.language not in left:  # a pattern that found no file
            ended(part.language)
    in_threads(work, stop, number if streams else 0, meanwhile, report)
    if failures:
        # Threads may find several; the first in a broken file is the same in every run.
        raise min(failures, key=lambda failure: failure[:2])[2]
    report()


def in_threads(
    work: Callable[[], None],
    stop: threading.Event,
    threads: int,
    meanwhile: Callable[[], None],
    report: Callable[[], None],
) -> None:
    """Run `work` in threads and `meanwhile` in this one, and wait for all; Ctrl-C or an error sets `stop`."""
    crew = [threading.Thread(target=work, daemon=True) for _ in range(threads)]
    try:
        for thread in crew:
            thread.start()
        meanwhile()
        for thread in crew:
            while thread.is_alive():
                thread.join(0.05)
                report()
    except BaseException:
        stop.set()
        until = time.monotonic() + 0.5
        for thread in crew:
            thread.join(max(0.0, until - time.monotonic()))
        raise


def read_texts(
    sources: Any,
    *,
    text_column: str = "text",
    errors: Literal["strict", "replace"] = "strict",
    languages: Iterable[str] | None = None,
) -> dict[str, list[str]]:
    """All texts of every language, in order, in memory: for test sets, where lines are aligned.

    {"eng_Latn": ["First line.", ...], "deu_Latn": ["Erste Zeile.", ...]}
    """
    check_errors(errors)
    texts: dict[str, list[str]] = {}
    for part in resolve(sources, languages).inputs:
        if isinstance(part, CountsInput):
            raise PairityError(f"{part.origin} holds counts, and here text is needed: give the text files.")
        found = texts[part.language] = []
        for file in part.files:
            for _, block in file_blocks(file, text_column):
                found += decode(parse(block, file, text_column), errors)
        if part.lines is not None:
            for block in iterable_blocks(part.language, part.lines, text_column):
                found += decode(block, errors)
        if not any(found):
            raise PairityError(no_text(part, len(found)))
    return texts


def texts_in(block: Block) -> list[bytes]:
    """The lines or records of a block, each by itself."""
    if block.lines is None:
        records: list[bytes] = block.texts.to_pylist()
        return records
    lines = block.lines.removesuffix(b"\n").split(b"\n")
    return [line.removesuffix(b"\r") for line in lines]


def decode(block: Block, errors: str) -> list[str]:
    texts = []
    for index, text in enumerate(texts_in(block)):
        try:
            texts.append(text.decode("utf-8", errors))
        except UnicodeDecodeError as error:
            raise PairityError(not_utf8(block.place(index), error.start)) from None
    return texts
