"""Tokenizers that others made: every id is kept, and what cannot be kept is refused with the reason."""

import base64
import binascii
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pairity import _core
from pairity.bpe.alphabet import BYTE_ORDER, to_bytes
from pairity.errors import PairityError
from pairity.formats import folder, tokenizer_json
from pairity.text.pretokenizers import pattern_of
from pairity.tokenizer.tokenizer import Tokenizer

PathLike = str | os.PathLike[str]

WHOLE_TEXT = r"(?s:.+)"
"""How tiktoken is told to leave text whole."""

NO_PAIR = 0xFFFFFFFF
"""Stands for no pair in the tables of origins."""


def from_huggingface(source: Any, *, allow_holes: bool = False) -> Tokenizer:
    """See `Tokenizer.from_huggingface`."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        contents = folder.read_json(path / "tokenizer.json" if path.is_dir() else path)
    elif hasattr(source, "to_str"):
        contents = json.loads(source.to_str())
    elif hasattr(source, "backend_tokenizer"):  # a fast tokenizer of transformers
        contents = json.loads(source.backend_tokenizer.to_str())
    else:
        raise PairityError(
            f"give a tokenizer.json, a folder with one, or a tokenizers.Tokenizer, not {source!r}."
        )
    return tokenizer_json.read(contents, allow_holes=allow_holes)


def from_tiktoken(
    source: Any,
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    allow_holes: bool = False,
) -> Tokenizer:
    """See `Tokenizer.from_tiktoken`. A file may have its pattern and special tokens in a .json of the same
    name."""
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        ranks = _read_ranks(path)
        beside = path.with_suffix(".json")
        settings = folder.read_json(beside) if beside.exists() and beside != path else {}
        if pattern is None and "pat_str" not in settings:
            raise PairityError(
                f"{path} has ranks but no pattern. Pass pattern=..., the name of a pre-tokenizer such as "
                "'gpt4o' or a regular expression."
            )
        named_pattern = settings.get("pat_str")
        specials = settings.get("special_tokens", {})
    else:
        ranks, named_pattern, specials = source._mergeable_ranks, source._pat_str, source._special_tokens
    regex = named_pattern if pattern is None else pattern_of(pattern)
    if regex == WHOLE_TEXT:
        regex = None
    check_covers(regex, "import this table: tiktoken")
    return from_ranks(
        ranks,
        pattern=regex,
        special_tokens=specials if special_tokens is None else special_tokens,
        allow_holes=allow_holes,
    )


def check_covers(pattern: str | None, what: str) -> None:
    """Refuse a pattern that does not match all text, where that would lose text."""
    if pattern is None or any(pattern in known for known in _core.PATTERNS.values()):
        return
    try:
        unmatched = _core.first_unmatched(pattern)
    except ValueError as error:
        raise PairityError(str(error)) from None
    if unmatched is not None:
        raise PairityError(
            f"cannot {what} drops text that the pattern does not match, such as {unmatched!r}. Add an "
            "alternative that matches it, for example `|(?s:.)` at the end of the pattern."
        )


def from_ranks(
    ranks: Mapping[bytes, int],
    *,
    pattern: str | None,
    special_tokens: Mapping[str, int],
    allow_holes: bool,
) -> Tokenizer:
    """From token -> rank, where the rank is the id and no merges are listed.

    Two neighbours are merged if their join is a token. The only neighbours that ever make up a token are the
    last two parts of the token's own bytes, merged alone; so that pair is its merge.
    """
    tokens = {rank: token for token, rank in ranks.items()}
    if len(tokens) < len(ranks):
        twice = next(rank for token, rank in ranks.items() if tokens[rank] != token)
        raise PairityError(f"rank {twice} is given to two tokens.")
    # Checked as a table first; the encoder made of it then only serves for its bytes.
    bare = Tokenizer(
        tokens,
        np.empty((0, 3), np.uint32),
        pattern=pattern,
        special_tokens=special_tokens,
        allow_holes=allow_holes,
    )
    origins = origins_by_rank(bare)
    made = np.flatnonzero(origins[:, 0] != NO_PAIR)
    by_merging = set(made.tolist())
    return Tokenizer(
        tokens,
        np.column_stack([origins[made], made.astype(np.uint32)]),
        pattern=pattern,
        special_tokens=special_tokens,
        whole_pretokens=any(len(token) > 1 and i not in by_merging for i, token in tokens.items()),
        allow_holes=allow_holes,
    )


def origins_by_rank(tok: Tokenizer) -> npt.NDArray[np.uint32]:
    """For every id the pair that makes its token if ids are ranks, as tiktoken has it."""
    raw = _core.origins_by_rank(*tok.buffers(), sorted(tok.special_tokens.values()))
    return np.frombuffer(raw, np.uint32).reshape(-1, 2)


def _read_ranks(path: Path) -> dict[bytes, int]:
    ranks: dict[bytes, int] = {}
    try:
        lines = path.read_bytes().splitlines()
    except FileNotFoundError:
        raise PairityError(f"there is no {path}.") from None
    for number, line in enumerate(lines, start=1):
        if not line:
            continue
        try:
            token, rank = line.split()
            decoded = base64.b64decode(token, validate=True)
            value = int(rank)
        except (ValueError, binascii.Error):
            raise PairityError(f"{path}, line {number}: not a token in base64 and its rank.") from None
        if decoded in ranks:
            raise PairityError(f"{path}, line {number}: the token {decoded!r} is there twice.")
        ranks[decoded] = value
    return ranks


def from_merges_file(
    merges: PathLike,
    vocab: PathLike | None = None,
    *,
    pretokenizer: str = "gpt2",
    special_tokens: Sequence[str] = (),
    allow_holes: bool = False,
) -> Tokenizer:
    """See `Tokenizer.from_merges_file`. With vocab.json, special tokens have the ids it gives them."""
    path = Path(merges)
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except FileNotFoundError:
        raise PairityError(f"there is no {path}.") from None
    except UnicodeDecodeError:
        raise PairityError(f"{path} is not UTF-8, so it is no file of merges.") from None
    rows = [line.removesuffix("\r") for line in lines]
    pairs = [line.split(" ") for line in rows[rows[0].startswith("#version") :] if line]
    pattern = pattern_of(pretokenizer)
    if vocab is None:
        return Tokenizer.from_merges(
            _engine_pairs(pairs, path), pattern=pattern, special_tokens=special_tokens
        )
    contents = folder.read_json(Path(vocab))
    missing = [name for name in special_tokens if name not in contents]
    if missing:
        raise PairityError(f"the special token {missing[0]!r} is not in {vocab}.")
    specials = {name: contents[name] for name in special_tokens}
    tokens, table = tokenizer_json.table(contents, pairs, specials)
    return Tokenizer(tokens, table, pattern=pattern, special_tokens=specials, allow_holes=allow_holes)


def _engine_pairs(pairs: list[list[str]], path: Path) -> npt.NDArray[np.uint32]:
    """Merges as the engine numbers them, from tokens written in the byte-level alphabet."""
    ids = {bytes([byte]): i for i, byte in enumerate(BYTE_ORDER)}
    rows = np.empty((len(pairs), 2), np.uint32)
    for rank, pair in enumerate(pairs):
        try:
            left, right = map(to_bytes, pair)
            rows[rank] = ids[left], ids[right]
        except (ValueError, KeyError):
            raise PairityError(
                f"{path}: merge {rank} ({' '.join(pair)!r}) is not a pair of bytes or of tokens that merges "
                "before it make."
            ) from None
        ids.setdefault(left + right, len(ids))
    return rows
