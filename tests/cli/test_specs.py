"""TOKENIZER means the same in every command."""

from pathlib import Path

import pytest
from tokenizers import pre_tokenizers

from pairity import Tokenizer
from pairity.errors import PairityError
from pairity.formats.opening import TOKENIZERS, find
from peer_tokenizers import byte_level, characters, unigram, wordpiece, write_ranks
from program import pairity


@pytest.fixture(scope="module")
def ranks(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = write_ranks(tmp_path_factory.mktemp("ranks") / "mine.tiktoken")
    path.with_suffix(".json").write_text('{"special_tokens": {"<s>": 259}}')
    return f"short={path}@gpt2"


def test_every_command_takes_a_file_of_ranks(ranks: str, tmp_path: Path) -> None:
    ids = pairity("encode", ranks, text="ab ab\n")
    assert ids.stdout == "256 257\n", ids.stderr
    assert pairity("decode", ranks, text=ids.stdout).stdout == "ab ab\n"
    assert "vocab_size=260" in pairity("inspect", ranks).stdout
    assert pairity("export", ranks, "--to", "hf", "-o", tmp_path / "x.json").returncode == 0
    assert Tokenizer.load(tmp_path / "x.json").encode("ab ab") == [256, 257]
    (tmp_path / "eng_Latn.txt").write_text("abab abab\n" * 3)
    (tmp_path / "deu_Latn.txt").write_text("baba abba\n" * 3)
    text = [tmp_path / "eng_Latn.txt", tmp_path / "deu_Latn.txt"]
    options = ["--vocab-size", "262", "--continue", ranks, "-o", tmp_path / "longer"]
    done = pairity("train", "--train", *text, "--dev", *text, *options)
    assert done.returncode == 0, done.stderr
    longer = Tokenizer.load(tmp_path / "longer")
    assert (len(longer), longer.special_tokens) == (262, {"<s>": 259})
    done = pairity("tax", ranks, tmp_path / "longer", "--data", *text, "--price", "1")
    assert done.returncode == 0, done.stderr
    assert "short" in done.stdout
    assert "longer" in done.stdout


def test_encode_and_decode_take_what_is_no_byte_level_bpe(tmp_path: Path) -> None:
    theirs = unigram()
    theirs.save(str(tmp_path / "unigram.json"))
    line = "Hello, world!"
    done = pairity("encode", tmp_path / "unigram.json", text=f"{line}\n")
    assert done.stdout.split() == [str(i) for i in theirs.encode(line).ids], done.stderr
    assert pairity("decode", tmp_path / "unigram.json", text=done.stdout).stdout == f"{line}\n"
    shown = pairity("encode", tmp_path / "unigram.json", "--tokens", text="ab ab\n").stdout
    pieces = [theirs.id_to_token(i).replace("\u2581", " ") for i in theirs.encode("ab ab").ids]
    assert shown == " ".join(map(repr, pieces)) + "\n"
    as_text = pairity("encode", tmp_path / "unigram.json", "--special-tokens", "text", text="ab ab\n")
    assert as_text.stdout == pairity("encode", tmp_path / "unigram.json", text="ab ab\n").stdout != ""
    refused = pairity("encode", tmp_path / "unigram.json", "--special-tokens", "token", text="ab ab\n")
    assert refused.returncode == 1
    assert (
        "--special-tokens token is only for byte-level BPE tokenizers: unigram runs in its own"
        in refused.stderr
    )
    done = pairity("encode", tmp_path / "unigram.json", text="\udcff\n", errors="surrogateescape")
    assert (done.returncode, done.stderr.count("\n")) == (1, 1)
    assert "line 1 is not UTF-8, which unigram cannot encode" in done.stderr
    done = pairity("decode", tmp_path / "unigram.json", text="99999\n")
    assert done.returncode == 1
    assert "id 99999 is not in the vocabulary" in done.stderr


def test_a_tokenizer_that_loses_text_is_told_of(tmp_path: Path) -> None:
    characters("abc ").save(str(tmp_path / "abc.json"))
    done = pairity("encode", tmp_path / "abc.json", text="a cab\nein Bad\nno\n")
    assert [len(line.split()) for line in done.stdout.splitlines()] == [5, 2, 0]
    assert done.stderr == (
        "warning: abc loses text: line 2 does not decode to itself. pairity eval counts such lines.\n"
    )
    assert pairity("encode", tmp_path / "abc.json", text="a cab\n").stderr == ""
    (tmp_path / "eng_Latn.txt").write_text("a cab\na bac\n")
    (tmp_path / "deu_Latn.txt").write_text("ein Bad\nab\n")
    data = ["--data", tmp_path / "eng_Latn.txt", tmp_path / "deu_Latn.txt"]
    said = (
        "warning: abc loses text in 1 of 4 lines; in deu_Latn, in 1 of 2 lines. Dropped text costs no tokens"
    )
    judged = pairity("eval", tmp_path / "abc.json", *data, "--metric", "cost", "-o", tmp_path / "scores")
    assert said in judged.stderr
    assert judged.stderr.count("loses text") == 1
    assert "loses text in 1 lines" in judged.stdout
    priced = pairity("tax", tmp_path / "abc.json", *data, "--price", "1")
    assert said in priced.stderr
    [german] = [line for line in priced.stdout.splitlines() if "deu_Latn" in line]
    assert german.rstrip().endswith("loses text in 1 of 2 lines")


@pytest.mark.parametrize("words", [["inspect"], ["export", "--to", "hf", "-o", "out.json"]])
def test_what_needs_merges_says_what_else_can_be_done(words: list[str], tmp_path: Path) -> None:
    wordpiece().save(str(tmp_path / "wordpiece.json"))
    done = pairity(words[0], tmp_path / "wordpiece.json", *words[1:], cwd=tmp_path)
    assert done.returncode == 1
    assert "is WordPiece, not BPE" in done.stderr
    assert "encode, decode, eval and tax can use it as it is" in done.stderr
    assert "Traceback" not in done.stderr
    assert not (tmp_path / "out.json").exists()


def test_a_name_with_an_at_sign_is_explained() -> None:
    with pytest.raises(PairityError, match=r"If 'a@500' is meant as a name.* another, such as a-500=tok/"):
        find("a@500=tok/")
    with pytest.raises(PairityError, match=r"If '@' is meant as a name"):
        find("@=tok/")


def test_what_cannot_be_continued_is_named_with_its_file(tmp_path: Path) -> None:
    for make in (wordpiece, unigram):
        file = tmp_path / f"{make.__name__}.json"
        make().save(str(file))
        with pytest.raises(
            PairityError, match=rf"{file}: the model of .* is (?i:{make.__name__}), not BPE"
        ) as error:
            Tokenizer.load(file)
        assert str(error.value).count(file.name) == 1
    made = byte_level()
    made.pre_tokenizer = pre_tokenizers.UnicodeScripts()
    made.save(str(tmp_path / "scripts.json"))
    with pytest.raises(PairityError, match=r"scripts.json: the pre-tokenizer .* ends with UnicodeScripts"):
        Tokenizer.load(tmp_path / "scripts.json")


def test_the_help_of_eval_says_all_that_a_tokenizer_may_be() -> None:
    shown = " ".join(pairity("eval", "--help").stdout.split())
    assert f"A TOKENIZER is {TOKENIZERS}." in shown
