"""Packing: from a folder of shuffled documents to the ids of one tokenizer.

It works shard by shard: a killed run continues after the last complete shard.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from pairity.errors import PairityError
from pairity.files.digests import check_manifest, digest_of
from pairity.files.writing import write_file, write_folder
from pairity.lm.packs import MANIFEST, Pack, TokenIds
from pairity.lm.texts import TextArray
from pairity.progress import BytesListener

DOCUMENTS = "documents.json"
UNFINISHED = "unfinished.json"
FORMAT = 1

Encode = Callable[[list[bytes]], tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]]
"""Texts to their ids end to end and n + 1 offsets; a special token in a text is plain text."""


@dataclass(frozen=True)
class Packed:
    """What packing needs to know about a tokenizer; `files` are written next to the ids."""

    name: str
    digest: str
    vocab_size: int
    end_token: str
    end_id: int
    encode: Encode = field(repr=False)
    files: Mapping[str, bytes] = field(repr=False)

    def describe(self) -> dict[str, Any]:
        keep = ("name", "digest", "vocab_size", "end_token", "end_id")
        return {name: value for name, value in vars(self).items() if name in keep}

    @property
    def dtype(self) -> type[np.uint16] | type[np.uint32]:
        return np.uint16 if self.vocab_size <= 1 << 16 else np.uint32


@dataclass(frozen=True)
class DocumentSums:
    """Sums over the documents of one language."""

    documents: int
    bytes: int
    tokens: int


def write_pack(documents: Path, folder: Path, tokenizer: Packed, listen: BytesListener | None = None) -> Pack:
    """Encode all documents; `tokens` includes the end-of-text id after each training document."""
    about = read_documents(documents)
    languages: list[str] = about["languages"]
    made_from = {"documents": about["digest"], "tokenizer": tokenizer.describe()}
    if contents_of(folder / MANIFEST, made_from):
        return Pack(folder)
    done: dict[str, Any] = (contents_of(folder / UNFINISHED, made_from) or {"done": {}})["done"]
    total = sum(sum(one["bytes"].values()) for one in about["files"].values())
    read = 0
    for name, one in about["files"].items():
        size = sum(one["bytes"].values())

        def hear(batch: int, name: str = name, before: int = read) -> None:
            if listen:
                listen(before + batch, total, f"{tokenizer.name}, {name}")

        if name not in done:
            texts = TextArray.read(documents / name)
            done[name] = write_ids(texts, folder, name, languages, tokenizer, hear)
            unfinished = {**made_from, "done": done}
            write_file(folder / UNFINISHED, json.dumps(unfinished | {"digest": digest_of(unfinished)}))
        read += size
    write_folder(folder / "tokenizer", dict(tokenizer.files))
    shards = [one for name, one in done.items() if is_train(name)]
    manifest = {
        "format": FORMAT,
        **made_from,
        "dtype": np.dtype(tokenizer.dtype).name,
        "languages": {
            language: {
                key: sum(one["languages"][language][key] for one in shards)
                for key in DocumentSums.__annotations__
            }
            for language in languages
        },
        "shards": shards,
        "texts": {name.removesuffix(".npz"): one for name, one in done.items() if not is_train(name)},
        "settings": about["settings"],
    }
    write_file(folder / MANIFEST, json.dumps(manifest | {"digest": digest_of(manifest)}, indent=1) + "\n")
    (folder / UNFINISHED).unlink(missing_ok=True)
    return Pack(folder)


def read_documents(folder: Path) -> dict[str, Any]:
    """The contents of documents.json."""
    about: dict[str, Any] = json.loads((folder / DOCUMENTS).read_text(encoding="utf-8"))
    check_manifest(about, folder / DOCUMENTS)
    return about


def contents_of(path: Path, made_from: Mapping[str, Any]) -> dict[str, Any] | None:
    """The pack.json of an earlier run with the same documents and tokenizer; None if there is none."""
    if not path.exists():
        return None
    contents: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    check_manifest(contents, path)
    if any(contents[name] != value for name, value in made_from.items()):
        raise PairityError(
            f"{path.parent} was packed from other documents or for another tokenizer: choose another folder, or remove "
            "it."
        )
    return contents


def with_ends(
    ids: npt.NDArray[np.uint32],
    offsets: npt.NDArray[np.int64],
    end_id: int,
    dtype: type[np.uint16] | type[np.uint32],
) -> TokenIds:
    """with_ends([5, 6, 7], [0, 2, 3], 0, np.uint16) -> [5, 6, 0, 7, 0]"""
    documents = len(offsets) - 1
    stream = np.full(len(ids) + documents, end_id, dtype)
    is_text = np.ones(len(stream), bool)
    is_text[offsets[1:] + np.arange(documents)] = False
    stream[is_text] = ids
    return stream


def write_ids(
    texts: TextArray,
    folder: Path,
    name: str,
    languages: Sequence[str],
    tokenizer: Packed,
    hear: Callable[[int], None],
) -> dict[str, Any]:
    """Training text becomes one stream with an end id after each document; text to measure on is kept in documents,
    without end ids."""
    train = is_train(name)
    parts, lengths = [], []
    for first, batch in texts.batches():
        ids, offsets = tokenizer.encode(batch)
        ended = with_ends(ids, offsets, tokenizer.end_id, tokenizer.dtype) if train else ids
        parts.append(ended.astype(tokenizer.dtype, copy=False))
        lengths.append(np.diff(offsets) + int(train))
        hear(int(texts.offsets[first + len(batch)]))
    stream, tokens = np.concatenate(parts), np.concatenate(lengths)

    def write(out: BinaryIO) -> None:
        if train:
            np.save(out, stream)
        else:
            ends = np.concatenate([[0], np.cumsum(tokens)])
            np.savez(out, ids=stream, offsets=ends, language=texts.language, bytes=texts.sizes)

    file = f"{Path(name).stem}.npy" if train else name
    write_file(folder / file, write)
    sums = sums_of(texts, tokens, languages)
    return {"file": file, "tokens": len(stream), "digest": digest_of_ids(stream), "languages": sums}


def is_train(name: str) -> bool:
    return name.startswith("train")


def sums_of(
    texts: TextArray, tokens: npt.NDArray[np.int64], languages: Sequence[str]
) -> dict[str, dict[str, int]]:
    def per_language(weights: npt.NDArray[np.int64] | None) -> list[int]:
        found = np.bincount(texts.language, weights, len(languages))
        return [int(one) for one in found]

    columns = zip(per_language(None), per_language(texts.sizes), per_language(tokens), strict=True)
    return {language: asdict(DocumentSums(*row)) for language, row in zip(languages, columns, strict=True)}


def digest_of_ids(ids: TokenIds) -> str:
    return hashlib.sha256(np.ascontiguousarray(ids).data).hexdigest()
