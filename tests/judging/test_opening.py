"""Tokenizers of every library behind one protocol: right ids, no special tokens, right bytes, clear errors."""

import base64
import hashlib
import importlib
import importlib.util
import io
import itertools
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tokenizers import (
    AddedToken,
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)

from pairity import train
from pairity.errors import PairityError
from pairity.judging.huggingface import HuggingFaceTokenizer
from pairity.judging.opening import open_tokenizer
from pairity.judging.own import PairityTokenizer
from pairity.judging.protocol import TokenizerLike, steered_by
from pairity.judging.tiktoken import PUBLISHED_SIZES, TIKTOKEN_PATTERNS, read_ranks
from small_tokenizers import SPECIALS, small

LINES = ["Hello, world! Hello again.", "", "Straße mit 漢字 und 😀", "ab ab ab 12345", "  two  spaces "]
CORPUS = ["Hello, world! Hello again.", "Straße mit 漢字 und 😀", "the quick brown fox", "ab ab ab 12345"] * 5


def byte_level(size: int = 320) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=size, initial_alphabet=alphabet, special_tokens=["<s>", "</s>"], show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def unigram() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=60, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False
    )
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def wordpiece() -> Tokenizer:
    pieces = ["[UNK]", "[CLS]", "[SEP]", "hello", "##s", "wor", "##ld", ",", "!", "ab", "a", "##b"]
    tokenizer = Tokenizer(models.WordPiece({piece: i for i, piece in enumerate(pieces)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 1), ("[SEP]", 2)]
    )
    return tokenizer


def write_ranks(path: Path, more: int = 0) -> Path:
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab", b" ab", b"He"]
    tokens += [f"token {number}".encode() for number in range(more)]
    lines = [f"{base64.b64encode(token).decode()} {rank}" for rank, token in enumerate(tokens)]
    path.write_text("\n".join(lines) + "\n")
    return path


def rows(tokenizer: TokenizerLike, lines: list[str]) -> list[list[int]]:
    ids, offsets = tokenizer.encode_lines(lines)
    assert ids.dtype == np.uint32
    assert offsets.dtype == np.int64
    assert len(offsets) == len(lines) + 1
    assert offsets[-1] == len(ids)
    return [ids[a:b].tolist() for a, b in itertools.pairwise(offsets)]


def joined_bytes(tokenizer: TokenizerLike, row: list[int]) -> bytes:
    return b"".join(tokenizer.token_bytes(token) or b"?" for token in row)


def test_byte_level_bpe(tmp_path: Path) -> None:
    own = byte_level()
    own.save(str(tmp_path / "tokenizer.json"))
    opened = open_tokenizer(tmp_path / "tokenizer.json")
    assert isinstance(opened, TokenizerLike)
    assert opened.name == tmp_path.name
    assert opened.vocab_size == own.get_vocab_size()
    for line, row in zip(LINES, rows(opened, LINES), strict=True):
        assert row == own.encode(line, add_special_tokens=False).ids
        assert joined_bytes(opened, row) == line.encode()
        assert opened.decode(row) == line
    assert opened.token_bytes(own.token_to_id("<s>")) is None
    assert opened.token_bytes(10**6) is None


def test_settings_of_the_object_are_neither_used_nor_changed() -> None:
    own = byte_level()
    own.enable_truncation(2)
    own.enable_padding(length=50)
    own.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", special_tokens=[("<s>", 0), ("</s>", 1)]
    )
    opened = open_tokenizer(own, name="mine")
    assert opened.name == "mine"
    (row,) = rows(opened, ["Hello, world!"])
    assert opened.decode(row) == "Hello, world!"
    assert own.truncation is not None
    assert own.padding is not None


def test_a_special_token_written_in_the_text_is_text() -> None:
    (row,) = rows(open_tokenizer(byte_level()), ["a<s>b"])
    assert len(row) == 5
    assert 0 not in row


def test_added_tokens_that_are_not_special_stand_for_their_text() -> None:
    own = byte_level()
    own.add_tokens([AddedToken("漢字", special=False)])
    opened = open_tokenizer(own)
    assert opened.token_bytes(own.token_to_id("漢字")) == "漢字".encode()


