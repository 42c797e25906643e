"""Any tokenizer behind one small protocol, so that all are judged alike.

    open_tokenizer("out/")                       a folder that pairity or transformers wrote
    open_tokenizer("gpt-4o=tiktoken:o200k_base") a name of your choice before any spec
    open_tokenizer("llama3/tokenizer.model")     SentencePiece and tiktoken files share this suffix: the
    content decides

No BOS, EOS or other special token is ever added, and nothing is truncated or padded.
"""

from __future__ import annotations

import base64
import hashlib
import importlib
import importlib.util
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from pairity.bpe.alphabet import to_bytes
from pairity.errors import PairityError
from pairity.text.pretokenizers import pattern_of
from pairity.tokenizer.tokenizer import Tokenizer

Ids = npt.NDArray[np.uint32]
Offsets = npt.NDArray[np.int64]


@runtime_checkable
class TokenizerLike(Protocol):
    """What the evaluation needs. A class of your own with these five members can be judged too.

    Two further members are used where they exist: `pretoken_counts(lines) -> array | None` (for the floor
    that a pre-tokenizer sets) and `steered_by(lines) -> bool` (for the leak guard).
    """

    @property
    def name(self) -> str: ...

    @property
    def vocab_size(self) -> int: ...

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Offsets]:
        """All ids one after another, and n + 1 offsets: line i is ids[offsets[i]:offsets[i + 1]]."""

    def decode(self, ids: Sequence[int]) -> str | bytes: ...

    def token_bytes(self, token: int) -> bytes | None:
        """The bytes a token stands for; None for unknown and special tokens, which stand for no text of
        their own.
        """


def steered_by(tokenizer: object, lines: list[str]) -> bool:
    """Ask a tokenizer that may not know of the leak guard."""
    ask = getattr(tokenizer, "steered_by", None)
    return ask is not None and bool(ask(lines))


def open_tokenizer(spec: Any, *, name: str | None = None, threads: int | None = None) -> TokenizerLike:
    """The tokenizer that `spec` names.

    `spec` is one of
    - a folder of pairity or transformers, or a `tokenizer.json` (BPE, Unigram, WordPiece, WordLevel),
    - `hf:NAME`: from the Hugging Face hub (the only spec, beside `tiktoken:NAME`, that may use the network),
    - `tiktoken:NAME`, or a file of tiktoken ranks; where the file name does not tell which pre-tokenizer
      pattern goes
      with it, put it after an at sign: `ranks.tiktoken@cl100k`, or `ranks.tiktoken@REGEX`,
    - `sentencepiece:FILE` or a `*.model` file; a `tekken.json` of Mistral,
    - a tokenizer object of pairity, tokenizers, transformers, tiktoken or sentencepiece, or a
    `TokenizerLike`. `NAME=SPEC` gives it a name; so does the argument `name`, which wins.
    """
    if not isinstance(spec, str | Path):
        return _wrap(spec, name, threads)
    text = str(spec)
    given, _, rest = text.partition("=")
    if rest and not Path(text).exists() and "/" not in given and ":" not in given and "@" not in given:
        text, name = rest, name or given
    scheme, _, value = text.partition(":")
    if scheme == "hf" and value:
        return _open_transformers(value, name or value, local=False)
    if scheme == "tiktoken" and value:
        return _open_tiktoken_name(value, name or value, threads)
    if scheme == "sentencepiece" and value:
        return _open_sentencepiece(_existing(value), name or Path(value).stem, threads)
    return _open_path(text, name, threads)


def _open_path(text: str, name: str | None, threads: int | None) -> TokenizerLike:
    pattern: str | None = None
    path = Path(text)
    if not path.exists() and "@" in text:
        before, _, pattern = text.partition("@")
        path = Path(before)
    path = _existing(str(path))
    if path.is_dir():
        return _open_folder(path, name or path.resolve().name, threads)
    own_name = name or (path.resolve().parent.name if path.name.startswith("tokenizer.") else path.stem)
    if path.suffix == ".json":
        if _is_tekken(path):
            return _open_tekken(path, own_name, threads)
        if path.name == "tokenizer.json" and (path.parent / "pairity.json").exists():
            return _open_folder(path.parent, own_name, threads)
        return _open_tokenizer_json(path, own_name)
    if _is_tiktoken_file(path):
        return _open_tiktoken_file(path, pattern, own_name, threads)
    if ".model" in path.name:
        return _open_sentencepiece(path, own_name, threads)
    raise PairityError(
        f"{path} is not a tokenizer that pairity can read. Give a folder, a tokenizer.json, a *.tiktoken or "
        "*.model file, 'tiktoken:NAME', 'sentencepiece:FILE' or 'hf:NAME'."
    )


