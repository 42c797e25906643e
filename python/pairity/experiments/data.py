"""The text of an experiment: found before any work, read if it is small, and digested to notice changes."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pairity.counts.counts import Counts
from pairity.errors import PairityError, listed
from pairity.experiments.experiment import Experiment, as_list
from pairity.files.digests import digest_of
from pairity.files.reading import unreadable
from pairity.formats.opening import find
from pairity.judging.measurement import text_digest
from pairity.progress import Progress
from pairity.text.blocks import no_text
from pairity.text.inputs import CountsInput, Resolved, TextInput
from pairity.text.parallel import check_parallel
from pairity.text.reading import read_texts
from pairity.text.sources import resolve
from pairity.training.texts import only

LinesByLanguage = dict[str, list[str]]


@dataclass(frozen=True)
class Data:
    """`train` is found but not read yet; dev text and the texts to evaluate on are small and in memory."""

    train: Resolved
    languages: tuple[str, ...]
    """The languages of train."""
    digests: Mapping[str, str]
    """Language -> SHA-256 of its train files."""
    dev: LinesByLanguage | None
    judged: Mapping[str, LinesByLanguage]
    text_column: str = "text"
    where: str = "the experiment"
    """The name of the experiment in errors."""
    notes: tuple[str, ...] = ()

    def digest(self, codes: Sequence[str]) -> str:
        """The digest of the train text of these languages."""
        return digest_of({code: self.digests[code] for code in codes})

    @property
    def counted(self) -> bool:
        """Whether train is counts, from which no lines can be drawn."""
        return any(isinstance(part, CountsInput) for part in self.train.inputs)


def read_data(experiment: Experiment, show: Progress) -> Data:
    column = experiment.text_column
    with named(f"{experiment.where}, train"):
        train = resolve(as_list(experiment.train))
        digests = digests_of(train, show)
    languages = tuple(digests)
    dev, notes = None, list(train.notes)
    if experiment.dev:
        with named(f"{experiment.where}, dev"):
            sources = resolve(as_list(experiment.dev))
            dev = read_some(sources, languages, column)
        if left := [one.language for one in sources.inputs if one.language and one.language not in languages]:
            notes.append(f"dev text of languages that are not trained on was not used: {listed(left)}")
    judged = {}
    for name, source in experiment.judge.items():
        with named(f"{experiment.where}, {place_of_text(experiment, name)}"):
            judged[name] = read_some(resolve(as_list(source)), languages, column)
            check_parallel(
                {code: len(lines) for code, lines in judged[name].items()},
                what="the text",
                fix="Align the files line by line, or leave out those languages.",
            )
    return Data(train, languages, digests, dev, judged, column, experiment.where, tuple(notes))


def place_of_text(experiment: Experiment, name: str) -> str:
    """The name of an evaluation text in errors. (`tune` evaluates on a part of dev by default.)"""
    if not experiment.from_options:
        return f"[judge] {name}"
    return "dev" if name == "dev" else "the text to judge on"


@contextmanager
def named(key: str) -> Iterator[None]:
    """Prefix errors with the key that they are about."""
    try:
        yield
    except PairityError as error:
        raise PairityError(f"{key}: {error}") from error


def read_some(sources: Resolved, languages: Sequence[str], text_column: str) -> LinesByLanguage:
    """The lines of the languages that the text has."""
    found = only(sources, list(languages))
    if not found.inputs:
        raise PairityError("it has none of the languages of train. Check the names of its files.")
    texts = read_texts(found, text_column=text_column)
    return {code: texts[code] for code in languages if code in texts}


def digests_of(sources: Resolved, show: Progress) -> dict[str, str]:
    """{language: SHA-256 of its files}; counts have several languages, each with the digest of the whole."""
    found: dict[str, str] = {}
    texts = [part for part in sources.inputs if isinstance(part, TextInput)]
    done = 0
    show.stage("reading train", unit="B", total=sum(file.size for part in texts for file in part.files))
    for part in sources.inputs:
        if isinstance(part, TextInput):
            show.at(done, part.language)
            done += sum(file.size for file in part.files)
            if streams := [file.path for file in part.files if file.once]:
                raise PairityError(
                    f"{streams[0]} is a pipe, but an experiment reads its text more than once: write it "
                    "to a file."
                )
            if part.lines is not None or any(not file.is_local for file in part.files):
                raise PairityError(f"an experiment reads local files: download {part.origin} first.")
            if not any(file.size for file in part.files):
                raise PairityError(no_text(part, 0))
            # How a file is read is part of its content.
            files = [[file.kind, file.codec, file_digest(Path(str(file.path)))] for file in part.files]
            found[part.language] = digest_of({"files": files})
    counts = [part.data for part in sources.inputs if isinstance(part, CountsInput)]
    if counts:
        whole = digest_of({"files": [file_digest(path) for path in counts]})
        found |= dict.fromkeys(Counts.load(counts), whole)
    return found


def file_digest(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise unreadable(path, error) from error


def place_digest(spec: str) -> str:
    """A digest that changes when an existing tokenizer is replaced; a name, such as an encoding, stands for itself."""
    found = find(spec)
    if found.kind in ("hub", "tiktoken"):
        return f"{found.kind}:{found.place}"
    files = files_digest(Path(found.place))
    return digest_of({"kind": found.kind, "files": files, "pattern": found.pattern})


def files_digest(place: Path) -> str:
    """The digest of a file, or of all files in a folder."""
    files = sorted(file for file in place.rglob("*") if file.is_file()) if place.is_dir() else [place]
    return digest_of({"files": [[file.name, file_digest(file)] for file in files]})


def lines_digest(texts: Mapping[str, Sequence[str]]) -> str:
    return digest_of({code: text_digest(lines) for code, lines in texts.items()})


def some_lines(texts: LinesByLanguage, number: int | None, seed: int | None) -> LinesByLanguage:
    """The first lines of parallel text or, with a seed, a random sample; the same lines in every language."""
    if number is None:
        return texts
    chosen = list(range(number))
    if seed is not None:
        total = min(map(len, texts.values()))
        order = sorted(range(total), key=lambda line: hashlib.sha256(f"{seed} {line}".encode()).digest())
        chosen = sorted(order[:number])
    return {code: [lines[line] for line in chosen] for code, lines in texts.items()}
