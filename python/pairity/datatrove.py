"""Counting as a step of a datatrove pipeline: documents pass through, and every rank leaves a counts file.

    pipeline = [JsonlReader("corpus/"), CountStep("parts/", language_key="language")]
    LocalPipelineExecutor(pipeline, tasks=8).run()

Then `pairity merge parts/*.parquet -o counts.parquet` combines them. datatrove accepts any function of (documents,
rank, world_size) as a step, so this module does not import it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

from pairity.counts.counting import TextCounter
from pairity.counts.counts import Counts
from pairity.counts.shards import Shard
from pairity.counts.values import Split, check_split
from pairity.errors import PairityError
from pairity.files.digests import digest_of
from pairity.text.blocks import BLOCK_BYTES
from pairity.text.columns import check_errors, to_utf8
from pairity.text.mistakes import check_one_given
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER, Pretokenization

__all__ = ["CountStep"]


class CountStep:
    """Counts the text of every document and hands the documents on.

    Rank 3 of 8 writes `folder/part-00003.parquet`, which is a shard: merging all eight gives the counts, and if one is
    missing, an error. The language of a document is in its metadata under `language_key`, or all are of one `language`.
    What is not said here is as in `pairity.count`.
    """

    def __init__(
        self,
        folder: str | Path,
        *,
        language_key: str | None = None,
        language: str | None = None,
        pretokenizer: str | Pretokenization = DEFAULT_PRETOKENIZER,
        digits: bool = False,
        normalize: Literal["nfc"] | None = None,
        split: Split = "train",
        errors: Literal["strict", "replace"] = "strict",
        count_words: bool = False,
    ) -> None:
        check_one_given(language, language_key, "language_key")
        check_errors(errors)
        self.folder = Path(folder)
        self.language_key = language_key
        self.language = language
        self.cut = Pretokenization.of(pretokenizer, digits, normalize)
        self.split = check_split(split)
        self.errors = errors
        self.count_words = count_words

    def __repr__(self) -> str:
        return f"pairity: counts into {self.folder}"

    def __call__(self, data: Iterable[Any] | None, rank: int = 0, world_size: int = 1) -> Iterator[Any]:
        """What datatrove calls, once in every rank."""
        counter = TextCounter(self.cut, self.errors, self.count_words)
        waiting: dict[str, list[bytes]] = {}
        size = 0

        def count_waiting() -> None:
            for language, texts in waiting.items():
                counter.add(language, pa.array(texts, pa.large_binary()))
            waiting.clear()

        for document in data or ():
            text = to_utf8(document.text)
            waiting.setdefault(self.language_of(document), []).append(text)
            size += len(text) + 16
            if size >= BLOCK_BYTES:
                count_waiting()
                size = 0
            yield document
        count_waiting()
        self.folder.mkdir(parents=True, exist_ok=True)
        shard = Shard(rank + 1, world_size, digest_of({"folder": str(self.folder)}))
        path = self.folder / f"part-{rank:05d}.parquet"
        Counts(counter.finish(), self.cut, self.split, shard=shard).save(path)

    def language_of(self, document: Any) -> str:
        if self.language_key is None:
            return str(self.language)
        found = document.metadata.get(self.language_key)
        if not isinstance(found, str):
            raise PairityError(
                f"the document {document.id!r} has no language: {self.language_key!r} of its metadata is {found!r}. "
                "Name another key with language_key, or leave such documents out."
            )
        return found