def _open_folder(folder: Path, name: str, threads: int | None) -> TokenizerLike:
    if (folder / "pairity.json").exists():
        return PairityTokenizer(Tokenizer.load(folder), name)
    if (folder / "tokenizer.json").exists():
        return _open_tokenizer_json(folder / "tokenizer.json", name)
    if (folder / "tekken.json").exists():
        return _open_tekken(folder / "tekken.json", name, threads)
    if (folder / "tokenizer_config.json").exists():
        return _open_transformers(str(folder), name, local=True)
    if (folder / "tokenizer.model").exists():
        return _open_path(str(folder / "tokenizer.model"), name, threads)
    raise PairityError(
        f"no tokenizer in {folder}: no tokenizer.json, tokenizer_config.json or tokenizer.model. "
        "Name the file itself, or the folder that holds one of these."
    )


def _wrap(tokenizer: Any, name: str | None, threads: int | None) -> TokenizerLike:
    """A tokenizer object, recognised by what it can do or by the package it comes from (none is imported for
    this).
    """
    if isinstance(tokenizer, TokenizerLike):
        return tokenizer if name is None or name == tokenizer.name else _Renamed(tokenizer, name)
    kind = type(tokenizer)
    package = kind.__module__.partition(".")[0]
    if package == "tokenizers":
        return HuggingFaceTokenizer(tokenizer, name or "tokenizers")
    if package == "tiktoken":
        return TiktokenTokenizer(tokenizer, name or str(tokenizer.name), threads)
    if package == "sentencepiece":
        return SentencePieceTokenizer(tokenizer, name or "sentencepiece", threads)
    if hasattr(tokenizer, "encode_batch") and hasattr(tokenizer, "decode_bytes"):
        return PairityTokenizer(tokenizer, name or str(getattr(tokenizer, "name", "pairity")))
    if hasattr(tokenizer, "convert_ids_to_tokens"):
        return _from_transformers(tokenizer, name or str(tokenizer.name_or_path or "transformers"))
    raise PairityError(
        f"cannot use a {kind.__module__}.{kind.__qualname__} as a tokenizer: it has no encode_lines, decode "
        "and token_bytes (see pairity.judging.opening.TokenizerLike)."
    )


def _existing(path: str) -> Path:
    if not Path(path).exists():
        raise PairityError(
            f"no tokenizer at {path!r}: there is no such file or folder. A tokenizer from elsewhere is named "
            "'tiktoken:NAME', 'sentencepiece:FILE' or 'hf:NAME'."
        )
    return Path(path)