def test_unigram() -> None:
    opened = open_tokenizer(unigram(), name="unigram")
    row, strange = rows(opened, ["Hello world", "Ж"])
    assert joined_bytes(opened, row) == b" Hello world"  # the space that Metaspace puts in front
    assert opened.decode(row) == "Hello world"
    assert None in [opened.token_bytes(token) for token in strange]


def test_unigram_unknown_without_a_special_token() -> None:
    own = Tokenizer(models.Unigram([("unknown", -10.0), ("▁", -1.0), ("a", -2.0)], unk_id=0))
    opened = open_tokenizer(own)
    assert opened.token_bytes(0) is None
    assert opened.token_bytes(1) == b" "


def test_byte_fallback_pieces_are_bytes() -> None:
    vocabulary = {"<unk>": 0, "▁a": 1, "<0xC3>": 2, "<0xA9>": 3, "<0xZZ>": 4}
    own = Tokenizer(models.BPE(vocabulary, [], unk_token="<unk>", byte_fallback=True))
    opened = open_tokenizer(own)
    assert [opened.token_bytes(token) for token in range(5)] == [None, b" a", b"\xc3", b"\xa9", b"<0xZZ>"]


def test_wordpiece_adds_no_cls_and_strips_its_prefix() -> None:
    opened = open_tokenizer(wordpiece())
    row, strange = rows(opened, ["Hellos world", "漢"])
    assert [opened.token_bytes(token) for token in row] == [b"hello", b"s", b"wor", b"ld"]
    assert [opened.token_bytes(token) for token in strange] == [None]


def test_pretoken_counts_are_the_pretokenizers_own() -> None:
    assert HuggingFaceTokenizer(byte_level(), "x").pretoken_counts(["Hello, world!", ""]).tolist() == [4, 0]  # type: ignore[union-attr]
    assert HuggingFaceTokenizer(wordpiece(), "x").pretoken_counts(["Héllo world"]).tolist() == [2]  # type: ignore[union-attr]
    assert HuggingFaceTokenizer(Tokenizer(models.BPE()), "x").pretoken_counts(["a"]) is None


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


def test_tiktoken_file_and_its_pattern(tmp_path: Path) -> None:
    pytest.importorskip("tiktoken")
    path = write_ranks(tmp_path / "cl100k_small.tiktoken")
    assert read_ranks(path)[b" ab"] == 257
    opened = open_tokenizer(path)
    assert (opened.name, opened.vocab_size) == ("cl100k_small", 259)
    for threads in (1, 2):
        opened = open_tokenizer(path, threads=threads)
        for line, row in zip(LINES, rows(opened, LINES), strict=True):
            assert opened.decode(row) == joined_bytes(opened, row) == line.encode()
    assert rows(opened, ["ab ab"]) == [[256, 257]]
    assert opened.pretoken_counts(["ab ab 12345"]).tolist() == [5]  # type: ignore[attr-defined]
    gpt2 = open_tokenizer(f"{path}@gpt2")
    assert gpt2.pretoken_counts(["ab ab 12345"]).tolist() == [3]  # type: ignore[attr-defined]
    assert rows(open_tokenizer(rf"x={path}@\S+|\s+"), ["ab ab"]) == [[256, 32, 256]]
    folder = tmp_path / "llama3"
    folder.mkdir()
    # The suffix is SentencePiece's, the content is not.
    llama = open_tokenizer(write_ranks(folder / "tokenizer.model"))
    assert llama.name == "llama3"


