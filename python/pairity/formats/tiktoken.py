"""tiktoken: files of ranks and `Encoding` objects, read and written.

A file has a token in base64 and its rank on every line. The rank is the id, and there are no merges: two neighbours
merge if together they are a token, the lowest rank first. The format has no place for the pattern and special tokens,
so pairity writes them to a .json of the same name.
"""

import base64
import binascii
import os
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pairity import _core
from pairity.bpe.model import NO_ID, BpeModel
from pairity.errors import PairityError, PairityWarning
from pairity.extras import load_extra
from pairity.files.digests import digest
from pairity.files.reading import unreadable
from pairity.formats.json_files import as_json, of_type, read_json
from pairity.formats.published import PUBLISHED, in_place
from pairity.text.pretokenizers import LOOKS_LIKE_A_NAME, PRESETS, THEN, Pretokenization, is_preset

WHOLE_TEXT = r"(?s:.+)"
"""The pattern that makes tiktoken keep text whole."""


@dataclass(frozen=True)
class RankTable:
    """The parts of a tokenizer of this kind, from a file or an object."""

    place: str
    ranks: Mapping[bytes, int]
    pattern: str
    special_tokens: Mapping[str, int]

    def model(self, *, allow_holes: bool) -> BpeModel:
        pattern = None if self.pattern == WHOLE_TEXT else self.pattern
        check_covers(pattern, "import this table: tiktoken")
        return from_ranks(
            self.ranks,
            cut=Pretokenization(pattern),
            special_tokens=dict(self.special_tokens),
            allow_holes=allow_holes,
        )


def read_from(
    source: Any,
    *,
    pattern: str | None = None,
    special_tokens: Mapping[str, int] | None = None,
    allow_holes: bool = False,
) -> BpeModel:
    """From a file of ranks or a `tiktoken.Encoding`."""
    if isinstance(source, str | os.PathLike):
        table = read_table(Path(source), pattern)
    else:
        table = of_encoding(source)
        table = table if pattern is None else replace(table, pattern=named_pattern(pattern))
    if special_tokens is not None:
        table = replace(table, special_tokens=special_tokens)
    return table.model(allow_holes=allow_holes)


def of_encoding(encoding: Any) -> RankTable:
    """A `tiktoken.Encoding`."""
    return RankTable(
        str(encoding.name), encoding._mergeable_ranks, encoding._pat_str, encoding._special_tokens
    )


def is_ranks_file(path: Path) -> bool:
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


def read_table(path: Path, pattern: str | None = None) -> RankTable:
    """A file of ranks. `pattern` is the name of a published file or of a pre-tokenizer, or a regular expression.

    Without one, it comes from the .json next to the ranks, which pairity writes, or from the name of the file.
    """
    ranks = read_ranks(path)
    stored, specials = read_settings(path)
    if stored is not None and pattern in (None, stored):
        return RankTable(str(path), ranks, stored, specials)
    name = pattern or in_place(f"{path.resolve().parent.name}/{path.name}") or ""
    known = PUBLISHED.get(name)
    if pattern is None and known is None:
        raise PairityError(
            f"{path} holds tiktoken ranks, but not the pattern that splits the text. Add it: "
            f"{path.name}@NAME with NAME one of {', '.join(PUBLISHED)}, or {path.name}@REGEX. In Python, "
            "from_tiktoken takes pattern=..."
        )
    if pattern is None and known is not None and known.ranks != len(ranks):
        warnings.warn(
            f"{path} is named like {name}, so its text is split by that pattern, but it has "
            f"{len(ranks):,} ranks, not {known.ranks:,}. If the pattern is right, write "
            f"{path.name}@{name}.",
            PairityWarning,
            stacklevel=2,
        )
    if known is not None and not specials and known.ranks == len(ranks):
        specials = dict(known.special_tokens)
    return RankTable(str(path), ranks, known.pattern if known else named_pattern(pattern or ""), specials)


def named_pattern(name_or_regex: str) -> str:
    """A pattern for tiktoken, from the name of a published file or of a pre-tokenizer, or a pattern as it is."""
    if name_or_regex in PUBLISHED:
        return PUBLISHED[name_or_regex].pattern
    if name_or_regex in PRESETS:
        return PRESETS[name_or_regex] or WHOLE_TEXT
    if LOOKS_LIKE_A_NAME.fullmatch(name_or_regex):
        known = dict.fromkeys([*PUBLISHED, *PRESETS])
        raise PairityError(
            f"unknown pre-tokenizer {name_or_regex!r}. Choose one of {', '.join(known)}, or give a regular "
            r"expression such as '\S+|\s+'."
        )
    return name_or_regex


def read_settings(path: Path) -> tuple[str | None, dict[str, int]]:
    """The pattern and the special tokens from the .json next to a file of ranks, if there is one."""
    beside = path.with_suffix(".json")
    if beside == path or not beside.exists():
        return None, {}
    settings = read_json(beside)
    if "ranks" in settings and settings["ranks"] != digest(read_file(path)):
        raise PairityError(
            f"{path} is not the file that {beside.name} was written for: one of them is damaged, or has "
            "been changed or replaced. Export the tokenizer again."
        )
    pattern = settings.get("pat_str")
    specials = of_type(dict, settings.get("special_tokens", {}), f"the special tokens in {beside}")
    for name, token_id in specials.items():
        of_type(int, token_id, f"the id of the special token {name!r} in {beside}")
    return None if pattern is None else of_type(str, pattern, f"the pattern in {beside}"), specials


