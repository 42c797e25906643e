"""Carrying documents to another machine: the same text in a quarter of its size, with numpy and the standard library.

Text of one language compresses much better than a mixture, so it is grouped by language on the way. The languages of
the documents in their order are enough to mix them again.
"""

import bz2
import io
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from pairity.lm.packing import DOCUMENTS, Packed, read_documents, write_pack
from pairity.lm.texts import TextArray


def grouped(texts: TextArray) -> TextArray:
    """The same texts by language, each language in its order; `language` stays that of the mixture."""
    rows = np.argsort(texts.language, kind="stable")
    return TextArray(*joined(texts, rows), texts.language)


def mixed(texts: TextArray) -> TextArray:
    """What `grouped` was given."""
    rows = np.argsort(np.argsort(texts.language, kind="stable"))
    return TextArray(*joined(texts, rows), texts.language)


def joined(texts: TextArray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    data, starts, ends = (
        texts.data.tobytes(),
        texts.offsets[:-1][rows].tolist(),
        texts.offsets[1:][rows].tolist(),
    )
    together = b"".join([data[start:end] for start, end in zip(starts, ends, strict=True)])
    return np.frombuffer(together, np.uint8), np.concatenate([[0], np.cumsum(texts.sizes[rows])])


def carry(documents: Path, folder: Path) -> None:
    """Write what `unpack` reads."""
    for name in read_documents(documents)["files"]:
        texts, buffer = grouped(TextArray.read(documents / name)), io.BytesIO()
        np.savez(buffer, data=texts.data, bytes=texts.sizes.astype(np.uint32), language=texts.language)
        (folder / f"{name}.bz2").write_bytes(bz2.compress(buffer.getvalue()))
    shutil.copy(documents / DOCUMENTS, folder)


def unpack(folder: Path, documents: Path) -> Path:
    """The documents as `write_pack` reads them; they may be there from an earlier call."""
    if (documents / DOCUMENTS).exists():
        return documents
    documents.mkdir(parents=True, exist_ok=True)
    for name in read_documents(folder)["files"]:
        with np.load(io.BytesIO(bz2.decompress((folder / f"{name}.bz2").read_bytes()))) as arrays:
            offsets = np.concatenate([[0], np.cumsum(arrays["bytes"].astype(np.int64))])
            texts = mixed(TextArray(arrays["data"], offsets, arrays["language"]))
        with (documents / name).open("wb") as file:
            texts.write(file)
    shutil.copy(folder / DOCUMENTS, documents)
    return documents


def packed(documents: Path, carry: Path, work: Path, name: str) -> tuple[Path, bool]:
    """A pack made by `tokenizers`, and whether it has the ids that pairity made where the text was packed first."""
    expected = json.loads((carry / "packs.json").read_text(encoding="utf-8"))[name]
    made = write_pack(documents, work / name, opened(carry / name, expected["tokenizer"]))
    return made.folder, all(
        made.manifest[kind] == expected[kind] for kind in ("shards", "texts", "languages")
    )


def opened(folder: Path, about: dict[str, Any]) -> Packed:
    """A tokenizer of `tokenizers` that packs; `about` is what the pack made before says of it."""
    import tokenizers

    files = {file.stem: bz2.decompress(file.read_bytes()) for file in folder.iterdir()}
    tokenizer = tokenizers.Tokenizer.from_str(files["tokenizer.json"].decode())
    tokenizer.encode_special_tokens = True

    def encode(texts: list[bytes]) -> tuple[Any, Any]:
        lines = [text.decode() for text in texts]
        rows = [one.ids for one in tokenizer.encode_batch_fast(lines, add_special_tokens=False)]
        ids = np.fromiter((token for row in rows for token in row), np.uint32)
        return ids, np.cumsum([0, *map(len, rows)])

    return Packed(**about, encode=encode, files=files)