def test_tiktoken_files_that_cannot_be_used(tmp_path: Path) -> None:
    pytest.importorskip("tiktoken")
    unknown = write_ranks(tmp_path / "ranks.tiktoken")
    with pytest.raises(PairityError, match=r"Add it: ranks.tiktoken@NAME with NAME one of o200k, cl100k"):
        open_tokenizer(unknown)
    with pytest.raises(PairityError, match=r"tiktoken refuses the pattern given for .*ranks\.tiktoken"):
        open_tokenizer(f"{unknown}@(")
    lines = unknown.read_text().splitlines()
    short = tmp_path / "short.tiktoken"
    short.write_text("\n".join(lines[:200]))
    with pytest.raises(PairityError, match="no token for 56 of the 256 bytes"):
        open_tokenizer(f"{short}@gpt2")
    short.write_text("\n".join([*lines, "half"]))
    with pytest.raises(PairityError, match=r"short\.tiktoken, line 260: not a token in base64 and a rank"):
        open_tokenizer(f"{short}@gpt2")


def test_tiktoken_patterns_are_those_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tiktoken")
    public = pytest.importorskip("tiktoken_ext.openai_public")
    monkeypatch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: {})  # the ranks would need a network
    for name in ("r50k", "cl100k", "o200k"):
        assert public.ENCODING_CONSTRUCTORS[f"{name}_base"]()["pat_str"] == TIKTOKEN_PATTERNS[name]


def test_tiktoken_patterns_keep_all_text_and_marks_in_their_words() -> None:
    pytest.importorskip("tiktoken")
    regex = importlib.import_module("regex")
    text = "It's 2024-ish: DON'T   stop\n\n  हिन्दी भाषा, 漢字かな 12345.6 camelCaseWORD /x/\n\t end "
    pieces = {name: regex.findall(pattern, text) for name, pattern in TIKTOKEN_PATTERNS.items()}
    assert all("".join(found) == text for found in pieces.values())
    assert " हिन्दी" in pieces["o200k"]  # marks stay in their word
    assert " हिन्दी" not in pieces["gpt2"]


def test_tiktoken_by_name_without_a_network(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tiktoken")
    package = importlib.util.find_spec("litellm")
    if package is None or not package.submodule_search_locations:
        pytest.skip("the package litellm, which carries a cache of tiktoken, is not installed")
    cache = Path(package.submodule_search_locations[0], "litellm_core_utils", "tokenizers")
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(cache))
    # Known ids.
    for name, size, ids in (("o200k", 200_019, [24912, 2375]), ("cl100k", 100_277, [15339, 1917])):
        opened = open_tokenizer(f"tiktoken:{name}_base")
        assert opened.vocab_size == size
        assert rows(opened, ["hello world"]) == [ids]
        # The cache is named by the SHA-1 of the address. A file of ranks has no special tokens in it.
        address = f"https://openaipublic.blob.core.windows.net/encodings/{name}_base.tiktoken"
        file = cache / hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
        again = open_tokenizer(f"{file}@{name}")
        assert again.vocab_size == size
        assert rows(again, LINES) == rows(opened, LINES)


def test_sizes_of_published_encodings_are_those_of_tiktoken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tiktoken")
    public = pytest.importorskip("tiktoken_ext.openai_public")
    monkeypatch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: {})  # the ranks would need a network
    for name in ("r50k", "p50k", "cl100k", "o200k"):
        made_of = public.ENCODING_CONSTRUCTORS[f"{name}_base"]()
        (size,) = [size for (known, _), size in PUBLISHED_SIZES.items() if known == name]
        assert size == made_of.get("explicit_n_vocab", max(made_of["special_tokens"].values()) + 1)
    ranks = write_ranks(tmp_path / "full", more=50_256 - 259)
    assert open_tokenizer(f"{ranks}@r50k").vocab_size == 50_257
    assert open_tokenizer(f"{ranks}@o200k").vocab_size == 50_256  # another file with o200k's pattern


def test_tekken(tmp_path: Path) -> None:
    pytest.importorskip("tiktoken")
    tokens = [bytes([byte]) for byte in range(256)] + [b"ab", b"never used"]
    content = {
        "config": {
            "pattern": r"\S+|\s+",
            "num_vocab_tokens": 258,
            "default_vocab_size": 267,
            "default_num_special_tokens": 10,
            "version": "v3",
        },
        "vocab": [
            {"rank": rank, "token_bytes": base64.b64encode(token).decode(), "token_str": None}
            for rank, token in enumerate(tokens)
        ],
    }
    path = tmp_path / "tekken.json"
    path.write_text(json.dumps(content))
    for spec in (path, tmp_path):
        opened = open_tokenizer(spec)
        assert opened.vocab_size == 267
        assert rows(opened, ["ab ab"]) == [[256, 32, 256]]