def read_file(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        raise unreadable(path, error) from None


def read_ranks(path: Path) -> dict[bytes, int]:
    """Token -> rank. One token may be empty: this is how Whisper's files keep an id free."""
    ranks: dict[bytes, int] = {}
    for number, line in enumerate(read_file(path).splitlines(), start=1):
        if not line.strip():
            continue
        try:
            token, rank = line.split()
            decoded = b"" if token == b"=" else base64.b64decode(token, validate=True)
            if not rank.isdigit():
                raise ValueError
            value = int(rank)
        except (ValueError, binascii.Error):
            raise PairityError(
                f"{path}, line {number}: not a token in base64 and its rank. Is the file complete?"
            ) from None
        if decoded in ranks:
            raise PairityError(f"{path}, line {number}: the token {decoded!r} appears twice.")
        ranks[decoded] = value
    return ranks


def from_ranks(
    ranks: Mapping[bytes, int], *, cut: Pretokenization, special_tokens: dict[str, int], allow_holes: bool
) -> BpeModel:
    """From token -> rank, where the rank is the id and no merges are listed.

    Merging the bytes of a token on their own ends with two parts, and only those two ever merge into the token: this
    pair is its merge. The id of an empty token, which nothing ever produces, names no token.
    """
    tokens = {rank: token for token, rank in ranks.items()}
    if len(tokens) < len(ranks):
        twice = next(rank for token, rank in ranks.items() if tokens[rank] != token)
        raise PairityError(f"rank {twice} is given to two tokens.")
    tokens = {rank: token for rank, token in tokens.items() if token}
    allow_holes = allow_holes or b"" in ranks

    def model(merges: Any, whole_pretokens: bool) -> BpeModel:
        return BpeModel.from_tokens(
            tokens,
            merges,
            cut=cut,
            special_tokens=special_tokens,
            whole_pretokens=whole_pretokens,
            allow_holes=allow_holes,
        )

    origins = model([], False).origins_by_rank()
    made = np.flatnonzero(origins[:, 0] != NO_ID)
    by_merging = set(made.tolist())
    never_made = any(len(token) > 1 and rank not in by_merging for rank, token in tokens.items())
    return model(np.column_stack([origins[made], made.astype(np.uint32)]), never_made)


def to_tiktoken(model: BpeModel, name: str) -> Any:
    """A `tiktoken.Encoding`."""
    check(model)
    library = load_extra("tiktoken", "a tiktoken encoding")
    return library.Encoding(
        name,
        pat_str=pattern_for(model),
        mergeable_ranks=dict(model.vocabulary),
        special_tokens=dict(model.special_tokens),
    )


def files(model: BpeModel, path: Path) -> dict[Path, bytes]:
    """The ranks at the path, and next to them their settings, with the digest of the ranks."""
    settings_path = settings_file(path)
    check(model)
    ranks = sorted((token_id, token) for token, token_id in model.vocabulary.items())
    lines = b"".join(base64.b64encode(token) + b" %d\n" % token_id for token_id, token in ranks)
    settings = {
        "name": path.stem,
        "pat_str": pattern_for(model),
        "special_tokens": dict(model.special_tokens),
        "ranks": digest(lines),
    }
    return {path: lines, settings_path: as_json(settings)}


def settings_file(path: Path) -> Path:
    """The path of the settings for the ranks at `path`."""
    if path.suffix == ".json" or not path.name:
        raise PairityError(
            f"the ranks cannot be named {path}: their settings are written to a .json file of that name."
        )
    return path.with_suffix(".json")


def pattern_for(model: BpeModel) -> str:
    return WHOLE_TEXT if model.cut.pattern is None else model.cut.pattern


def check(model: BpeModel) -> None:
    """Refuse a model that ranks alone cannot express."""
    if model.cut.normalize:
        raise PairityError(
            f"tiktoken cannot normalise text ({model.cut.normalize}): ids would differ. Export to hf."
        )
    if THEN in (model.cut.pattern or ""):
        raise PairityError(
            "tiktoken splits text with one pattern, but this tokenizer uses several. Export to hf."
        )
    check_covers(model.cut.pattern, "export to tiktoken: it")
    for name, following in pairwise(sorted(model.special_tokens)):
        if following.startswith(name):
            raise PairityError(
                f"the special token {following!r} begins with {name!r}: tiktoken finds either of the two. "
                "Rename one."
            )
    ours = model.origins()
    unlike = np.flatnonzero((ours != model.origins_by_rank()).any(axis=1))
    if len(unlike):
        token_id = int(unlike[0])
        raise PairityError(
            f"tiktoken would build the token {model.tokens[token_id]!r} (id {token_id}) differently from "
            f"the merges, and {len(unlike) - 1} more: it has no merges and joins whatever makes a token. "
            "Export to hf."
        )
    if not model.whole_pretokens and (never := model.unmerged()):
        raise PairityError(
            f"no text gives the token {model.tokens[never[0]]!r} (id {never[0]}), but tiktoken would use "
            "it, because it takes a pre-token that is a token whole. Export to hf."
        )
    ranks: dict[tuple[int, int], int] = {}
    for rank, (left, right, _) in enumerate(model.merges.tolist()):
        ranks.setdefault((left, right), rank)
    in_order = [ranks[tuple(pair)] for pair in ours.tolist() if pair[0] != NO_ID]
    if any(np.diff(in_order) < 0):
        raise PairityError(
            "tiktoken merges in the order of the ids, which differs from the order of the merges here. "
            "Export to hf."
        )


def check_covers(pattern: str | None, what: str) -> None:
    """Refuse a pattern that does not match all text, because tiktoken would lose the rest."""
    if pattern is None or is_preset(pattern):
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
