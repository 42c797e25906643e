"""One meaning of TOKENIZER: what a spec names, and the byte-level BPE that is there."""

import base64
import json
import warnings
from pathlib import Path

import pytest

from pairity import Tokenizer
from pairity.errors import PairityError, PairityWarning
from pairity.formats.opening import find, open_model
from pairity.formats.published import PUBLISHED
from pairity.text.pretokenizers import PRESETS
from peer_tokenizers import byte_level, unigram, write_ranks
from small_tokenizers import small


def ranks(path: Path, *more: str, end: str = "\n") -> Path:
    lines = [f"{base64.b64encode(bytes([byte])).decode()} {byte}" for byte in range(256)]
    path.write_bytes(end.join([*lines, *more, ""]).encode())
    return path


def tekken(path: Path, **changes: object) -> Path:
    tokens = [*(bytes([byte]) for byte in range(256)), b"ab", b"unused"]
    contents = {
        "config": {"pattern": r"\S+|\s+", "default_vocab_size": 277, "default_num_special_tokens": 20},
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode()}
            for rank, token in enumerate(tokens)
        ],
    }
    path.write_text(json.dumps(contents | changes))
    return path


def test_every_kind_of_spec_is_found(tmp_path: Path) -> None:
    small().save(tmp_path / "own")
    byte_level().save(str(tmp_path / "other.json"))
    tekken(tmp_path / "tekken.json")
    (tmp_path / "slow").mkdir()
    (tmp_path / "slow" / "tokenizer_config.json").write_text("{}")
    (tmp_path / "llama3").mkdir()
    ranks(tmp_path / "llama3" / "tokenizer.model")
    (tmp_path / "piece.model").write_bytes(b"\n\x0e\n\x05<unk>")
    for spec, kind, name in (
        (tmp_path / "own", "pairity", "own"),
        (tmp_path / "own" / "tokenizer.json", "pairity", "own"),
        (tmp_path / "other.json", "tokenizer.json", "other"),
        (tmp_path / "tekken.json", "tekken", "tekken"),
        (tmp_path, "tekken", tmp_path.name),
        (tmp_path / "slow", "transformers", "slow"),
        (tmp_path / "llama3", "ranks", "llama3"),
        (f"{tmp_path}/llama3/tokenizer.model@gpt2", "ranks", "llama3"),
        (tmp_path / "piece.model", "sentencepiece", "piece"),
        (f"sentencepiece:{tmp_path}/piece.model", "sentencepiece", "piece"),
        ("tiktoken:o200k_base", "tiktoken", "o200k_base"),
        ("gpt-4o=tiktoken:o200k_base", "tiktoken", "gpt-4o"),
        ("hf:openai-community/gpt2", "hub", "openai-community/gpt2"),
    ):
        found = find(spec)
        assert (found.kind, found.name) == (kind, name)


def test_a_model_is_opened_from_every_spec_that_has_one(tmp_path: Path) -> None:
    own = small()
    own.save(tmp_path / "own")
    own.export("tiktoken", tmp_path / "x.tiktoken")
    own.export("hf", tmp_path / "y.json")
    for spec in (tmp_path / "own", f"a name={tmp_path}/own", tmp_path / "y.json", f"{tmp_path}/x.tiktoken"):
        assert Tokenizer.load(spec).encode("Grüße, мир!") == own.encode("Grüße, мир!")
        assert open_model(spec).special_tokens == own.special_tokens


def test_a_tekken_is_a_model(tmp_path: Path) -> None:
    tok = Tokenizer.load(tekken(tmp_path / "tekken.json"))
    assert tok.encode("ab c") == [276, 52, 119]
    assert (len(tok), tok.special_tokens["<s>"], tok.special_tokens["[TOOL_CONTENT]"]) == (277, 1, 19)
    listed = [{"rank": 0, "token_str": "<first>", "is_control": True}]
    tok = Tokenizer.load(tekken(tmp_path / "tekken.json", special_tokens=listed))
    assert list(tok.special_tokens)[:2] == ["<first>", "<SPECIAL_1>"]
    assert len(tok.special_tokens) == 20


def test_published_ranks_have_their_special_tokens(tmp_path: Path) -> None:
    path = write_ranks(tmp_path / "r50k_base.tiktoken", more=50_256 - 259)
    assert Tokenizer.load(path).special_tokens == {"<|endoftext|>": 50_256}
    own = write_ranks(tmp_path / "mine_like_r50k.tiktoken")
    with pytest.warns(PairityWarning, match=r"named like r50k.*but it has 259 ranks.*r50k\.tiktoken@r50k"):
        guessed = Tokenizer.load(own)
    assert guessed == Tokenizer.load(f"{own}@r50k")
    assert guessed.special_tokens == {}
    for name, known in PUBLISHED.items():
        ids = list(known.special_tokens.values())
        assert not ids or min(ids) >= min(known.ranks, 50_256), name


