"""A pack: the ids of all documents for one tokenizer, on disk, and ids of the text to measure on.

pack.json             what it was made from: documents, tokenizer, bytes and tokens per language, digests
train-00000.npy ...   ids of documents end to end, the end-of-text id after each; uint16 if all ids fit, else uint32
held-out.npz          documents that are not trained on: ids, offsets, language, bytes
parallel.npz          the same for parallel text: all lines of one language, then all of the next
tokenizer/            the tokenizer, as transformers reads it
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pairity.errors import PairityError
from pairity.files.digests import check_manifest

MANIFEST = "pack.json"
SLICES = 256
"""Training shuffles this many slices of the stream; more would only cut more documents in two."""

TokenIds = npt.NDArray[np.unsignedinteger[Any]]


@dataclass(frozen=True)
class PackedTexts:
    """Text to measure on. Document i has the ids ids[offsets[i]:offsets[i + 1]], without an end-of-text id."""

    ids: TokenIds
    offsets: npt.NDArray[np.int64]
    language: npt.NDArray[np.uint16]
    bytes: npt.NDArray[np.int64]

    def first(self, documents: int) -> PackedTexts:
        """The first few documents of every language: enough to draw a curve."""
        chosen = [np.flatnonzero(self.language == one)[:documents] for one in np.unique(self.language)]
        rows = np.sort(np.concatenate(chosen))
        lengths = np.diff(self.offsets)[rows]
        places = np.concatenate([np.arange(self.offsets[row], self.offsets[row + 1]) for row in rows])
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        return PackedTexts(self.ids[places], offsets, self.language[rows], self.bytes[rows])


class Pack:
    """A folder that `packing.write_pack` wrote."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        path = folder / MANIFEST
        try:
            self.manifest: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            raise PairityError(
                f"{folder} is not a pack: it has no {MANIFEST}. Make one: pairity pack."
            ) from None
        except ValueError as error:
            raise PairityError(f"{path} is damaged, it is not JSON: {error}. Pack the text again.") from None
        check_manifest(self.manifest, path)

    @property
    def languages(self) -> list[str]:
        return list(self.manifest["languages"])

    @property
    def tokenizer(self) -> dict[str, Any]:
        """Its name, digest, vocab_size, end_token and end_id."""
        found: dict[str, Any] = self.manifest["tokenizer"]
        return found

    @property
    def tokens(self) -> int:
        return sum(shard["tokens"] for shard in self.manifest["shards"])

    @property
    def bytes(self) -> int:
        return sum(one["bytes"] for one in self.manifest["languages"].values())

    @cached_property
    def shards(self) -> list[TokenIds]:
        """The ids on disk, memory-mapped."""
        found = [np.load(self.folder / shard["file"], mmap_mode="r") for shard in self.manifest["shards"]]
        for shard, ids in zip(self.manifest["shards"], found, strict=True):
            if len(ids) != shard["tokens"]:
                raise PairityError(
                    f"{self.folder / shard['file']} has {len(ids):,} tokens instead of "
                    f"{shard['tokens']:,}: it is damaged. Pack the text again."
                )
        return found

    def text(self, name: str) -> PackedTexts:
        """The text to measure on: "held-out", or "parallel" if parallel text was given."""
        if name not in self.manifest["texts"]:
            raise PairityError(f"{self.folder} has no {name} text: give it to pairity pack.")
        with np.load(self.folder / self.manifest["texts"][name]["file"]) as arrays:
            return PackedTexts(arrays["ids"], arrays["offsets"], arrays["language"], arrays["bytes"])

    def read(self, start: int, count: int) -> TokenIds:
        """`count` ids of the stream in the order on disk."""
        pieces: list[TokenIds] = []
        for ids in self.shards:
            if start < len(ids) and count > 0:
                pieces.append(ids[start : start + count])
                count -= len(pieces[-1])
            start = max(0, start - len(ids))
        return np.concatenate(pieces)


class IdStream:
    """The ids of a pack in the order of training, over any number of epochs.

    Documents are shuffled on disk. An epoch reads the stream in slices, in an order that depends only on the seed:
    packs of the same documents are read in the same order for every tokenizer.
    """

    def __init__(self, pack: Pack, seed: int) -> None:
        self.pack, self.seed = pack, seed
        self.cuts = np.arange(SLICES + 1) * pack.tokens // SLICES
        self._orders: dict[int, npt.NDArray[np.int64]] = {}

    def order(self, epoch: int) -> npt.NDArray[np.int64]:
        if epoch not in self._orders:
            self._orders = {epoch: np.random.default_rng([self.seed, epoch]).permutation(SLICES)}
        return self._orders[epoch]

    def read(self, position: int, count: int) -> TokenIds:
        """The ids `position` to `position + count` of the endless stream. Resuming needs only this number."""
        pieces: list[TokenIds] = []
        while count:
            epoch, within = divmod(position, self.pack.tokens)
            order = self.order(epoch)
            ends = np.cumsum(np.diff(self.cuts)[order])
            place = int(np.searchsorted(ends, within, side="right"))
            take = min(count, int(ends[place]) - within)
            start = int(self.cuts[order[place] + 1]) - (int(ends[place]) - within)
            pieces.append(self.pack.read(start, take))
            position, count = position + take, count - take
        return np.concatenate(pieces)
