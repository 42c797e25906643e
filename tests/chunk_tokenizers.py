"""Tokenizers that cut bytes into chunks, a small parallel text, and its scores: costs can be counted by hand."""

import numpy as np

from pairity.judging.evaluation import evaluate
from pairity.judging.scores import Scores


class Chunks:
    """Cuts every line into chunks of `size` bytes; ids are made up as chunks are seen."""

    def __init__(self, size: int, name: str = "chunks", vocab_size: int = 5000, dev: object = None) -> None:
        self.size, self.name, self.vocab_size, self.dev = size, name, vocab_size, dev
        self.pieces: list[bytes] = []
        self.ids: dict[bytes, int] = {}

    def encode_lines(self, lines):  # type: ignore[no-untyped-def]
        rows = [self.encode(line) for line in lines]
        return np.array([t for row in rows for t in row], dtype=np.uint32), np.cumsum([0, *map(len, rows)])

    def encode(self, line: str) -> list[int]:
        raw = line.encode()
        row = []
        for start in range(0, len(raw), self.size):
            piece = raw[start : start + self.size]
            if piece not in self.ids:
                self.ids[piece] = len(self.pieces)
                self.pieces.append(piece)
            row.append(self.ids[piece])
        return row

    def decode(self, ids):  # type: ignore[no-untyped-def]
        return b"".join(self.pieces[token] for token in ids)

    def token_bytes(self, token: int) -> bytes:
        return self.pieces[token]

    def steered_by(self, lines: list[str]) -> bool:
        return lines == self.dev

    def pretoken_counts(self, lines: list[str]):  # type: ignore[no-untyped-def]
        return np.array([len(line.split()) for line in lines])


class Fussy(Chunks):
    """Fails on every line that holds a word it does not like, as some tokenizers do on some scripts."""

    def __init__(self, word: str, **more) -> None:  # type: ignore[no-untyped-def]
        super().__init__(3, "fussy", **more)
        self.word = word

    def encode(self, line: str) -> list[int]:
        if self.word in line:
            raise RuntimeError(f"cannot read {self.word!r}")
        return super().encode(line)


TEXTS = {
    "eng_Latn": ["hello world", "one two three four", "a cat", "it rains again", "the end is near"],
    "ell_Grek": ["γειά σου κόσμε", "ένα δύο τρία τέσσερα", "μία γάτα", "βρέχει πάλι", "το τέλος είναι κοντά"],
    "zho_Hans": ["你好，世界", "一二三四", "一只猫", "又下雨了", "末日近了 😀"],
}


def scores_of(tokenizers=None, texts=TEXTS, **more) -> Scores:  # type: ignore[no-untyped-def]
    chosen = {"three": Chunks(3), "two": Chunks(2)} if tokenizers is None else tokenizers
    return evaluate(chosen, texts, **({"resamples": 200} | more))


def row(scores: Scores, tokenizer: str, metric: str, language: str | None = None) -> dict[str, object]:
    found = [r for r in scores.select(tokenizer, metric).to_pylist() if r["language"] == language]
    assert len(found) == 1
    return found[0]


def plain_costs(size: int, lines: list[int] | None = None) -> dict[str, float]:
    chosen = range(5) if lines is None else lines
    return {
        code: sum(-(-len(text[i].encode()) // size) for i in chosen) / len(chosen)
        for code, text in TEXTS.items()
    }
