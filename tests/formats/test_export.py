"""Every export, loaded by the real library, gives the very ids of ours; what cannot be said is refused."""

import functools
import gzip
import json
import unicodedata
import warnings
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from hypothesis import given, settings
from hypothesis import strategies as st

from pairity import _core
from pairity.errors import PairityError
from pairity.formats import exporting, oniguruma
from pairity.formats.oniguruma import for_oniguruma, from_oniguruma
from pairity.tokenizer.tokenizer import Tokenizer
from small_tokenizers import KINDS, NASTY, OWN_PATTERN, SPECIALS, sample_lines, small, unicode_text

tiktoken = pytest.importorskip("tiktoken")
tiktoken_load = pytest.importorskip("tiktoken.load")
transformers = pytest.importorskip("transformers")
gguf = pytest.importorskip("gguf")

END = "<|endoftext|>"
TEXTS = [*NASTY, *sample_lines(), Path(exporting.__file__).read_text("utf-8")]


def flores_lines(shared: Path, every: int) -> list[str]:
    files = sorted((shared / "data" / "flores200" / "devtest").glob("*.txt.gz"))
    assert len(files) == 204
    return [
        line
        for file in files
        for line in gzip.open(file, "rt", encoding="utf-8").read().splitlines()[::every]
    ]


@pytest.mark.parametrize(("name", "digits"), KINDS)
def test_hugging_face_gives_our_ids(name, digits):
    tok = small(name, digits=digits)
    theirs = tok.to_huggingface()
    expected = tok.encode_batch(TEXTS)
    assert [encoding.ids for encoding in theirs.encode_batch(TEXTS)] == expected
    assert theirs.get_vocab_size() == tok.vocab_size
    for text, ids in zip(TEXTS, expected, strict=True):
        assert theirs.decode(ids) == text == tok.decode(ids)
    for special, token_id in tok.special_tokens.items():
        assert theirs.token_to_id(special) == token_id


@pytest.mark.parametrize(("name", "digits"), KINDS)
def test_tiktoken_gives_our_ids(name, digits):
    tok = small(name, digits=digits)
    theirs = tok.to_tiktoken()
    expected = tok.encode_batch(TEXTS)
    assert theirs.encode_ordinary_batch(TEXTS) == expected
    assert theirs.n_vocab == len(tok)
    for token, token_id in tok.vocabulary.items():
        assert theirs.encode_single_token(token) == token_id
    assert theirs.decode_bytes(expected[5]) == tok.decode_bytes(expected[5])


def test_nfc_is_exported_to_hugging_face():
    tok = small(normalize="nfc")
    theirs = tok.to_huggingface()
    for text in [*TEXTS, "e\u0301te\u0301 Å Å", f"e\u0301{END}e\u0301"]:
        assert theirs.encode(text).ids == tok.encode(text, allowed_special="all")


def test_a_pattern_of_ones_own_is_exported_in_the_same_sense():
    tok = small(OWN_PATTERN)
    theirs, ranked = tok.to_huggingface(), tok.to_tiktoken()
    for text in TEXTS:
        assert theirs.encode(text).ids == tok.encode(text) == ranked.encode(text)


def test_special_tokens_are_found_alike():
    tok = small()
    huggingface, ranked = tok.to_huggingface(), tok.to_tiktoken()
    for text in (
        END,
        f"a {END} b",
        f"{END}{END}<pad>  x",
        f"  {END}\n<|user|>hi",
        "<|endoftext",
        "<<pad>>",
        "a<pad>",
    ):
        ids = tok.encode(text, allowed_special="all")
        assert huggingface.encode(text).ids == ids
        assert ranked.encode(text, allowed_special="all") == ids
        plain = tok.encode(text, disallowed_special=())
        assert ranked.encode(text, disallowed_special=()) == plain
        huggingface.encode_special_tokens = True
        assert huggingface.encode(text).ids == plain
        huggingface.encode_special_tokens = False
    with pytest.raises(ValueError, match="disallowed special token"):
        ranked.encode(END)


