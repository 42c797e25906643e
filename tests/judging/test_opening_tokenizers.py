"""A spec or an object to a tokenizer: names, our own, and clear errors."""

import importlib
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from pairity import train
from pairity.errors import PairityError
from pairity.formats.opening import split_name
from pairity.judging.huggingface import HuggingFaceTokenizer
from pairity.judging.opening import open_tokenizer
from pairity.judging.own import PairityTokenizer
from pairity.judging.protocol import steered_by
from peer_tokenizers import LINES, byte_level, joined_bytes, rows
from small_tokenizers import SPECIALS, small


def test_names_before_a_spec(tmp_path: Path) -> None:
    byte_level().save(str(tmp_path / "tokenizer.json"))
    assert open_tokenizer(f"my own={tmp_path}").name == "my own"
    assert open_tokenizer(f"my own={tmp_path}", name="other").name == "other"
    assert open_tokenizer(str(tmp_path)).name == tmp_path.name
    odd = tmp_path / "a=b"
    odd.mkdir()
    byte_level().save(str(odd / "tokenizer.json"))
    assert open_tokenizer(str(odd)).name == "a=b"  # a path that exists is a path
    inner = open_tokenizer(str(odd), name="first")
    again = open_tokenizer(inner, name="second")
    assert (again.name, again.vocab_size) == ("second", inner.vocab_size)
    assert rows(again, LINES) == rows(inner, LINES)
    assert open_tokenizer(inner) is inner


def test_pairitys_own_tokenizer(tmp_path: Path) -> None:
    own = small()
    own.save(tmp_path / "own")
    for spec, name in (
        (own, "pairity"),
        (tmp_path / "own", "own"),
        (tmp_path / "own" / "tokenizer.json", "own"),
    ):
        opened = open_tokenizer(spec, threads=2)
        assert isinstance(opened, PairityTokenizer)
        assert (opened.name, opened.vocab_size) == (name, own.vocab_size)
        for line, row in zip(LINES, rows(opened, LINES), strict=True):
            assert row == own.encode(line)
            assert opened.decode(row) == joined_bytes(opened, row) == line.encode()
        assert opened.pretoken_counts(["ab ab!", ""]).tolist() == [3, 0]
        assert [opened.token_bytes(token) for token in own.special_tokens.values()] == [None] * len(SPECIALS)


def test_special_tokens_in_a_line_are_text_for_ours_as_for_the_exported_one() -> None:
    own = small()
    lines = [f"a{SPECIALS[0]}b", *SPECIALS, f"Straße {SPECIALS[1]}{SPECIALS[2]} 漢字"]
    with pytest.raises(PairityError, match=r'the text contains the special token "<\|endoftext\|>"'):
        own.encode(lines[0])
    ours, theirs = open_tokenizer(own), open_tokenizer(own.to_huggingface())
    assert isinstance(ours, PairityTokenizer)
    assert isinstance(theirs, HuggingFaceTokenizer)
    assert rows(ours, lines) == rows(theirs, lines)
    for line, row in zip(lines, rows(ours, lines), strict=True):
        assert not set(row) & set(own.special_tokens.values())
        assert ours.decode(row) == line.encode()


def test_our_tokenizer_knows_the_text_that_steered_it() -> None:
    train_text, dev_text = {"eng_Latn": ["abc abc", "ab ab"]}, {"eng_Latn": ["abc", "b a"]}
    opened = open_tokenizer(train(train_text, dev=dev_text, vocab_size=258), name="steered")
    for steered in (opened, open_tokenizer(opened, name="under another name")):
        assert steered_by(steered, ["abc", "b a"])
        assert not steered_by(steered, ["abc", "b c"])


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("no/such/folder", "no tokenizer at 'no/such/folder'"),
        ("sentencepiece:none.model", "no tokenizer at 'none.model'"),
        (42, "cannot use a builtins.int as a tokenizer"),
    ],
)
def test_specs_that_name_nothing(spec: object, message: str) -> None:
    with pytest.raises(PairityError, match=message):
        open_tokenizer(spec)


def test_what_only_looks_like_our_tokenizer_is_not_guessed_at() -> None:
    class Looks:
        vocab_size = 256

        def encode_batch(self, lines: list[str]) -> list[list[int]]:
            return [list(line.encode()) for line in lines]

        def decode_bytes(self, ids: list[int]) -> bytes:
            return bytes(ids)

    with pytest.raises(PairityError, match=r"cannot use a .*Looks as a tokenizer: it has no encode_lines"):
        open_tokenizer(Looks())


def test_files_and_folders_that_are_no_tokenizer(tmp_path: Path) -> None:
    with pytest.raises(PairityError, match=r"no tokenizer\.json, tekken\.json, tokenizer_config"):
        open_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text('{"model": 1}')
    with pytest.raises(PairityError, match=r"tokenizer\.json is not a tokenizer\.json"):
        open_tokenizer(tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(PairityError, match="not a tokenizer that pairity can read"):
        open_tokenizer(tmp_path / "notes.txt")


@pytest.mark.parametrize(
    ("spec", "package"),
    [("tiktoken:o200k_base", "tiktoken"), ("hf:gpt2", "transformers"), ("sentencepiece:{}", "sentencepiece")],
)
def test_a_missing_extra_names_the_line_that_installs_it(
    spec: str, package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = importlib.import_module

    def without(name: str, *rest: object) -> object:
        if name == package:
            raise ModuleNotFoundError(name)
        return real(name, *rest)  # type: ignore[arg-type]

    monkeypatch.setattr(importlib, "import_module", without)
    model = tmp_path / "a.model"
    model.touch()
    with pytest.raises(PairityError) as caught:
        open_tokenizer(spec.format(model))
    assert f"needs the package {package}, which is not installed" in str(caught.value)
    assert "pip install 'pairity[peers]'" in str(caught.value)


def test_nothing_is_imported_before_it_is_needed(tmp_path: Path) -> None:
    byte_level().save(str(tmp_path / "tokenizer.json"))
    small().save(tmp_path / "own")
    program = (
        "import sys\n"
        "from pairity.judging.opening import open_tokenizer\n"
        f"for place in ({str(tmp_path)!r}, {str(tmp_path / 'own')!r}):\n"
        "    open_tokenizer(place).encode_lines(['a line'])\n"
        "print(sorted({'tiktoken', 'sentencepiece', 'transformers'} & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.parametrize(
    ("spec", "parts"),
    [
        ("gpt-4o=tiktoken:o200k_base", ("gpt-4o", "tiktoken:o200k_base")),
        ("mine=out/a=b", ("mine", "out/a=b")),
        ("tiktoken:o200k_base", (None, "tiktoken:o200k_base")),
        ("ranks.tiktoken@(?=x)", (None, "ranks.tiktoken@(?=x)")),
        ("out/a=b", (None, "out/a=b")),
        ("name=", (None, "name=")),
    ],
)
def test_a_name_before_a_spec_is_split_off(spec: str, parts: tuple[str | None, str]) -> None:
    assert split_name(spec) == parts


def test_a_path_with_an_equals_sign_is_no_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a=b").touch()
    assert split_name("a=b") == (None, "a=b")


def test_a_path_may_be_of_any_kind(tmp_path: Path) -> None:
    """As find and Tokenizer.load take it."""

    class Place:
        def __fspath__(self) -> str:
            return str(tmp_path / "own")

    small().save(tmp_path / "own")
    assert open_tokenizer(Place()).name == "own"