@pytest.fixture
def sentencepiece_model(tmp_path: Path) -> Path:
    sentencepiece = pytest.importorskip("sentencepiece")
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS), model_writer=model, vocab_size=330, model_type="bpe",
        byte_fallback=True, hard_vocab_limit=False, minloglevel=2,
    )  # fmt: skip
    path = tmp_path / "small.model"
    path.write_bytes(model.getvalue())
    return path


def test_sentencepiece(sentencepiece_model: Path) -> None:
    for spec in (sentencepiece_model, f"sentencepiece:{sentencepiece_model}"):
        opened = open_tokenizer(spec)
        assert opened.name == "small"
        row, strange, nothing = rows(opened, ["Hello again.", "Ж", ""])
        assert joined_bytes(opened, row) == b" Hello again."
        assert opened.decode(row) == "Hello again."
        assert joined_bytes(opened, strange) == " Ж".encode()
        assert nothing == []
    assert opened.token_bytes(0) is None  # unknown
    assert opened.token_bytes(1) is None  # begin of sentence
    assert rows(opened, []) == []


def test_sentencepiece_file_that_is_none(tmp_path: Path) -> None:
    pytest.importorskip("sentencepiece")
    bad = tmp_path / "bad.model"
    bad.write_bytes(b"\x00\x01 no model")
    with pytest.raises(PairityError, match=r"bad\.model is not a SentencePiece model"):
        open_tokenizer(bad)


def test_transformers_folder_and_object(tmp_path: Path) -> None:
    transformers = pytest.importorskip("transformers")
    fast = transformers.PreTrainedTokenizerFast(tokenizer_object=byte_level(), bos_token="<s>")
    fast.save_pretrained(tmp_path)
    for spec in (tmp_path, fast):
        opened = open_tokenizer(spec, name="t")
        assert rows(opened, LINES) == rows(open_tokenizer(byte_level()), LINES)


def test_transformers_tokenizer_written_in_python() -> None:
    transformers = pytest.importorskip("transformers")
    opened = open_tokenizer(transformers.ByT5Tokenizer(), name="byt5")
    for line, row in zip(LINES, rows(opened, LINES), strict=True):
        assert joined_bytes(opened, row) == line.encode()
        assert opened.decode(row) == line
    assert opened.token_bytes(0) is None


def test_objects_of_other_libraries_are_recognised(sentencepiece_model: Path, tmp_path: Path) -> None:
    tiktoken, sentencepiece = pytest.importorskip("tiktoken"), pytest.importorskip("sentencepiece")
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding(
        "tiny", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={"<e>": 256}
    )
    opened = open_tokenizer(encoding)
    assert (opened.name, opened.vocab_size) == ("tiny", 257)
    assert opened.token_bytes(256) is None
    assert rows(opened, ["<e>"]) == [[60, 101, 62]]  # text, not the special token
    processor = sentencepiece.SentencePieceProcessor(model_file=str(sentencepiece_model))
    assert open_tokenizer(processor).name == "sentencepiece"


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
    with pytest.raises(PairityError, match=r"no tokenizer\.json, tokenizer_config\.json or tokenizer\.model"):
        open_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text('{"model": 1}')
    with pytest.raises(PairityError, match=r"tokenizer\.json is not a tokenizer\.json"):
        open_tokenizer(tmp_path)
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(PairityError, match="not a tokenizer that pairity can read"):
        open_tokenizer(tmp_path / "notes.txt")


def test_unknown_tiktoken_name() -> None:
    pytest.importorskip("tiktoken")
    with pytest.raises(PairityError, match=r"no encoding 'o300k'. It knows: .*cl100k_base"):
        open_tokenizer("tiktoken:o300k")


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
