"""What llama.cpp does with our vocabularies: told by patterns of ours, proved by its own dialect and by itself."""

import functools
import gzip
import re
import unicodedata
from pathlib import Path

import numpy as np
import pytest
import tokenizers
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from pairity import _core, sample, train
from pairity.cli.program import main
from pairity.errors import PairityError, PairityWarning
from pairity.formats import llama_cpp
from pairity.languages import LANGUAGES_30
from pairity.text.pretokenizers import CL100K, TIKTOKEN_GPT2, pattern_of
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.policy import Classical
from real_llama_cpp import SETTLED, RealLlamaCpp, fuzzed
from small_tokenizers import NASTY, SPECIALS, sample_lines, small, trained_merges, unicode_text

gguf = pytest.importorskip("gguf")
NO_END = "the tokenizer has no eos_token"
pytestmark = pytest.mark.filterwarnings(f"ignore:{NO_END}")

# The patterns as llama.cpp has them in its source.
CONTRACTIONS = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
END = r"\s*[\r\n]+|\s+(?!\S)|\s+"
LLAMA3 = CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*|" + END


def cased(letter):
    upper, lower = rf"((?=[{letter}])([^a-z]))", rf"((?=[{letter}])([^A-Z]))"
    return (
        rf"[^\r\n\p{{L}}\p{{N}}]?{upper}*{lower}+{CONTRACTIONS}?|[^\r\n\p{{L}}\p{{N}}]?{upper}+{lower}*{CONTRACTIONS}?|"
        rf"\p{{N}}{{1,3}}| ?[^\s\p{{L}}\p{{N}}]+[\r\n/]*|{END}"
    )


THEIR_PATTERNS = {
    "qwen35": CONTRACTIONS + r"|[^\r\n\p{L}\p{N}]?[\p{L}\p{M}]+|\p{N}| ?[^\s\p{L}\p{M}\p{N}]+[\r\n]*|" + END,
    "gpt-2": r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+",
    "llama-bpe": LLAMA3,
    "dbrx": LLAMA3,
    "qwen2": LLAMA3.replace("{1,3}", ""),
    "granite-embed-multi-97m": cased(r"\p{L}\p{M}"),
}
GPT_4O = cased(r"\p{L}")
"""The one that a GPT-4o tokenizer gets from llama.cpp's own converter."""

CLASSES = {"N": (0xD1, "0-9"), "L": (0xD2, "A-Za-z"), "M": (0xD4, "")}


def their_cut(pattern, text):
    """llama.cpp's way, step by step: a byte for every character that tells its class, and a regex over those bytes."""

    def byte_of(character):
        if ord(character) < 128:
            return ord(character)
        if character.isspace():
            return 0x0B
        return CLASSES.get(unicodedata.category(character)[0], (0xD0, ""))[0]

    translated, depth = "", 0
    for piece in re.findall(r"\\p\{.\}|\\.|.", pattern):
        if piece.startswith(r"\p"):
            byte, ascii_ones = CLASSES[piece[3]]
            members = chr(byte) + ascii_ones
            translated += members if depth else f"[{members}]"
        else:
            depth += {"[": 1, "]": -1}.get(piece, 0)
            translated += piece
    collapsed = bytes(map(byte_of, text))
    found = list(re.finditer(translated.encode("latin-1"), collapsed))
    assert b"".join(match[0] for match in found) == collapsed, "the patterns match all text"
    return [text[match.start() : match.end()] for match in found]


@pytest.mark.parametrize("name", llama_cpp.PATTERNS)
def test_our_rendering_cuts_as_their_dialect_does(name):
    generator = np.random.default_rng(7)
    shuffled = ["".join(generator.permutation(SETTLED)[:5_000]) for _ in range(3)]
    texts = [
        *NASTY,
        *sample_lines(),
        "".join(SETTLED),
        *shuffled,
        "'s 1a\n".join(shuffled[0]),
        " ".join(shuffled[1]),
    ]
    for text in texts:
        assert llama_cpp.cut(name, text) == their_cut(THEIR_PATTERNS[name], text)


