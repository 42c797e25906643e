"""Files that cannot be kept as they are: each is refused, and the reason is named."""

import json

import pytest

from pairity.errors import PairityError
from pairity.text.pretokenizers import CL100K
from pairity.tokenizer.tokenizer import Tokenizer
from peer_tokenizers import Pretended, contents_of_small
from small_tokenizers import changed, small

tiktoken = pytest.importorskip("tiktoken")


def _with(path: str, value: object) -> dict:
    """The contents of a good tokenizer.json with one thing changed: "model.dropout" -> 0.1."""
    return changed(contents_of_small(), path, value)


def _split(pattern: str) -> dict:
    return {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False}


SPLIT = _split(r"\S+|\s+")


BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}


def _sequence(*steps: dict) -> dict:
    return {"type": "Sequence", "pretokenizers": list(steps)}


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        ("model", None, "damaged"),
        ("model", {"type": "BPE"}, "damaged"),
        ("model.type", "Unigram", "is Unigram, not BPE"),
        ("model.dropout", 0.1, "dropout"),
        ("model.byte_fallback", True, "byte_fallback"),
        ("model.end_of_word_suffix", "</w>", "end_of_word_suffix"),
        ("model.merges.0", ["a", "zzz"], "merge 0 .*'zzz', is not a token"),
        ("model.merges.0", "a b c", "not a pair"),
        ("model.merges.3", ["<pad>", "a"], "'<pad>', is not a token"),
        ("model.merges.0", ["Ġ", "¡"], "'Ġ¡', which it makes, is not a token"),
        ("model.merges.0", 7, "not a pair of tokens"),
        ("model.vocab.!", 5, "id 5 is given to"),
        ("model.vocab.new", 9999, "ids below 10000 have no token"),
        ("model.vocab.日本", 1759, "not written in the byte-level alphabet"),
        ("model.vocab.new", "1759", "not a whole number"),
        ("normalizer", {"type": "NFKC"}, "NFKC cannot be kept"),
        ("pre_tokenizer", None, "pre-tokenizer .* is missing"),
        ("pre_tokenizer", {"type": "Whitespace"}, "ends with Whitespace, not with ByteLevel"),
        ("pre_tokenizer", BYTE_LEVEL | {"add_prefix_space": True}, "add_prefix_space"),
        (
            "pre_tokenizer",
            _sequence(BYTE_LEVEL, SPLIT, BYTE_LEVEL),
            "the pre-tokenizer ByteLevel cannot be kept",
        ),
        ("pre_tokenizer", _sequence(SPLIT | {"behavior": "Removed"}, BYTE_LEVEL), "only Isolated can"),
        ("pre_tokenizer", _sequence(SPLIT | {"pattern": {"String": 3}}, BYTE_LEVEL), "3 is not a string"),
        (
            "pre_tokenizer",
            _sequence(SPLIT | {"pattern": {"Regex": r"\s+$|."}}, BYTE_LEVEL),
            r"the pattern '\\s\+\$\|\.' means different things",
        ),
        (
            "pre_tokenizer",
            _sequence(SPLIT | {"pattern": {"Regex": r"(a"}}, BYTE_LEVEL),
            "cannot run the pattern",
        ),
        ("decoder", {"type": "WordPiece"}, "WordPiece cannot be kept"),
        ("added_tokens.0.lstrip", True, "sets lstrip"),
        ("added_tokens.0.id", 77, "has the id 77, but 0"),
        ("added_tokens.1.content", "<|endoftext|>", "adds the same token twice"),
        ("added_tokens.0.content", "", "is empty"),
        ("added_tokens.0.content", None, "None is not a string"),
        ("added_tokens.0.id", "0", "'0' is not a whole number"),
        ("added_tokens.0.id", None, "None is not a whole number"),
        ("added_tokens.0.id", 0.0, "0.0 is not a whole number"),
        ("added_tokens.0", 7, "damaged"),
        ("added_tokens", {"id": 0}, "is not a list"),
        ("model.vocab", [["a", 0]], "damaged"),
        ("model.vocab.new", True, "True is not a whole number"),
        ("model.vocab.new", 10**30, "damaged|ids go from 0"),
        ("model.vocab.new", -1, "ids go from 0"),
        ("model.merges", {"a b": 0}, "is not a list"),
        ("model.merges", "", "is not a list"),
        ("model.merges", None, "None is not a list"),
        ("model.merges.0", {"a": 1, "b": 2}, "not a pair of tokens"),
        ("model.merges.0", ["a", 1], "not a pair of tokens"),
        ("model.ignore_merges", "false", "is not true or false"),
        (
            "pre_tokenizer",
            _sequence(SPLIT | {"pattern": {"Regex": None}}, BYTE_LEVEL),
            "None is not a string",
        ),
    ],
)
def test_a_tokenizer_json_that_cannot_be_kept_is_refused(tmp_path, path, value, message):
    file = tmp_path / "tokenizer.json"
    file.write_text(json.dumps(_with(path, value)))
    with pytest.raises(PairityError, match=message):
        Tokenizer.from_huggingface(file)


def test_a_vocabulary_without_all_bytes_is_refused():
    contents = contents_of_small()
    del contents["model"]["vocab"]["ÿ"]
    with pytest.raises(PairityError, match="lacks 1 of the 256 bytes, such as 0xFF"):
        Tokenizer.from_huggingface(Pretended(contents), allow_holes=True)