def _extra(module: str, what: str) -> ModuleType:
    """A package of the extra `peers`, or an error with the line that installs it."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise PairityError(
            f'{what} needs the package {module}, which is not installed: pip install "pairity[peers]"'
        ) from error


def _joined(per_line: Iterable[Sequence[int]]) -> tuple[Ids, Offsets]:
    """[[5, 6], [], [7]] -> ids [5, 6, 7], offsets [0, 2, 2, 3]."""
    rows = [np.asarray(row, dtype=np.uint32) for row in per_line]
    offsets = np.zeros(len(rows) + 1, dtype=np.int64)
    np.cumsum([len(row) for row in rows], out=offsets[1:])
    return (np.concatenate(rows) if rows else np.zeros(0, dtype=np.uint32)), offsets


def _plain(ids: Sequence[int]) -> list[int]:
    """A list of Python integers, which is what the libraries take; a list is passed on as it is."""
    return ids if isinstance(ids, list) else [int(token) for token in ids]


class _Adapter:
    """What all adapters share: a name, a vocabulary size, and nothing known about pre-tokens and dev text."""

    def __init__(self, name: str, vocab_size: int) -> None:
        self._name = name
        self._vocab_size = vocab_size

    @property
    def name(self) -> str:
        return self._name

    @property
    def vocab_size(self) -> int:
        return self._vocab_size

    def pretoken_counts(self, lines: list[str]) -> npt.NDArray[np.int64] | None:
        """Pre-tokens of every line, or None where the tokenizer does not show its pre-tokenizer."""
        return None

    def steered_by(self, lines: list[str]) -> bool:
        """Whether these very lines steered the training, as far as the tokenizer knows."""
        return False


class _Renamed(_Adapter):
    """A tokenizer under another name."""

    def __init__(self, tokenizer: TokenizerLike, name: str) -> None:
        super().__init__(name, tokenizer.vocab_size)
        self._inner = tokenizer

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Offsets]:
        return self._inner.encode_lines(lines)

    def decode(self, ids: Sequence[int]) -> str | bytes:
        return self._inner.decode(ids)

    def token_bytes(self, token: int) -> bytes | None:
        return self._inner.token_bytes(token)

    def pretoken_counts(self, lines: list[str]) -> npt.NDArray[np.int64] | None:
        count = getattr(self._inner, "pretoken_counts", None)
        return None if count is None else count(lines)

    def steered_by(self, lines: list[str]) -> bool:
        return steered_by(self._inner, lines)


# ------------------------------------------------------------ pairity


class PairityTokenizer(_Adapter):
    """pairity's own Tokenizer, or anything else with `encode_batch` and `decode_bytes`."""

    def __init__(self, tokenizer: Any, name: str) -> None:
        super().__init__(name, int(tokenizer.vocab_size))
        self._tokenizer = tokenizer

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Offsets]:
        encoded = self._tokenizer.encode_batch(lines)
        if isinstance(encoded, tuple) and len(encoded) == 2:  # ids and offsets already
            return np.asarray(encoded[0], dtype=np.uint32), np.asarray(encoded[1], dtype=np.int64)
        return _joined(encoded)

    def decode(self, ids: Sequence[int]) -> bytes:
        return bytes(self._tokenizer.decode_bytes(_plain(ids)))

    def token_bytes(self, token: int) -> bytes | None:
        if hasattr(self._tokenizer, "token_bytes"):
            found = self._tokenizer.token_bytes(token)
            return None if found is None else bytes(found)
        return bytes(self._tokenizer.decode_bytes([token]))

    def pretoken_counts(self, lines: list[str]) -> npt.NDArray[np.int64] | None:
        split = getattr(self._tokenizer, "pretokenize", None)
        return None if split is None else np.array([len(split(line)) for line in lines], dtype=np.int64)

    def steered_by(self, lines: list[str]) -> bool:
        return steered_by(self._tokenizer, lines)


# ------------------------------------------------------------ Hugging Face


class HuggingFaceTokenizer(_Adapter):
    """A `tokenizers.Tokenizer`: byte-level BPE, BPE with byte fallback, Unigram, WordPiece, WordLevel."""

    def __init__(self, tokenizer: Any, name: str) -> None:
        super().__init__(name, int(tokenizer.get_vocab_size(with_added_tokens=True)))
        # A copy: truncation and padding are settings of the object, and the caller's must stay as they are.
        self._tokenizer = type(tokenizer).from_str(tokenizer.to_str())
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True  # "<s>" inside a text is text
        self._added = {
            int(token): None if added.special else added.content.encode()
            for token, added in self._tokenizer.get_added_tokens_decoder().items()
        }
        self._bytes_of = _bytes_of_token(self._tokenizer)
        self._unknown = _unknown_token(self._tokenizer)

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Offsets]:
        return _joined(e.ids for e in self._tokenizer.encode_batch(lines, add_special_tokens=False))

    def decode(self, ids: Sequence[int]) -> str:
        return str(self._tokenizer.decode(_plain(ids), skip_special_tokens=False))

    def token_bytes(self, token: int) -> bytes | None:
        if token in self._added:
            return self._added[token]
        piece = self._tokenizer.id_to_token(token)
        return None if piece is None or piece == self._unknown else self._bytes_of(piece)

    def pretoken_counts(self, lines: list[str]) -> npt.NDArray[np.int64] | None:
        pretokenizer, normalizer = self._tokenizer.pre_tokenizer, self._tokenizer.normalizer
        if pretokenizer is None:
            return None
        normal = lines if normalizer is None else [normalizer.normalize_str(line) for line in lines]
        return np.array([len(pretokenizer.pre_tokenize_str(line)) for line in normal], dtype=np.int64)


