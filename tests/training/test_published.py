"""Published tokenizers: they load with their ids, and learn 500 tokens more without a change to those.

The files come with Python packages (litellm, llama-models, dashscope, mistral-common, openai-whisper); without them, or
without real text, there is nothing to do here. The same on made-up tables: test_engine.py, test_continuing.py.
PAIRITY_ALL_LINES=1 takes all lines of all languages and not every twentieth, and minutes for each tokenizer.
"""

import gzip
import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path

import pytest

from pairity import Tokenizer, train
from pairity.errors import PairityError
from published_tokenizers import THEIRS

tokenizers = pytest.importorskip("tokenizers")

LEARNED_FROM = ("kat_Geor", "tel_Telu", "amh_Ethi", "yor_Latn", "deu_Latn")


EVERY = 1 if os.environ.get("PAIRITY_ALL_LINES") else 20


def languages(shared: Path) -> Iterator[tuple[str, list[str]]]:
    for path in sorted((shared / "data" / "flores200" / "devtest").glob("*.txt.gz")):
        yield path.name.removesuffix(".txt.gz"), read(path)[::EVERY]


def read(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


# Whisper's file lists no special tokens, and o200k_harmony has two names for one.
@pytest.mark.filterwarnings("ignore::pairity.errors.PairityWarning")
@pytest.mark.parametrize("name", THEIRS)
def test_a_published_tokenizer_loads_and_learns_more(name: str, shared: Path, tmp_path: Path) -> None:
    theirs = THEIRS[name](tmp_path)
    ours = Tokenizer.load(theirs.spec)
    assert theirs.special_tokens.items() <= ours.special_tokens.items()
    if name != "whisper":  # the last id of its file is kept free
        assert len(ours) == theirs.size
    dev = {one: read(shared / "data" / "flores200" / "dev" / f"{one}.txt.gz") for one in LEARNED_FROM}
    longer = train(dev, dev=dev, vocab_size=ours.vocab_size + 500, continue_from=theirs.spec, progress=False)
    assert longer.tokens[: len(ours)] == ours.tokens
    assert len(longer) == len(ours) + 500
    assert dict(longer.special_tokens) == dict(ours.special_tokens)
    longer.save(tmp_path / "longer")
    assert Tokenizer.load(tmp_path / "longer") == longer
    in_hugging_face = tokenizers.Tokenizer.from_file(str(tmp_path / "longer" / "tokenizer.json"))
    try:
        in_tiktoken = longer.to_tiktoken()
    except PairityError:
        in_tiktoken = None
        assert longer.normalize or longer.whole_pretokens or "transformers" in name

    kept = changed = 0
    for language, lines in languages(shared):
        old = ours.encode_batch(lines)
        assert old == theirs.encode(lines), language
        new = longer.encode_batch(lines)
        found = in_hugging_face.encode_batch(lines, add_special_tokens=False)
        assert [one.ids for one in found] == new, language
        if in_tiktoken is not None:
            assert in_tiktoken.encode_ordinary_batch(lines) == new, language
        for line, before, after in zip(lines, old, new, strict=True):
            if max(after) < len(ours):
                assert after == before
                kept += 1
            else:
                changed += 1
                assert len(after) < len(before)
            text = unicodedata.normalize("NFC", line) if ours.normalize else line
            assert longer.decode(after, errors="strict") == text
    assert kept > 100
    assert changed > 100