@settings(deadline=None, max_examples=60)
@given(unicode_text | st.text(st.sampled_from(" \n\r'sSſtaAéÉ1٣_/!-\u0301\u00a0\u1e9e"), max_size=30))
def test_our_renderings_cut_as_their_dialect_does_on_nasty_text(text):
    for name in llama_cpp.PATTERNS:
        assert llama_cpp.cut(name, text) == their_cut(THEIR_PATTERNS[name], text), name


def test_what_llama_cpp_makes_of_marks_case_and_contractions():
    text = "हिन्दी ÉCOLEÉlan I'LL 'ſo 1234"
    assert llama_cpp.cut("qwen35", text) == [
        "हिन्दी", " ÉCOLEÉlan", " I", "'LL", " '", "ſo", " ", "1", "2", "3", "4",
    ]  # fmt: skip
    assert llama_cpp.cut("granite-embed-multi-97m", text) == [
        "हिन्दी", " ÉCOLEÉlan", " I'LL", " '", "ſo", " ", "123", "4",
    ]  # fmt: skip
    assert llama_cpp.cut("llama-bpe", "हिन्दी x'ſo") == ["ह", "िन", "्द", "ी", " x", "'ſo"]
    assert their_cut(GPT_4O, "हिन्दी")[:2] == ["ह", "िन"]


def test_the_patterns_are_those_of_llama_cpp():
    assert llama_cpp.PATTERNS["qwen35"] == pattern_of("qwen35") == THEIR_PATTERNS["qwen35"]
    assert llama_cpp.PATTERNS["gpt-2"] == pattern_of("gpt2")


def test_exact_names_cut_as_we_do_and_others_where_we_say():
    exact = {pattern for pattern, nearest in llama_cpp.NEAREST.items() if not nearest.unlike}
    assert exact == {pattern_of("qwen35"), pattern_of("gpt2"), TIKTOKEN_GPT2}
    everything = ["".join(SETTLED), "'s 1a\n".join(SETTLED), *NASTY]
    for pattern, nearest in llama_cpp.NEAREST.items():
        for name in nearest.names:
            if nearest.unlike:
                assert llama_cpp.cut(name, nearest.unlike) != _core.pretokenize(pattern, nearest.unlike)
            else:
                for text in everything:
                    assert llama_cpp.cut(name, text) == _core.pretokenize(pattern, text)


def test_characters_newer_than_its_table_are_symbols_there():
    new = "a\u0897b"  # a mark since Unicode 16.0
    assert _core.pretokenize(pattern_of("qwen35"), new) == [new]
    assert llama_cpp.cut("qwen35", new) == ["a", "\u0897b"]


# ------------------------------------------------------------------ names and refusals


def odd(merges=((97, 98, 256),), tokens=((256, b"ab"),), **options):
    """The 256 bytes by their values, and more."""
    return Tokenizer({i: bytes([i]) for i in range(256)} | dict(tokens), merges, **options)


@pytest.mark.parametrize(
    ("pretokenizer", "digits", "theirs"),
    [
        ("qwen35", False, "qwen35"),
        ("qwen35", True, "qwen35"),
        ("gpt2", False, "gpt-2"),
        ("gpt4", False, "llama-bpe"),
        ("gpt4", True, "qwen2"),
        ("gpt4o", False, "granite-embed-multi-97m"),
    ],
)
def test_the_file_names_what_cuts_as_we_do(tmp_path, pretokenizer, digits, theirs):
    [file] = small(pretokenizer, digits=digits).export("gguf", tmp_path / "vocab.gguf")
    assert gguf.GGUFReader(file).fields["tokenizer.ggml.pre"].contents() == theirs


