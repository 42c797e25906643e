"""A tokenizer as one value: tokens by id, merges by rank, special tokens, how text is cut.

Formats read and write it, and the tokenizer encodes with it. Ids of a trained model: special tokens, the 256
bytes, learned tokens in the order of their merges; an imported model keeps the ids it had.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from pairity import _core
from pairity.bpe.alphabet import to_bytes
from pairity.bpe.merges import BYTE_TOKENS, join_merges
from pairity.bpe.roles import NO_ROLES, GivenRoles, Roles
from pairity.bpe.special import check_names
from pairity.bpe.start import Start, as_encoded, in_order
from pairity.bpe.wrapping import NO_WRAPPING, Wrapping
from pairity.errors import PairityError
from pairity.text.pretokenizers import Pretokenization

NO_ID = 0xFFFFFFFF
"""Marks an entry without a token in a table of ids."""

Merges = npt.NDArray[np.uint32]

NUMBERS = ("int", "uint")
TRACE_KINDS = {
    "step": NUMBERS,
    "language": ("string", "large_string", "dictionary"),
    "left": ("binary", "large_binary"),
    "right": ("binary", "large_binary"),
    "count": NUMBERS,
    "vocab_size": NUMBERS,
    "cost": ("double", "float"),
    "own_cost": ("double", "float"),
}
"""Column of a trace, up to a colon -> prefixes of the names of its Arrow types."""


@dataclass(frozen=True, eq=False, kw_only=True)
class BpeModel:
    """Checked on creation: every model that exists can encode every text."""

    vocabulary: dict[bytes, int]
    """Bytes -> id, without the special tokens."""
    merges: Merges
    """(left, right, new) ids, one row per merge, in the order of their ranks."""
    cut: Pretokenization
    special_tokens: dict[str, int] = field(default_factory=dict)
    """Name -> id. Several names may share an id: all of them are encoded, and the id decodes to the first."""
    whole_pretokens: bool = False
    """A pre-token that is itself a token skips the merges and becomes that token, as in tiktoken (`ignore_merges` in
    Hugging Face files)."""
    allow_holes: bool = False
    """Whether ids without a token are intended."""
    roles: Roles = NO_ROLES
    """Which special tokens begin, end and pad a text, and the chat template."""
    wrapping: Wrapping = NO_WRAPPING
    """What the files of an imported tokenizer contain in addition to the table."""
    record: Mapping[str, Any] = field(default_factory=dict)
    """The record of the training run."""
    trace: Any = None
    """Which language each merge was learned for (a `pyarrow.Table`): a row for the start, then one per merge."""

    def __post_init__(self) -> None:
        check_names(self.special_tokens)
        self.roles.check(self.special_tokens)
        object.__setattr__(self, "merges", as_rows(self.merges, columns=3))
        check_table(self.vocabulary, self.special_tokens, allow_holes=self.allow_holes)
        if self.trace is not None:
            check_trace(self.trace, len(self.merges))
        _ = self.encoder  # the core checks that every merge fits the tokens

    @classmethod
    def from_tokens(cls, tokens: Mapping[int, bytes], merges: npt.ArrayLike, **others: Any) -> BpeModel:
        """From id -> bytes, as files list tokens."""
        vocabulary: dict[bytes, int] = {}
        for token_id, token in sorted(tokens.items()):
            if vocabulary.setdefault(token, token_id) != token_id:
                raise PairityError(
                    f"tokens {vocabulary[token]} and {token_id} are both {token!r}: a token has one id."
                )
        return cls(vocabulary=vocabulary, merges=np.asarray(merges), **others)

    @classmethod
    def from_merges(
        cls, pairs: npt.ArrayLike, *, cut: Pretokenization, special_tokens: Sequence[str] = (), **others: Any
    ) -> BpeModel:
        """From pairs of training's ids: 0 to 255 the bytes in `alphabet.BYTE_ORDER`, 256 and up what was learned."""
        names = check_names(special_tokens)
        rows = as_rows(pairs, columns=2)
        tokens, made = join_merges(rows.tolist(), BYTE_TOKENS)
        shift = np.uint32(len(names))
        return cls(
            vocabulary={token: token_id for token_id, token in enumerate(tokens, start=len(names))},
            merges=np.column_stack([rows, np.array(made, np.uint32)]) + shift,
            cut=cut,
            special_tokens={name: token_id for token_id, name in enumerate(names)},
            **others,
        )

    # ------------------------------------------------------------------ looking up

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including special ones."""
        return len(self.vocabulary) + len(self.special_ids)

    @property
    def smallest_size(self) -> int:
        """The number of bytes and special tokens, which every vocabulary has."""
        return 256 + len(self.special_ids)

    @property
    def special_ids(self) -> list[int]:
        return sorted(set(self.special_tokens.values()))

    @cached_property
    def tokens(self) -> tuple[bytes, ...]:
        """Id -> bytes, special tokens by name; empty for an id without a token."""
        named = {token_id: token for token, token_id in self.vocabulary.items()}
        for name, token_id in self.special_tokens.items():
            named.setdefault(token_id, name.encode())
        return tuple(named.get(token_id, b"") for token_id in range(max(named) + 1))

    @property
    def templates(self) -> dict[str, str]:
        """Chat templates by name; the one among the roles is `default`."""
        first = {} if self.roles.chat_template is None else {"default": self.roles.chat_template}
        return first | dict(self.wrapping.templates)

    def buffers(self) -> tuple[bytes, memoryview]:
        """All tokens end to end, and where each starts."""
        lengths = np.fromiter(map(len, self.tokens), np.int64, len(self.tokens))
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        return b"".join(self.tokens), offsets.data

    @cached_property
    def encoder(self) -> _core.Encoder:
        try:
            return _core.Encoder(
                self.cut.pattern,
                *self.buffers(),
                np.ascontiguousarray(self.merges).reshape(-1).data,
                self.special_ids,
                nfc=self.cut.normalize == "nfc",
                whole_pretokens=self.whole_pretokens,
            )
        except ValueError as error:
            raise PairityError(str(error)) from None

    def origins(self) -> Merges:
        """For every id, the two tokens that are merged last when its bytes are encoded. NO_ID twice for bytes, special
        tokens, and tokens that merging never produces."""
        return np.frombuffer(self.encoder.origins(), np.uint32).reshape(-1, 2)

    def origins_by_rank(self) -> Merges:
        """The same if ids are ranks and there are no merges, which is how tiktoken reads a table."""
        raw = _core.origins_by_rank(*self.buffers(), self.special_ids)
        return np.frombuffer(raw, np.uint32).reshape(-1, 2)

    def unmerged(self) -> list[int]:
        """The ids of longer tokens that merging never produces. Training makes none; imported tables may have some."""
        never = self.origins()[:, 0] == NO_ID
        specials = set(self.special_tokens.values())
        return [i for i in np.flatnonzero(never).tolist() if len(self.tokens[i]) > 1 and i not in specials]

    def repeats(self) -> list[int]:
        """The ranks of merges whose pair also has a lower rank. The lowest counts, so these change no encoding."""
        seen: set[tuple[int, int]] = set()
        found = []
        for rank, (left, right, _) in enumerate(self.merges.tolist()):
            if (left, right) in seen:
                found.append(rank)
            seen.add((left, right))
        return found

    # ------------------------------------------------------------------ larger and smaller

    @cached_property
    def training_start(self) -> Start:
        """What further training starts from."""
        table = self.tokens, self.vocabulary, self.merges
        try:
            start = in_order(*table)
        except PairityError:
            return as_encoded(*table)
        return as_encoded(*table) if self.whole_pretokens and self.unmerged() else start

    def extended(self, pairs: npt.ArrayLike, *, record: Mapping[str, Any], trace: Any) -> BpeModel:
        """With further merges, numbered as training goes on from `training_start`; all ids stay."""
        ours = list(self.training_start.ids)
        rows = as_rows(pairs, columns=2).tolist()
        known = [self.tokens[token_id] for token_id in ours]
        tokens, made = join_merges(rows, known)
        ours += range(len(self.tokens), len(self.tokens) + len(tokens) - len(known))
        new = [
            (ours[left], ours[right], ours[result]) for (left, right), result in zip(rows, made, strict=True)
        ]
        return replace(
            self,
            vocabulary=self.vocabulary | dict(zip(tokens[len(known) :], ours[len(known) :], strict=True)),
            merges=np.concatenate([self.merges, np.array(new, np.uint32).reshape(-1, 3)]),
            record=record,
            trace=trace,
        )

    def truncated(self, vocab_size: int) -> BpeModel:
        """The ids below `vocab_size`: what training would have given at that size."""
        if not self.smallest_size <= vocab_size <= len(self.tokens):
            raise PairityError(
                f"vocab_size must be between {self.smallest_size} (the bytes and the special tokens) and "
                f"{len(self.tokens)}, not {vocab_size}."
            )
        above = [name for name, token_id in self.special_tokens.items() if token_id >= vocab_size]
        if above:
            raise PairityError(
                f"cannot truncate to {vocab_size} and keep ids: the special token {above[0]!r} has id "
                f"{self.special_tokens[above[0]]}."
            )
        too_high = np.flatnonzero(self.merges.max(axis=1, initial=0) >= vocab_size)
        kept = int(too_high[0]) if len(too_high) else len(self.merges)
        lost = set(self.merges[kept:, 2].tolist()) - set(self.merges[:kept, 2].tolist())
        vocabulary = {token: token_id for token, token_id in self.vocabulary.items() if token_id < vocab_size}
        if unmade := sorted(lost.intersection(vocabulary.values())):
            raise PairityError(
                f"cannot truncate to {vocab_size} and keep ids: the ids are not in the order of the merges "
                f"(token {unmade[0]} would lose its merge)."
            )
        record = {name: value for name, value in self.record.items() if name != "extension"}
        return replace(
            self,
            vocabulary=vocabulary,
            merges=self.merges[:kept],
            record=record | {"truncated_from": self.vocab_size},
            trace=None if self.trace is None else self.trace.slice(0, kept + 1),
        )

    @cached_property
    def shared_special_ids(self) -> set[int]:
        """Ids shared by several special tokens."""
        return {token_id for token_id, names in Counter(self.special_tokens.values()).items() if names > 1}

    @cached_property
    def uncut(self) -> BpeModel:
        """The same table without a pattern, to encode pre-tokens: a pattern with lookaround might cut them again."""
        return replace(self, cut=Pretokenization(None), trace=None)

    def with_roles(self, given: GivenRoles) -> BpeModel:
        """With other roles, by their names in `Roles`; None keeps what is there."""
        roles = self.roles.changed(given)
        adding_given = given.get("add_bos") is not None or given.get("add_eos") is not None
        if roles == self.roles and not adding_given:
            return self
        wrapping = self.wrapping.adapted(self.roles, roles, self.special_tokens, adding_given=adding_given)
        return replace(self, roles=roles, wrapping=wrapping)

    # ------------------------------------------------------------------ being a value

    def __eq__(self, other: object) -> bool:
        """Whether both turn every text into the same ids by the same table; roles, record and trace do not matter."""
        if not isinstance(other, BpeModel):
            return NotImplemented
        return self._settings() == other._settings() and np.array_equal(self.merges, other.merges)

    def __hash__(self) -> int:
        return hash((len(self.tokens), len(self.merges), self.cut))

    def _settings(self) -> tuple[object, ...]:
        return self.tokens, self.special_tokens, self.cut, self.whole_pretokens

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle everything but the encoder, which is rebuilt."""
        return remake, ({part.name: getattr(self, part.name) for part in fields(self)},)


