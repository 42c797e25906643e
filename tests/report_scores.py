"""Scores to report on, made by the real evaluation from small tokenizers."""

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

from pairity.judging.evaluation import evaluate
from pairity.judging.scores import Scores

ODD_NAMES = (
    "<script>alert(1)</script>",
    "\"quoted\" & 'single' `tick` | pipe",
    "שלום עולם",
    "long " * 60,
    "50 % _under_ $cash$ {brace} \\slash",
)
TEXTS = {
    "eng_Latn": [
        "the cat sat on the mat",
        "a small house by the sea",
        "we read books at night",
        "rain again",
    ],
    "tel_Telu": ["పిల్లి చాప మీద కూర్చుంది", "సముద్రం పక్కన చిన్న ఇల్లు", "మేము రాత్రి చదువుతాము", "మళ్ళీ వాన"],
    "heb_Hebr": ["החתול ישב על המחצלת", "בית קטן ליד הים", "אנחנו קוראים בלילה", "שוב גשם"],
    "rus_Cyrl": ["кот сидел на коврике", "маленький дом у моря", "мы читаем ночью", "опять дождь"],
    "xyz_Latn": ["qux vorp zan", "blib nar tok", "wem lorp", "zut"],
}


class Chunks:
    """Cuts lines into chunks of `size` bytes (`by_character`: of characters); ids are made up on the way."""

    def __init__(self, name: str, size: int, *, by_character: bool = False) -> None:
        self.name, self.size, self.by_character, self.vocab_size = name, size, by_character, 4000
        self.pieces: list[bytes] = []

    def encode_lines(self, lines: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        rows = [[self._id(piece) for piece in self._cut(line)] for line in lines]
        return np.array([token for row in rows for token in row], np.uint32), np.cumsum([0, *map(len, rows)])

    def _cut(self, line: str) -> list[bytes]:
        if self.by_character:
            return [line[at : at + self.size].encode() for at in range(0, len(line), self.size)]
        raw = line.encode()
        return [raw[at : at + self.size] for at in range(0, len(raw), self.size)]

    def _id(self, piece: bytes) -> int:
        if piece not in self.pieces:
            self.pieces.append(piece)
        return self.pieces.index(piece)

    def decode(self, ids: Sequence[int]) -> bytes:
        return b"".join(self.pieces[token] for token in ids)

    def token_bytes(self, token: int) -> bytes:
        return self.pieces[token]


def tokenizers(names: Sequence[str] = ("bytes", "characters")) -> dict[str, Chunks]:
    """The first cuts bytes: other scripts pay more. The rest cut characters: all pay about alike."""
    return {
        name: Chunks(name, 2, by_character=False)
        if index == 0
        else Chunks(name, 1 + index, by_character=True)
        for index, name in enumerate(names)
    }


def scores(names: Sequence[str] = ("bytes", "characters"), **options: object) -> Scores:
    languages = options.pop("languages", list(TEXTS))
    chosen = {code: TEXTS[code] for code in languages}
    return evaluate(tokenizers(names), chosen, **{"baseline": names[0], "resamples": 50, **options})  # type: ignore[arg-type]


def trace_table() -> pa.Table:
    """A run of eight merges over two languages: classical for two, then whoever is most expensive."""
    served = [None, None, None, "tel_Telu", "tel_Telu", "tel_Telu", "eng_Latn", "tel_Telu", "eng_Latn"]
    steps = len(served)
    return pa.table(
        {
            "step": list(range(steps)),
            "language": pa.array(served, pa.string()),
            "left": pa.array([None] + [b"a"] * (steps - 1), pa.binary()),
            "right": pa.array([None] + [b"b"] * (steps - 1), pa.binary()),
            "count": pa.array([None] + [9] * (steps - 1), pa.int64()),
            "vocab_size": [256 + step for step in range(steps)],
            "cost:eng_Latn": pa.array([20.0, 19.0, 18.0, None, 18.0, None, 17.0, 17.0, 16.0], pa.float64()),
            "cost:tel_Telu": pa.array([60.0, 59.0, 58.0, None, 40.0, None, 30.0, 20.0, 20.0], pa.float64()),
        }
    )


class Traced(Chunks):
    """A tokenizer that carries the trace of its training."""

    trace = trace_table()
