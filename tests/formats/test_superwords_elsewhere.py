"""Tokenizers with superwords have the same ids in the other libraries, in all languages."""

import functools

import pytest
from hypothesis import given, settings
from test_export import flores_lines

from pairity import PairityError, Tokenizer, sample, train
from pairity.formats.oniguruma import for_oniguruma, from_oniguruma
from pairity.text.pretokenizers import WITH_WORDS, pattern_of
from small_tokenizers import NASTY, sample_lines, small, unicode_text

tiktoken = pytest.importorskip("tiktoken")
pytest.importorskip("transformers")

NAMES = [f"{name}:words{most}" for name, most in zip(WITH_WORDS, (4, 3, 2, 16, 5), strict=True)]


@functools.cache
def superwords() -> Tokenizer:
    """Trained in two stages, on all languages of the sample."""
    text = sample.read("dev")
    return train(text, dev=text, vocab_size=2400, superwords=0.6, progress=False)


@functools.cache
def elsewhere(name: str):
    tok = small(name, special_tokens=()) if name else superwords()
    return tok, tok.to_huggingface(), tok.to_tiktoken()


def assert_same_everywhere(name: str, lines: list[str]) -> int:
    tok, huggingface, ranked = elsewhere(name)
    expected = tok.encode_batch(lines)
    assert [encoding.ids for encoding in huggingface.encode_batch_fast(lines)] == expected
    assert ranked.encode_ordinary_batch(lines) == expected
    assert tok.decode_batch(expected) == lines
    return sum(b" " in tok.tokens[token][1:] for ids in expected for token in ids)


@pytest.mark.parametrize("name", ["", *NAMES])
def test_other_libraries_give_our_ids(name):
    assert assert_same_everywhere(name, [*NASTY, *sample_lines()]) > 20


@given(unicode_text)
@settings(max_examples=60, deadline=None)
def test_random_text_has_the_same_ids_everywhere(text):
    for name in NAMES:
        assert_same_everywhere(name, [text])


def test_all_languages_of_flores_have_the_same_ids(shared):
    lines = flores_lines(shared, every=40)
    for name in ["", *NAMES]:
        assert assert_same_everywhere(name, lines) > 100


def test_a_folder_and_its_tokenizer_json_come_back(tmp_path):
    tok = superwords()
    tok.save(tmp_path / "tok")
    assert Tokenizer.load(tmp_path / "tok") == tok
    assert Tokenizer.from_huggingface(tok.to_huggingface()).pretokenizer == "gpt4o:words4"
    for name in NAMES:
        pattern = pattern_of(name)
        assert from_oniguruma(for_oniguruma(pattern)) == pattern


def test_llama_cpp_has_no_such_pattern(tmp_path):
    with pytest.raises(PairityError, match=r"cannot split text into phrases: train without superwords"):
        superwords().export("gguf", tmp_path / "model.gguf")
