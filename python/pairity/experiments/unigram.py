"""UnigramLM over bytes, for comparison: the same pre-tokens and bytes as BPE, with another algorithm.

    train_unigram(count("train/"), 32_000)  ->  a tokenizers.Tokenizer

SentencePiece learns it (Kudo, 2018) from counts of pre-tokens, written in GPT-2's byte-level alphabet, so that one
character is one byte. We provide the pieces that it starts from. Given counts, it would count those in the list of
words but single characters in the text; these would then look so likely that most words end up as single bytes, and a
line costs twice the tokens. The trainer of `tokenizers` is no alternative: it gives other pieces every time, and is
slower.
"""

from __future__ import annotations

import io
import json
import math
import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np

from pairity.bpe.alphabet import BYTE_ORDER, to_text
from pairity.counts.counts import Counts
from pairity.errors import PairityError
from pairity.experiments.substrings import JoinedWords, frequent_pieces, merged
from pairity.extras import load_extra
from pairity.formats import pre_tokenizers

MOST_BYTES: Final = 64
"""The longest piece. SentencePiece's default of 16 characters, which are bytes here, would be five letters of Thai."""

SETTINGS: Final[Mapping[str, Any]] = {
    "model_type": "unigram",
    "seed_sentencepiece_size": 1_000_000,
    "shrinking_factor": 0.75,
    "num_sub_iterations": 2,
    "max_sentencepiece_length": MOST_BYTES,
    "character_coverage": 1.0,
    # The text is already cut and must not change.
    "normalization_rule_name": "identity",
    "add_dummy_prefix": False,
    "remove_extra_whitespaces": False,
    "split_by_unicode_script": False,
    "split_by_number": False,
    "split_by_whitespace": True,
    "hard_vocab_limit": False,
    "bos_id": -1,
    "eos_id": -1,
}
"""The settings of SentencePiece besides the words, the size and the number of threads."""

SHARES: Final = 4
"""Threads of SentencePiece, fixed because the order in which it sums their results depends on their number."""

NO_PIECE: Final = "<unk>"
"""SentencePiece requires it, although nothing is unknown with all 256 bytes in the vocabulary."""


def train_unigram(counts: Counts, vocab_size: int) -> Any:
    """A `tokenizers.Tokenizer` of exactly `vocab_size` pieces, all 256 bytes among them, learned from `counts`."""
    if vocab_size <= len(BYTE_ORDER):
        raise PairityError(f"vocab_size is {vocab_size}: it includes the 256 bytes, so give more.")
    return wrapped(with_all_bytes(learn(merged(counts), vocab_size), vocab_size), counts)


def learn(words: JoinedWords, size: int) -> list[tuple[str, float]]:
    """`size` pieces (fewer if the text has no more) with the logarithms of their probabilities."""
    sentencepiece = load_extra("sentencepiece", "method unigram")
    model = io.BytesIO()
    with tempfile.TemporaryDirectory() as folder:
        table, seeds = Path(folder) / "words.tsv", Path(folder) / "seeds.tsv"
        write_table(table, words.rows())
        write_table(seeds, frequent_pieces(words, SETTINGS["seed_sentencepiece_size"], MOST_BYTES))
        try:
            sentencepiece.SentencePieceTrainer.train(
                input=str(table),
                input_format="tsv",
                seed_sentencepieces_file=str(seeds),
                model_writer=model,
                vocab_size=size + 1,  # NO_PIECE is one of them
                unk_piece=NO_PIECE,
                max_sentence_length=4 * int(np.diff(words.offsets).max()),
                num_threads=SHARES,
                minloglevel=2,
                **SETTINGS,
            )
        except RuntimeError as error:
            raise PairityError(f"SentencePiece could not learn {size:,} pieces: {error}") from error
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    numbers = [i for i in range(processor.vocab_size()) if not processor.is_unknown(i)]
    return [(processor.id_to_piece(i), processor.get_score(i)) for i in numbers]


def write_table(path: Path, rows: Iterable[tuple[bytes, int]]) -> None:
    with path.open("w", encoding="utf-8") as file:
        file.writelines(f"{to_text(text)}\t{number}\n" for text, number in rows)


def with_all_bytes(pieces: list[tuple[str, float]], size: int) -> list[tuple[str, float]]:
    """`size` pieces: all bytes and the likeliest others. Bytes that are not in the text are the least likely."""
    known = {piece for piece, _ in pieces}
    least = min(score for _, score in pieces) - math.log(2)
    alphabet = [to_text(bytes([byte])) for byte in BYTE_ORDER]
    missing = [(byte, least) for byte in alphabet if byte not in known]
    surplus = len(missing) + len(pieces) - size
    if surplus < 0:
        found = len(missing) + len(pieces)
        raise PairityError(
            f"vocab_size is {size:,}, but UnigramLM found {found:,} pieces in this text. "
            f"Give more text, or a vocab_size of at most {found:,}."
        )
    longer = sorted((score, piece) for piece, score in pieces if len(piece) > 1)
    dropped = {piece for _, piece in longer[:surplus]}
    return missing + [(piece, score) for piece, score in pieces if piece not in dropped]


def wrapped(pieces: list[tuple[str, float]], counts: Counts) -> Any:
    """A tokenizer that cuts text like the counts, and then into the likeliest pieces."""
    import tokenizers

    cut = counts.pretokenization
    contents: dict[str, Any] = {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {"type": "NFC"} if cut.normalize == "nfc" else None,
        "pre_tokenizer": pre_tokenizers.write(cut.pattern),
        "post_processor": None,
        "decoder": pre_tokenizers.BYTE_LEVEL,
        "model": {"type": "Unigram", "unk_id": None, "vocab": pieces, "byte_fallback": False},
    }
    return tokenizers.Tokenizer.from_str(json.dumps(contents))