def remake(parts: dict[str, Any]) -> BpeModel:
    return BpeModel(**parts)


def check_table(vocabulary: Mapping[bytes, int], specials: Mapping[str, int], *, allow_holes: bool) -> None:
    """Refuse a table in which an id or a token is ambiguous, or that cannot encode all text."""
    named: dict[int, bytes] = {}
    for token, token_id in vocabulary.items():
        if not token:
            raise PairityError(f"token {token_id} is empty.")
        if named.setdefault(token_id, token) != token:
            raise PairityError(f"id {token_id} is given to {named[token_id]!r} and to {token!r}.")
    for name, token_id in specials.items():
        if not isinstance(token_id, int | np.integer) or isinstance(token_id, bool):
            raise PairityError(f"the id of the special token {name!r} is {token_id!r}, not a whole number.")
        if token_id in named:
            raise PairityError(
                f"id {token_id} is given to {named[token_id]!r} and to the special token {name!r}."
            )
    named |= {token_id: name.encode() for name, token_id in specials.items()}
    check_no_clash(specials, vocabulary)
    if missing := [byte for byte in range(256) if bytes([byte]) not in vocabulary]:
        raise PairityError(
            f"the vocabulary lacks {len(missing)} of the 256 bytes, such as 0x{missing[0]:02X}: without "
            "them some text cannot be encoded."
        )
    if min(named) < 0 or max(named) >= NO_ID:
        raise PairityError(f"ids go from 0 to {NO_ID - 1}, but there is {min(named)} or {max(named)}.")
    size = max(named) + 1
    if size > len(named) and not allow_holes:
        hole = next(token_id for token_id in range(size) if token_id not in named)
        raise PairityError(
            f"{size - len(named)} ids below {size} have no token, such as {hole}. Pass allow_holes=True "
            "if that is intended."
        )
    if size > 16 * len(named) + 1_000_000:
        raise PairityError(f"{len(named)} tokens with ids up to {size - 1}: that is too many holes.")


