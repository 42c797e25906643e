"""Tokenizers of others: real ones with the ids of their own libraries, and damaged ones refused."""

import base64
import functools
import json
import random
from pathlib import Path

import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from pairity.bpe.alphabet import to_text
from pairity.formats import tiktoken as tiktoken_format
from pairity.formats.published import PUBLISHED
from pairity.text.pretokenizers import PRESETS, pattern_of
from pairity.tokenizer.tokenizer import Tokenizer
from peer_tokenizers import Pretended, contents_of_small
from published_tokenizers import installed
from small_tokenizers import KINDS, NASTY, OWN_PATTERN, naive_ids, sample_lines, small, unicode_text

tiktoken = pytest.importorskip("tiktoken")
tiktoken_load = pytest.importorskip("tiktoken.load")

TEXTS = [*NASTY, *sample_lines(), Path(tiktoken_format.__file__).read_text("utf-8")]


# ---------------------------------------------------------------------- there and back


@pytest.mark.parametrize(("name", "digits"), KINDS)
def test_what_we_export_comes_back_the_same(tmp_path, name, digits):
    tok = small(name, digits=digits)
    assert Tokenizer.from_huggingface(tok.to_huggingface()) == tok
    assert Tokenizer.from_tiktoken(tok.to_tiktoken()) == tok
    tok.export("tiktoken", tmp_path / "ours.tiktoken")
    assert Tokenizer.from_tiktoken(tmp_path / "ours.tiktoken") == tok
    tok.export("hf", tmp_path / "folder")
    assert Tokenizer.from_huggingface(tmp_path / "folder") == tok
    assert Tokenizer.from_huggingface(str(tmp_path / "folder" / "tokenizer.json")) == tok
    assert Tokenizer.load(tmp_path / "folder") == tok


def test_merges_files_come_back(tmp_path):
    tok = small("gpt2")
    vocab, merges = tok.export("merges", tmp_path)
    specials = list(tok.special_tokens)
    assert Tokenizer.from_merges_file(merges, vocab, special_tokens=specials) == tok
    assert Tokenizer.from_merges_file(merges, special_tokens=specials) == tok, (
        "the ids follow from the merges"
    )
    other = Tokenizer.from_merges_file(merges, pretokenizer="gpt4o")
    assert other.pattern == PRESETS["gpt4o"]


def test_nfc_and_a_pattern_of_ones_own_come_back(tmp_path):
    tok = small(OWN_PATTERN, normalize="nfc")
    tok.save(tmp_path)
    assert Tokenizer.load(tmp_path) == tok, "the pattern as it was written"
    imported = Tokenizer.from_huggingface(tmp_path)
    assert imported.encode_batch(TEXTS) == tok.encode_batch(TEXTS)


def test_transformers_objects_are_read():
    pytest.importorskip("transformers")
    assert Tokenizer.from_huggingface(small().to_transformers()) == small()


def test_training_can_go_on_from_an_import():
    tok = small()
    assert (Tokenizer.from_tiktoken(tok.to_tiktoken()).engine_merges() == tok.engine_merges()).all()


# ---------------------------------------------------------------------- tokenizers that others trained


def test_a_tokenizer_of_hugging_faces_own_trainer():
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE())
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    theirs.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=2000,
        special_tokens=["<s>"],
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    theirs.train_from_iterator(sample_lines(), trainer)
    ours = Tokenizer.from_huggingface(theirs)
    assert ours.pretokenizer == "gpt2"
    for text in TEXTS:
        assert ours.encode(text) == theirs.encode(text).ids == naive_ids(ours, text)
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    whole = Tokenizer.from_huggingface(theirs)
    assert whole.pretokenizer == "none"
    for text in TEXTS:
        assert whole.encode(text) == theirs.encode(text).ids


def _openai(name: str, monkeypatch) -> "tiktoken.Encoding":
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(installed("litellm", "litellm_core_utils/tokenizers")))
    return tiktoken.get_encoding(name)


def _tekken() -> "tiktoken.Encoding":
    model = json.loads(installed("mistral_common", "data/tekken_240911.json").read_bytes())
    specials = model["config"]["default_num_special_tokens"]
    size = model["config"]["default_vocab_size"] - specials
    ranks = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in model["vocab"][:size]}
    return tiktoken.Encoding(
        "tekken", pat_str=model["config"]["pattern"], mergeable_ranks=ranks, special_tokens={"<unk>": size}
    )


