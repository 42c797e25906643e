"""Reading: hand all text of all languages, block by block, to several threads."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, Unpack

from pairity.errors import PairityError
from pairity.languages import one_or_several
from pairity.progress import BytesListener
from pairity.text.blocks import Block, no_text, not_utf8, texts_in
from pairity.text.cleaning import Cleaning, Passed
from pairity.text.inputs import CountsInput, TextFile, TextInput
from pairity.text.iterables import iterable_blocks
from pairity.text.lines import Broken
from pairity.text.options import GivenReading, TextReading, check_given
from pairity.text.records import file_blocks, parse
from pairity.text.sources import resolve
from pairity.threads import thread_count

DEFAULT = TextReading()


@dataclass
class Stream:
    """One file being read. Threads take its blocks in turn and work on them at the same time."""

    order: int
    language: str
    file: TextFile | None  # None: text that was set aside
    blocks: Iterator[tuple[int, Block]]  # with the bytes of the file read so far
    lock: threading.Lock = field(default_factory=threading.Lock)
    done: int = 0
    threads: int = 0
    finished: bool = False

    @property
    def size(self) -> int:
        return self.file.size if self.file else 0

    def take(self) -> Block | None:
        with self.lock:
            self.done, block = next(self.blocks, (max(self.size, self.done), None))
            return block


def read(
    inputs: Sequence[TextInput],
    feed: Callable[[str, Block], None],
    ended: Callable[[str], None] = lambda language: None,
    ended_file: Callable[[str, TextFile], None] = lambda language, file: None,
    *,
    how: TextReading = DEFAULT,
    threads: int | None = None,
    progress: BytesListener | None = None,
) -> Passed:
    """Call `feed(language, block)` for all text, from `threads` threads at once and in no defined order.

    When all text of a language was fed, the thread that fed the last of it calls `ended(language)`; before that,
    `ended_file(language, file)` is called for each of its files. Neither is called after an error. If records name
    their languages, or duplicates are dropped, a language ends only when all text was fed.
    Threads start with the largest files, one each. When no file is left, they help with those still being
    read: one reads and decompresses, the others work on the blocks, so even one big file keeps all of them busy.
    Iterables are read by the calling thread, as their owner expects. The first error or Ctrl-C ends everything.
    """
    number = thread_count(threads)
    with Cleaning(how) as cleaning:
        streams = file_streams(inputs, cleaning)
        work = Reading(streams, inputs, feed, cleaning, ended, ended_file, progress)
        work.run(number)
        for blocks in cleaning.waiting():
            again = Stream(len(streams), "", None, ((0, block) for block in blocks))
            later = Reading([again], [], work.hear, cleaning)
            later.run(number)
            work.open |= later.open
        for language in sorted(work.open):
            ended(language)
        return cleaning.passed()


def file_streams(inputs: Sequence[TextInput], cleaning: Cleaning) -> list[Stream]:
    ordered = [(part.language, file) for part in inputs for file in part.files]
    return [
        Stream(n, language, file, file_blocks(file, language, cleaning.how, broken_in(cleaning, language)))
        for n, (language, file) in enumerate(ordered)
    ]


def broken_in(cleaning: Cleaning, language: str) -> Broken:
    return lambda error, block, index: cleaning.skipped.meet(error, block, index, language)


class Reading:
    """One reading in progress: several threads that take blocks from streams and iterables to `feed`."""

    def __init__(
        self,
        streams: list[Stream],
        inputs: Sequence[TextInput],
        feed: Callable[[str, Block], None],
        cleaning: Cleaning,
        ended: Callable[[str], None] = lambda language: None,
        ended_file: Callable[[str, TextFile], None] = lambda language, file: None,
        progress: BytesListener | None = None,
    ) -> None:
        self._streams = streams
        self._inputs = inputs
        self._feed = feed
        self._ended = ended
        self._ended_file = ended_file
        self._cleaning = cleaning
        self._progress = progress
        self._waiting = sorted(streams, key=lambda stream: stream.size)  # the largest is popped first
        # How many sources of a language are not yet read.
        self._left = Counter([stream.language for stream in streams])
        self._left.update(part.language for part in inputs if part.lines is not None)
        self._choosing = threading.Lock()
        self._failures: list[tuple[int, int, BaseException]] = []
        self._stop = threading.Event()
        sized = all(part.lines is None and all(file.is_sized for file in part.files) for part in inputs)
        self._total = sum(stream.size for stream in streams) if sized else 0
        self._given = 0  # bytes of iterables
        self._now = streams[0].language if streams else ""
        self._named = {part.language for part in inputs}
        self.open: set[str] = set()
        """Languages with text that will only end when all text does."""

    def run(self, threads: int) -> None:
        for part in self._inputs:
            if part.language and part.language not in self._left:  # a glob without matches
                self._ended(part.language)
        in_threads(self.work, self._stop, threads if self._streams else 0, self.meanwhile, self.report)
        if self._failures:
            # Threads may fail in several places; report the first one, which is the same in every run.
            raise min(self._failures, key=lambda failure: failure[:2])[2]
        self.report()

    def hear(self, language: str, block: Block) -> None:
        self._now = language
        self._feed(language, block)

    def clean(self, block: Block, language: str) -> None:
        for name, part in self._cleaning.clean(block, language):
            if not language and name not in self.open:
                if name in self._named:
                    raise PairityError(
                        f"{part.place(0)}: the language {name!r} is given twice: by this record, and by "
                        "its own SOURCE. Leave one out."
                    )
                self.open.add(name)
            self.hear(name, part)

    def choose(self) -> Stream | None:
        with self._choosing:
            if self._waiting:
                stream = self._waiting.pop()
            else:
                being_read = [stream for stream in self._streams if stream.threads and not stream.finished]
                if not being_read:
                    return None
                stream = min(being_read, key=lambda stream: (stream.threads, -stream.size))
            stream.threads += 1
            return stream

    def leave(self, stream: Stream) -> None:
        with self._choosing:
            stream.finished = True
            stream.threads -= 1
            if stream.threads:
                return
        if stream.file and not self._stop.is_set():
            self._ended_file(stream.language, stream.file)
        self.close(stream.language)

    def close(self, language: str) -> None:
        with self._choosing:
            self._left[language] -= 1
            last = not self._left[language]
        if not last or self._stop.is_set() or not language:
            return
        if self._cleaning.how.dedup is None:
            self._ended(language)
        else:
            self.open.add(language)

    def work(self) -> None:
        while not self._stop.is_set() and (stream := self.choose()):
            first = -1
            broken = broken_in(self._cleaning, stream.language)
            try:
                while not self._stop.is_set() and (block := stream.take()):
                    first = block.first
                    if stream.file:
                        block = parse(block, stream.file, stream.language, self._cleaning.how, broken)
                    self.clean(block, stream.language)
                self.leave(stream)
            except BaseException as error:
                self._failures.append((stream.order, first, error))
                self._stop.set()

    def meanwhile(self) -> None:
        for part in self._inputs:
            if part.lines is None:
                continue
            broken = broken_in(self._cleaning, part.language)
            for block in iterable_blocks(part.language, part.lines, self._cleaning.how, broken):
                if self._stop.is_set():
                    return
                self._given += block.texts.nbytes
                self.clean(block, part.language)
                self.report()
            self.close(part.language)

    def report(self) -> None:
        if self._progress:
            done = sum(stream.done for stream in self._streams) + self._given
            self._progress(done, self._total, self._now)


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


def blocks_of(part: TextInput, how: TextReading) -> Iterator[tuple[int, str, Block]]:
    """All text of an input in order, as (bytes read so far, language, block)."""
    before = 0
    with Cleaning(how) as cleaning:
        broken = broken_in(cleaning, part.language)
        for file in part.files:
            for done, block in file_blocks(file, part.language, how, broken):
                parsed = parse(block, file, part.language, how, broken)
                for language, good in cleaning.clean(parsed, part.language):
                    yield before + done, language, good
            before += file.size
        for block in iterable_blocks(part.language, part.lines or (), how, broken):
            for language, good in cleaning.clean(block, part.language):
                yield before, language, good
        for blocks in cleaning.waiting():
            for block in blocks:
                for language, good in cleaning.clean(block, ""):
                    yield before, language, good


def read_texts(
    sources: Any,
    *,
    languages: str | Iterable[str] | None = None,
    **reading: Unpack[GivenReading],
) -> dict[str, list[str]]:
    """All texts of every language, in order, in memory: for test sets, where lines are aligned.

    {"eng_Latn": ["First line.", ...], "deu_Latn": ["Erste Zeile.", ...]}
    """
    check_given("read_texts", reading)
    how = TextReading(**reading)
    texts: dict[str, list[str]] = {}
    wanted = None if languages is None else one_or_several(languages)
    for part in resolve(sources, wanted, language_column=how.language_column).inputs:
        if isinstance(part, CountsInput):
            raise PairityError(f"{part.origin} holds counts, but text is needed here: give the text files.")
        found: dict[str, list[str]] = {part.language: []} if part.language else {}
        for _, language, block in blocks_of(part, how):
            if block.times is not None:
                raise PairityError(f"{part.origin} is a word list, but text is needed here.")
            found.setdefault(language, []).extend(decode(block, how))
        if not any(map(any, found.values())):
            raise PairityError(no_text(part, sum(map(len, found.values()))))
        for language in sorted(found):
            if language in texts:
                raise PairityError(
                    f"the language {language!r} is given twice ({part.origin}). Leave one out."
                )
            if wanted is None or language in wanted:
                texts[language] = found[language]
    return texts


def decode(block: Block, how: TextReading) -> list[str]:
    texts = []
    for index, text in enumerate(texts_in(block)):
        try:
            texts.append(text.decode("utf-8", how.errors))
        except UnicodeDecodeError as error:
            raise PairityError(not_utf8(block.place(index), error.start)) from None
    return texts
