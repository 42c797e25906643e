"""WordPiece by its likelihood score, beside WordPiece by counts: docs/results/wordpiece-likelihood.json.

    (cd docs/likelihood && cargo build --release)
    python docs/likelihood.py DATA WORK

Data and measures are those of docs/other_algorithms.py, whose WORK this one shares.
"""

from __future__ import annotations

import ctypes
import json
import sys
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import tokenizers
from other_algorithms import LANGUAGES, SIZE, made, makers, measure, texts_of, write_record

from pairity import Counts, PairityWarning, Tokenizer
from pairity.bpe.alphabet import to_text
from pairity.formats import wordpiece
from pairity.training.engine import columns

HERE = Path(__file__).parent
RESULTS = HERE / "results" / "wordpiece-likelihood.json"
LEAST = 100


class Columns(ctypes.Structure):
    _fields_ = [
        ("bytes", ctypes.c_void_p),
        ("offsets", ctypes.c_void_p),
        ("counts", ctypes.c_void_p),
        ("distinct", ctypes.c_size_t),
    ]


def learn(library: Any, corpus: Counts, dev: Counts, *, parity: bool, least: int, share: float) -> Any:
    held, given = [], []
    for counts in (corpus, dev):
        rows = []
        for language in LANGUAGES:
            three = columns(counts[language])
            held.append(three)
            rows.append(Columns(*(array.ctypes.data for array in three), len(three[2])))
        given.append((Columns * len(rows))(*rows))
    steps = SIZE - 256
    pairs = np.zeros((2, steps), np.uint32)
    library.learn.restype = ctypes.c_size_t
    number = library.learn(
        ctypes.c_size_t(len(LANGUAGES)),
        given[0],
        given[1],
        ctypes.c_int(parity),
        ctypes.c_uint64(least),
        ctypes.c_double(share),
        ctypes.c_size_t(steps),
        ctypes.c_void_p(pairs[0].ctypes.data),
        ctypes.c_void_p(pairs[1].ctypes.data),
    )
    print(f"{number:,} merges", file=sys.stderr)
    tokens = [bytes([byte]) for byte in range(256)]
    for left, right in pairs[:, :number].T.tolist():
        tokens.append(tokens[left] + tokens[right])
    empty = Tokenizer.from_merges(np.zeros((0, 2), np.uint32), pattern=corpus.pretokenization.pattern)
    contents = wordpiece.write(empty.model)
    contents["model"]["vocab"] = {to_text(token): i for i, token in enumerate(dict.fromkeys(tokens))}
    return tokenizers.Tokenizer.from_str(json.dumps(contents))


if __name__ == "__main__":
    warnings.simplefilter("ignore", PairityWarning)
    library = ctypes.CDLL(sys.argv[3])
    data, work = map(Path, sys.argv[1:3])
    corpus, dev = texts_of(data)
    counted = makers(corpus, dev)
    run = partial(learn, library, corpus, dev)
    every = {
        "WordPiece": counted["WordPiece"],
        f"likelihood, pairs that occur {LEAST} times": lambda: run(parity=False, least=LEAST, share=0.0),
        "parity WordPiece": counted["parity WordPiece"],
        f"parity, likelihood, pairs that occur {LEAST} times": lambda: run(
            parity=True, least=LEAST, share=0.0
        ),
        "parity, likelihood, pairs at least a tenth as frequent as the first": lambda: run(
            parity=True, least=1, share=0.1
        ),
        "parity, likelihood, pairs at least half as frequent as the first": lambda: run(
            parity=True, least=1, share=0.5
        ),
    }
    ordinary = {name: "parity WordPiece" if "parity" in name else "WordPiece" for name in every}
    rows = measure(made(every, work), ordinary, data)
    note = (
        f"{SIZE:,} tokens, 30 languages, a fifth of the train text, FLORES-200 dev steers, devtest judges. Fewer and more: against "
        "WordPiece or parity WordPiece by counts."
    )
    write_record(RESULTS, rows, "python docs/likelihood.py ../shared/data WORK", note)
