"""Documents: text of any SOURCE, shuffled once over all languages, so that every tokenizer gets the same.

    packs = pack("corpus/", {"classical": "a/", "parity": "b/"}, "packs/", parallel="devtest/")
    packs["parity"].tokens

    packs/text/          documents.json, train-00000.npz ..., held-out.npz, parallel.npz
    packs/classical/     a pack of these documents, and so on

A line of a .txt file or a record is a document. Every document has a place: a hash of the seed, the language and the
document itself. The first places are held out, so equal documents are never on both sides; the others are shuffled.
Only one shard is in memory at a time.
"""

from __future__ import annotations

import json
import os
import struct
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pairity.errors import PairityError, PairityWarning
from pairity.files.digests import digest, digest_of
from pairity.files.locks import locked
from pairity.files.places import check_folder
from pairity.files.writing import fill, new_folder
from pairity.formats import transformers
from pairity.languages import chosen, one_or_several
from pairity.lm.packing import DOCUMENTS, Packed, read_documents, write_pack
from pairity.lm.packs import Pack
from pairity.lm.texts import TextArray
from pairity.progress import BytesListener
from pairity.text.blocks import Block, not_utf8, texts_in
from pairity.text.drawing import ALL, Drawn, draw, places_in
from pairity.text.inputs import Resolved, TextInput
from pairity.text.options import TextReading
from pairity.text.parallel import check_parallel
from pairity.text.reading import blocks_of, read_texts
from pairity.text.sampling import Draw, is_number
from pairity.text.sources import resolve
from pairity.tokenizer.tokenizer import Tokenizer

RECORD = struct.Struct("<QHI")  # place, number of the language, bytes
SHARD_BYTES = 256 << 20
MOST_SHARDS = 400  # each is an open file while shuffling
END_TOKENS = ("<|endoftext|>", "<|end_of_text|>", "</s>", "<eos>")


@dataclass(frozen=True, kw_only=True)
class Choice:
    """Which documents to use: sampled by `draw`, with some held out."""

    draw: Draw = field(default_factory=Draw)
    held_out: float = 1000
    """Documents of each language that are not trained on: an approximate number, or a share below 1."""
    seed: int = 0
    """Of holding out and shuffling."""
    text_column: str = "text"
    """Field or column that holds the text."""
    shard_bytes: int = SHARD_BYTES
    """Bytes of text in a shard; memory holds one."""

    def __post_init__(self) -> None:
        if not (is_number(self.held_out) and self.held_out > 0):
            raise PairityError(
                f"held_out is {self.held_out!r}: give a number of documents, or a share of them below 1."
            )
        if self.shard_bytes < 1:
            raise PairityError(f"shard_bytes is {self.shard_bytes}: give a number of bytes, at least 1.")

    @property
    def how(self) -> TextReading:
        return TextReading(text_column=self.text_column)

    def describe(self) -> dict[str, Any]:
        return {
            "draw": self.draw.describe(),
            "held_out": self.held_out,
            "seed": self.seed,
            "text_column": self.text_column,
            "shard_bytes": self.shard_bytes,
        }


def pack(
    sources: Any,
    tokenizers: Mapping[str, Any],
    output: str | os.PathLike[str],
    *,
    parallel: Any = None,
    languages: str | Sequence[str] | None = None,
    choice: Choice | None = None,
    end_token: str | None = None,
    threads: int | None = None,
    listen: BytesListener | None = None,
) -> dict[str, Pack]:
    """Pack text for tokenizers, given as {name: path, spec or `Tokenizer`}; each becomes a folder in `output`.

    `parallel`: parallel text to measure on. `languages`: one name or several, or "paper-30" and "paper-60".
    Existing packs from the same text and tokenizer are kept, and an interrupted run resumes.
    """
    folder = Path(output)
    check_folder(folder, (), what="a pack", force=False)
    known = [packed_by(name, given, end_token, threads) for name, given in tokenizers.items()]
    if wrong := [one.name for one in known if one.name == "text" or Path(one.name).name != one.name]:
        raise PairityError(f"{wrong[0]!r} cannot be the name of a pack: it becomes a folder beside `text`.")
    with locked(folder):
        write_documents(
            sources,
            folder / "text",
            parallel=parallel,
            languages=languages,
            choice=choice,
            threads=threads,
            listen=listen,
        )
        return {one.name: write_pack(folder / "text", folder / one.name, one, listen) for one in known}


