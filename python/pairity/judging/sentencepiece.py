"""The adapter for SentencePiece models."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pairity.errors import PairityError
from pairity.extras import load_extra
from pairity.judging.arrays import Ids, Integers
from pairity.judging.protocol import Adapter, joined, plain
from pairity.threads import thread_count


class SentencePieceTokenizer(Adapter):
    """A `sentencepiece.SentencePieceProcessor`: Unigram or BPE over characters, byte fallback or not."""

    def __init__(self, processor: Any, name: str, threads: int | None) -> None:
        super().__init__(name, int(processor.vocab_size()))
        self._processor = processor
        self._threads = thread_count(threads)

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Integers]:
        if not lines:
            return joined([])
        return joined(self._processor.encode(lines, out_type=int, num_threads=self._threads))

    def decode(self, ids: Sequence[int]) -> str:
        return str(self._processor.decode(plain(ids)))

    def token_bytes(self, token: int) -> bytes | None:
        if self._processor.is_unknown(token) or self._processor.is_control(token):
            return None
        return piece_bytes(self._processor.id_to_piece(token))


def open_sentencepiece(path: Path, name: str, threads: int | None) -> SentencePieceTokenizer:
    sentencepiece = load_extra("sentencepiece", f"the tokenizer {path}")
    try:
        processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    except Exception as error:
        raise PairityError(f"{path} is not a SentencePiece model: {error}") from error
    return SentencePieceTokenizer(processor, name, threads)


def piece_bytes(piece: str) -> bytes:
    r"""How SentencePiece writes bytes: "▁a" -> b" a", "<0xC3>" -> b"\xc3"."""
    if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
        try:
            return bytes([int(piece[3:5], 16)])
        except ValueError:
            pass
    return piece.replace("\u2581", " ").encode()
