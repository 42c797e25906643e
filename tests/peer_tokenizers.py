"""Small tokenizers of other libraries, lines to encode, and what an opened tokenizer makes of them."""

import base64
import itertools
import json
from pathlib import Path

import numpy as np
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from pairity.judging.protocol import TokenizerLike
from small_tokenizers import small

LINES = ["Hello, world! Hello again.", "", "Straße mit 漢字 und 😀", "ab ab ab 12345", "  two  spaces "]

CORPUS = ["Hello, world! Hello again.", "Straße mit 漢字 und 😀", "the quick brown fox", "ab ab ab 12345"] * 5


def byte_level(size: int = 320) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=alphabet, special_tokens=["<s>", "</s>"], show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def unigram() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=60, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def characters(known: str) -> Tokenizer:
    """A BPE over characters without an unknown token, which drops all others without a word."""
    tokenizer = Tokenizer(models.BPE({character: i for i, character in enumerate(sorted(set(known)))}, []))
    tokenizer.decoder = decoders.Fuse()
    return tokenizer


def wordpiece() -> Tokenizer:
    pieces = ["[UNK]", "[CLS]", "[SEP]", "hello", "##s", "wor", "##ld", ",", "!", "ab", "a", "##b"]
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return tokenizer


def write_ranks(path: Path, more: int = 0) -> Path:
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab", b" ab", b"He"]
    tokens += [f"token {number}".encode() for number in range(more)]
    lines = [f"{base64.b64encode(token).decode()} {rank}" for rank, token in enumerate(tokens)]
    path.write_text("\n".join(lines) + "\n")
    return path


def rows(tokenizer: TokenizerLike, lines: list[str]) -> list[list[int]]:
    ids, offsets = tokenizer.encode_lines(lines)
    assert ids.dtype == np.uint32
    assert offsets.dtype == np.int64
    assert len(offsets) == len(lines) + 1
    assert offsets[-1] == len(ids)
    return [ids[a:b].tolist() for a, b in itertools.pairwise(offsets)]


def joined_bytes(tokenizer: TokenizerLike, row: list[int]) -> bytes:
    return b"".join(tokenizer.token_bytes(token) or b"?" for token in row)


class Pretended:
    """Looks like a tokenizers.Tokenizer that has these contents."""

    def __init__(self, contents: dict) -> None:
        self.contents = contents

    def to_str(self) -> str:
        return json.dumps(self.contents)


def contents_of_small() -> dict:
    """The tokenizer.json of a small one of ours."""
    return json.loads(small().to_huggingface().to_str())
