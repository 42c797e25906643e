"""From a name, a path or an object to a tokenizer that can be judged.

open_tokenizer("out/")                         a folder that pairity or transformers wrote
open_tokenizer("gpt-4o=tiktoken:o200k_base")   a name of your choice before any spec
open_tokenizer("llama3/tokenizer.model")       of SentencePiece or of tiktoken: its content decides
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pairity.errors import PairityError
from pairity.formats.json_files import unreadable
from pairity.judging.huggingface import (
    HuggingFaceTokenizer,
    from_transformers,
    open_tokenizer_json,
    open_transformers,
)
from pairity.judging.own import PairityTokenizer, open_own
from pairity.judging.protocol import Renamed, TokenizerLike
from pairity.judging.sentencepiece import SentencePieceTokenizer, open_sentencepiece
from pairity.judging.tiktoken import (
    TiktokenTokenizer,
    is_ranks_file,
    is_tekken,
    open_encoding,
    open_ranks,
    open_tekken,
)
from pairity.tokenizer.tokenizer import Tokenizer

T = TypeVar("T")


def open_tokenizer(spec: Any, *, name: str | None = None, threads: int | None = None) -> TokenizerLike:
    """The tokenizer that `spec` names.

    a folder            that pairity or transformers wrote
    tokenizer.json      of `tokenizers`: BPE, Unigram, WordPiece, WordLevel
    hf:NAME             from the Hugging Face hub; may use the network
    tiktoken:NAME       an encoding of tiktoken; may use the network
    a file of ranks     of tiktoken. If its name does not say which pre-tokenizer pattern belongs to it, put the
                        pattern after an at sign: ranks.tiktoken@cl100k or ranks.tiktoken@REGEX
    sentencepiece:FILE  or any *.model file
    tekken.json         of Mistral
    an object           of pairity, tokenizers, transformers, tiktoken or sentencepiece, or a `TokenizerLike`

    `NAME=SPEC` gives it a name; so does the argument `name`, which wins.
    """
    if not isinstance(spec, str | Path):
        return from_object(spec, name, threads)
    given, text = split_name(str(spec))
    name = name or given
    scheme, _, value = text.partition(":")
    if scheme == "hf" and value:
        return open_transformers(value, name or value, local=False)
    if scheme == "tiktoken" and value:
        return open_encoding(value, name or value, threads)
    if scheme == "sentencepiece" and value:
        return open_sentencepiece(existing(value), name or Path(value).stem, threads)
    return open_path(text, name, threads)


def by_name(tokenizers: Iterable[tuple[str, T]]) -> dict[str, T]:
    """{name: tokenizer} from (name, tokenizer); two of one name are an error."""
    each = list(tokenizers)
    if len(found := dict(each)) < len(each):
        names = ", ".join(name for name, _ in each)
        raise PairityError(
            f"two tokenizers have the same name ({names}). Name them: first=TOKENIZER second=TOKENIZER."
        )
    return found


def split_name(spec: str) -> tuple[str | None, str]:
    """ "gpt-4o=tiktoken:o200k_base" -> ("gpt-4o", "tiktoken:o200k_base"); without a name (None, the spec)."""
    given, _, rest = spec.partition("=")
    if rest and not Path(spec).exists() and not set("/:@") & set(given):
        return given, rest
    return None, spec


def open_path(text: str, name: str | None, threads: int | None) -> TokenizerLike:
    """A folder or file; `FILE@PATTERN` for a file of tiktoken ranks."""
    pattern: str | None = None
    path = Path(text)
    if not path.exists() and "@" in text:
        before, _, pattern = text.partition("@")
        path = Path(before)
    path = existing(str(path))
    if path.is_dir():
        return open_folder(path, name or path.resolve().name, threads)
    own_name = name or (path.resolve().parent.name if path.name.startswith("tokenizer.") else path.stem)
    try:
        tekken, has_ranks = path.suffix == ".json" and is_tekken(path), is_ranks_file(path)
    except OSError as error:
        raise unreadable(path, error) from None
    if path.suffix == ".json":
        if tekken:
            return open_tekken(path, own_name, threads)
        if path.name == "tokenizer.json" and (path.parent / "pairity.json").exists():
            return open_folder(path.parent, own_name, threads)
        return open_tokenizer_json(path, own_name)
    if has_ranks:
        return open_ranks(path, pattern, own_name, threads)
    if ".model" in path.name:
        return open_sentencepiece(path, own_name, threads)
    raise PairityError(
        f"{path} is not a tokenizer that pairity can read. Give a folder, a tokenizer.json, a *.tiktoken or "
        "*.model file, 'tiktoken:NAME', 'sentencepiece:FILE' or 'hf:NAME'."
    )


def open_folder(folder: Path, name: str, threads: int | None) -> TokenizerLike:
    if (folder / "pairity.json").exists():
        return open_own(folder, name, threads)
    if (folder / "tokenizer.json").exists():
        return open_tokenizer_json(folder / "tokenizer.json", name)
    if (folder / "tekken.json").exists():
        return open_tekken(folder / "tekken.json", name, threads)
    if (folder / "tokenizer_config.json").exists():
        return open_transformers(str(folder), name, local=True)
    if (folder / "tokenizer.model").exists():
        return open_path(str(folder / "tokenizer.model"), name, threads)
    raise PairityError(
        f"no tokenizer in {folder}: no tokenizer.json, tokenizer_config.json or tokenizer.model. "
        "Name the file itself, or the folder that holds one of these."
    )


def from_object(tokenizer: Any, name: str | None, threads: int | None) -> TokenizerLike:
    """A tokenizer object. Those of other libraries are known by their package, so that none is imported."""
    if isinstance(tokenizer, Tokenizer):
        return PairityTokenizer(tokenizer, name or "pairity", threads)
    if isinstance(tokenizer, TokenizerLike):
        return tokenizer if name is None or name == tokenizer.name else Renamed(tokenizer, name)
    kind = type(tokenizer)
    package = kind.__module__.partition(".")[0]
    if package == "tokenizers":
        return HuggingFaceTokenizer(tokenizer, name or "tokenizers")
    if package == "tiktoken":
        return TiktokenTokenizer(tokenizer, name or str(tokenizer.name), threads)
    if package == "sentencepiece":
        return SentencePieceTokenizer(tokenizer, name or "sentencepiece", threads)
    if hasattr(tokenizer, "convert_ids_to_tokens"):  # of transformers, or of a model's own code
        return from_transformers(tokenizer, name or str(tokenizer.name_or_path or "transformers"))
    raise PairityError(
        f"cannot use a {kind.__module__}.{kind.__qualname__} as a tokenizer: it has no encode_lines, decode "
        "and token_bytes (see pairity.judging.protocol.TokenizerLike)."
    )


def existing(path: str) -> Path:
    if not Path(path).exists():
        raise PairityError(
            f"no tokenizer at {path!r}: there is no such file or folder. A tokenizer from elsewhere is named "
            "'tiktoken:NAME', 'sentencepiece:FILE' or 'hf:NAME'."
        )
    return Path(path)
