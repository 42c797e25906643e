"""Open a tokenizer for evaluation, from a name, a path or an object.

open_tokenizer("out/")                         a folder that pairity or transformers wrote
open_tokenizer("gpt-4o=tiktoken:o200k_base")   a name of your choice before any spec
open_tokenizer("llama3/tokenizer.model")       SentencePiece or tiktoken, decided by its content
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

from pairity.errors import PairityError
from pairity.formats import opening, tekken, tiktoken
from pairity.judging.huggingface import HuggingFaceTokenizer, from_transformers, open_tokenizer_json
from pairity.judging.own import PairityTokenizer, open_own
from pairity.judging.protocol import Renamed, TokenizerLike
from pairity.judging.sentencepiece import SentencePieceTokenizer, open_sentencepiece
from pairity.judging.tiktoken import TiktokenTokenizer, of_ranks
from pairity.tokenizer.tokenizer import Tokenizer

T = TypeVar("T")


def open_tokenizer(spec: Any, *, name: str | None = None, threads: int | None = None) -> TokenizerLike:
    """The tokenizer that `spec` names (see `pairity.formats.opening.find`), run by the library that it is for.

    It may also be an object of pairity, tokenizers, transformers, tiktoken or sentencepiece, or a `TokenizerLike`.
    """
    if not isinstance(spec, str | os.PathLike):
        return from_object(spec, name, threads)
    found = opening.find(spec, name)
    match found.kind:
        case "pairity":
            return open_own(Path(found.place), found.name, threads)
        case "tokenizer.json":
            return open_tokenizer_json(Path(found.place), found.name)
        case "transformers" | "hub":
            return from_transformers(opening.opened_by_transformers(found), found.name)
        case "tiktoken":
            return TiktokenTokenizer(opening.encoding(found.place), found.name, threads)
        case "ranks":
            return of_ranks(tiktoken.read_table(Path(found.place), found.pattern), found.name, threads)
        case "tekken":
            return of_ranks(tekken.read_table(Path(found.place)), found.name, threads)
        case "sentencepiece":
            return open_sentencepiece(Path(found.place), found.name, threads)


def by_name(tokenizers: Iterable[tuple[str, T]]) -> dict[str, T]:
    """{name: tokenizer} from (name, tokenizer); a repeated name is an error."""
    each = list(tokenizers)
    if len(found := dict(each)) < len(each):
        names = ", ".join(name for name, _ in each)
        raise PairityError(
            f"two tokenizers have the same name ({names}). Name them: first=TOKENIZER second=TOKENIZER."
        )
    return found


def from_object(tokenizer: Any, name: str | None, threads: int | None) -> TokenizerLike:
    """A tokenizer object. Other libraries are recognised by the name of their package, so none is imported."""
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
