"""The counts of every training text, drawn and counted once and kept in the cache of the folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.experiments.data import Data, named
from pairity.experiments.folder import Folder, key_of
from pairity.experiments.plan import Corpus
from pairity.progress import Progress
from pairity.training.texts import only


@dataclass(frozen=True)
class Counted:
    """Where the counts of a corpus are. `given`: how much was drawn of each language."""

    corpus: Corpus
    key: str
    path: Path
    given: dict[str, dict[str, int]]

    def load(self) -> Counts:
        return Counts.load(self.path)


def key_of_corpus(corpus: Corpus, data: Data) -> str:
    return key_of(
        {
            "text": {code: data.digests[code] for code in corpus.codes},
            "draw": corpus.draw.describe(),
            "cut": corpus.cut.hash,
            "text_column": data.text_column,
        }
    )


def count_all(
    corpora: Sequence[Corpus], data: Data, folder: Folder, threads: int | None, show: Progress
) -> list[Counted]:
    """Count the corpora that are not in the cache yet."""
    found = []
    for number, corpus in enumerate(corpora, 1):
        key = key_of_corpus(corpus, data)
        path = folder.cache / f"counts-{key[:16]}.parquet"
        note = folder.finished(path, key)
        if note is None:
            with named(f"{data.where}, train"):
                given = count_one(corpus, data, path, threads, show, f"{number} of {len(corpora)}")
            note = folder.finish(path, key, given=given)
        found.append(Counted(corpus, key, path, note["given"]))
    return found


def count_one(
    corpus: Corpus, data: Data, path: Path, threads: int | None, show: Progress, which: str
) -> dict[str, dict[str, Any]]:
    show.stage(f"counting text {which}", unit="B")
    counts = count(
        only(data.train, list(corpus.codes)),
        pretokenizer=corpus.cut,
        languages=corpus.codes,
        text_column=data.text_column,
        threads=threads,
        count_words=True,
        progress=show.bytes_read,
        draw=corpus.draw,
    )
    counts.save(path)
    return {
        code: {
            "lines": one.lines,
            "bytes": one.bytes,
            "words": one.words,
            "of_lines": one.lines,
            "of_bytes": one.bytes,
        }
        | (asdict(counts.drawn.given[code]) if counts.drawn else {})
        for code, one in counts.items()
    }