def test_other_spellings_of_the_same_cuts_have_names_too():
    for pattern, name in (
        (TIKTOKEN_GPT2, "gpt-2"),
        (CL100K, "llama-bpe"),
        (llama_cpp.QWEN35_OF_QWEN, "qwen35"),
    ):
        assert llama_cpp.name_of(odd(pattern=pattern)._model) == name


def test_whole_pretokens_decide_between_names():
    never = {"merges": (), "tokens": ((256, b"ab"), (257, b"cd"))}
    merge = [(99, 100, 257)]
    for whole, name in ((True, "llama-bpe"), (False, "dbrx")):
        tok = odd(merge, never["tokens"], pattern=pattern_of("gpt4"), whole_pretokens=whole)
        assert llama_cpp.name_of(tok._model) == name
    for pretokenizer, whole, does in (("qwen35", True, "does not take"), ("gpt4o", False, "takes")):
        tok = odd(merge, never["tokens"], pattern=pattern_of(pretokenizer), whole_pretokens=whole)
        with pytest.raises(PairityError, match=f"never gives the token b'ab' .* {does} such tokens whole"):
            llama_cpp.name_of(tok._model)
    # Where merging gives every token, it makes no difference.
    assert llama_cpp.name_of(odd(pattern=pattern_of("qwen35"), whole_pretokens=True)._model) == "qwen35"


def test_a_special_token_written_like_a_word_is_refused_where_words_are_looked_up():
    for pretokenizer, name in (("gpt4", "dbrx"), ("qwen35", "qwen35")):
        tok = odd(pattern=pattern_of(pretokenizer), special_tokens={"END": 257})
        assert llama_cpp.name_of(tok._model) == name
    with pytest.raises(PairityError, match="'END' is written like a word"):
        llama_cpp.name_of(odd(pattern=pattern_of("gpt4o"), special_tokens={"END": 257})._model)


def test_what_no_name_stands_for_is_refused(tmp_path):
    for tok, message in (
        (small("whitespace"), "has no name for 'whitespace'. Train with --pretokenizer qwen35"),
        (small("none"), "has no name for 'none'"),
        (small("gpt2", digits=True), "has no name for 'gpt2:digits'"),
        (odd(pattern=r"\w+|\W+"), r"has no name for '\\w\+\|"),
        (small("gpt2", normalize="nfc"), "cannot normalise"),
        (odd((), (), pattern=pattern_of("gpt2")), "without merges"),
    ):
        for allow in (False, True):
            with pytest.raises(PairityError, match=message):
                tok.export("gguf", tmp_path / "x.gguf", allow_different=allow)
    assert not list(tmp_path.iterdir())


# ------------------------------------------------------------------ measured differences


@functools.cache
def lossy():
    """It has tokens such as `don't`, which llama.cpp cuts in two."""
    lines = [*llama_cpp.CODE, *sample.read("dev")["eng_Latn"], "it's what we don't say. " * 50]
    return train(
        {"eng_Latn": lines},
        method=Classical(),
        num_merges=600,
        pretokenizer="gpt4o",
        digits=True,
        min_frequency=1,
    )


def test_other_ids_are_refused_with_what_they_cost(tmp_path):
    tok = lossy()
    with pytest.raises(PairityError) as refused:
        tok.export("gguf", tmp_path / "x.gguf")
    assert not (tmp_path / "x.gguf").exists()
    message = str(refused.value)
    rows = {row[0]: row[1:] for line in message.splitlines() if len(row := line.split()) == 4}
    lines = llama_cpp.CODE
    there = Tokenizer.from_merges(tok.engine_merges(), pattern=pattern_of("qwen35"))
    ours, theirs = tok.encode_batch(lines), there.encode_batch(lines)
    unlike = sum(here != other for here, other in zip(ours, theirs, strict=True))
    expected = [
        f"{unlike / len(lines):.0%}",
        *(f"{sum(map(len, ids)) / len(lines):.1f}" for ids in (ours, theirs)),
    ]
    assert unlike > 0
    assert rows == {"(code)": expected}, "languages that are alike are not listed"
    assert "--allow-different (allow_different=True)" in message

    with pytest.warns(PairityWarning, match=r"\(code\) +\d+%"):
        [file] = tok.export("gguf", tmp_path / "x.gguf", allow_different=True)
    assert gguf.GGUFReader(file).fields["tokenizer.ggml.pre"].contents() == "qwen35"


