"""SentencePiece's models, and objects of libraries that are installed as extras."""

import io
from pathlib import Path

import pytest

from pairity.errors import PairityError
from pairity.judging.opening import open_tokenizer
from peer_tokenizers import CORPUS, joined_bytes, rows


@pytest.fixture
def sentencepiece_model(tmp_path: Path) -> Path:
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=model, vocab_size=330, model_type="bpe",
        byte_fallback=True, hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    path = tmp_path / "small.model"
    path.write_bytes(model.getvalue())
    return path


def test_sentencepiece(sentencepiece_model: Path) -> None:
    for spec in (sentencepiece_model, f"sentencepiece:{sentencepiece_model}"):
        opened = open_tokenizer(spec)
        assert opened.name == "small"
        row, strange, nothing = rows(opened, ["Hello again.", "Ж", ""])
        assert joined_bytes(opened, row) == b" Hello again."
        assert opened.decode(row) == "Hello again."
        assert joined_bytes(opened, strange) == " Ж".encode()
        assert nothing == []
    assert opened.token_bytes(0) is None  # unknown
    assert opened.token_bytes(1) is None  # begin of sentence
    assert rows(opened, []) == []


def test_sentencepiece_file_that_is_none(tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    bad = tmp_path / "bad.model"
    bad.write_bytes(b"\x00\x01 no model")
    with pytest.raises(PairityError, match=r"bad\.model is not a SentencePiece model"):
        open_tokenizer(bad)


def test_objects_of_other_libraries_are_recognised(sentencepiece_model: Path, tmp_path: Path) -> None:
    tiktoken, sentencepiece = pytest.importorskip("tiktoken"), pytest.importorskip("sentencepiece")
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding(
        "tiny", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={"<e>": 256}
    )
    opened = open_tokenizer(encoding)
    assert (opened.name, opened.vocab_size) == ("tiny", 257)
    assert opened.token_bytes(256) is None
    assert rows(opened, ["<e>"]) == [[60, 101, 62]]  # text, not the special token
    processor = sentencepiece.SentencePieceProcessor(model_file=str(sentencepiece_model))
    assert open_tokenizer(processor).name == "sentencepiece"
