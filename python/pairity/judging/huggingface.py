"""Adapters for tokenizers of `tokenizers` and `transformers`."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pairity.bpe.alphabet import to_bytes
from pairity.errors import PairityError, raise_unless_its_own
from pairity.files.reading import unreadable
from pairity.formats.json_files import parse_json
from pairity.judging.arrays import Ids, Integers
from pairity.judging.protocol import Adapter, TokenizerLike, joined, plain
from pairity.judging.sentencepiece import piece_bytes

MOST_IDS = 1 << 27
"""The largest id to accept: `tokenizers` loops over all numbers up to the last id when it writes a tokenizer."""

PREFIX = re.compile(r'"continuing_subword_prefix"\s*:\s*"[^"]')


class HuggingFaceTokenizer(Adapter):
    """A `tokenizers.Tokenizer`: byte-level BPE, BPE with byte fallback, Unigram, WordPiece, WordLevel."""

    def __init__(self, tokenizer: Any, name: str) -> None:
        super().__init__(name, 1 + max(tokenizer.get_vocab(with_added_tokens=True).values(), default=-1))
        if self.vocab_size > MOST_IDS:
            raise PairityError(
                f"the tokenizer {name!r} has the id {self.vocab_size - 1:,}, and a model needs a row for "
                "every id: either its file is damaged, or no model uses it."
            )
        # A copy, because truncation and padding are switched off in the object, and the caller's must not change.
        self._tokenizer = type(tokenizer).from_str(tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # "<s>" inside a text is text
        self._added = {
            int(token): None if added.special else added.content.encode()
            for token, added in self._tokenizer.get_added_tokens_decoder().items()
        }
        self._bytes_of = bytes_of_token(self._tokenizer)
        self._unknown = unknown_token(self._tokenizer)

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Integers]:
        return joined(e.ids for e in self._tokenizer.encode_batch(lines, add_special_tokens=False))

    def decode(self, ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(plain(ids), skip_special_tokens=False))

    def token_bytes(self, token: int) -> bytes | None:
        if token in self._added:
            return self._added[token]
        piece = self._tokenizer.id_to_token(token)
        return None if piece is None or piece == self._unknown else self._bytes_of(piece)

    def pretoken_counts(self, lines: list[str]) -> Integers | None:
        pretokenizer, normalizer = self._tokenizer.pre_tokenizer, self._tokenizer.normalizer
        if pretokenizer is None:
            return None
        normal = lines if normalizer is None else [normalizer.normalize_str(line) for line in lines]
        return np.array([len(pretokenizer.pre_tokenize_str(line)) for line in normal], dtype=np.int64)


class TransformersTokenizer(Adapter):
    """A transformers tokenizer written in Python, with no `tokenizers` object inside."""

    def __init__(self, tokenizer: Any, name: str) -> None:
        super().__init__(name, 1 + max(tokenizer.get_vocab().values(), default=-1))
        self._tokenizer = tokenizer
        self._special = {int(token) for token in tokenizer.all_special_ids}
        self._bytes_of = piece_bytes
        if type(tokenizer).__name__ == "ByT5Tokenizer":  # its tokens are the bytes, written as Latin-1
            self._bytes_of = latin1_bytes
        elif any(token.startswith("\u0120") for token in tokenizer.get_vocab()):
            self._bytes_of = byte_level_bytes

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Integers]:
        return joined(self._tokenizer.encode(line, add_special_tokens=False) for line in lines)

    def decode(self, ids: Sequence[int]) -> str:
        text = self._tokenizer.decode(
            plain(ids), skip_special_tokens=False, clean_up_tokenization_spaces=False
        )
        return str(text)

    def token_bytes(self, token: int) -> bytes | None:
        if token in self._special:
            return None
        piece = self._tokenizer.convert_ids_to_tokens(token)
        return piece if isinstance(piece, bytes) else self._bytes_of(str(piece).removeprefix("##"))


def open_tokenizer_json(path: Path, name: str) -> TokenizerLike:
    import tokenizers

    try:
        contents = path.read_bytes().decode()
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError as error:
        raise PairityError(f"{path} is damaged, it is not UTF-8: {error}. Get the file again.") from None
    check_prefix(contents, path)
    try:
        return HuggingFaceTokenizer(tokenizers.Tokenizer.from_str(contents), name)
    except BaseException as error:
        raise_unless_its_own(error)
        raise PairityError(f"{path} is not a tokenizer.json that tokenizers can read: {error}") from error


def check_prefix(contents: str, path: Path) -> None:
    """Refuse merges without the prefix of continuing pieces.

    `tokenizers` removes it without checking, and crashes the process if that splits a character.
    """
    if not PREFIX.search(contents):
        return
    model = parse_json(contents.encode(), path).get("model")
    if not isinstance(model, dict) or not isinstance(model.get("merges"), list):
        return
    for merge in model["merges"]:
        pair = merge.split(" ") if isinstance(merge, str) else merge
        right = pair[-1] if isinstance(pair, list) and pair else None
        if isinstance(right, str) and not right.startswith(str(model["continuing_subword_prefix"])):
            raise PairityError(
                f"{path} is damaged: the second half of the merge {merge!r} does not begin with the "
                "continuing_subword_prefix."
            )


def from_transformers(tokenizer: Any, name: str) -> TokenizerLike:
    inner = getattr(tokenizer, "backend_tokenizer", None)
    if inner is not None:
        return HuggingFaceTokenizer(inner, name)
    return TransformersTokenizer(tokenizer, name)


def bytes_of_token(tokenizer: Any) -> Callable[[str], bytes]:
    """How this tokenizer spells bytes in its tokens, derived from its parts."""
    parts = [part for part in (tokenizer.decoder, tokenizer.pre_tokenizer) if part is not None]
    states = [json.loads(part.__getstate__()) for part in parts]
    kinds = {kind for state in states for kind in kinds_in(state)}
    if "ByteLevel" in kinds:
        return byte_level_bytes
    if "WordPiece" in kinds or type(tokenizer.model).__name__ == "WordPiece":
        prefix = str(getattr(tokenizer.model, "continuing_subword_prefix", None) or "##")
        return lambda piece: piece.removeprefix(prefix).encode()
    return piece_bytes


def kinds_in(state: Any) -> Iterable[str]:
    """Every `type` in the settings of a pre-tokenizer or decoder, nested ones included."""
    if isinstance(state, dict):
        if isinstance(state.get("type"), str):
            yield state["type"]
        for value in state.values():
            yield from kinds_in(value)
    elif isinstance(state, list):
        for value in state:
            yield from kinds_in(value)


def unknown_token(tokenizer: Any) -> str | None:
    if type(tokenizer.model).__name__ == "Unigram":
        unknown = json.loads(tokenizer.to_str())["model"]["unk_id"]
        return None if unknown is None else str(tokenizer.id_to_token(unknown))
    return getattr(tokenizer.model, "unk_token", None)


def byte_level_bytes(piece: str) -> bytes:
    try:
        return to_bytes(piece)
    except KeyError:  # a token added as plain text
        return piece.encode()


def latin1_bytes(piece: str) -> bytes:
    return piece.encode("latin-1")