@pytest.fixture
def named_gpt_4o(monkeypatch):
    """A tokenizer whose file would say gpt-4o, which we never write, and what it would be there."""
    pattern = pattern_of("gpt4o")
    monkeypatch.setitem(llama_cpp.PATTERNS, "gpt-4o", GPT_4O)
    monkeypatch.setitem(llama_cpp.NEAREST, pattern, llama_cpp.Nearest(("gpt-4o",), "हि"))
    tok = small("gpt4o", merges=3000)
    there = llama_cpp.as_read(GPT_4O)
    return tok, Tokenizer.from_merges(tok.engine_merges(), pattern=there, special_tokens=SPECIALS)


def test_lost_marks_are_seen_where_they_cost(tmp_path, named_gpt_4o):
    tok, there = named_gpt_4o
    with pytest.raises(PairityError) as refused:
        tok.export("gguf", tmp_path / "vocab.gguf")
    rows = [line.split() for line in str(refused.value).splitlines() if re.match("[a-z]{3}_", line)]
    lines = sample.read("dev")["hin_Deva"]
    per_line = [f"{one.count(lines).mean():.1f}" for one in (tok, there)]
    assert rows[0] == ["hin_Deva", "100%", *per_line], "the one that loses most comes first"
    assert tok.count(lines).sum() * 1.2 < there.count(lines).sum()
    assert "arb_Arab" in [row[0] for row in rows]
    assert "eng_Latn" not in [row[0] for row in rows]


