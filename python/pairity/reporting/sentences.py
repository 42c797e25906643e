"""Sentences cut into tokens for display: whole characters as text, cut ones as bytes.

[(7, "Hel"), (8, "lo")]                         two tokens of text
[(9, [("E0 A4", "क")]), (4, [("95", "क")])]     one character cut in two
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pairity.errors import PairityError, raise_unless_its_own
from pairity.judging.protocol import TokenizerLike
from pairity.languages import language as facts
from pairity.text.reading import read_texts

LIMIT = 6
"""The most sentences in a page ..."""
CUTS = 1200
"""... and the most cuts, over all languages and tokenizers: about a megabyte."""

Part = str | tuple[str, str]
TokenCells = tuple[int, str | list[Part]]


def read_sentences(
    sentences: Any, tokenizers: int = 1, scored: Sequence[str] | None = None
) -> dict[str, list[str]]:
    """`{language: sentence or sentences}`, or any SOURCE that `evaluate` reads; the first few of each.

    A folder may have far more languages than were `scored`: only those are used, unless it has none of them.
    """
    if isinstance(sentences, Mapping):
        sentences = {code: [given] if isinstance(given, str) else given for code, given in sentences.items()}
        if not sentences:
            raise PairityError("there is no sentence to show: give {language: sentence}.")
    found = read_texts(sentences)
    found = {code: lines for code, lines in found.items() if code in (scored or found)} or found
    limit = max(1, min(LIMIT, CUTS // (len(found) * tokenizers)))
    return {code: lines[:limit] for code, lines in found.items()}


def viewer(
    sentences: Mapping[str, Sequence[str]], tokenizers: Mapping[str, TokenizerLike], first: Sequence[str]
) -> dict[str, Any]:
    """All sentences in all languages under all tokenizers; `first` are the languages shown at the start."""
    languages = [
        {"code": code, "name": facts(code).name, "rtl": facts(code).right_to_left, "lang": code.split("_")[0]}
        for code in sentences
    ]
    cuts = {
        code: [{name: cut(one, line) for name, one in tokenizers.items()} for line in lines]
        for code, lines in sentences.items()
    }
    return {
        "languages": languages,
        "tokenizers": list(tokenizers),
        "count": max(map(len, sentences.values())),
        "cuts": cuts,
        "first": [code for code in first if code in sentences] or list(sentences)[:3],
    }


def cut(tokenizer: TokenizerLike, text: str) -> list[TokenCells] | str:
    """The tokens of a sentence, or an error message if the tokenizer fails on it."""
    try:
        ids, _ = tokenizer.encode_lines([text])
    except BaseException as error:
        raise_unless_its_own(error)
        return f"{type(error).__name__}: {error}"
    tokens = [int(token) for token in ids]
    return show_tokens(tokens, [tokenizer.token_bytes(token) for token in tokens])


def show_tokens(ids: Sequence[int], pieces: Sequence[bytes | None]) -> list[TokenCells]:
    """Each token as text, or as parts if it has some, but not all, bytes of a character.

    >>> show_tokens([1, 2], [b"a\\xc3", b"\\xa4b"])
    [(1, ['a', ('C3', 'ä')]), (2, [('A4', 'ä'), 'b'])]
    """
    characters = characters_of(b"".join(piece or b"" for piece in pieces))
    shown: list[TokenCells] = []
    start = 0
    for token, piece in zip(ids, pieces, strict=True):
        if piece is None:
            shown.append((token, [("no text", "")]))
            continue
        end = start + len(piece)
        parts: list[Part] = []
        for first, last, character in characters:
            if last <= start or first >= end:
                continue
            if start <= first and last <= end and character:
                if parts and isinstance(parts[-1], str):
                    parts[-1] += character
                else:
                    parts.append(character)
            else:
                inside = piece[max(first, start) - start : min(last, end) - start]
                parts.append((inside.hex(" ").upper(), character))
        whole = len(parts) == 1 and isinstance(parts[0], str)
        shown.append((token, str(parts[0]) if whole else parts))
        start = end
    return shown


def characters_of(raw: bytes) -> list[tuple[int, int, str]]:
    """(start, end, character) in bytes; the character is empty for a byte that belongs to none."""
    found = []
    at = 0
    while at < len(raw):
        lead = raw[at]
        width = 1 if lead < 0xC0 else 2 if lead < 0xE0 else 3 if lead < 0xF0 else 4
        try:
            character = raw[at : at + width].decode()
        except UnicodeDecodeError:
            width, character = 1, ""
        found.append((at, at + width, character))
        at += width
    return found