@given(unicode_text)
@settings(max_examples=200, deadline=None)
def test_random_text_has_the_same_ids_everywhere(text):
    for name in ("gpt4o", "gpt4", "qwen35", "gpt2", "whitespace"):
        tok = small(name)
        ids = tok.encode(text, allowed_special="all")
        assert _huggingface(name).encode(text).ids == ids
        assert _tiktoken(name).encode(text, allowed_special="all") == ids


@functools.cache
def _huggingface(name):
    return small(name).to_huggingface()


@functools.cache
def _tiktoken(name):
    return small(name).to_tiktoken()


@given(st.binary(max_size=60))
@settings(max_examples=100, deadline=None)
def test_bytes_come_back_through_tiktoken_too(data):
    tok, theirs = small(), _tiktoken("gpt4o")
    ids = tok.encode(data, disallowed_special=())
    assert theirs.decode_bytes(ids) == data == tok.decode_bytes(ids)
    assert theirs.decode_bytes(theirs._encode_bytes(data)) == data


def test_flores_lines_in_all_languages_have_the_same_ids(shared):
    lines = flores_lines(shared, every=40)
    for name in ("gpt4o", "gpt4", "qwen35", "gpt2", "whitespace"):
        expected = small(name).encode_batch(lines)
        assert [encoding.ids for encoding in _huggingface(name).encode_batch(lines)] == expected
        assert _tiktoken(name).encode_ordinary_batch(lines) == expected


@functools.cache
def _flores(shared):
    lines = flores_lines(shared, every=1)
    assert len(lines) == 204 * 1012
    return lines, small().encode_batch(lines)


def test_all_of_flores_has_the_ids_of_tiktoken(shared):
    lines, expected = _flores(shared)
    assert _tiktoken("gpt4o").encode_ordinary_batch(lines, num_threads=2) == expected
    assert small().decode_batch(expected) == lines


def test_all_of_flores_has_the_ids_of_hugging_face(shared):
    lines, expected = _flores(shared)
    for start in range(0, len(lines), 20_000):
        some = _huggingface("gpt4o").encode_batch_fast(lines[start : start + 20_000])
        assert [encoding.ids for encoding in some] == expected[start : start + 20_000]


def test_transformers_gives_our_ids(tmp_path):
    tok = small()
    template = "{% for m in messages %}<|user|>{{ m['content'] }}<|endoftext|>{% endfor %}"
    tok.save(tmp_path / "out", bos_token=END, eos_token=END, pad_token="<pad>", chat_template=template)
    loaded = transformers.AutoTokenizer.from_pretrained(tmp_path / "out")
    direct = tok.to_transformers(bos_token=END, eos_token=END, pad_token="<pad>", chat_template=template)
    for theirs in (loaded, direct):
        assert isinstance(theirs, transformers.PreTrainedTokenizerFast)
        assert (theirs.bos_token, theirs.eos_token, theirs.pad_token) == (END, END, "<pad>")
        assert (theirs.eos_token_id, theirs.pad_token_id) == (0, 1)
        assert set(theirs.all_special_tokens) == set(SPECIALS)
        assert len(theirs) == len(tok)
        for text in [*TEXTS, f"a {END} b<pad>"]:
            ids = tok.encode(text, allowed_special="all")
            assert theirs(text)["input_ids"] == ids
            assert theirs.decode(ids) == text
        chat = theirs.apply_chat_template([{"role": "user", "content": "Hi, мир"}], tokenize=False)
        assert chat == "<|user|>Hi, мир<|endoftext|>"
        padded = theirs(["a", "the cat sat there"], padding=True)["input_ids"]
        assert len(padded[0]) == len(padded[1])
        assert padded[0][-1] == 1
    assert loaded.chat_template == direct.chat_template == template


def test_transformers_without_special_tokens(tmp_path):
    tok = small(special_tokens=())
    tok.save(tmp_path)
    theirs = transformers.AutoTokenizer.from_pretrained(tmp_path)
    assert theirs("Hello, мир")["input_ids"] == tok.encode("Hello, мир")
    assert tok.to_transformers()("Hello, мир")["input_ids"] == tok.encode("Hello, мир")


