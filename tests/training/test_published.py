"""Published tokenizers: they load with their ids, and learn 500 tokens more without a change to those.

The files come with Python packages (litellm, llama-models, dashscope, mistral-common, openai-whisper); without them, or
without real text, there is nothing to do here. The same on made-up tables: test_engine.py, test_continuing.py.
PAIRITY_ALL_LINES=1 takes all lines of all languages and not every twentieth, and minutes for each tokenizer.
PUBLISHED_RECORD=FILE keeps what was compared, in the shape of docs/results/README.md.
"""

import gzip
import json
import os
import unicodedata
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pairity import Tokenizer, train
from pairity.errors import PairityError
from pairity.formats.llama_cpp import NEAREST
from published_tokenizers import CHAT, THEIRS, Encode, as_published
from real_llama_cpp import RealLlamaCpp

tokenizers = pytest.importorskip("tokenizers")

LEARNED_FROM = ("kat_Geor", "tel_Telu", "amh_Ethi", "yor_Latn", "deu_Latn")


EVERY = 1 if os.environ.get("PAIRITY_ALL_LINES") else 20


def languages(shared: Path) -> Iterator[tuple[str, list[str]]]:
    for path in sorted((shared / "data" / "flores200" / "devtest").glob("*.txt.gz")):
        yield path.name.removesuffix(".txt.gz"), read(path)[::EVERY]


