"""The pre-tokenizers of a tokenizer.json become a pattern that cuts as they do, or are refused by name."""

import json

import pytest
import tokenizers
from tokenizers import Regex, decoders, models, pre_tokenizers

from pairity import Tokenizer
from pairity.bpe.alphabet import to_text
from pairity.errors import PairityError
from pairity.formats import pre_tokenizers as ours
from pairity.text.pretokenizers import PRESETS, PROBE, THEN
from small_tokenizers import sample_lines, small

DEEPSEEK = [
    pre_tokenizers.Split(Regex(r"\p{N}{1,3}"), "isolated"),
    pre_tokenizers.Split(Regex("[一-龥぀-ゟ゠-ヿ]+"), "isolated"),
    pre_tokenizers.Split(
        Regex(
            r"[!\"#$%&'()*+,\-./:;<=>?@\[\\\]^_`{|}~][A-Za-z]+|[^\r\n\p{L}\p{P}\p{S}]?[\p{L}\p{M}]+"
            r"| ?[\p{P}\p{S}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        ),
        "isolated",
    ),
    pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
]
KEPT = {
    "gpt2": [pre_tokenizers.ByteLevel(add_prefix_space=False)],
    "starcoder": [
        pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
    ],
    "deepseek": DEEPSEEK,
    "punctuation": [
        pre_tokenizers.Punctuation("contiguous"),
        pre_tokenizers.Digits(individual_digits=False),
        pre_tokenizers.Split("...", "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
    ],
    "nested": [
        pre_tokenizers.Sequence(
            [pre_tokenizers.Punctuation("isolated"), pre_tokenizers.Split("é", "isolated")]
        ),
        pre_tokenizers.ByteLevel(add_prefix_space=False),
    ],
}
LINES = [PROBE, PROBE[::-1], "a  1\n\n 22 333 4444 (x) ... [é] ñ+½²  ", "", *sample_lines()]


@pytest.mark.parametrize("name", KEPT)
def test_steps_cut_as_they_do_in_hugging_face(name: str) -> None:
    merges = [to_text(b" ") + " a", "t h", "1 2", to_text(b" ") + " 1", ". .", "\u00c3 \u00a9"]
    vocab = {to_text(bytes([byte])): byte for byte in range(256)}
    for merge in merges:
        vocab["".join(merge.split(" "))] = len(vocab)
    theirs = tokenizers.Tokenizer(models.BPE(vocab, [tuple(merge.split(" ")) for merge in merges]))
    theirs.pre_tokenizer = pre_tokenizers.Sequence(KEPT[name])
    theirs.decoder = decoders.ByteLevel()
    tok = Tokenizer.from_huggingface(theirs)
    again = tok.to_huggingface()
    for line in LINES:
        pieces = [to_text(piece.encode()) for piece in tok.pretokenize(line)]
        assert pieces == [piece for piece, _ in theirs.pre_tokenizer.pre_tokenize_str(line)]
        assert pieces == [piece for piece, _ in again.pre_tokenizer.pre_tokenize_str(line)]
        assert tok.encode(line) == theirs.encode(line).ids == again.encode(line).ids
    assert Tokenizer.from_huggingface(again) == tok


def test_steps_are_saved_and_continued(tmp_path) -> None:  # type: ignore[no-untyped-def]
    from pairity import train
    from pairity.training.policy import Classical

    pattern = rf"\p{{N}}{THEN}{PRESETS['gpt2']}"
    tok = train(
        {"all": sample_lines()}, num_merges=50, pretokenizer=pattern, method=Classical(), progress=False
    )
    assert tok.pattern == pattern
    tok.save(tmp_path / "out")
    loaded = Tokenizer.load(tmp_path / "out")
    assert loaded == tok
    assert loaded.pretokenize("a  12") == ["a", "  ", "1", "2"]
    with pytest.raises(PairityError, match="one pattern, but this tokenizer uses several"):
        tok.to_tiktoken()
    with pytest.raises(PairityError, match="not a valid regular expression"):
        train({"all": ["a"]}, num_merges=1, pretokenizer=f"a{THEN}(", method=Classical())


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        ([pre_tokenizers.Whitespace(), *KEPT["gpt2"]], "the pre-tokenizer Whitespace cannot be kept"),
        ([pre_tokenizers.Metaspace()], "ends with Metaspace, not with ByteLevel"),
        ([pre_tokenizers.UnicodeScripts(), *KEPT["gpt2"]], "the pre-tokenizer UnicodeScripts cannot be kept"),
        (
            [pre_tokenizers.Punctuation("removed"), *KEPT["gpt2"]],
            "the pre-tokenizer Punctuation with behavior Removed cannot be kept",
        ),
        (
            [pre_tokenizers.Split(Regex(r"\d"), "merged_with_next"), *KEPT["gpt2"]],
            "the pre-tokenizer Split with behavior MergedWithNext and invert False cannot be kept",
        ),
        (
            [*KEPT["gpt2"], pre_tokenizers.Digits(individual_digits=True)],
            "ends with Digits, not with ByteLevel",
        ),
        ([*KEPT["gpt2"], *KEPT["gpt2"]], "the pre-tokenizer ByteLevel cannot be kept"),
        ([pre_tokenizers.ByteLevel(add_prefix_space=True)], "puts a space before every text"),
    ],
)
def test_steps_that_cannot_be_said_are_refused_by_name(steps: list[object], message: str) -> None:
    contents = json.loads(small().to_huggingface().to_str())
    step = json.loads(pre_tokenizers.Sequence(steps).__getstate__())
    with pytest.raises(PairityError, match=message):
        ours.read(step)
    contents["pre_tokenizer"] = step
    theirs = tokenizers.Tokenizer.from_str(json.dumps(contents))
    with pytest.raises(PairityError, match=message):
        Tokenizer.from_huggingface(theirs)


def test_no_pre_tokenizer_is_refused() -> None:
    with pytest.raises(PairityError, match="is missing: it is not a byte-level BPE"):
        ours.read(None)