def test_every_format_is_written_and_read_by_its_library(tmp_path):
    tok = small("gpt2")
    lines = sample_lines()[::5]
    expected = tok.encode_batch(lines)

    [file] = tok.export("hf", tmp_path / "alone" / "my.json")
    theirs = tokenizers.Tokenizer.from_file(str(file))
    assert [encoding.ids for encoding in theirs.encode_batch(lines)] == expected
    assert tok.export("hf", tmp_path / "hf") == [tmp_path / "hf" / "tokenizer.json"]

    tok.export("transformers", tmp_path / "transformers", eos_token=END)
    loaded = transformers.AutoTokenizer.from_pretrained(tmp_path / "transformers")
    assert loaded(lines)["input_ids"] == expected
    assert loaded.eos_token == END

    ranks, settings_file = tok.export("tiktoken", tmp_path / "my.tiktoken")
    said = json.loads(settings_file.read_text())
    encoding = tiktoken.Encoding(
        "my",
        pat_str=said["pat_str"],
        mergeable_ranks=tiktoken_load.load_tiktoken_bpe(str(ranks)),
        special_tokens=said["special_tokens"],
    )
    assert encoding.encode_ordinary_batch(lines) == expected

    vocab, merges = tok.export("merges", tmp_path / "merges")
    model = tokenizers.models.BPE.from_file(str(vocab), str(merges))
    gpt2 = tokenizers.Tokenizer(model)
    gpt2.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    assert [encoding.ids for encoding in gpt2.encode_batch(lines)] == expected

    with pytest.raises(PairityError, match="already holds"):
        tok.export("merges", tmp_path / "merges")
    tok.export("merges", tmp_path / "merges", force=True)
    with pytest.raises(PairityError, match=r"unknown format 'onnx'\. Choose one of hf"):
        tok.export("onnx", tmp_path / "x")
    with pytest.raises(PairityError, match="cannot be named"):
        tok.export("tiktoken", tmp_path / "x.json")


def test_gguf_holds_the_vocabulary(tmp_path):
    tok = small("qwen35")
    [file] = tok.export("gguf", tmp_path / "vocab.gguf", eos_token=END, pad_token="<pad>")
    fields = gguf.GGUFReader(file).fields

    def value(key):
        return fields[f"tokenizer.ggml.{key}"].contents()

    assert (value("model"), value("pre")) == ("gpt2", "qwen35")
    vocab = json.loads(tok.to_huggingface().to_str())["model"]
    assert dict(zip(value("tokens"), range(len(tok)), strict=True)) == vocab["vocab"]
    assert value("merges") == [" ".join(pair) for pair in vocab["merges"]]
    assert value("token_type") == [gguf.TokenType.CONTROL] * 3 + [gguf.TokenType.NORMAL] * (len(tok) - 3)
    assert (value("eos_token_id"), value("padding_token_id"), value("add_bos_token")) == (0, 1, False)


def _odd(merges, tokens, **options):
    """The 256 bytes by their values, and more."""
    return Tokenizer({i: bytes([i]) for i in range(256)} | tokens, merges, pattern=None, **options)


def test_tiktoken_refuses_what_it_would_read_otherwise():
    a, b, c = b"abc"
    cases = [
        (small(normalize="nfc"), "cannot normalise"),
        (small(special_tokens=("<a>", "<a>b")), "'<a>b' begins with '<a>'"),
        # The ids are not in the order of the merges.
        (_odd([(b, c, 257), (a, b, 256)], {256: b"ab", 257: b"bc"}), "order of the ids"),
        # No merge gives ab, but tiktoken would take it whole.
        (_odd([], {256: b"ab"}), "differently from the merges"),
        # a+bc is what makes abc by the merges; by ranks ab comes first and ab+c makes it.
        (
            _odd([(b, c, 257), (a, 257, 258), (a, b, 256)], {256: b"ab", 257: b"bc", 258: b"abc"}),
            "differently from the merges",
        ),
    ]
    for tok, message in cases:
        with pytest.raises(PairityError, match=message):
            tok.to_tiktoken()