def _from_file(package: str, file: str, pattern: str) -> "tiktoken.Encoding":
    ranks = tiktoken_load.load_tiktoken_bpe(str(installed(package, file)))
    return tiktoken.Encoding(
        package, pat_str=pattern, mergeable_ranks=ranks, special_tokens={"<|end|>": len(ranks)}
    )


REAL = {
    "o200k": lambda patch: _openai("o200k_base", patch),
    "cl100k": lambda patch: _openai("cl100k_base", patch),
    "llama 3": lambda _: _from_file("llama_models", "llama3/tokenizer.model", pattern_of("gpt4")),
    "llama 4": lambda _: _from_file("llama_models", "llama4/tokenizer.model", pattern_of("gpt4o")),
    "tekken": lambda _: _tekken(),
    "qwen": lambda _: _from_file("dashscope", "resources/qwen.tiktoken", pattern_of("gpt4", digits=True)),
}


@functools.cache
def _imported(encoding: "tiktoken.Encoding") -> Tokenizer:
    return Tokenizer.from_tiktoken(encoding, allow_holes=True)


@pytest.mark.parametrize("name", REAL)
def test_real_tokenizers_have_the_ids_of_their_own_library(name, monkeypatch):
    theirs = REAL[name](monkeypatch)
    ours = _imported(theirs)
    texts = [*TEXTS, *_random_text(200)]
    assert ours.encode_batch(texts) == theirs.encode_ordinary_batch(texts)
    for text in [*NASTY, *sample_lines()[::16]]:
        if len(text) < 300:
            assert naive_ids(ours, text) == theirs.encode_ordinary(text)
    assert ours.special_tokens == theirs._special_tokens
    assert len(ours) == theirs.n_vocab
    assert Tokenizer.from_tiktoken(ours.to_tiktoken(), allow_holes=True) == ours


@pytest.mark.parametrize("name", REAL)
def test_real_tokenizers_go_to_hugging_face_with_their_ids(name, monkeypatch):
    ours = _imported(REAL[name](monkeypatch))
    theirs = ours.to_huggingface()
    assert [encoding.ids for encoding in theirs.encode_batch(TEXTS)] == ours.encode_batch(TEXTS)
    assert Tokenizer.from_huggingface(theirs, allow_holes=True) == ours


def _random_text(count: int) -> list[str]:
    generator = random.Random(11)
    letters = "etaoin shrdlu\n\t'.,;12345ÉéßжШшяقلاनमस्ते日本ภาษา한국😀"
    return ["".join(generator.choices(letters, k=generator.randrange(80))) for _ in range(count)]


def test_real_tokenizers_on_flores(shared, monkeypatch):
    from test_export import flores_lines

    theirs = REAL["o200k"](monkeypatch)
    lines = flores_lines(shared, every=50)
    assert _imported(theirs).encode_batch(lines) == theirs.encode_ordinary_batch(lines)


def test_a_pretokenizer_that_removes_nothing_is_read():
    """Files for GPT-4 keep the matches and remove the rest, of which there is none."""
    contents = json.loads(small("gpt4").to_huggingface().to_str())
    contents["pre_tokenizer"]["pretokenizers"][0] |= {"behavior": "Removed", "invert": True}
    assert Tokenizer.from_huggingface(tokenizers.Tokenizer.from_str(json.dumps(contents))) == small("gpt4")


# ---------------------------------------------------------------------- tables without merges


def test_ranks_whose_parts_come_later_are_read_as_tiktoken_reads_them():
    """Ids need not grow with the merges: abc has a lower rank than ab, which it is made of."""
    tokens = {bytes([i]): i for i in range(256)} | {b"abc": 256, b"ab": 257, b"xyz": 258, b"cd": 259}
    theirs = tiktoken.Encoding("odd", pat_str=r"(?s:.+)", mergeable_ranks=tokens, special_tokens={})
    ours = Tokenizer.from_tiktoken(theirs)
    assert ours.whole_pretokens, "xyz cannot be merged from its bytes"
    generator = random.Random(3)
    for _ in range(300):
        text = "".join(generator.choices("abcdxyz", k=generator.randrange(12)))
        assert ours.encode(text) == theirs.encode(text), text


@given(unicode_text)
@settings(max_examples=100, deadline=None)
def test_ranks_give_the_merges_they_were_made_of(text):
    tok = small()
    ranks = dict(tok.vocabulary)
    assert _from_ranks_of_small().encode(text) == tok.encode(text)
    assert len(ranks) == 256 + 1500