def read(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return file.read().splitlines()


def extended(spec: object, size: int, shared: Path) -> Tokenizer:
    dev = {one: read(shared / "data" / "flores200" / "dev" / f"{one}.txt.gz") for one in LEARNED_FROM}
    return train(dev, dev=dev, vocab_size=size + 500, continue_from=spec, progress=False)


def readers(tokenizer: Tokenizer, folder: Path) -> dict[str, tuple[Any, Encode]]:
    """The libraries that read what is written for them: how each encodes, by its name."""
    tokenizer.save(folder / "longer")
    hugging_face = tokenizers.Tokenizer.from_file(str(folder / "longer" / "tokenizer.json"))
    found: dict[str, tuple[Any, Encode]] = {
        "Hugging Face": (
            hugging_face,
            lambda lines: [one.ids for one in hugging_face.encode_batch(lines, add_special_tokens=False)],
        )
    }
    try:
        encoding = tokenizer.to_tiktoken()
        found["tiktoken"] = (encoding, encoding.encode_ordinary_batch)
    except PairityError:
        assert tokenizer.normalize or tokenizer.whole_pretokens or len(tokenizer.merges) > len(tokenizer)
    return found


def in_llama_cpp(tokenizer: Tokenizer, folder: Path) -> RealLlamaCpp | None:
    """None where none is installed, and where it cuts text differently."""
    nearest = NEAREST.get(tokenizer.pattern or "")
    if nearest is None or nearest.unlike or tokenizer.normalize:
        return None
    try:
        [file] = tokenizer.export("gguf", folder / "longer.gguf")
        return RealLlamaCpp(file)
    except (PairityError, pytest.skip.Exception):
        return None


# Whisper's file lists no special tokens, and o200k_harmony has two names for one. GGUF: no end of text is named.
@pytest.mark.filterwarnings("ignore::pairity.errors.PairityWarning")
@pytest.mark.parametrize("name", THEIRS)
def test_a_published_tokenizer_loads_and_learns_more(name: str, shared: Path, tmp_path: Path) -> None:
    theirs = THEIRS[name](tmp_path)
    ours = Tokenizer.load(theirs.spec)
    assert theirs.special_tokens.items() <= ours.special_tokens.items()
    if name != "whisper":  # the last id of its file is kept free
        assert len(ours) == theirs.size
    longer = extended(theirs.spec, ours.vocab_size, shared)
    assert longer.tokens[: len(ours)] == ours.tokens
    assert len(longer) == len(ours) + 500
    assert dict(longer.special_tokens) == dict(ours.special_tokens)
    found, llama_cpp = readers(longer, tmp_path), in_llama_cpp(longer, tmp_path)
    assert Tokenizer.load(tmp_path / "longer") == longer

    kept = changed = 0
    for language, lines in languages(shared):
        old = ours.encode_batch(lines)
        assert old == theirs.encode(lines), language
        new = longer.encode_batch(lines)
        for library, (_, encode) in found.items():
            assert encode(lines) == new, (library, language)
        if llama_cpp is not None:  # a twentieth of the lines in any case: test_llama_cpp.py has more
            chosen = slice(None, None, 20 // EVERY)
            assert [llama_cpp.encode(line) for line in lines[chosen]] == new[chosen], language
        texts = [unicodedata.normalize("NFC", line) if ours.normalize else line for line in lines]
        assert found["Hugging Face"][0].decode_batch(new, skip_special_tokens=False) == texts, language
        for text, before, after in zip(texts, old, new, strict=True):
            if max(after) < len(ours):
                assert after == before
                kept += 1
            else:
                changed += 1
                assert len(after) < len(before)
            assert longer.decode(after, errors="strict") == text
    assert kept > 100
    assert changed > 100
    keep_record([name, len(ours), kept + changed, kept, changed, ", ".join(found)])


@pytest.mark.filterwarnings("ignore::pairity.errors.PairityWarning")
@pytest.mark.parametrize("name", [name for name in THEIRS if name != "whisper"])
def test_special_tokens_of_a_published_tokenizer_are_read_as_before(
    name: str, shared: Path, tmp_path: Path
) -> None:
    theirs = THEIRS[name](tmp_path)
    ours = Tokenizer.load(theirs.spec)
    longer = extended(theirs.spec, ours.vocab_size, shared)
    # An id with two names (o200k_harmony has one) has the first alone in tokenizer.json, and a warning says so.
    first = {token_id: special for special, token_id in reversed(ours.special_tokens.items())}
    some = list(first.values())[:300]
    text = "".join(f"{special} x" for special in some)
    ids = ours.encode(text, allowed_special="all")
    assert set(ids) >= {ours.id_of(special) for special in some}
    assert longer.encode(text, allowed_special="all") == ids
    found = readers(longer, tmp_path)
    assert found["Hugging Face"][0].encode(text, add_special_tokens=False).ids == ids
    if "tiktoken" in found:
        assert found["tiktoken"][0].encode(text, allowed_special="all") == ids


@pytest.mark.filterwarnings("ignore::pairity.errors.PairityWarning")
@pytest.mark.parametrize("name", [name for name in THEIRS if name.endswith("of transformers")])
def test_a_published_folder_has_its_roles_and_its_template_as_before(
    name: str, shared: Path, tmp_path: Path
) -> None:
    transformers = pytest.importorskip("transformers")
    THEIRS[name](tmp_path)
    as_published(name, tmp_path)
    before = transformers.AutoTokenizer.from_pretrained(tmp_path)
    extended(tmp_path, len(before), shared).save(tmp_path / "longer")
    after = transformers.AutoTokenizer.from_pretrained(tmp_path / "longer")
    assert len(after) == len(before) + 500
    for what in ("special_tokens_map", "bos_token_id", "eos_token_id", "pad_token_id", "all_special_ids"):
        assert getattr(after, what) == getattr(before, what), what
    assert before.pad_token_id is not None
    for text in ("Good morning!", before.eos_token, f"{before.eos_token}a {before.pad_token} b", ""):
        assert after(text)["input_ids"] == before(text)["input_ids"]
    chats = [
        one.apply_chat_template(CHAT, tokenize=False, add_generation_prompt=True) for one in (before, after)
    ]
    assert chats[0] == chats[1]
    assert "Good morning!" in chats[0]
    ids = [
        one(chat, add_special_tokens=False)["input_ids"]
        for one, chat in zip((before, after), chats, strict=True)
    ]
    assert ids[0] == ids[1]


def keep_record(row: list[object]) -> None:
    """Add a row, or replace the one of the same tokenizer."""
    if not (path := os.environ.get("PUBLISHED_RECORD")):
        return
    file = Path(path)
    rows = {one[0]: one for one in (json.loads(file.read_text())["rows"] if file.exists() else [])}
    rows[row[0]] = row
    numbers = ("tokens", "lines", "without a new token: the same ids", "with new tokens: fewer ids")
    record = {
        "made_by": "PAIRITY_ALL_LINES=1 PUBLISHED_RECORD=docs/results/published.json pytest "
        "tests/training/test_published.py",
        "columns": [
            {"name": "tokenizer"},
            *({"name": name, "format": ",d"} for name in numbers),
            {"name": "read by"},
        ],
        "rows": [rows[name] for name in THEIRS if name in rows],
        "note": "Each learned 500 tokens from the dev text of FLORES-200 in Georgian, Telugu, Amharic, Yoruba and "
        "German. The lines are those of devtest in all languages. Every line decodes to itself, or to its NFC form "
        "where the tokenizer normalises (qwen of transformers).",
    }
    file.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