def packed_by(name: str, given: Any, end_token: str | None, threads: int | None) -> Packed:
    """From a tokenizer of pairity, or anything that `Tokenizer.load` opens."""
    tokenizer = given if isinstance(given, Tokenizer) else Tokenizer.load(given)
    candidates = (end_token,) if end_token else (tokenizer.roles.eos_token, *END_TOKENS)
    end = next((one for one in candidates if one in tokenizer.special_tokens), None)
    if end is None:
        names = ", ".join(tokenizer.special_tokens) or "none"
        lacks = f"special token {end_token!r}" if end_token else "token that ends a text"
        raise PairityError(
            f"the tokenizer {name!r} has no {lacks} (its special tokens: {names}). Name one of these with --end-token, "
            "or train it with --special-token '<|endoftext|>'."
        )
    files = transformers.files(tokenizer.with_roles(eos_token=end).model)
    return Packed(
        name=name,
        digest=digest(files["tokenizer.json"]),
        vocab_size=len(tokenizer),
        end_token=end,
        end_id=tokenizer.special_tokens[end],
        encode=lambda texts: tokenizer.encode_flat(texts, disallowed_special=(), threads=threads),
        files=files,
    )


def write_documents(
    sources: Any,
    folder: Path,
    *,
    parallel: Any = None,
    languages: str | Sequence[str] | None = None,
    choice: Choice | None = None,
    threads: int | None = None,
    listen: BytesListener | None = None,
) -> Path:
    """Shuffle the documents into a folder, unless it has them already."""
    choice = choice or Choice()
    found = resolve(sources)
    warn(found.notes)
    if languages is not None:
        kept, notes = chosen(one_or_several(languages), [part.language for part in texts_of(found)])
        inputs = (part for part in found.inputs if not isinstance(part, TextInput) or part.language in kept)
        found = replace(found, inputs=tuple(inputs))
        warn(notes)
    settings = {**choice.describe(), "text": described(found)}
    lines: dict[str, list[str]] = {}
    if parallel is not None:
        lines = read_texts(
            parallel, text_column=choice.text_column, languages=[one.language for one in texts_of(found)]
        )
        check_parallel(
            {language: len(one) for language, one in lines.items()},
            what="the parallel text",
            fix="Align the files line by line.",
        )
        settings["parallel"] = {
            language: digest("\n".join(one).encode()) for language, one in sorted(lines.items())
        }
    if (folder / DOCUMENTS).exists():
        if read_documents(folder)["settings"] != settings:
            raise PairityError(
                f"{folder} holds documents from other text or settings: choose another output folder, or "
                "remove this one."
            )
        return folder
    drawn = draw(found, choice.draw, how=choice.how, threads=threads, progress=listen)
    warn(drawn.notes)
    with new_folder(folder) as stage:
        shuffle(texts_of(found), drawn, stage, choice, lines, settings, listen)
    return folder


def warn(notes: Iterable[str]) -> None:
    for note in notes:
        warnings.warn(note, PairityWarning, stacklevel=3)


def texts_of(found: Resolved) -> list[TextInput]:
    return [part for part in found.inputs if isinstance(part, TextInput)]


def described(found: Resolved) -> list[list[Any]]:
    """What identifies the text, to notice changes: [["eng_Latn", "train/eng_Latn.txt.gz", 123456], ...]"""
    files = [[part.language, str(file.path), file.size] for part in texts_of(found) for file in part.files]
    return files + [[part.language, "lines", 0] for part in texts_of(found) if part.lines is not None]


