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
from pairity.errors import PairityError
from pairity.formats import tiktoken as tiktoken_format
from pairity.formats.published import PUBLISHED
from pairity.text.pretokenizers import CL100K, PRESETS, pattern_of
from pairity.tokenizer.tokenizer import Tokenizer
from published_tokenizers import installed
from small_tokenizers import KINDS, NASTY, OWN_PATTERN, changed, naive_ids, sample_lines, small, unicode_text

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
    assert _from_ranks_of_small().encode(text) == tok.encode(text, disallowed_special=())
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


def _contents() -> dict:
    return json.loads(small().to_huggingface().to_str())


def _with(path: str, value: object) -> dict:
    """The contents of a good tokenizer.json with one thing changed: "model.dropout" -> 0.1."""
    return changed(_contents(), path, value)


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
        ("model.vocab.new", 9999, "ids below 10000 name no token"),
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
            "means something else",
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
    contents = _contents()
    del contents["model"]["vocab"]["ÿ"]
    with pytest.raises(PairityError, match="lacks 1 of the 256 bytes, such as 0xFF"):
        Tokenizer.from_huggingface(_Fake(contents), allow_holes=True)


class _Fake:
    """Looks like a tokenizers.Tokenizer that has these contents."""

    def __init__(self, contents: dict) -> None:
        self.contents = contents

    def to_str(self) -> str:
        return json.dumps(self.contents)


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
        (b"YQ== 0\nYQ== 1\n", r"line 2: the token b'a' is there twice"),
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
    with pytest.raises(PairityError, match="3 ids below 1759 name no token, such as 0"):
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
    with pytest.raises(PairityError, match="damaged, or was changed"):
        Tokenizer.from_tiktoken(ranks)


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
    ours = Tokenizer.from_huggingface(_Fake(contents))
    for text in texts:
        assert ours.encode(text) == theirs.encode(text).ids, (merges, text)


def test_of_equal_merges_the_last_counts_as_in_hugging_face(tmp_path):
    contents = _contents()
    before = [["h", "e"], ["e", "h"], ["h", "e"]]
    contents["model"] |= {
        "vocab": {to_text(bytes([byte])): byte for byte in range(256)} | {"he": 256, "eh": 257},
        "merges": before,
    }
    contents["added_tokens"] = []
    theirs = tokenizers.Tokenizer.from_str(json.dumps(contents))
    assert theirs.encode("ehe").ids == [257, 101]
    assert Tokenizer.from_huggingface(_Fake(contents)).encode("ehe") == [257, 101]
    (tmp_path / "merges.txt").write_text("\n".join(map(" ".join, before)))
    (tmp_path / "vocab.json").write_text(json.dumps(contents["model"]["vocab"]))
    assert Tokenizer.from_merges_file(tmp_path / "merges.txt", tmp_path / "vocab.json").encode("ehe") == [
        257,
        101,
    ]
    alone = Tokenizer.from_merges_file(tmp_path / "merges.txt")
    assert [alone.token_of(i) for i in alone.encode("ehe")] == [b"eh", b"e"]