def test_the_command_says_what_holds(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, tok in (("exact", small("qwen35")), ("near", small("gpt4o")), ("lossy", lossy())):
        tok.save(name)

    def export(*words):
        return CliRunner().invoke(main, ["export", *words])

    exact = export("exact", "--to", "gguf", "-o", "a.gguf")
    assert exact.exit_code == 0
    assert "note: llama.cpp gives exactly the ids of this tokenizer" in exact.output
    near = export("near", "--to", "gguf", "-o", "b.gguf")
    assert "but not on all text: it splits 'éÉ' differently" in near.output
    refused = export("lossy", "--to", "gguf", "-o", "c.gguf")
    assert isinstance(refused.exception, PairityError)
    assert not Path("c.gguf").exists()
    with pytest.warns(PairityWarning, match="tokens per line here"):
        allowed = export("lossy", "--to", "gguf", "-o", "c.gguf", "--allow-different")
    assert allowed.exit_code == 0
    assert Path("c.gguf").exists()
    assert "note:" not in allowed.output
    same = export("exact", "--to", "gguf", "-o", "e.gguf", "--allow-different")
    assert "note: llama.cpp gives exactly the ids of this tokenizer" in same.output, (
        "nothing differs, and it is said"
    )
    for to in ("hf", "transformers", "tiktoken", "merges"):
        elsewhere = export("nowhere", "--to", to, "-o", "d", "--allow-different")
        assert "is only for gguf and wordpiece" in str(elsewhere.exception)


# ------------------------------------------------------------------ the real llama.cpp


def assert_real_ids(tok, file, texts):
    real = RealLlamaCpp(file)
    for text, ids in zip(texts, tok.encode_batch(texts, disallowed_special=()), strict=True):
        assert real.encode(text) == ids, text


@pytest.mark.parametrize("name", llama_cpp.PATTERNS)
def test_the_real_one_gives_the_ids_that_we_foretell(tmp_path, monkeypatch, name):
    pattern = llama_cpp.as_read(llama_cpp.PATTERNS[name])
    monkeypatch.setitem(llama_cpp.NEAREST, pattern, llama_cpp.Nearest((name,)))
    tok = Tokenizer.from_merges(trained_merges(pattern, 1500), pattern=pattern, special_tokens=SPECIALS)
    [file] = tok.export("gguf", tmp_path / "vocab.gguf")
    assert_real_ids(tok, file, [*NASTY, *sample_lines(), *fuzzed(800)])


def test_the_real_one_reads_special_tokens_as_we_do(tmp_path):
    tok = small("qwen35")
    [file] = tok.export("gguf", tmp_path / "vocab.gguf")
    real = RealLlamaCpp(file)
    for text in ("<|endoftext|>", "a<pad>b <|user|>हि", "<|endoftext|><pad>", "x"):
        assert real.encode(text, special=True) == tok.encode(text, allowed_special="all")
        assert real.encode(text) == tok.encode(text, disallowed_special=())
        assert real.encode(text, add_special=True) == real.encode(text), "nothing is added"


def test_the_real_one_adds_what_a_template_adds(tmp_path):
    made = small("qwen35").to_huggingface()
    ids = {name: made.token_to_id(name) for name in SPECIALS[:2]}
    made.post_processor = tokenizers.processors.TemplateProcessing(
        single=" ".join([SPECIALS[0], "$A", SPECIALS[1]]), special_tokens=list(ids.items())
    )
    tok = Tokenizer.from_huggingface(made)
    assert not tok.roles.named
    [file] = tok.export("gguf", tmp_path / "vocab.gguf")
    real = RealLlamaCpp(file)
    assert real.encode("x हि", add_special=True) == made.encode("x हि").ids
    assert real.encode("x हि") == tok.encode("x हि")


def test_the_real_one_runs_odd_vocabularies(tmp_path):
    # A hole, a special token that a word is written like, and tokens that no merge makes.
    holes = odd(pattern=pattern_of("qwen35"), special_tokens={"END": 259}, allow_holes=True)
    whole = odd(
        [(99, 100, 257)], ((256, b"ab"), (257, b"cd")), pattern=pattern_of("gpt4"), whole_pretokens=True
    )
    parts = odd([(99, 100, 257)], ((256, b"ab"), (257, b"cd")), pattern=pattern_of("gpt4"))
    for number, tok in enumerate((holes, whole, parts)):
        [file] = tok.export("gguf", tmp_path / f"{number}.gguf")
        assert_real_ids(tok, file, ["ab abab cd END [UNUSED_257]", "ab", "END", "\n \n", "é"])


def test_the_real_one_gives_our_ids_in_every_language(tmp_path, shared):
    folder = shared / "data" / "flores200" / "devtest"
    for pretokenizer, every in (("qwen35", 4), ("gpt4o", 40)):
        tok = small(pretokenizer, merges=3000)
        [file] = tok.export("gguf", tmp_path / f"{pretokenizer}.gguf")
        for code in LANGUAGES_30:
            lines = gzip.decompress((folder / f"{code}.txt.gz").read_bytes()).decode().splitlines()
            assert_real_ids(tok, file, lines[::every])


def test_the_real_one_cuts_words_at_marks_under_the_name_gpt_4o(tmp_path, named_gpt_4o):
    tok, there = named_gpt_4o
    with pytest.warns(PairityWarning, match=r"hin_Deva +100%"):
        [file] = tok.export("gguf", tmp_path / "vocab.gguf", allow_different=True)
    lines = [line for code in ("hin_Deva", "arb_Arab", "eng_Latn") for line in sample.read("dev")[code]]
    assert_real_ids(there, file, [*lines, *NASTY, *fuzzed(300)])


def test_a_vocabulary_without_an_end_of_text_ends_at_some_token_there(tmp_path):
    tok = small("qwen35", merges=20)
    with pytest.warns(PairityWarning, match=rf"{NO_END}.* at id 11, which is b'.'"):
        tok.export("gguf", tmp_path / "x.gguf")
    tok.export("gguf", tmp_path / "y.gguf", eos_token=SPECIALS[0])