def shuffle(
    inputs: Sequence[TextInput],
    drawn: Drawn,
    stage: Path,
    choice: Choice,
    parallel: Mapping[str, list[str]],
    settings: Mapping[str, Any],
    listen: BytesListener | None,
) -> None:
    """Write every document to the shard of its place; then order each shard."""
    languages = [part.language for part in inputs]
    size = sum(one.bytes for one in drawn.given.values())
    shards = min(-(-size // choice.shard_bytes), MOST_SHARDS)
    kept: list[tuple[int, int, bytes]] = []
    with ExitStack() as files:
        spills = [files.enter_context((stage / f"{n}.spill").open("wb")) for n in range(shards)]
        for number, place, line in placed(inputs, drawn, choice, listen):
            if place < 0:
                kept.append((number, place, line))
            else:
                spill = spills[place * shards // ALL]
                spill.write(RECORD.pack(place, number, len(line)))
                spill.write(line)
    about: dict[str, Any] = {}
    for n in range(shards):
        texts = in_order(stage / f"{n}.spill", choice.seed, n)
        about[f"train-{n:05}.npz"] = written(texts, stage / f"train-{n:05}.npz", languages)
    about["held-out.npz"] = written(
        TextArray.of((n, line) for n, _, line in sorted(kept)), stage / "held-out.npz", languages
    )
    if parallel:
        rows = (
            (languages.index(language), line.encode()) for language, all_ in parallel.items() for line in all_
        )
        about["parallel.npz"] = written(TextArray.of(rows), stage / "parallel.npz", languages)
    for language in languages:
        for name, why in (("train-00000.npz", "to train on"), ("held-out.npz", "to hold out")):
            if not sum(one["bytes"][language] for file, one in about.items() if file[:5] == name[:5]):
                drawing = (
                    "" if choice.draw.takes_all else ", draw more of it (--budget, --sample, --max-bytes)"
                )
                raise PairityError(
                    f"{language!r} has too few documents: none is left {why}. Give it more text{drawing}, or another "
                    "--held-out."
                )
    contents = {"languages": languages, "files": about, "settings": settings}
    fill(stage / DOCUMENTS, json.dumps(contents | {"digest": digest_of(contents)}, indent=1) + "\n")


def placed(
    inputs: Sequence[TextInput], drawn: Drawn, choice: Choice, listen: BytesListener | None
) -> Iterator[tuple[int, int, bytes]]:
    """(number of the language, place, document) without blank ones. A place is below 0 if held out, else 0 to ALL."""
    total = sum(file.size for part in inputs for file in part.files)
    before = 0
    for number, part in enumerate(inputs):
        language = part.language
        share = choice.held_out if choice.held_out < 1 else choice.held_out / drawn.given[language].lines
        limit = min(round(share * ALL), ALL - 1)
        for done, block in readable_blocks(part, choice.how):
            if listen:
                listen(before + done, total, language)
            chosen = drawn.sift(language, block)
            places = places_in(choice.seed, f"held out\0{language}", chosen)[0].tolist()
            for row, (at, document) in enumerate(zip(places, texts_in(chosen), strict=True)):
                if not document.strip():
                    continue
                try:
                    document.decode()
                except UnicodeDecodeError as error:
                    raise PairityError(not_utf8(chosen.place(row), error.start)) from None
                yield number, at - limit if at < limit else (at - limit) * ALL // (ALL - limit), document
        before += sum(file.size for file in part.files)


def readable_blocks(part: TextInput, how: TextReading) -> Iterator[tuple[int, Block]]:
    """(bytes read so far, block). An OSError, as from a data set on the web, must not look like one of the output."""
    try:
        for done, _, block in blocks_of(part, how):
            yield done, block
    except OSError as error:
        raise PairityError(f"{part.origin} cannot be read: {error}.") from error


def in_order(spill: Path, seed: int, shard: int) -> TextArray:
    """The documents of a shard: sorted, so that the order of reading does not matter, then shuffled."""
    data, at, records = spill.read_bytes(), 0, []
    spill.unlink()
    while at < len(data):
        place, number, length = RECORD.unpack_from(data, at)
        at += RECORD.size + length
        records.append((place, number, data[at - length : at]))
    records.sort()
    mixed = np.random.default_rng([seed, shard]).permutation(len(records))
    return TextArray.of(records[row][1:] for row in mixed.tolist())


def written(texts: TextArray, path: Path, languages: list[str]) -> dict[str, Any]:
    """Write the file; returns its entry in documents.json."""
    fill(path, texts.write)
    sizes = np.bincount(texts.language, texts.sizes, len(languages)).astype(int).tolist()
    return {
        "documents": len(texts),
        "digest": digest(texts.data.tobytes() + texts.offsets.tobytes() + texts.language.tobytes()),
        "bytes": dict(zip(languages, sizes, strict=True)),
    }
