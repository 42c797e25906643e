"""What a tokenizer is made of: tables that fit together, and those that do not."""

import pyarrow as pa
import pytest

from pairity import _core
from pairity.bpe import special
from pairity.counts.counts import Counts
from pairity.errors import PairityError
from pairity.tokenizer.tokenizer import Tokenizer
from small_tokenizers import (
    BYTES,
    odd_trace,
    small,
)


def test_the_table_of_tokens_has_no_rows_for_holes():
    tok = Tokenizer(BYTES | {300: b"ab"}, [(97, 98, 300)], pattern=None, allow_holes=True)
    counts = Counts.from_dicts({"eng_Latn": {"ab": 3, "ba": 2}}, pretokenizer="none")
    table = tok.table(counts)
    found = dict(zip(table["id"].to_pylist(), table["in:eng_Latn"].to_pylist(), strict=True))
    assert (len(found), found[300], found[97], found[99]) == (257, 3, 2, 0)


def test_the_table_says_where_tokens_come_from():
    plain = small()
    table = plain.table()
    assert table.column_names == ["id", "bytes", "text", "kind", "step", "language", "count"]
    assert table["id"].to_pylist() == list(range(len(plain)))
    assert table["kind"].to_pylist() == ["special"] * 3 + ["byte"] * 256 + ["learned"] * 1500
    assert table["step"].to_pylist()[258:261] == [None, 1, 2]
    assert table["language"].null_count == table.num_rows
    row = table.slice(plain.id_of(b"\xd0"), 1).to_pylist()[0]
    assert (row["bytes"], row["text"]) == (b"\xd0", None), "half a character is no text"

    traced = Tokenizer.from_merges(
        plain.engine_merges(),
        pattern=plain.pattern,
        special_tokens=list(plain.special_tokens),
        trace=odd_trace(plain),
    )
    assert traced.table()["language"].to_pylist()[259:262] == ["eng", None, "eng"]
    assert traced.table()["count"].to_pylist()[258:262] == [None, 1, 2, 3]
    with pytest.raises(PairityError, match="3 rows for 1500 merges"):
        Tokenizer.from_merges(plain.engine_merges(), pattern=None, trace=pa.table({"step": [0, 1, 2]}))


def test_reserved_tokens_and_padding():
    assert special.reserved(2) == ["<|reserved_0|>", "<|reserved_1|>"]
    assert [special.padding(size, 128) for size in (128, 129, 1000, 1023)] == [0, 127, 24, 1]
    with pytest.raises(PairityError, match="pad_to"):
        special.padding(10, 0)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([""], "is empty"),
        (["<s>", "<s>"], "'<s>' is given twice"),
        (["\ud800"], "lone surrogate"),
        ([7], "special tokens must be strings"),
        ("<s>", "must be a list"),
        (["!"], "'!' is also how tokenizer files spell"),
    ],
)
def test_bad_special_tokens_are_refused(tokens, message):
    with pytest.raises(PairityError, match=message):
        Tokenizer.from_merges([], pattern=None, special_tokens=tokens)


@pytest.mark.parametrize(
    ("tokens", "merges", "options", "message"),
    [
        (BYTES | {256: b"ab", 257: b"ab"}, [], {}, "tokens 256 and 257 are both b'ab'"),
        (BYTES | {256: b""}, [], {}, "token 256 is empty"),
        (BYTES | {300: b"ab"}, [], {}, "44 ids below 301 have no token, such as 256"),
        (BYTES | {2**31: b"ab"}, [], {"allow_holes": True}, "too many holes"),
        (BYTES | {-1: b"ab"}, [], {}, "ids go from 0"),
        ({i: bytes([i]) for i in range(255)}, [], {}, "lacks 1 of the 256 bytes, such as 0xFF"),
        (BYTES, [], {"special_tokens": {"<s>": 3}}, "id 3 is given to"),
        (BYTES | {256: b"ab"}, [(97, 98, 99)], {}, "merge 0 joins tokens 97 and 98 to token 99"),
        (BYTES | {256: b"ab"}, [(97, 98, 999)], {}, "merge 0"),
        (BYTES, [(1, 2)], {}, "3 columns"),
        (BYTES, [(1.5, 2, 3)], {}, "whole numbers"),
        (BYTES, [(-1, 2, 3)], {}, "out of range"),
        (BYTES, [], {"pattern": "(a"}, "not a valid regular expression"),
        (BYTES, [], {"normalize": "nfkc"}, "normalize is 'nfkc': give 'nfc'"),
    ],
)
def test_bad_tables_are_refused(tokens, merges, options, message):
    with pytest.raises(PairityError, match=message):
        Tokenizer(tokens, merges, **{"pattern": None, **options})


def test_merges_of_unknown_parts_are_refused():
    with pytest.raises(PairityError, match="merge 1 joins ids 257 and 3, but there are only 257 tokens"):
        Tokenizer.from_merges([(1, 2), (257, 3)], pattern=None)


def test_holes_are_allowed_when_said():
    tok = Tokenizer(BYTES | {300: b"ab"}, [(97, 98, 300)], pattern=None, allow_holes=True)
    assert (tok.vocab_size, len(tok)) == (257, 301)
    assert tok.encode("xab") == [120, 300]
    with pytest.raises(PairityError, match="id 256 is not in the vocabulary"):
        tok.decode([256])


def test_a_special_id_beyond_the_vocabulary_is_refused():
    tok = small("gpt4o")
    beyond = _core.Specials([("<x>", len(tok.tokens))])
    with pytest.raises(ValueError, match="vocabulary ends before"):
        tok._encoder.encode("a<x>", allowed=beyond)