def test_files_that_are_no_tokenizers_are_refused(tmp_path):
    for content, message in (
        (b"{", "not JSON"),
        (b"[1]", "holds a list"),
        (b'{"a": 0, "b": 1}', "it has no model"),
        (b"\xff\xfe\x00", "not JSON"),
        (b'{"version": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"version": "\\uD83D\\ude00 \\ud83d"}', "half a character"),
        (b'{"model": ' + b"[" * 100_000, "not JSON"),
    ):
        (tmp_path / "tokenizer.json").write_bytes(content)
        with pytest.raises(PairityError, match=message):
            Tokenizer.from_huggingface(tmp_path)
    with pytest.raises(PairityError, match="there is no"):
        Tokenizer.from_huggingface(tmp_path / "nowhere")
    with pytest.raises(PairityError, match=r"give a tokenizer\.json"):
        Tokenizer.from_huggingface(3)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (b"not-base64! 0\n", r"line 1: not a token in base64"),
        (b"YQ==\n", r"line 1: not a token"),
        (b"YQ== 1_0\n", r"line 1: not a token"),
        (b"YQ== " + b"9" * 5000 + b"\n", r"line 1: not a token"),
        (b"YQ== 0\nYQ== 1\n", r"line 2: the token b'a' appears twice"),
        (b"YQ== 0\nYg== 0\n", "rank 0 is given to two tokens"),
        (b"YQ== 0\n", "lacks 255 of the 256 bytes"),
    ],
)
def test_damaged_ranks_are_refused(tmp_path, lines, message):
    (tmp_path / "x.tiktoken").write_bytes(lines)
    with pytest.raises(PairityError, match=message):
        Tokenizer.from_tiktoken(tmp_path / "x.tiktoken", pattern="gpt4o")


def test_ranks_need_a_pattern_that_keeps_all_text(tmp_path):
    small().export("tiktoken", tmp_path / "x.tiktoken")
    (tmp_path / "x.json").unlink()
    with pytest.raises(PairityError, match="takes pattern="):
        Tokenizer.from_tiktoken(tmp_path / "x.tiktoken")
    specials = dict(small().special_tokens)
    assert (
        Tokenizer.from_tiktoken(tmp_path / "x.tiktoken", pattern="gpt4o", special_tokens=specials) == small()
    )
    with pytest.raises(PairityError, match="3 ids below 1759 have no token, such as 0"):
        Tokenizer.from_tiktoken(tmp_path / "x.tiktoken", pattern="gpt4o")
    dropping = tiktoken.Encoding(
        "x", pat_str=r"\S+", mergeable_ranks=dict(small().vocabulary), special_tokens=specials
    )
    with pytest.raises(PairityError, match="tiktoken drops text"):
        Tokenizer.from_tiktoken(dropping)
    with pytest.raises(PairityError, match="there is no"):
        Tokenizer.from_tiktoken(tmp_path / "nowhere", pattern="gpt4o")


def test_damaged_merges_files_are_refused(tmp_path):
    merges = tmp_path / "merges.txt"
    for content, message in (
        ("#version: 0.2\na b\nab cd\n", r"merge 1 \('ab cd'\) is not a pair"),
        ("a b c\n", "is not a pair"),
        ("a 日\n", "is not a pair"),
    ):
        merges.write_text(content, encoding="utf-8")
        with pytest.raises(PairityError, match=message):
            Tokenizer.from_merges_file(merges)
    merges.write_bytes(b"\xff\xfe")
    with pytest.raises(PairityError, match="not UTF-8"):
        Tokenizer.from_merges_file(merges)
    with pytest.raises(PairityError, match="there is no"):
        Tokenizer.from_merges_file(tmp_path / "nowhere")
    vocab, merges = small("gpt2").export("merges", tmp_path, force=True)
    with pytest.raises(PairityError, match="'<nope>' is not in"):
        Tokenizer.from_merges_file(merges, vocab, special_tokens=["<nope>"])
    with pytest.raises(PairityError, match="unknown pre-tokenizer"):
        Tokenizer.from_merges_file(merges, pretokenizer="gpt5")


def test_a_million_spaces_are_encoded_with_the_pattern_of_tiktoken():
    tok = Tokenizer.from_merges([], pattern=CL100K)
    text = " " * 1_000_000 + "x"
    assert len(tok.encode(text)) == len(text)


def test_the_settings_beside_ranks_are_checked(tmp_path):
    tok = small()
    ranks, beside = tok.export("tiktoken", tmp_path / "x.tiktoken")
    saved = json.loads(beside.read_text())
    for change, message in (
        ({"ranks": "0" * 64}, "is not the file that x.json was written for"),
        ({"ranks": None}, "is not the file that x.json was written for"),
        ({"pat_str": 5}, "5 is not a string"),
        ({"special_tokens": ["<s>"]}, "is not an object"),
        ({"special_tokens": {"<s>": "0"}}, "'0' is not a whole number"),
    ):
        beside.write_text(json.dumps(saved | change))
        with pytest.raises(PairityError, match=message):
            Tokenizer.from_tiktoken(ranks)
    beside.write_text(json.dumps(saved))
    assert Tokenizer.from_tiktoken(ranks) == Tokenizer.from_tiktoken(tok.to_tiktoken())
    ranks.write_bytes(ranks.read_bytes().replace(b" 300\n", b" 9300\n"))
    with pytest.raises(PairityError, match="damaged, or has been changed"):
        Tokenizer.from_tiktoken(ranks)