def _open_tokenizer_json(path: Path, name: str) -> TokenizerLike:
    import tokenizers

    try:
        tokenizer = tokenizers.Tokenizer.from_file(str(path))
    except Exception as error:
        raise PairityError(f"{path} is not a tokenizer.json that tokenizers can read: {error}") from error
    return HuggingFaceTokenizer(tokenizer, name)


def _bytes_of_token(tokenizer: Any) -> Callable[[str], bytes]:
    """How this tokenizer writes bytes as token strings, read from its parts."""
    parts = [_state(tokenizer.decoder), _state(tokenizer.pre_tokenizer)]
    kinds = {kind for part in parts for kind in _kinds(part)}
    if "ByteLevel" in kinds:
        return _byte_level_bytes
    if "WordPiece" in kinds or type(tokenizer.model).__name__ == "WordPiece":
        prefix = str(getattr(tokenizer.model, "continuing_subword_prefix", None) or "##")
        return lambda piece: piece.removeprefix(prefix).encode()
    return _sentencepiece_bytes


def _unknown_token(tokenizer: Any) -> str | None:
    if type(tokenizer.model).__name__ == "Unigram":
        unknown = json.loads(tokenizer.to_str())["model"]["unk_id"]
        return None if unknown is None else str(tokenizer.id_to_token(unknown))
    return getattr(tokenizer.model, "unk_token", None)


def _state(part: Any) -> Any:
    return None if part is None else json.loads(part.__getstate__())


def _kinds(state: Any) -> Iterable[str]:
    """Every `type` named in the settings of a pre-tokenizer or decoder, however nested."""
    if isinstance(state, dict):
        if isinstance(state.get("type"), str):
            yield state["type"]
        for value in state.values():
            yield from _kinds(value)
    elif isinstance(state, list):
        for value in state:
            yield from _kinds(value)


def _byte_level_bytes(piece: str) -> bytes:
    try:
        return to_bytes(piece)
    except KeyError:  # a token added as plain text
        return piece.encode()


def _sentencepiece_bytes(piece: str) -> bytes:
    if len(piece) == 6 and piece.startswith("<0x") and piece.endswith(">"):
        try:
            return bytes([int(piece[3:5], 16)])
        except ValueError:
            pass
    return piece.replace("\u2581", " ").encode()


def _latin1_bytes(piece: str) -> bytes:
    return piece.encode("latin-1")


class TransformersTokenizer(_Adapter):
    """A transformers tokenizer that is written in Python and so has no `tokenizers` object inside."""

    def __init__(self, tokenizer: Any, name: str) -> None:
        super().__init__(name, len(tokenizer))
        self._tokenizer = tokenizer
        self._special = {int(token) for token in tokenizer.all_special_ids}
        self._bytes_of = _sentencepiece_bytes
        if type(tokenizer).__name__ == "ByT5Tokenizer":  # its tokens are the bytes, written as Latin-1
            self._bytes_of = _latin1_bytes
        elif any(token.startswith("\u0120") for token in tokenizer.get_vocab()):
            self._bytes_of = _byte_level_bytes

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Offsets]:
        return _joined(self._tokenizer.encode(line, add_special_tokens=False) for line in lines)

    def decode(self, ids: Sequence[int]) -> str:
        plain = _plain(ids)
        return str(
            self._tokenizer.decode(plain, skip_special_tokens=False, clean_up_tokenization_spaces=False)
        )

    def token_bytes(self, token: int) -> bytes | None:
        if token in self._special:
            return None
        piece = self._tokenizer.convert_ids_to_tokens(token)
        return piece if isinstance(piece, bytes) else self._bytes_of(str(piece).removeprefix("##"))


def _open_transformers(source: str, name: str, *, local: bool) -> TokenizerLike:
    transformers = _extra("transformers", f"the tokenizer {source!r}")
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(source, local_files_only=local)
    except Exception as error:
        raise PairityError(f"transformers cannot open the tokenizer {source!r}: {error}") from error
    return _from_transformers(tokenizer, name)


def _from_transformers(tokenizer: Any, name: str) -> TokenizerLike:
    inner = getattr(tokenizer, "backend_tokenizer", None)
    if inner is not None:
        return HuggingFaceTokenizer(inner, name)
    return TransformersTokenizer(tokenizer, name)


