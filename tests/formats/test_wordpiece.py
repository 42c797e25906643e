"""WordPiece: the tokens and ids of ours, the longest first, and all text comes back."""

import functools
import gzip
import json
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from pairity.errors import PairityError
from pairity.formats import wordpiece
from pairity.tokenizer.tokenizer import Tokenizer
from small_tokenizers import KINDS, NASTY, sample_lines, small, unicode_text

CHARACTERS = ["".join(map(chr, range(at, at + 32))) for at in range(0, 0x800, 32)]
CUT = [kind for kind in KINDS if kind[0] not in ("none", "whitespace")]
"""Whose words are short: the library's time grows with the cube of their length."""


@functools.cache
def loaded(tok: Tokenizer) -> tokenizers.Tokenizer:
    return tokenizers.Tokenizer.from_str(json.dumps(wordpiece.write(tok.model)))


def longest_first(tok: Tokenizer, text: str) -> list[int]:
    """The slow way."""
    special = set(tok.special_tokens.values())
    ids = {token: i for i, token in enumerate(tok.model.tokens) if token and i not in special}
    found = []
    for word in map(str.encode, tok.pretokenize(text)):
        at = 0
        while at < len(word):
            end = next(end for end in range(len(word), at, -1) if word[at:end] in ids)
            found.append(ids[word[at:end]])
            at = end
    return found


@settings(max_examples=100, deadline=None)
@given(st.sampled_from(KINDS), unicode_text)
def test_hugging_face_takes_the_longest_token_at_every_place(kind, text):
    tok = small(kind[0], digits=kind[1])
    assert loaded(tok).encode(text).ids == longest_first(tok, text)


@pytest.mark.parametrize(("name", "digits"), CUT)
def test_all_text_comes_back_and_ids_are_ours(name, digits):
    tok = small(name, digits=digits)
    theirs = loaded(tok)
    for text in [*NASTY, *sample_lines(), *CHARACTERS]:
        assert theirs.decode(theirs.encode(text).ids) == text
    assert theirs.get_vocab() == tok.to_huggingface().get_vocab()
    for special, token_id in tok.special_tokens.items():
        assert theirs.encode(special).ids == [token_id]


def test_it_cuts_otherwise_than_merges_do():
    tok = small(KINDS[0][0], digits=KINDS[0][1])
    lines = sample_lines()
    theirs = [encoding.ids for encoding in loaded(tok).encode_batch(lines)]
    assert theirs != tok.encode_batch(lines), "the export would need no permission"


def test_a_difference_has_to_be_allowed(tmp_path):
    tok = small(KINDS[0][0], digits=KINDS[0][1])
    with pytest.raises(PairityError, match=r"--allow-different \(allow_different=True\)"):
        tok.export("wordpiece", tmp_path)
    assert not list(tmp_path.iterdir())
    [file] = tok.export("wordpiece", tmp_path, allow_different=True)
    assert file == tmp_path / "tokenizer.json"
    assert tokenizers.Tokenizer.from_file(str(file)).to_str() == loaded(tok).to_str()


def test_flores_comes_back(shared: Path):
    tok = small(KINDS[0][0], digits=KINDS[0][1])
    theirs = loaded(tok)
    files = sorted((shared / "data" / "flores200" / "devtest").glob("*.txt.gz"))
    assert len(files) == 204
    lines = [
        line for file in files for line in gzip.decompress(file.read_bytes()).decode().splitlines()[::200]
    ]
    assert theirs.decode_batch([encoding.ids for encoding in theirs.encode_batch(lines)]) == lines
