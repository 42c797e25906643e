"""Labelling: files in, a folder with one file per language out.

    label("web/*.jsonl.zst", "labelled/")  ->  {"eng_Latn": Labelled(lines=8120, bytes=1040112), "und_Latn": ...}

    labelled/eng_Latn.jsonl.gz  labelled/tam_Taml.jsonl.gz  labelled/und_Latn.jsonl.gz  labelled/_labels.json

Every text ends up in exactly one file, in the order of reading, for any number of threads. Lines of text
become .txt.gz, records .jsonl.gz, since a record may hold line ends.
"""

from __future__ import annotations

import gzip
import json
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pairity.errors import PairityError
from pairity.files.writing import new_folder
from pairity.labelling.identifying import labeller
from pairity.progress import BytesListener
from pairity.text.addresses import Place
from pairity.text.blocks import Block
from pairity.text.finding import files_at
from pairity.text.inputs import TextFile
from pairity.text.kinds import is_counts_file
from pairity.text.mistakes import resolved
from pairity.text.options import TextReading
from pairity.text.reading import decode
from pairity.text.records import file_blocks, parse
from pairity.text.sources import as_sequence
from pairity.threads import thread_count

ABOUT = "_labels.json"
"""The settings and results, next to the texts. Names with an underscore in front are not read as text."""
PIECE = 1 << 18
"""How many bytes of a language to collect in memory before compressing and writing them."""

Grouped = dict[str, list[str]]
"""Texts by language."""


@dataclass(frozen=True)
class Labelled:
    """How much text is in a language, without line ends."""

    lines: int = 0
    bytes: int = 0


def label(
    sources: Any,
    output: str | os.PathLike[str],
    *,
    identifier: str = "cld2",
    confidence: float = 0.6,
    unsure: str = "und",
    text_column: str = "text",
    errors: Literal["strict", "replace"] = "strict",
    threads: int | None = None,
    progress: BytesListener | None = None,
) -> dict[str, Labelled]:
    """Write the text of `sources` (files, folders of files, globs) into a new folder, one file per language.

    A text whose language has less than `confidence` goes to `unsure` with its script, as in und_Latn. Returns how much
    went where, largest first.
    """
    look = labeller(identifier, confidence, unsure)
    how = TextReading(text_column=text_column, errors=errors)
    files = files_of(sources)
    check_new(Path(output))
    total = sum(file.size for file in files)

    def group(file: TextFile, block: Block) -> Grouped:
        found: Grouped = {}
        parsed = parse(block, file, "", how, stop)
        if parsed.times is not None:
            raise PairityError(f"{file.path} is a word list, but text is needed here: give the text files.")
        if parsed.texts is not None and parsed.texts.null_count:
            raise PairityError(f"{file.path}: a text is null. Remove such rows.")
        for text in decode(parsed, how):
            found.setdefault(look(text).language, []).append(text)
        return found

    def blocks() -> Iterator[tuple[int, Callable[[], Grouped]]]:
        before = 0
        for file in files:
            for done, block in file_blocks(file, "", how, stop):
                yield before + done, partial(group, file, block)
            before += file.size

    with new_folder(Path(output)) as folder:
        writer = Writer(folder, records=any(file.kind != "txt" for file in files))
        for done, grouped in in_order(blocks(), thread_count(threads)):
            writer.write(grouped)
            if progress:
                progress(done, total, "")
        found = writer.finish()
        if not found:
            raise PairityError(
                f"{files[0].path} is empty, and so is everything else: there is no text to label."
            )
        about = {
            "identifier": identifier,
            "confidence": confidence,
            "languages": {language: asdict(one) for language, one in found.items()},
        }
        (folder / ABOUT).write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
    return found


def files_of(sources: Any) -> list[TextFile]:
    files = [file for one in as_sequence(sources) for file in files_at(Path(one).expanduser(), str(one), [])]
    seen: set[Place] = set()
    for file in files:
        if is_counts_file(file):
            raise PairityError(f"{file.path} holds counts, but text is needed here: give the text files.")
        if resolved(file.path) in seen:
            raise PairityError(f"{file.path} is given twice: name it once.")
        seen.add(resolved(file.path))
    if not files:
        raise PairityError("no SOURCE given: name a file, a folder or a glob.")
    return files


def stop(error: PairityError, block: Block, index: int) -> None:
    """Raise the error: broken text has no language."""
    raise error


def check_new(path: Path) -> None:
    if path.exists() and (not path.is_dir() or any(path.iterdir())):
        raise PairityError(f"{path} already exists: choose another name, or remove it first.")


def in_order(
    work: Iterator[tuple[int, Callable[[], Grouped]]], threads: int
) -> Iterator[tuple[int, Grouped]]:
    """The results of jobs in their order, with several threads working on them and only a few results waiting."""
    crew = ThreadPoolExecutor(threads)
    waiting: deque[tuple[int, Future[Grouped]]] = deque()
    try:
        for done, task in work:
            waiting.append((done, crew.submit(task)))
            if len(waiting) > 2 * threads:
                first, result = waiting.popleft()
                yield first, result.result()
        for first, result in waiting:
            yield first, result.result()
    finally:
        crew.shutdown(cancel_futures=True)


class Writer:
    """Appends texts to the files of their languages. Concatenated gzip is valid gzip, so none of the (perhaps hundreds
    of) files has to stay open."""

    def __init__(self, folder: Path, *, records: bool) -> None:
        self.folder = folder
        self.records = records
        self.pieces: dict[str, list[bytes]] = {}
        self.sizes: dict[str, int] = {}
        self.found: dict[str, Labelled] = {}

    def write(self, grouped: Mapping[str, Sequence[str]]) -> None:
        for language, texts in grouped.items():
            encoded = [text.encode() for text in texts]
            before = self.found.get(language, Labelled())
            size = sum(map(len, encoded))
            self.found[language] = Labelled(before.lines + len(texts), before.bytes + size)
            lines = (
                [json.dumps({"text": text}, ensure_ascii=False).encode() for text in texts]
                if self.records
                else encoded
            )
            self.pieces.setdefault(language, []).append(b"\n".join(lines) + b"\n")
            self.sizes[language] = self.sizes.get(language, 0) + size
            if self.sizes[language] >= PIECE:
                self.flush(language)

    def flush(self, language: str) -> None:
        self.sizes[language] = 0
        name = f"{language}.jsonl.gz" if self.records else f"{language}.txt.gz"
        with (self.folder / name).open("ab") as file:
            file.write(gzip.compress(b"".join(self.pieces.pop(language)), 6, mtime=0))

    def finish(self) -> dict[str, Labelled]:
        for language in list(self.pieces):
            self.flush(language)
        return dict(sorted(self.found.items(), key=lambda item: (-item[1].bytes, item[0])))
