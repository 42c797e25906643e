"""TOKENIZER: what kind of tokenizer a user names, the same in every command.

find("gpt-4o=tiktoken:o200k_base")   -> Found(kind="tiktoken", place="o200k_base", name="gpt-4o")
find("llama3/tokenizer.model")       -> Found(kind="ranks", ...): SentencePiece or tiktoken, decided by its content
open_model("llama3/tokenizer.model") -> the BpeModel with its ids
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from pairity.bpe.model import BpeModel
from pairity.errors import PairityError, PairityWarning
from pairity.extras import load_extra
from pairity.formats import folder, tekken, tiktoken, tokenizer_json
from pairity.formats.json_files import unreadable

TokenizerKind = Literal[
    "pairity", "tokenizer.json", "transformers", "hub", "tiktoken", "ranks", "tekken", "sentencepiece"
]
"""A folder that pairity wrote, the file of `tokenizers`, a folder or a name for transformers, an encoding of tiktoken
by its name, a file of ranks, a tekken.json, a SentencePiece model."""

TOKENIZERS = (
    "a folder, a tokenizer.json, a tekken.json, a tiktoken ranks file (FILE@PATTERN if its name does not tell which "
    "pattern it uses), tiktoken:NAME, hf:NAME or sentencepiece:FILE"
)
"""What a TOKENIZER may be, in help texts and errors."""

SPECS = "'tiktoken:NAME', 'sentencepiece:FILE' or 'hf:NAME'"


@dataclass(frozen=True)
class Found:
    kind: TokenizerKind
    place: str
    """A path, the name of an encoding, or a name on the hub."""
    name: str
    """The name that the user gave, or one derived from the place."""
    pattern: str | None = None
    """For a file of ranks: what the user wrote after the at sign."""


def find(spec: str | os.PathLike[str], name: str | None = None) -> Found:
    """What `spec` names. Reads only the first bytes of a file, and does not use the network.

    a folder            that pairity or transformers wrote, or with a tekken.json or tokenizer.model
    tokenizer.json      of `tokenizers`
    hf:NAME             from the Hugging Face hub
    tiktoken:NAME       an encoding of tiktoken
    a file of ranks     of tiktoken. If its name does not say which pre-tokenizer pattern belongs to it, put the
                        pattern after an at sign: ranks.tiktoken@cl100k or ranks.tiktoken@REGEX
    sentencepiece:FILE  or any *.model file
    tekken.json         of Mistral

    `NAME=SPEC` gives it a name; so does the argument `name`, which wins.
    """
    given, text = split_name(os.fspath(spec))
    name = name or given
    scheme, _, value = text.partition(":")
    if scheme == "hf" and value:
        return Found("hub", value, name or value)
    if scheme == "tiktoken" and value:
        return Found("tiktoken", value, name or value)
    if scheme == "sentencepiece" and value:
        return Found("sentencepiece", str(existing(value)), name or Path(value).stem)
    return in_path(text, name)


def split_name(spec: str) -> tuple[str | None, str]:
    """ "gpt-4o=tiktoken:o200k_base" -> ("gpt-4o", "tiktoken:o200k_base"); without a name (None, the spec)."""
    given, _, rest = spec.partition("=")
    if rest and not Path(spec).exists() and not set("/:@") & set(given):
        return given, rest
    return None, spec


def in_path(text: str, name: str | None) -> Found:
    """A folder or file; `PATH@PATTERN` for tiktoken ranks."""
    place, pattern = text, None
    if not Path(text).exists() and "@" in text:
        place, _, pattern = text.partition("@")
        if "=" in pattern and not (place and Path(place).exists()):
            name, _, rest = text.rpartition("=")
            raise PairityError(
                f"no tokenizer at {place!r}, in {text!r}. If {name!r} is meant as a name: an at sign is "
                "reserved for patterns (FILE@PATTERN) and sizes (NAME@SIZE), so choose another, such as "
                f"{name.replace('@', '-')}={rest}."
            )
    path = existing(place)
    found = in_folder(path, name or path.resolve().name) if path.is_dir() else in_file(path, name)
    if pattern is None:
        return found
    if found.kind != "ranks":
        raise PairityError(
            f"a pattern after an at sign is only for tiktoken ranks files, and {found.place} is not one: "
            f"it already defines how text is split. Leave out '@{pattern}'."
        )
    return replace(found, pattern=pattern)


def in_file(path: Path, name: str | None) -> Found:
    own_name = name or (path.resolve().parent.name if path.name.startswith("tokenizer.") else path.stem)
    try:
        is_tekken = path.suffix == ".json" and tekken.is_tekken(path)
        has_ranks = tiktoken.is_ranks_file(path)
    except OSError as error:
        raise unreadable(path, error) from None
    if is_tekken:
        return Found("tekken", str(path), own_name)
    if path.suffix == ".json":
        ours = path.name == "tokenizer.json" and (path.parent / folder.SETTINGS).exists()
        return (
            Found("pairity", str(path.parent), own_name)
            if ours
            else Found("tokenizer.json", str(path), own_name)
        )
    if has_ranks:
        return Found("ranks", str(path), own_name)
    if ".model" in path.name:
        return Found("sentencepiece", str(path), own_name)
    raise PairityError(f"{path} is not a tokenizer that pairity can read. Give {TOKENIZERS}.")


def in_folder(path: Path, name: str) -> Found:
    if (path / folder.SETTINGS).exists():
        return Found("pairity", str(path), name)
    if (path / "tokenizer.json").exists():
        return Found("tokenizer.json", str(path / "tokenizer.json"), name)
    if (path / "tekken.json").exists():
        return Found("tekken", str(path / "tekken.json"), name)
    if (path / "tokenizer_config.json").exists():
        return Found("transformers", str(path), name)
    if (path / "tokenizer.model").exists():
        return in_file(path / "tokenizer.model", name)
    raise PairityError(
        f"no tokenizer in {path}: no tokenizer.json, tekken.json, tokenizer_config.json or tokenizer.model. "
        f"Give {TOKENIZERS}."
    )


def existing(path: str) -> Path:
    if not Path(path).exists():
        raise PairityError(
            f"no tokenizer at {path!r}: there is no such file or folder. For a tokenizer from elsewhere, "
            f"write {SPECS}."
        )
    return Path(path)


def open_model(spec: str | os.PathLike[str]) -> BpeModel:
    """The byte-level BPE that `spec` names (see `find`), with its ids; for any other, an error that names its kind."""
    found = find(spec)
    try:
        return read_model(found)
    except PairityError as error:
        if found.place in str(error):
            raise
        raise PairityError(f"{found.place}: {error}") from error


def read_model(found: Found) -> BpeModel:
    match found.kind:
        case "pairity":
            return folder.load(Path(found.place))
        case "tokenizer.json":
            return with_holes_noted(folder.load(Path(found.place)), found.place)
        case "transformers" | "hub":
            return with_holes_noted(of_transformers(found), found.place)
        case "tiktoken":
            return tiktoken.of_encoding(encoding(found.place)).model(allow_holes=True)
        case "tekken":
            return tekken.read_table(Path(found.place)).model(allow_holes=False)
        case "ranks":
            table = tiktoken.read_table(Path(found.place), found.pattern)
            return with_holes_noted(table.model(allow_holes=True), found.place, table.ranks.values())
        case "sentencepiece":
            raise PairityError(
                f"{found.place} is a SentencePiece model: its tokens are made of characters, and it has no byte-level "
                "merges to show, export or continue. encode, decode, eval and tax can use it as it is; for a "
                "byte-level BPE, train one on the same text with pairity train."
            )


def with_holes_noted(model: BpeModel, place: str, listed: Collection[int] = ()) -> BpeModel:
    """Keep ids without a token free, but warn: the file may have lost some lines.

    `listed` are the ids in a file of ranks: one with an empty token is free on purpose, and ids after the last one are
    those of special tokens, which may have gaps.
    """
    known = set(listed)
    size = 1 + max(known) if known else len(model.tokens)
    holes = [i for i, token in enumerate(model.tokens[:size]) if not token and i not in known]
    if holes:
        warnings.warn(
            f"{place}: {len(holes):,} ids below {size:,} have no token, such as {holes[0]}; they stay "
            "free. If that is not intended, tokens are missing there.",
            PairityWarning,
            stacklevel=3,
        )
    return model


def encoding(name: str) -> Any:
    """An encoding that tiktoken knows by name. It gets the ranks itself, from its cache or the network."""
    library = load_extra("tiktoken", f"the tokenizer 'tiktoken:{name}'")
    if name not in library.list_encoding_names():
        known = ", ".join(sorted(library.list_encoding_names()))
        raise PairityError(f"tiktoken has no encoding {name!r}. It knows: {known}.")
    try:
        return library.get_encoding(name)
    except Exception as error:
        raise PairityError(
            f"tiktoken could not get the ranks of {name!r} ({type(error).__name__}: {error}). Without a network, give "
            f"the file itself ({name}.tiktoken), or set TIKTOKEN_CACHE_DIR to a cache of tiktoken that has it."
        ) from error


def opened_by_transformers(found: Found) -> Any:
    """A folder of transformers, or a name on the Hugging Face hub, as transformers opens it."""
    library = load_extra("transformers", f"the tokenizer {found.place!r}")
    try:
        return library.AutoTokenizer.from_pretrained(
            found.place, local_files_only=found.kind == "transformers"
        )
    except Exception as error:
        raise PairityError(f"transformers cannot open the tokenizer {found.place!r}: {error}") from error


def of_transformers(found: Found) -> BpeModel:
    tokenizer = opened_by_transformers(found)
    if getattr(tokenizer, "backend_tokenizer", None) is None:
        raise PairityError(
            f"the tokenizer {found.place!r} is {type(tokenizer).__name__}, which is Python code of transformers, not a "
            "table of merges. encode, decode, eval and tax can use it as it is."
        )
    return tokenizer_json.read_from(tokenizer, allow_holes=True)