# ------------------------------------------------------------ tiktoken

_CL100K = "|".join(
    [
        r"'(?i:[sdmt]|ll|ve|re)",
        r"[^\r\n\p{L}\p{N}]?+\p{L}++",
        r"\p{N}{1,3}+",
        r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
        r"\s++$",
        r"\s*[\r\n]",
        r"\s+(?!\S)",
        r"\s",
    ]
)
_GPT2 = r"'(?:[sdmt]|ll|ve|re)| ?\p{L}++| ?\p{N}++| ?[^\s\p{L}\p{N}]++|\s++$|\s+(?!\S)|\s"
# The pre-tokenizer patterns that belong to published files of ranks, by a part of the file's (or its
# folder's) name.
TIKTOKEN_PATTERNS = {
    "o200k": str(pattern_of("gpt4o")),
    "cl100k": _CL100K,
    "p50k": _GPT2,
    "r50k": _GPT2,
    "gpt2": _GPT2,
    "llama3": str(pattern_of("gpt4")),
    "llama4": str(pattern_of("gpt4o")),
    "qwen": str(pattern_of("gpt4", digits=True)),
}
# With the special tokens, which are not in the files: the size must not depend on where the ranks were found.
_SIZES = {"o200k_base": 200_019, "cl100k_base": 100_277, "p50k_base": 50_281, "r50k_base": 50_257}


class TiktokenTokenizer(_Adapter):
    """A `tiktoken.Encoding`."""

    def __init__(self, encoding: Any, name: str, threads: int | None, vocab_size: int | None = None) -> None:
        super().__init__(name, int(vocab_size or encoding.n_vocab))
        self._encoding = encoding
        self._threads = threads or 1
        self._special = {encoding.encode_single_token(token) for token in encoding.special_tokens_set}

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Offsets]:
        if (
            self._threads == 1
        ):  # tiktoken hands lines to its threads one by one: for short lines that costs more
            return _joined(self._encoding.encode_ordinary(line) for line in lines)
        return _joined(self._encoding.encode_ordinary_batch(lines, num_threads=self._threads))

    def decode(self, ids: Sequence[int]) -> bytes:
        return bytes(self._encoding.decode_bytes(_plain(ids)))

    def token_bytes(self, token: int) -> bytes | None:
        return None if token in self._special else bytes(self._encoding.decode_single_token_bytes(token))

    def pretoken_counts(self, lines: list[str]) -> npt.NDArray[np.int64] | None:
        regex = importlib.import_module("regex")  # tiktoken itself needs it
        pattern = regex.compile(self._encoding._pat_str)
        return np.array([len(pattern.findall(line)) for line in lines], dtype=np.int64)


def _open_tiktoken_name(encoding: str, name: str, threads: int | None) -> TokenizerLike:
    tiktoken = _extra("tiktoken", f"the tokenizer 'tiktoken:{encoding}'")
    if encoding not in tiktoken.list_encoding_names():
        known = ", ".join(sorted(tiktoken.list_encoding_names()))
        raise PairityError(f"tiktoken has no encoding {encoding!r}. It knows: {known}.")
    local = _ranks_in_litellm(encoding)
    if local is not None:
        return _open_tiktoken_file(local, encoding.removesuffix("_base"), name, threads, _SIZES.get(encoding))
    try:
        return TiktokenTokenizer(tiktoken.get_encoding(encoding), name, threads)
    except Exception as error:
        raise PairityError(
            f"tiktoken could not get the ranks of {encoding!r} ({type(error).__name__}). Without a network, "
            f"give the file itself ({encoding}.tiktoken), or install the package litellm, which carries it."
        ) from error


def _ranks_in_litellm(encoding: str) -> Path | None:
    """The package litellm carries copies of OpenAI's ranks under tiktoken's cache names (the SHA-1 of the
    address).
    """
    package = importlib.util.find_spec("litellm")
    if package is None or not package.submodule_search_locations or not encoding.endswith("_base"):
        return None
    address = f"https://openaipublic.blob.core.windows.net/encodings/{encoding}.tiktoken"
    file_name = hashlib.sha1(address.encode(), usedforsecurity=False).hexdigest()
    path = Path(package.submodule_search_locations[0], "litellm_core_utils", "tokenizers", file_name)
    return path if path.exists() else None


