"""Tokenizers of tokenizers and transformers: right ids, no special tokens, right bytes."""

import json
from pathlib import Path

import pytest
from tokenizers import (
    AddedToken,
    Tokenizer,
    models,
    processors,
)

from pairity.errors import PairityError
from pairity.judging.huggingface import HuggingFaceTokenizer
from pairity.judging.opening import open_tokenizer
from pairity.judging.protocol import TokenizerLike
from peer_tokenizers import LINES, byte_level, joined_bytes, rows, unigram, wordpiece


def test_byte_level_bpe(tmp_path: Path) -> None:
    own = byte_level()
    own.save(str(tmp_path / "tokenizer.json"))
    opened = open_tokenizer(tmp_path / "tokenizer.json")
    assert isinstance(opened, TokenizerLike)
    assert opened.name == tmp_path.name
    assert opened.vocab_size == own.get_vocab_size()
    for line, row in zip(LINES, rows(opened, LINES), strict=True):
        assert row == own.encode(line, add_special_tokens=False).ids
        assert joined_bytes(opened, row) == line.encode()
        assert opened.decode(row) == line
    assert opened.token_bytes(own.token_to_id("<s>")) is None
    assert opened.token_bytes(10**6) is None


def test_settings_of_the_object_are_neither_used_nor_changed() -> None:
    own = byte_level()
    own.enable_truncation(2)
    own.enable_padding(length=50)
    own.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    opened = open_tokenizer(own, name="mine")
    assert opened.name == "mine"
    (row,) = rows(opened, ["Hello, world!"])
    assert opened.decode(row) == "Hello, world!"
    assert own.truncation is not None
    assert own.padding is not None


def test_a_special_token_written_in_the_text_is_text() -> None:
    (row,) = rows(open_tokenizer(byte_level()), ["a<s>b"])
    assert len(row) == 5
    assert 0 not in row


def test_added_tokens_that_are_not_special_stand_for_their_text() -> None:
    own = byte_level()
    own.add_tokens([AddedToken("漢字", special=False)])
    opened = open_tokenizer(own)
    assert opened.token_bytes(own.token_to_id("漢字")) == "漢字".encode()


def test_unigram() -> None:
    opened = open_tokenizer(unigram(), name="unigram")
    row, strange = rows(opened, ["Hello world", "Ж"])
    assert joined_bytes(opened, row) == b" Hello world"  # the space that Metaspace puts in front
    assert opened.decode(row) == "Hello world"
    assert None in [opened.token_bytes(token) for token in strange]


def test_unigram_unknown_without_a_special_token() -> None:
    own = Tokenizer(models.Unigram([("unknown", -10.0), ("▁", -1.0), ("a", -2.0)], unk_id=0))
    opened = open_tokenizer(own)
    assert opened.token_bytes(0) is None
    assert opened.token_bytes(1) == b" "


def test_byte_fallback_pieces_are_bytes() -> None:
    vocabulary = {"<unk>": 0, "▁a": 1, "<0xC3>": 2, "<0xA9>": 3, "<0xZZ>": 4}
    own = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True))
    opened = open_tokenizer(own)
    assert [opened.token_bytes(token) for token in range(5)] == [None, b" a", b"\xc3", b"\xa9", b"<0xZZ>"]


def test_wordpiece_adds_no_cls_and_strips_its_prefix() -> None:
    opened = open_tokenizer(wordpiece())
    row, strange = rows(opened, ["Hellos world", "漢"])
    assert [opened.token_bytes(token) for token in row] == [b"hello", b"s", b"wor", b"ld"]
    assert [opened.token_bytes(token) for token in strange] == [None]


def test_pretoken_counts_are_the_pretokenizers_own() -> None:
    assert HuggingFaceTokenizer(byte_level(), "x").pretoken_counts(["Hello, world!", ""]).tolist() == [4, 0]  # type: ignore[union-attr]
    assert HuggingFaceTokenizer(wordpiece(), "x").pretoken_counts(["Héllo world"]).tolist() == [2]  # type: ignore[union-attr]
    assert HuggingFaceTokenizer(Tokenizer(models.BPE()), "x").pretoken_counts(["a"]) is None


def test_transformers_folder_and_object(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level(), bos_token="<s>")
    fast.save_pretrained(tmp_path)
    for spec in (tmp_path, fast):
        opened = open_tokenizer(spec, name="t")
        assert rows(opened, LINES) == rows(open_tokenizer(byte_level()), LINES)


def test_transformers_tokenizer_written_in_python() -> None:
    transformers = pytest.importorskip("transformers")
    opened = open_tokenizer(transformers.ByT5Tokenizer(), name="byt5")
    for line, row in zip(LINES, rows(opened, LINES), strict=True):
        assert joined_bytes(opened, row) == line.encode()
        assert opened.decode(row) == line
    assert opened.token_bytes(0) is None


def test_a_tokenizer_json_that_would_end_the_process_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "tokenizer.json"
    path.write_bytes(b'{"version": "1.0\xa6"}')
    with pytest.raises(PairityError, match="it is not UTF-8"):
        open_tokenizer(path)
    bpe = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
    path.write_text(json.dumps({"version": "1.0", "model": bpe | {"continuing_subword_prefix": "x" * 600}}))
    with pytest.raises(PairityError, match="does not begin with the continuing_subword_prefix"):
        open_tokenizer(path)
    path.write_text(
        json.dumps({"version": "1.0", "model": bpe | {"vocab": {"a": 0, "b": 1, "ab": 4_000_000_000}}})
    )
    with pytest.raises(PairityError, match="has the id 4,000,000,000"):
        open_tokenizer(path)
    path.unlink()
    path.mkdir()
    with pytest.raises(PairityError, match=r"no tokenizer in .*tekken\.json.*FILE@PATTERN"):
        open_tokenizer(path)