def test_a_pattern_has_the_same_names_everywhere(tmp_path: Path) -> None:
    path = write_ranks(tmp_path / "mine.tiktoken")
    for name in (*PUBLISHED, *PRESETS):
        assert Tokenizer.from_tiktoken(path, pattern=name) == Tokenizer.load(f"{path}@{name}")
    assert Tokenizer.from_tiktoken(path, pattern="cl100k").pattern == PUBLISHED["cl100k"].pattern
    pytest.importorskip("tiktoken")
    encoding = small().to_tiktoken()
    assert Tokenizer.from_tiktoken(encoding, pattern="cl100k").pattern == PUBLISHED["cl100k"].pattern
    for open_it in (
        lambda: Tokenizer.load(f"{path}@gpt5"),
        lambda: Tokenizer.from_tiktoken(path, pattern="gpt5"),
    ):
        with pytest.raises(
            PairityError, match=r"unknown pre-tokenizer 'gpt5'\. Choose one of o200k_harmony, .*gpt4o"
        ):
            open_it()


def test_a_pattern_is_used_or_refused(tmp_path: Path) -> None:
    ranks(tmp_path / "tokenizer.model")
    assert Tokenizer.load(f"{tmp_path}@gpt2") == Tokenizer.load(f"{tmp_path}/tokenizer.model@gpt2")
    small().save(tmp_path / "own")
    byte_level().save(str(tmp_path / "other.json"))
    for place in ("own", "own/tokenizer.json", "other.json"):
        with pytest.raises(PairityError, match=r"for tiktoken ranks files, and .* Leave out '@gpt2'"):
            find(f"{tmp_path}/{place}@gpt2")


def test_line_ends_of_windows_are_line_ends(tmp_path: Path) -> None:
    one = Tokenizer.load(f"{ranks(tmp_path / 'unix', 'YWI= 256')}@gpt2")
    assert Tokenizer.load(f"{ranks(tmp_path / 'windows', 'YWI= 256', end=chr(13) + chr(10))}@gpt2") == one


def test_ids_without_a_token_stay_free_and_are_told_of(tmp_path: Path) -> None:
    path = ranks(tmp_path / "x.tiktoken", "YWI= 258")
    with pytest.warns(PairityWarning, match=r"x\.tiktoken: 2 ids below 259 have no token, such as 256"):
        tok = Tokenizer.load(f"{path}@gpt2")
    assert tok.encode("ab") == [258]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = Tokenizer.load(f"{ranks(tmp_path / 'empty.tiktoken', 'YWI= 256', '= 257', 'YmM= 258')}@none")
    assert kept.encode("abc") == [256, 99]
    contents = json.loads(small().to_huggingface().to_str())
    contents["added_tokens"][-1]["id"] = 90_000
    name = contents["added_tokens"][-1]["content"]
    contents["model"]["vocab"].pop(name)
    (tmp_path / "holes.json").write_text(json.dumps(contents))
    with pytest.warns(PairityWarning, match=r"holes\.json: .* ids below .* have no token"):
        Tokenizer.load(tmp_path / "holes.json")


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["YWI= 256", "YWM= 256"], "rank 256 is given to two tokens"),
        (["YWI= 256", "YWI= 257"], r"line 258: the token b'ab' appears twice"),
        (["YWI= -1"], "line 257: not a token in base64 and its rank"),
        (["YWI=", "x"], "line 257: not a token in base64"),
        ([f"YWI= {2**40}"], "ids go from 0"),
    ],
)
def test_damaged_ranks_are_refused(tmp_path: Path, more: list[str], message: str) -> None:
    path = ranks(tmp_path / "x.tiktoken", *more)
    with pytest.raises(PairityError, match=message):
        Tokenizer.load(f"{path}@gpt2")


def test_ranks_that_lack_bytes_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.tiktoken"
    path.write_bytes(ranks(path).read_bytes()[:1000])
    with pytest.raises(PairityError, match=r"lacks \d+ of the 256 bytes|not a token in base64"):
        Tokenizer.load(f"{path}@gpt2")
    with pytest.raises(PairityError, match=r"x\.tiktoken@NAME with NAME one of"):
        Tokenizer.load(ranks(path))


@pytest.mark.parametrize(
    "changes",
    [
        {"config": None},
        {"vocab": 3},
        {"vocab": [{"rank": 0, "token_bytes": "A"}]},
        {"vocab": [{"rank": 0, "token_bytes": "YQ=="}] * 2},
        {"special_tokens": [{"rank": "0", "token_str": "<s>"}]},
        {"special_tokens": 5},
    ],
)
def test_a_damaged_tekken_is_refused(tmp_path: Path, changes: dict[str, object]) -> None:
    path = tekken(tmp_path / "tekken.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | changes))
    (tmp_path / "x").mkdir()
    with pytest.raises(PairityError):
        Tokenizer.load(tmp_path)


def test_what_has_no_merges_says_what_it_is(tmp_path: Path) -> None:
    unigram().save(str(tmp_path / "tokenizer.json"))
    with pytest.raises(PairityError, match=r"is Unigram, not BPE: .* nothing to export or continue"):
        Tokenizer.load(tmp_path)
    (tmp_path / "piece.model").write_bytes(b"\n\x0e\n\x05<unk>")
    with pytest.raises(PairityError, match=r"is a SentencePiece model: its tokens are made of characters"):
        Tokenizer.load(tmp_path / "piece.model")


def test_a_tokenizer_that_is_python_code_says_so(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    transformers.ByT5Tokenizer().save_pretrained(tmp_path)
    with pytest.raises(PairityError, match="is ByT5Tokenizer, which is Python code of transformers"):
        Tokenizer.load(tmp_path)
