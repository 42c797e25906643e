"""Small tokenizers to test with, trained on the sample of the package, and text that is hard to encode."""

import copy
import functools
import unicodedata
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

import pairity
from pairity import _core
from pairity.text.pretokenizers import PRESETS, pattern_of
from pairity.tokenizer.tokenizer import Tokenizer

SAMPLE = Path(pairity.__file__).parent / "sample" / "dev"
END = "<|endoftext|>"
SPECIALS = (END, "<pad>", "<|user|>")
BYTES = {byte: bytes([byte]) for byte in range(256)}

KINDS = [(name, digits) for name in PRESETS for digits in (False, True)]
"""Every preset, with its numbers together and apart."""

OWN_PATTERN = r"(?i:q)|\w+|[^\w\s]+|\s+$|(?s:.)"
"""A pattern of a user's own that covers all text and that Hugging Face must be told in other words."""


SAVED = {
    "tokenizer.json",
    "tokenizer_config.json",
    "special_tokens_map.json",
    "merges.txt",
    "vocab.json",
    "pairity.json",
    "trace.parquet",
}
"""The files of a trained tokenizer that was saved."""


def changed(contents: dict, path: str, value: object) -> dict:
    """A copy with one thing changed: "model.dropout" -> 0.1, "added_tokens.0.id" -> 7."""
    made = copy.deepcopy(contents)
    *outer, last = path.split(".")
    place = made
    for key in outer:
        place = place[int(key) if isinstance(place, list) else key]
    place[int(last) if isinstance(place, list) else last] = value
    return made


def trained_merges(pattern: str | None, merges: int) -> np.ndarray:
    """Pairs in engine ids, learned from a few languages of the sample."""
    counter = _core.Counter(pattern)
    for language in ("eng_Latn", "fra_Latn", "rus_Cyrl", "arb_Arab", "jpn_Jpan", "hin_Deva"):
        file = SAMPLE / f"{language}.txt"
        if file.exists():
            counter.add_lines(file.read_bytes())
    pretokens, offsets, counts, _ = counter.finish()
    columns, *_ = _core.train(
        [((pretokens, np.frombuffer(offsets, np.int64), np.frombuffer(counts, np.uint64)), None)],
        merges=merges,
    )
    left, right = (np.frombuffer(column, np.uint32) for column in columns[:2])
    return np.column_stack([left, right])


@functools.cache
def small(
    pretokenizer: str = "gpt4o",
    *,
    digits: bool = False,
    normalize: str | None = None,
    merges: int = 1500,
    special_tokens: tuple[str, ...] = SPECIALS,
) -> Tokenizer:
    pattern = pattern_of(pretokenizer, digits=digits)
    return Tokenizer.from_merges(
        trained_merges(pattern, merges), pattern=pattern, normalize=normalize, special_tokens=special_tokens
    )


def odd_trace(tok: Tokenizer) -> pa.Table:
    """Every other merge served English."""
    rows = len(tok.merges) + 1
    language = [None, *("eng" if i % 2 else None for i in range(1, rows))]
    return pa.table({"step": range(rows), "language": language, "count": [None, *range(1, rows)]})


def sample_lines() -> list[str]:
    """The first lines of every language of the sample."""
    return [
        line for file in sorted(SAMPLE.glob("*.txt")) for line in file.read_text("utf-8").splitlines()[:8]
    ]


@functools.cache
def _ranks(tok: Tokenizer) -> tuple[dict[tuple[int, int], tuple[int, int]], dict[bytes, int]]:
    ranks: dict[tuple[int, int], tuple[int, int]] = {}
    for rank, (left, right, new) in enumerate(tok.merges.tolist()):
        ranks.setdefault((left, right), (rank, new))
    return ranks, tok.vocabulary


def naive_ids(tok: Tokenizer, text: str | bytes) -> list[int]:
    """The definition, word for word: merge the adjacent pair of the lowest rank, leftmost first."""
    ranks, vocabulary = _ranks(tok)
    found = []
    for word in _core.pretokenize(tok.pattern, text) if isinstance(text, str) else [text]:
        encoded = word.encode() if isinstance(word, str) else word
        if tok.whole_pretokens and encoded in vocabulary:
            found.append(vocabulary[encoded])
            continue
        ids = [vocabulary[bytes([byte])] for byte in encoded]
        while pairs := [(ranks[pair], i) for i, pair in enumerate(pairwise(ids)) if pair in ranks]:
            (_, new), at = min(pairs)
            ids[at : at + 2] = [new]
        found += ids
    return found


NASTY = [
    "",
    " ",
    "\n",
    "a" * 500,
    "ab" * 300,
    " " * 257,
    "\t \r\n\r\n  x",
    "Don't STOP it's I'LL 'ſ",
    "e\u0301cole E\u0301 \u0301\u0301",
    "12345678 1,234.5 ٣٤ ½ Ⅷ",
    "हिन्दी में ९९। ภาษาไทย 日本語、カタカナ\u3000한국어",
    "العَرَبِيَّة עִבְרִית \u200f\u200d\u200c",
    "😀👨‍👩‍👧🏳️‍🌈\ufeff\u2028\u0085\u00a0\x00\x7f",
    "<|endoftext <pad <| user|> ĠĊ",
    "camelCaseHTMLPage_v2 /path/to/file\\n --- ==== !!!???",
    "def f(x):\n    return {k: v**2 for k, v in x.items() if k != '_'}\n",
]

# Characters that have the same class in every Unicode version that a library may have been built with.
_SETTLED = [chr(c) for c in range(0x11000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
# Hypothesis also tries strings that it finds in source code, and a special token is not read as text everywhere.
unicode_text = st.text(
    st.sampled_from(_SETTLED) | st.sampled_from(" \n\r'sStaAé1٣_/-\u0301\u00a0"), max_size=60
).filter(lambda text: not any(special in text for special in SPECIALS))