@functools.cache
def _from_ranks_of_small() -> Tokenizer:
    tok = small()
    return Tokenizer.from_model(
        tiktoken_format.from_ranks(
            tok.vocabulary,
            cut=tok.model.cut,
            special_tokens=dict(tok.special_tokens),
            allow_holes=False,
        )
    )


# ---------------------------------------------------------------------- what is refused


def test_an_empty_rank_keeps_its_id_free(tmp_path):
    """As in the multilingual ranks of Whisper."""
    lines = [f"{base64.b64encode(bytes([byte])).decode()} {byte}" for byte in range(256)]
    (tmp_path / "x.tiktoken").write_text("\n".join([*lines, "YWI= 256", "= 257"]))
    specials = {"<|endoftext|>": 258}
    tok = Tokenizer.from_tiktoken(tmp_path / "x.tiktoken", pattern="gpt2", special_tokens=specials)
    assert (tok.encode("abc"), len(tok), tok.vocab_size) == ([256, 99], 259, 258)
    theirs = tiktoken.Encoding(
        "x",
        pat_str=PUBLISHED["gpt2"].pattern,
        mergeable_ranks={bytes([byte]): byte for byte in range(256)} | {b"ab": 256, b"": 257},
        special_tokens=specials,
    )
    assert theirs.encode("abc") == [256, 99]
    assert Tokenizer.from_tiktoken(theirs) == tok


def test_two_names_for_one_special_id_are_read():
    """As in o200k_harmony: <|endofprompt|> and <|reserved_200018|>."""
    names = {"<|endofprompt|>": 256, "<|reserved_256|>": 256}
    theirs = tiktoken.Encoding(
        "x",
        pat_str=str(pattern_of("gpt4o")),
        mergeable_ranks={bytes([byte]): byte for byte in range(256)},
        special_tokens=names,
    )
    tok = Tokenizer.from_tiktoken(theirs)
    text = "".join(names)
    assert tok.encode(text, allowed_special="all") == theirs.encode(text, allowed_special="all") == [256, 256]
    assert tok.decode([256]) == "<|endofprompt|>"


LETTERS = st.sampled_from("heo")


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 12), st.integers(0, 12)), max_size=14),
    st.lists(st.text(LETTERS, max_size=12), min_size=1, max_size=5),
)
def test_repeated_merges_give_the_ids_of_hugging_face(choices, texts):
    tokens = list("heo")
    merges = []
    for left, right in choices:
        pair = tokens[left % len(tokens)], tokens[right % len(tokens)]
        merges.append(pair)
        tokens = list(dict.fromkeys([*tokens, "".join(pair)]))
    alphabet = [to_text(bytes([byte])) for byte in range(256)]
    vocab = {token: i for i, token in enumerate(dict.fromkeys([*alphabet, *tokens]))}
    theirs = tokenizers.Tokenizer(tokenizers.models.BPE(vocab, merges))
    theirs.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    contents = json.loads(theirs.to_str())
    contents["model"]["merges"] = merges  # as the file has them: the object has dropped what it does not use
    theirs = tokenizers.Tokenizer.from_str(json.dumps(contents))
    ours = Tokenizer.from_huggingface(Pretended(contents))
    for text in texts:
        assert ours.encode(text) == theirs.encode(text).ids, (merges, text)


def test_of_equal_merges_the_last_counts_as_in_hugging_face(tmp_path):
    contents = contents_of_small()
    before = [["h", "e"], ["e", "h"], ["h", "e"]]
    contents["model"] |= {
        "vocab": {to_text(bytes([byte])): byte for byte in range(256)} | {"he": 256, "eh": 257},
        "merges": before,
    }
    contents["added_tokens"] = []
    theirs = tokenizers.Tokenizer.from_str(json.dumps(contents))
    assert theirs.encode("ehe").ids == [257, 101]
    assert Tokenizer.from_huggingface(Pretended(contents)).encode("ehe") == [257, 101]
    (tmp_path / "merges.txt").write_text("\n".join(map(" ".join, before)))
    (tmp_path / "vocab.json").write_text(json.dumps(contents["model"]["vocab"]))
    assert Tokenizer.from_merges_file(tmp_path / "merges.txt", tmp_path / "vocab.json").encode("ehe") == [
        257,
        101,
    ]
    alone = Tokenizer.from_merges_file(tmp_path / "merges.txt")
    assert [alone.token_of(i) for i in alone.encode("ehe")] == [b"eh", b"e"]