def check_trace(trace: Any, merges: int) -> None:
    if trace.num_rows != merges + 1:
        raise PairityError(
            f"the trace has {trace.num_rows} rows for {merges} merges: it needs one for the start and one per merge."
        )
    for name, kind in zip(trace.schema.names, map(str, trace.schema.types), strict=True):
        kinds = TRACE_KINDS.get(name.partition(":")[0])
        if kinds and not kind.startswith(kinds):
            raise PairityError(f"the column {name!r} of the trace is {kind}, not {kinds[0]}.")


def check_no_clash(specials: Iterable[str], vocabulary: Container[bytes]) -> None:
    """Refuse a special token that files would spell like an ordinary one."""
    for name in specials:
        try:
            spelled = to_bytes(name)
        except KeyError:  # files cannot spell it with the alphabet of bytes
            continue
        if spelled in vocabulary:
            raise PairityError(
                f"the special token {name!r} is also how tokenizer files spell an ordinary token. Choose "
                "another name, such as one in <|...|>."
            )


def as_rows(values: npt.ArrayLike, *, columns: int) -> Merges:
    """Merges as a read-only array of ids."""
    given = np.asarray(values)
    if given.size == 0:
        given = np.empty((0, columns), np.uint32)
    if given.ndim != 2 or given.shape[1] != columns or given.dtype.kind not in "iu":
        raise PairityError(
            f"merges must be whole numbers in {columns} columns, not {given.dtype} {given.shape}."
        )
    if given.size and (given.min() < 0 or given.max() >= NO_ID):
        raise PairityError("a merge has an id out of range.")
    rows = given.astype(np.uint32)
    rows.flags.writeable = False
    return rows