def test_tiktoken_refuses_a_pattern_that_drops_text():
    tok = Tokenizer.from_merges([], pattern=r"\w+|[^\w\s]+")
    assert tok.decode(tok.encode("a b")) == "a b", "we keep what the pattern does not match"
    with pytest.raises(PairityError, match=r"drops text that the pattern does not match, such as '\\t'"):
        tok.to_tiktoken()
    assert tok.to_huggingface().encode("a  b").ids == tok.encode("a  b"), "Hugging Face keeps it too"


@pytest.mark.filterwarnings("ignore:merges.txt cannot store")
def test_whole_pretokens_are_exported_where_they_can_be():
    tok = _odd([], {256: b"abc"}, whole_pretokens=True)
    assert tok.encode("abc") == [256]
    assert tok.encode("abcd") == [97, 98, 99, 100]
    for text in ("abc", "abcd", "aabc", ""):
        assert tok.to_huggingface().encode(text).ids == tok.encode(text) == tok.to_tiktoken().encode(text)
    with pytest.raises(PairityError, match="ignore_merges"):
        tok.export("merges", "nowhere")


@pytest.mark.parametrize("pattern", [p for patterns in _core.PATTERNS.values() for p in patterns if p])
def test_oniguruma_reads_our_patterns_in_our_sense(pattern):
    """Every character that all Unicode versions know, among its neighbours and among others."""
    split = tokenizers.pre_tokenizers.Split(tokenizers.Regex(for_oniguruma(pattern)), "isolated")
    known = [c for c in map(chr, range(0x20000)) if unicodedata.category(c) not in ("Cn", "Cs", "Co")]
    generator = np.random.default_rng(5)
    shuffled = ["".join(generator.permutation(known)[:9_000]) for _ in range(3)]
    for text in ("".join(known), *shuffled, "'s 1a\n".join(shuffled[0]), " ".join(shuffled[1])):
        assert [cut for cut, _ in split.pre_tokenize_str(text)] == _core.pretokenize(pattern, text)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (r"\S+|\s+", r"\S+|\s+"),
        (r"\S+|\s+$|^\s|\s", r"\S+|\s+\z|\A\s|\s"),
        (r"(?s:.)", r"(?m:.)"),
        (r"[^\r\n]+|[\r\n]", r"[^\r\n]+|[\r\n]"),
        (r"--|~~|(?s:.)", r"--|~~|(?m:.)"),
        (r"[a-][-b]|(?s:.)", r"[a-][-b]|(?m:.)"),
    ],
)
def test_patterns_are_translated(ours, theirs):
    assert for_oniguruma(ours) == theirs
    assert for_oniguruma(from_oniguruma(theirs)) == theirs


@pytest.mark.parametrize(
    "pattern",
    [
        r"\p{N}{1,3}+|\P{N}",
        r"\b\S+|\s",
        r"(?m:^a)|.",
        r"[[:alpha:]]+|.",
        r"[\S--a]+|.",
        r"[]a--b]|.",
        r"(?x:a )|.",
    ],
)
def test_patterns_that_would_change_their_sense_are_refused(pattern):
    with pytest.raises(PairityError) as refused:
        for_oniguruma(pattern)
    assert str(refused.value).startswith(f"the pattern '{pattern}' cannot be used with Hugging Face")


def test_the_last_resort_is_to_compare():
    with pytest.raises(PairityError, match=r"gives 'D' where ours gives \"Don't\"") as refused:
        oniguruma.compare(r"\S+|\s", r"\S|\s")
    assert str(refused.value).startswith(r"the pattern '\S+|\s' cannot be used with Hugging Face")
    with pytest.raises(PairityError, match="cannot run the pattern"):
        oniguruma.compare(r"\S+|\s", r"(")


@pytest.mark.parametrize(
    ("pretokenizer", "normalize", "left_out"),
    [
        ("gpt4o", None, "the pre-tokenizer 'gpt4o'"),
        ("gpt2", "nfc", "the normalization nfc"),
        ("gpt2", None, None),
    ],
)
def test_merges_alone_say_that_readers_cut_as_gpt2(tmp_path, pretokenizer, normalize, left_out):
    tok = small(pretokenizer, normalize=normalize, special_tokens=())
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        tok.export("merges", tmp_path / "out")
    assert [left_out in str(one.message) for one in told] == ([True] if left_out else [])
