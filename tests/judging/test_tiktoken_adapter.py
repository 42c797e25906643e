"""tiktoken's encodings and files of ranks: right ids, right bytes, right sizes, clear errors."""

import base64
import hashlib
import importlib
import importlib.util
import json
from pathlib import Path

import pytest

from pairity.errors import PairityError
from pairity.formats.published import PUBLISHED
from pairity.formats.tiktoken import read_ranks
from pairity.judging.opening import open_tokenizer
from pairity.text.pretokenizers import pattern_of
from pairity.tokenizer.tokenizer import Tokenizer
from peer_tokenizers import LINES, joined_bytes, rows, write_ranks


@pytest.mark.filterwarnings("ignore:.*is named like")
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
    with pytest.raises(
        PairityError, match=r"Add it: ranks.tiktoken@NAME with NAME one of o200k_harmony, o200k, cl100k"
    ):
        open_tokenizer(unknown)
    with pytest.raises(PairityError, match=r"tiktoken refuses the pattern given for .*ranks\.tiktoken"):
        open_tokenizer(f"{unknown}@(")
    lines = unknown.read_text().splitlines()
    short = tmp_path / "short.tiktoken"
    short.write_text("\n".join(lines[:200]))
    with pytest.raises(PairityError, match="no token for 56 of the 256 bytes"):
        open_tokenizer(f"{short}@gpt2")
    short.write_text("\n".join([*lines, "half"]))
    with pytest.raises(PairityError, match=r"short\.tiktoken, line 260: not a token in base64 and its rank"):
        open_tokenizer(f"{short}@gpt2")


def test_tiktoken_patterns_are_those_of_tiktoken(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tiktoken")
    public = pytest.importorskip("tiktoken_ext.openai_public")
    monkeypatch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: {})  # the ranks would need a network
    for name in ("r50k", "cl100k", "o200k"):
        assert public.ENCODING_CONSTRUCTORS[f"{name}_base"]()["pat_str"] == PUBLISHED[name].pattern


def test_tiktoken_patterns_keep_all_text_and_marks_in_their_words() -> None:
    pytest.importorskip("tiktoken")
    regex = importlib.import_module("regex")
    text = "It's 2024-ish: DON'T   stop\n\n  हिन्दी भाषा, 漢字かな 12345.6 camelCaseWORD /x/\n\t end "
    pieces = {name: regex.findall(known.pattern, text) for name, known in PUBLISHED.items()}
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


def test_special_tokens_of_published_encodings_are_those_of_tiktoken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("tiktoken")
    public = pytest.importorskip("tiktoken_ext.openai_public")
    monkeypatch.setattr(public, "load_tiktoken_bpe", lambda *_, **__: {})  # the ranks would need a network
    for name in ("r50k_base", "p50k_base", "p50k_edit", "cl100k_base", "o200k_base", "o200k_harmony"):
        made_of = public.ENCODING_CONSTRUCTORS[name]()
        assert PUBLISHED[name.removesuffix("_base")].special_tokens == made_of["special_tokens"]
        assert PUBLISHED[name.removesuffix("_base")].pattern == made_of["pat_str"]
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
        assert rows(opened, ["ab ab"]) == [[266, 42, 266]]  # after the ten special tokens
        model = Tokenizer.load(spec)
        assert (len(model), model.encode("ab ab")) == (267, [266, 42, 266])
        assert (model.special_tokens["<unk>"], model.special_tokens["[TOOL_CALLS]"]) == (0, 9)


def test_unknown_tiktoken_name() -> None:
    pytest.importorskip("tiktoken")
    with pytest.raises(PairityError, match=r"no encoding 'o300k'. It knows: .*cl100k_base"):
        open_tokenizer("tiktoken:o300k")


def test_a_vocabulary_has_one_size_however_it_is_opened(tmp_path: Path) -> None:
    tiktoken = pytest.importorskip("tiktoken")
    own = Tokenizer.from_tiktoken(
        tiktoken.Encoding(
            "x",
            pat_str=str(pattern_of("gpt4o")),
            mergeable_ranks={bytes([byte]): byte for byte in range(256)} | {b"ab": 256},
            special_tokens={"<|end|>": 260},
        ),
        allow_holes=True,
    )
    own.export("tiktoken", tmp_path / "x.tiktoken")
    own.export("hf", tmp_path / "tokenizer.json")
    own.save(tmp_path / "out")
    for spec in (own, own.to_tiktoken(), own.to_huggingface(), *map(str, tmp_path.iterdir())):
        if not str(spec).endswith("x.json"):
            assert open_tokenizer(spec).vocab_size == 261, spec
    for name, size in (("llama3", 128_256), ("llama4", 202_048), ("qwen", 151_851)):
        assert max(PUBLISHED[name].special_tokens.values()) + 1 == size


@pytest.mark.parametrize(
    "change",
    [
        {"config": None},
        {"vocab": 3},
        {"vocab": [{"rank": 0}]},
        {"vocab": [{"rank": 0, "token_bytes": "A"}]},
        {"vocab": [{"rank": 0, "token_bytes": "YQ=="}] * 2},
        {"config": {"pattern": "(", "default_vocab_size": "x", "default_num_special_tokens": 1}},
    ],
)
def test_a_damaged_tekken_is_refused(tmp_path: Path, change: dict[str, object]) -> None:
    config = {"pattern": r"\S+|\s+", "default_vocab_size": 267, "default_num_special_tokens": 10}
    ranks = [{"rank": i, "token_bytes": base64.b64encode(bytes([i])).decode()} for i in range(256)]
    (tmp_path / "tekken.json").write_text(json.dumps({"config": config, "vocab": ranks} | change))
    with pytest.raises(PairityError):
        open_tokenizer(tmp_path)


def test_ranks_that_tiktoken_cannot_take_are_refused(tmp_path: Path) -> None:
    lines = [f"{base64.b64encode(bytes([i])).decode()} {i}" for i in range(256)]
    for last in ("YWI= 255", f"YWI= {2**32}"):
        (tmp_path / "x.tiktoken").write_text("\n".join([*lines, last]))
        with pytest.raises(PairityError, match="the same rank, or a rank is out of range"):
            open_tokenizer(f"{tmp_path}/x.tiktoken@gpt2")


def test_a_pattern_that_only_tiktoken_reads_shows_no_pretokens() -> None:
    tiktoken = pytest.importorskip("tiktoken")
    ranks = {bytes([byte]): byte for byte in range(256)}
    encoding = tiktoken.Encoding("x", pat_str=r"\S+|\s+", mergeable_ranks=ranks, special_tokens={})
    assert open_tokenizer(encoding).pretoken_counts(["a b"]).tolist() == [3]
    encoding._pat_str = r"(?~x)|(?s:.)"
    assert open_tokenizer(encoding).pretoken_counts(["a b"]) is None