def _is_tiktoken_file(path: Path) -> bool:
    """Whether the first line is BASE64 RANK."""
    with path.open("rb") as file:
        parts = file.readline(4096).split()
    if len(parts) != 2 or not parts[1].isdigit():
        return False
    try:
        base64.b64decode(parts[0], validate=True)
    except ValueError:
        return False
    return True


def _open_tiktoken_file(
    path: Path, pattern: str | None, name: str, threads: int | None, vocab_size: int | None = None
) -> TokenizerLike:
    if pattern is None:
        place = f"{path.resolve().parent.name}/{path.name}".lower()
        pattern = next((known for known in TIKTOKEN_PATTERNS if known in place), None)
    if pattern is None:
        raise PairityError(
            f"{path} holds tiktoken ranks, but not the pattern that cuts the text before them. Add it: "
            f"{path.name}@NAME with NAME one of {', '.join(TIKTOKEN_PATTERNS)}, or {path.name}@REGEX."
        )
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(path.read_bytes().splitlines(), start=1):
        if not line.strip():
            continue
        try:
            token, rank = line.split()
            ranks[base64.b64decode(token, validate=True)] = int(rank)
        except ValueError as error:
            raise PairityError(
                f"{path}, line {number}: not a token in base64 and a rank. Is the file whole?"
            ) from error
    return _from_ranks(path, ranks, TIKTOKEN_PATTERNS.get(pattern, pattern), name, threads, vocab_size)


def _from_ranks(
    path: Path,
    ranks: dict[bytes, int],
    pattern: str,
    name: str,
    threads: int | None,
    vocab_size: int | None = None,
) -> TokenizerLike:
    tiktoken = _extra("tiktoken", f"the tokenizer {path}")
    missing = [byte for byte in range(256) if bytes([byte]) not in ranks]
    if missing:
        raise PairityError(
            f"{path} has no token for {len(missing)} of the 256 bytes: tiktoken cannot encode with it."
        )
    try:
        encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    except ValueError as error:
        raise PairityError(f"tiktoken refuses the pattern given for {path}: {error}") from error
    return TiktokenTokenizer(encoding, name, threads, vocab_size)


def _is_tekken(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        start = file.read(4096)
    return '"pattern"' in start and '"config"' in start and "default_vocab_size" in start


def _open_tekken(path: Path, name: str, threads: int | None) -> TokenizerLike:
    """Mistral's tekken.json: tiktoken ranks and their pattern in one file."""
    content = json.loads(path.read_text(encoding="utf-8"))
    config = content["config"]
    size = int(config["default_vocab_size"])
    learned = size - int(config["default_num_special_tokens"])
    ranks = {
        base64.b64decode(entry["token_bytes"]): int(entry["rank"]) for entry in content["vocab"][:learned]
    }
    return _from_ranks(path, ranks, str(config["pattern"]), name, threads, vocab_size=size)


# ------------------------------------------------------------ SentencePiece


class SentencePieceTokenizer(_Adapter):
    """A `sentencepiece.SentencePieceProcessor`: Unigram or BPE over characters, with or without byte
    fallback.
    """

    def __init__(self, processor: Any, name: str, threads: int | None) -> None:
        super().__init__(name, int(processor.vocab_size()))
        self._processor = processor
        self._threads = threads or -1

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Offsets]:
        return _joined(
            self._processor.encode(lines, out_type=int, num_threads=self._threads) if lines else []
        )

    def decode(self, ids: Sequence[int]) -> str:
        return str(self._processor.decode(_plain(ids)))

    def token_bytes(self, token: int) -> bytes | None:
        if self._processor.is_unknown(token) or self._processor.is_control(token):
            return None
        return _sentencepiece_bytes(self._processor.id_to_piece(token))


def _open_sentencepiece(path: Path, name: str, threads: int | None) -> TokenizerLike:
    sentencepiece = _extra("sentencepiece", f"the tokenizer {path}")
    try:
        processor = sentencepiece.SentencePieceProcessor(model_file=str(path))
    except Exception as error:
        raise PairityError(f"{path} is not a SentencePiece model: {error}") from error
    return SentencePieceTokenizer(processor, name, threads)
