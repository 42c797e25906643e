"""The tokenizer that a training run gives: text to ids and back, smaller sizes, files.

    tok = Tokenizer.load("out/")
    ids = tok.encode("Grüße, мир!")        # [5341, 11, ...]
    tok.decode(ids)                        # 'Grüße, мир!'
    tok.count(["one line", "another"])     # array([2, 1])
    tok.truncate(16_000).save("small/")

What it is made of: a table from ids to byte strings, merges as (left, right, new) ids in the order of their
ranks, and special tokens. Ids of a trained tokenizer: special tokens, the 256 bytes, learned tokens in merge
order; an imported tokenizer keeps the ids it had.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pairity import _core
from pairity.bpe import special
from pairity.bpe.alphabet import BYTE_ORDER, to_bytes
from pairity.errors import PairityError

if TYPE_CHECKING:
    import tiktoken
    import tokenizers
    import transformers

Text = str | bytes
SpecialChoice = Literal["all"] | Collection[str]
Errors = Literal["strict", "replace"]
T = TypeVar("T")

_NO_PAIR = 0xFFFFFFFF
_Rules = dict[str, _core.Specials | None]


class Tokenizer:
    """A byte-level BPE tokenizer. It never changes once made, and threads may share it."""

    def __init__(
        self,
        tokens: Mapping[int, bytes],
        merges: npt.ArrayLike,
        *,
        pattern: str | None,
        normalize: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
        whole_pretokens: bool = False,
        allow_holes: bool = False,
        record: Mapping[str, Any] | None = None,
        trace: pa.Table | None = None,
    ) -> None:
        """From the table itself; `from_merges`, `load` and the imports are easier doors.

        `tokens` has the bytes of every id but the special ones, `merges` one row (left, right, new) a merge.
        `whole_pretokens`: a pre-token that is a token is taken whole, whatever the merges say, as tiktoken
        does (`ignore_merges` in Hugging Face files).
        """
        if normalize not in (None, "nfc"):
            raise PairityError(f"normalize must be None or 'nfc', not {normalize!r}.")
        specials = dict(special_tokens or {})
        special.checked(specials)
        self._tokens = _table(tokens, specials, allow_holes=allow_holes)
        self._ids = {token: token_id for token_id, token in sorted(tokens.items())}
        self._merges = _rows(merges, columns=3)
        self._special_tokens = specials
        self._pattern = pattern
        self._normalize = normalize
        self._whole_pretokens = whole_pretokens
        self._record = dict(record or {})
        if trace is not None and trace.num_rows != len(self._merges) + 1:
            raise PairityError(
                f"the trace has {trace.num_rows} rows for {len(self._merges)} merges; it needs one for the "
                "start and one a merge."
            )
        self._trace = trace
        try:
            self._encoder = _core.Encoder(
                pattern,
                *self.buffers(),
                np.ascontiguousarray(self._merges).reshape(-1).data,
                sorted(specials.values()),
                nfc=normalize == "nfc",
                whole_pretokens=whole_pretokens,
            )
        except ValueError as error:
            raise PairityError(str(error)) from None
        self._matchers: dict[frozenset[str], _core.Specials | None] = {frozenset(): None}
        self._default_rules = self._choose((), "all")

    # ------------------------------------------------------------------ making one

    @classmethod
    def from_merges(
        cls,
        merges: npt.ArrayLike,
        *,
        pattern: str | None,
        normalize: str | None = None,
        special_tokens: Sequence[str] = (),
        record: Mapping[str, Any] | None = None,
        trace: pa.Table | None = None,
    ) -> Tokenizer:
        """From pairs of engine ids: 0 to 255 the bytes in `alphabet.BYTE_ORDER`, 256 and up what was learned.

        A merge whose string is a token already reuses its id and takes no new one.
        """
        names = special.checked(special_tokens)
        pairs = _rows(merges, columns=2)
        tokens = [bytes([byte]) for byte in BYTE_ORDER]
        ids = {token: i for i, token in enumerate(tokens)}
        new_ids = np.empty(len(pairs), np.uint32)
        for step, (left, right) in enumerate(pairs.tolist()):
            if max(left, right) >= len(tokens):
                raise PairityError(
                    f"merge {step} joins ids {left} and {right}, but there are only {len(tokens)} tokens "
                    "before it."
                )
            joined = tokens[left] + tokens[right]
            new_ids[step] = ids.setdefault(joined, len(tokens))
            if new_ids[step] == len(tokens):
                tokens.append(joined)
        shift = len(names)
        return cls(
            dict(enumerate(tokens, start=shift)),
            np.column_stack([pairs, new_ids]) + np.uint32(shift),
            pattern=pattern,
            normalize=normalize,
            special_tokens={name: i for i, name in enumerate(names)},
            record=record,
            trace=trace,
        )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Tokenizer:
        """From a folder that `save` wrote, or any other with a tokenizer.json, or that file."""
        from pairity.formats import folder

        return folder.load(Path(path))

    @classmethod
    def from_huggingface(
        cls, source: str | os.PathLike[str] | tokenizers.Tokenizer, *, allow_holes: bool = False
    ) -> Tokenizer:
        """From a tokenizer.json, a folder with one, or a `tokenizers.Tokenizer`; every id is kept."""
        from pairity.formats import importing

        return importing.from_huggingface(source, allow_holes=allow_holes)

    @classmethod
    def from_tiktoken(
        cls,
        source: str | os.PathLike[str] | tiktoken.Encoding,
        *,
        pattern: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
        allow_holes: bool = False,
    ) -> Tokenizer:
        """From a tiktoken `Encoding`, or a file of ranks with its pattern (a name or a regular
        expression)."""
        from pairity.formats import importing

        return importing.from_tiktoken(
            source, pattern=pattern, special_tokens=special_tokens, allow_holes=allow_holes
        )

    @classmethod
    def from_merges_file(
        cls,
        merges: str | os.PathLike[str],
        vocab: str | os.PathLike[str] | None = None,
        *,
        pretokenizer: str = "gpt2",
        special_tokens: Sequence[str] = (),
        allow_holes: bool = False,
    ) -> Tokenizer:
        """From GPT-2's pair of files; without vocab.json the ids follow from the merges."""
        from pairity.formats import importing

        return importing.from_merges_file(
            merges,
            vocab,
            pretokenizer=pretokenizer,
            special_tokens=special_tokens,
            allow_holes=allow_holes,
        )

    # ------------------------------------------------------------------ text to ids

    def encode(
        self,
        text: Text,
        *,
        allowed_special: SpecialChoice = (),
        disallowed_special: SpecialChoice = "all",
        errors: Errors = "strict",
    ) -> list[int]:
        """The ids of a text.

        A special token in the text is an error unless it is in `allowed_special`, which reads it as that
        token, or left out of `disallowed_special`, which reads it as plain text ("all" means all that are not
        allowed). Bytes need not be UTF-8: a stretch that is not becomes a pre-token of its own, so that every
        byte string comes back. Lone surrogates in a `str` are an error, or with errors="replace" U+FFFD.
        """
        rules = self._rules(allowed_special, disallowed_special)
        if errors != "strict":
            return self._run(lambda texts: self._encoder.encode(texts[0], **rules), [text], errors)
        try:  # the short way of `_run`, for many short texts
            return self._encoder.encode(text, **rules)
        except ValueError as error:
            raise _explained(error) from None

    def encode_batch(
        self,
        texts: Iterable[Text],
        *,
        allowed_special: SpecialChoice = (),
        disallowed_special: SpecialChoice = "all",
        errors: Errors = "strict",
        threads: int | None = None,
    ) -> list[list[int]]:
        """The ids of every text, on all cores or as many `threads` as given."""
        rules = self._rules(allowed_special, disallowed_special)
        threads = _threads(threads)
        return self._run(
            lambda texts: self._encoder.encode_batch(texts, threads=threads, **rules), _list(texts), errors
        )

    def count(
        self,
        lines: Iterable[Text],
        *,
        allowed_special: SpecialChoice = (),
        disallowed_special: SpecialChoice = "all",
        errors: Errors = "strict",
        threads: int | None = None,
    ) -> npt.NDArray[np.int64]:
        """How many ids every line has, without making them."""
        rules = self._rules(allowed_special, disallowed_special)
        threads = _threads(threads)
        counts = self._run(
            lambda texts: self._encoder.count(texts, threads=threads, **rules), _list(lines), errors
        )
        return np.frombuffer(counts, np.int64)

    def encode_with_offsets(
        self,
        text: Text,
        *,
        allowed_special: SpecialChoice = (),
        disallowed_special: SpecialChoice = "all",
        errors: Errors = "strict",
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids, and where each starts and ends: in characters of a `str`, in bytes of `bytes`.

        A token that holds a part of a character covers the whole of it. With normalize the places are those
        in the normalised text.
        """
        ids = self.encode(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special, errors=errors
        )
        lengths = np.fromiter((len(self._tokens[i]) for i in ids), np.int64, len(ids))
        ends = np.cumsum(lengths)
        starts = ends - lengths
        if isinstance(text, str):
            encoded = np.frombuffer(self.decode_bytes(ids), np.uint8)
            character = np.cumsum((encoded & 0xC0) != 0x80)  # of every byte, counted from 1
            starts, ends = character[starts] - 1, character[ends - 1]
        return ids, list(zip(starts.tolist(), ends.tolist(), strict=True))

    def _run(self, work: Callable[[list[Text]], T], texts: list[Text], errors: Errors) -> T:
        if errors not in ("strict", "replace"):
            raise PairityError(f"errors must be 'strict' or 'replace', not {errors!r}.")
        try:
            return work(texts)
        except ValueError as error:
            if errors == "strict" or not isinstance(error, UnicodeEncodeError):
                raise _explained(error) from None
        return self._run(work, [_without_surrogates(text) for text in texts], "strict")

    def _rules(self, allowed: SpecialChoice, disallowed: SpecialChoice) -> _Rules:
        if allowed == () and disallowed == "all":
            return self._default_rules
        return self._choose(allowed, disallowed)

    def _choose(self, allowed: SpecialChoice, disallowed: SpecialChoice) -> _Rules:
        everything = frozenset(self._special_tokens)
        allowed_names = everything if allowed == "all" else self._known(allowed)
        disallowed_names = everything - allowed_names if disallowed == "all" else self._known(disallowed)
        return {"allowed": self._matcher(allowed_names), "disallowed": self._matcher(disallowed_names)}

    def _known(self, names: Collection[str]) -> frozenset[str]:
        if isinstance(names, str):
            raise PairityError(f"give special tokens as a set: {{{names!r}}}, or 'all'.")
        chosen = frozenset(names)
        if unknown := chosen - self._special_tokens.keys():
            have = ", ".join(map(repr, self._special_tokens)) or "none"
            raise PairityError(
                f"{min(unknown)!r} is not a special token of this tokenizer, which has {have}."
            )
        return chosen

    def _matcher(self, names: frozenset[str]) -> _core.Specials | None:
        if names not in self._matchers:
            chosen = [(name, i) for name, i in self._special_tokens.items() if name in names]
            self._matchers[names] = _core.Specials(chosen)
        return self._matchers[names]

    # ------------------------------------------------------------------ ids to text

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes of the ids; special tokens as they are written."""
        given = _ids(ids)
        try:
            return self._encoder.decode(given)
        except OverflowError:
            wrong = next(i for i in given if not 0 <= i <= _NO_PAIR)
            last = len(self._tokens) - 1
            raise PairityError(
                f"id {wrong} is not in the vocabulary, whose ids go from 0 to {last}"
            ) from None
        except ValueError as error:
            raise PairityError(str(error)) from None

    def decode(self, ids: Iterable[int], *, errors: str = "replace") -> str:
        """The text of the ids. Bytes that are no UTF-8, such as half a character, become U+FFFD by
        default."""
        return self.decode_bytes(ids).decode("utf-8", errors=errors)

    def decode_batch(self, batch: Iterable[Iterable[int]], *, errors: str = "replace") -> list[str]:
        return [self.decode(ids, errors=errors) for ids in batch]

    # ------------------------------------------------------------------ what it is made of

    @property
    def vocab_size(self) -> int:
        """How many tokens there are, special ones included."""
        return len(self._ids) + len(self._special_tokens)

    def __len__(self) -> int:
        """One more than the last id: the rows that an embedding needs."""
        return len(self._tokens)

    @property
    def tokens(self) -> tuple[bytes, ...]:
        """Id -> bytes; empty for an id that names no token."""
        return self._tokens

    @property
    def vocabulary(self) -> Mapping[bytes, int]:
        """Bytes -> id, without the special tokens."""
        return MappingProxyType(self._ids)

    @property
    def special_tokens(self) -> Mapping[str, int]:
        return MappingProxyType(self._special_tokens)

    @property
    def merges(self) -> npt.NDArray[np.uint32]:
        """(left, right, new) ids, one row a merge, in the order of their ranks."""
        return self._merges

    @property
    def pattern(self) -> str | None:
        """The regular expression that cuts pre-tokens; None leaves text whole."""
        return self._pattern

    @property
    def pretokenizer(self) -> str:
        """The name of the pattern, with `:digits` for the variant of single digits; the pattern if it has
        none."""
        for name, (pattern, single_digits) in _core.PATTERNS.items():
            if self._pattern == pattern:
                return name
            if self._pattern == single_digits:
                return f"{name}:digits"
        return str(self._pattern)

    @property
    def normalize(self) -> str | None:
        return self._normalize

    @property
    def whole_pretokens(self) -> bool:
        """Whether a pre-token that is a token is taken whole, whatever the merges say."""
        return self._whole_pretokens

    @property
    def record(self) -> dict[str, Any]:
        """What the training run says of itself; kept in pairity.json."""
        return self._record

    @property
    def trace(self) -> pa.Table | None:
        """What every merge was learned for: a row for the start, then one a merge; kept in trace.parquet."""
        return self._trace

    def steered_by(self, lines: Iterable[str]) -> bool:
        """Whether these very lines were the dev text of a language when this tokenizer was trained."""
        languages = self._record.get("languages", {}).values()
        digests = {text["dev"]["digest"] for text in languages if "dev" in text}
        if not digests:
            return False
        from pairity.counts.counts import count_lines
        from pairity.text.pretokenizers import Pretokenization

        return count_lines(lines, Pretokenization(self._pattern, self._normalize)).digest() in digests

    def pretokenize(self, text: str) -> list[str]:
        """The pieces that no token crosses."""
        return _core.pretokenize(self._pattern, text)

    def token_of(self, token_id: int) -> bytes:
        """The bytes of one id."""
        return self.decode_bytes([token_id])

    def id_of(self, token: Text) -> int:
        """The id of a special token (by its name, a `str`) or of a token (by its bytes, or by its text)."""
        if isinstance(token, str) and token in self._special_tokens:
            return self._special_tokens[token]
        encoded = token.encode() if isinstance(token, str) else token
        found = self._ids.get(encoded)
        if found is None:
            raise PairityError(f"{token!r} is not a token of this vocabulary.")
        return found

    def origins(self) -> npt.NDArray[np.uint32]:
        """For every id the two tokens that its token is made of when its bytes are encoded, whatever the
        merges list; 0xFFFFFFFF twice for bytes, special tokens, and tokens that merging never gives."""
        return np.frombuffer(self._encoder.origins(), np.uint32).reshape(-1, 2)

    def unmerged(self) -> list[int]:
        """The ids of longer tokens that merging never gives. Training makes none; imported tables may have
        some."""
        never = self.origins()[:, 0] == _NO_PAIR
        specials = set(self._special_tokens.values())
        return [i for i in np.flatnonzero(never).tolist() if len(self._tokens[i]) > 1 and i not in specials]

    def engine_merges(self) -> npt.NDArray[np.uint32]:
        """The merges as training numbers them: what a training run can go on from."""
        pairs, _ = self._as_engine_numbers()
        return pairs

    def extended(
        self, pairs: npt.ArrayLike, *, record: Mapping[str, Any] | None = None, trace: pa.Table | None = None
    ) -> Tokenizer:
        """This tokenizer with further merges (in engine ids, going on from `engine_merges`); all ids stay."""
        _, engine_ids = self._as_engine_numbers()
        public_ids = list(engine_ids)
        tokens = {token_id: token for token, token_id in self.vocabulary.items()}
        ids = dict(self.vocabulary)
        rows = self._merges.tolist()
        for left, right in _rows(pairs, columns=2).tolist():
            left_id, right_id = public_ids[left], public_ids[right]
            token = tokens[left_id] + tokens[right_id]
            if token not in ids:
                ids[token] = len(self._tokens) + len(public_ids) - len(engine_ids)
                tokens[ids[token]] = token
                public_ids.append(ids[token])
            rows.append((left_id, right_id, ids[token]))
        return Tokenizer(
            tokens,
            np.array(rows, np.uint32).reshape(-1, 3),
            pattern=self._pattern,
            normalize=self._normalize,
            special_tokens=self._special_tokens,
            whole_pretokens=self._whole_pretokens,
            allow_holes=True,
            record=record,
            trace=trace,
        )

    def _as_engine_numbers(self) -> tuple[npt.NDArray[np.uint32], dict[int, int]]:
        """The merges in engine ids, and the engine id of every public one, in their order."""
        engine_ids = {self.vocabulary[bytes([byte])]: i for i, byte in enumerate(BYTE_ORDER)}
        pairs = np.empty((len(self._merges), 2), np.uint32)
        for step, (left, right, new) in enumerate(self._merges.tolist()):
            for part in (left, right):
                if part not in engine_ids:
                    raise PairityError(
                        f"training cannot go on from this table: merge {step} uses {self._tokens[part]!r}, "
                        "which no merge before it makes."
                    )
            pairs[step] = engine_ids[left], engine_ids[right]
            engine_ids.setdefault(new, len(engine_ids))
        for token, i in self.vocabulary.items():
            if i not in engine_ids:
                raise PairityError(
                    f"training cannot go on from this table: no merge makes the token {token!r} (id {i})."
                )
        return pairs, engine_ids

    def truncate(self, vocab_size: int) -> Tokenizer:
        """The tokenizer that training would have given at a smaller size; ids stay as they are."""
        smallest = 256 + len(self._special_tokens)
        if not smallest <= vocab_size <= len(self._tokens):
            raise PairityError(
                f"vocab_size must be between {smallest} (the bytes and the special tokens) and "
                f"{len(self._tokens)}, not {vocab_size}."
            )
        above = [name for name, i in self._special_tokens.items() if i >= vocab_size]
        if above:
            raise PairityError(
                f"cannot truncate to {vocab_size} and keep ids: the special token {above[0]!r} has id "
                f"{self._special_tokens[above[0]]}."
            )
        too_high = np.flatnonzero(self._merges.max(axis=1, initial=0) >= vocab_size)
        kept = int(too_high[0]) if len(too_high) else len(self._merges)
        made = set(self._merges[:kept, 2].tolist())
        tokens = {token_id: token for token, token_id in self.vocabulary.items() if token_id < vocab_size}
        for token_id, token in tokens.items():
            if len(token) > 1 and token_id not in made:
                raise PairityError(
                    f"cannot truncate to {vocab_size} and keep ids: the ids are not in the order of the "
                    f"merges (token {token_id} would lose its merge)."
                )
        return Tokenizer(
            tokens,
            self._merges[:kept],
            pattern=self._pattern,
            normalize=self._normalize,
            special_tokens=self._special_tokens,
            whole_pretokens=self._whole_pretokens,
            allow_holes=True,
            record=self._record | {"truncated_from": self.vocab_size},
            trace=None if self._trace is None else self._trace.slice(0, kept + 1),
        )

    def table(self, counts: Mapping[str, Any] | None = None) -> pa.Table:
        """One row a token: id, bytes, text (null if not whole characters), kind, and for learned ones the merge
        that made it, the language it was learned for (null: for all together) and its count there then. With
        `counts` (of `pairity.count`) also how often it occurs in the text of each language.
        """
        from pairity.tokenizer import inspection

        return inspection.table(self, counts)

    # ------------------------------------------------------------------ files and other libraries

    def save(
        self,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        bos_token: str | None = None,
        eos_token: str | None = None,
        pad_token: str | None = None,
        chat_template: str | None = None,
    ) -> None:
        """Write a folder that `load` and transformers' AutoTokenizer read; `force` replaces the files of an
        old one."""
        from pairity.formats import folder

        roles = {"bos_token": bos_token, "eos_token": eos_token, "pad_token": pad_token}
        folder.save(self, Path(path), force=force, roles=roles, chat_template=chat_template)

    def to_huggingface(self) -> tokenizers.Tokenizer:
        from pairity.formats import export

        return export.to_huggingface(self)

    def to_transformers(
        self,
        *,
        bos_token: str | None = None,
        eos_token: str | None = None,
        pad_token: str | None = None,
        chat_template: str | None = None,
    ) -> transformers.PreTrainedTokenizerFast:
        from pairity.formats import export

        roles = {"bos_token": bos_token, "eos_token": eos_token, "pad_token": pad_token}
        return export.to_transformers(self, roles=roles, chat_template=chat_template)

    def to_tiktoken(self, name: str = "pairity") -> tiktoken.Encoding:
        from pairity.formats import export

        return export.to_tiktoken(self, name)

    # ------------------------------------------------------------------ being a value

    def __repr__(self) -> str:
        parts = [
            f"vocab_size={self.vocab_size}",
            f"merges={len(self._merges)}",
            f"pretokenizer={self.pretokenizer!r}",
        ]
        if self._normalize:
            parts.append(f"normalize={self._normalize!r}")
        if self._special_tokens:
            names = list(self._special_tokens)
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            parts.append(f"special_tokens=[{', '.join(map(repr, names[:3]))}{more}]")
        return f"Tokenizer({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        """Whether both turn every text into the same ids by the same table; record and trace do not
        matter."""
        if not isinstance(other, Tokenizer):
            return NotImplemented
        return self._settings() == other._settings() and np.array_equal(self._merges, other._merges)

    def __hash__(self) -> int:
        return hash((len(self._tokens), len(self._merges), self._pattern, self._normalize))

    def __reduce__(self) -> tuple[Callable[..., Tokenizer], tuple[object, ...]]:
        """Copied, and sent to worker processes, as what it was made of."""
        tokens = {token_id: token for token, token_id in self._ids.items()}
        return _remade, (tokens, self._merges, self._special_tokens, self._options())

    def _options(self) -> dict[str, Any]:
        return {
            "pattern": self._pattern,
            "normalize": self._normalize,
            "whole_pretokens": self._whole_pretokens,
            "record": self._record,
            "trace": self._trace,
        }

    def _settings(self) -> tuple[object, ...]:
        return (self._tokens, self._special_tokens, self._pattern, self._normalize, self._whole_pretokens)

    def buffers(self) -> tuple[bytes, memoryview]:
        """All tokens end to end, and where each starts."""
        lengths = np.fromiter(map(len, self._tokens), np.int64, len(self._tokens))
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
        return b"".join(self._tokens), offsets.data


def _remade(
    tokens: Mapping[int, bytes],
    merges: npt.NDArray[np.uint32],
    special_tokens: Mapping[str, int],
    options: dict[str, Any],
) -> Tokenizer:
    return Tokenizer(tokens, merges, special_tokens=special_tokens, allow_holes=True, **options)


def _table(
    tokens: Mapping[int, bytes], specials: Mapping[str, int], *, allow_holes: bool
) -> tuple[bytes, ...]:
    """Id -> bytes for all ids, or what is wrong with them."""
    ids: dict[bytes, int] = {}
    for token_id, token in tokens.items():
        if not token:
            raise PairityError(f"token {token_id} is empty.")
        if ids.setdefault(token, token_id) != token_id:
            raise PairityError(
                f"tokens {ids[token]} and {token_id} are both {token!r}. One id a token, please."
            )
    named: dict[int, bytes] = dict(tokens)
    for name, token_id in specials.items():
        if token_id in named:
            raise PairityError(
                f"id {token_id} is given to {named[token_id]!r} and to the special token {name!r}."
            )
        named[token_id] = name.encode()
    if clash := _clash(specials, ids):
        raise PairityError(
            f"the special token {clash!r} is also how tokenizer files write an ordinary token. Choose "
            "another name, such as one in <|...|>."
        )
    if missing := [byte for byte in range(256) if bytes([byte]) not in ids]:
        raise PairityError(
            f"the vocabulary lacks {len(missing)} of the 256 bytes, such as 0x{missing[0]:02X}; without "
            "them some text cannot be encoded."
        )
    if min(named) < 0 or max(named) >= _NO_PAIR:
        raise PairityError(f"ids go from 0 to {_NO_PAIR - 1}; there is {min(named)} or {max(named)}.")
    size = max(named) + 1
    if size > len(named):
        if not allow_holes:
            hole = next(i for i in range(size) if i not in named)
            raise PairityError(
                f"{size - len(named)} ids below {size} name no token, such as {hole}. Pass allow_holes=True "
                "if that is meant."
            )
        if size > 16 * len(named) + 1_000_000:
            raise PairityError(f"{len(named)} tokens with ids up to {size - 1}: that is too many holes.")
    return tuple(named.get(i, b"") for i in range(size))


def _clash(specials: Iterable[str], ids: Mapping[bytes, int]) -> str | None:
    """A special token that is how files write an ordinary one."""
    for name in specials:
        try:
            if to_bytes(name) in ids:
                return name
        except KeyError:  # not in the alphabet of the files
            continue
    return None


def _rows(values: npt.ArrayLike, *, columns: int) -> npt.NDArray[np.uint32]:
    given = np.asarray(values)
    if given.size == 0:
        given = np.empty((0, columns), np.uint32)
    if given.ndim != 2 or given.shape[1] != columns or given.dtype.kind not in "iu":
        raise PairityError(
            f"merges must be whole numbers in {columns} columns, not {given.dtype} {given.shape}."
        )
    if given.size and (given.min() < 0 or given.max() >= _NO_PAIR):
        raise PairityError("a merge has an id out of range.")
    rows = given.astype(np.uint32)
    rows.flags.writeable = False
    return rows


def _list(texts: Iterable[Text]) -> list[Text]:
    if isinstance(texts, str | bytes):
        raise PairityError("give a list of texts; for one text write [text].")
    return list(texts)


def _ids(ids: Iterable[int]) -> list[int]:
    # Arrays and tensors have a fast way to plain numbers.
    given = ids.tolist() if hasattr(ids, "tolist") else ids
    return given if isinstance(given, list) else list(given)


def _threads(threads: int | None) -> int:
    if threads is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if threads < 1:
        raise PairityError(f"threads must be 1 or more, not {threads}.")
    return threads


def _explained(error: ValueError) -> PairityError:
    if isinstance(error, UnicodeEncodeError):
        return PairityError(
            f"the text has a lone surrogate (U+{ord(error.object[error.start]):04X} at character "
            f"{error.start}), which is no character. Pass errors='replace' to read it as U+FFFD."
        )
    return PairityError(str(error))


def _without_surrogates(text: Text) -> Text:
    """Pairs of surrogates become the character they mean, lone ones U+FFFD."""
    if isinstance(text, bytes):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
