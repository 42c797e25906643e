"""What to learn, as one frozen value that is checked on creation."""

import json
import os
import warnings
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from pairity import _core
from pairity.bpe import special
from pairity.bpe.merges import BYTE_TOKENS
from pairity.bpe.model import BpeModel
from pairity.bpe.roles import NO_ROLES, GivenRoles, Roles
from pairity.errors import PairityError, PairityWarning
from pairity.files.digests import digest
from pairity.formats.opening import Found, find, with_holes_noted
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER, Pretokenization, check_pattern
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.checks import (
    check_add_tokens,
    check_exportable,
    check_goal,
    check_numbers,
    check_policy,
    check_special_tokens,
    check_superwords,
)
from pairity.training.engine import Steps
from pairity.training.policy import Policy, check_whole

NO_STEPS = Steps.known(np.empty((0, 2), np.uint32))


class GivenSettings(GivenRoles, total=False):
    """What a caller may set about the tokenizer, besides its size and the policy."""

    pretokenizer: str | None
    """A name or a pattern. Default: gpt4o, or that of the continued tokenizer."""
    digits: bool
    """Splits text at every digit, so that no token holds two."""
    normalize: Literal["nfc"] | None
    """How to normalize text. Default: not at all, or as the continued tokenizer does."""
    min_frequency: int
    """Pairs that occur less often are not merged. Default: 2."""
    max_token_length: int | None
    """The longest token to learn, in bytes."""
    whole_characters: bool
    """Forbids tokens that join part of a character with another."""
    special_tokens: Sequence[str]
    """Names that stand for themselves, with the first ids."""
    reserved: int
    """The number of special tokens to add for later use."""
    pad_to: int | None
    """Adds as many special tokens as make the size a multiple of this (64, 128). A continued tokenizer gets none: its
    report rounds up the rows of the embedding."""
    superwords: float | None
    """0.5 learns half of the tokens from words, and the other half from phrases of up to four words, so that tokens can
    cross spaces; `pretokenizer="gpt4o:words6"` allows phrases of up to six."""


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Either `vocab_size` or `num_merges` is the goal; the other is None."""

    policy: Policy
    vocab_size: int | None
    num_merges: int | None
    min_frequency: int = 2
    max_token_length: int | None = None
    whole_characters: bool = False
    pretokenization: Pretokenization
    superwords: float | None = None
    """The share of the budget that is learned from words; the rest is learned from phrases."""
    special_tokens: tuple[str, ...] = ()
    roles: Roles = NO_ROLES
    start: Tokenizer | None = None
    """The tokenizer to continue from ..."""
    rows_padded_to: int | None = None
    """... and a number: the rows of its embedding are rounded up to a multiple of it."""

    def __post_init__(self) -> None:
        check_policy(self.policy)
        check_numbers({"min_frequency": self.min_frequency, "max_token_length": self.max_token_length})
        check_goal(self.vocab_size, self.num_merges, self.taken, continued=self.start is not None)
        check_superwords(self.superwords, self.pretokenization, continued=self.start is not None)
        check_exportable(self.pretokenization.pattern)
        check_special_tokens(self.special_tokens)
        self.roles.check(self.special_tokens)
        self.policy.check_budget(self.budget)

    @cached_property
    def known(self) -> Steps:
        """The merges of the tokenizer to continue from, as the engine numbers them."""
        return Steps.known(self.start.model.training_start.pairs) if self.start else NO_STEPS

    @property
    def as_encoded(self) -> bool:
        """Whether pre-tokens start as that tokenizer encodes them; otherwise the engine applies its merges again."""
        return self.start is not None and self.start.model.training_start.as_encoded

    @property
    def special_ids(self) -> int:
        """The number of ids of special tokens; in an imported tokenizer, several names may share an id."""
        return len(self.start.model.special_ids) if self.start else len(self.special_tokens)

    @property
    def taken(self) -> int:
        """The number of tokens before anything is learned."""
        return self.start.vocab_size if self.start else len(BYTE_TOKENS) + self.special_ids

    @property
    def budget(self) -> int:
        """How many tokens (or merges, if those are the goal) to learn."""
        if self.num_merges is not None:
            return self.num_merges
        assert self.vocab_size is not None
        return self.vocab_size - self.taken

    @property
    def budget_in_words(self) -> int:
        """How much of the budget is learned from words: all of it, unless there are superwords."""
        return self.budget if self.superwords is None else round(self.superwords * self.budget)

    def share(self, merges: int) -> int:
        """How much of the budget is done after this many merges; a few of them may make no new token."""
        return min(merges - len(self.remade), self.budget)

    @property
    def remade(self) -> Steps:
        """The merges that the engine applies again before it learns."""
        return NO_STEPS if self.as_encoded else self.known

    @property
    def first_tokens(self) -> Sequence[bytes]:
        """The engine's tokens before its first merge, by number."""
        if self.start is None or not self.as_encoded:
            return BYTE_TOKENS
        return [self.start.tokens[token_id] for token_id in self.start.model.training_start.ids]

    def for_engine(self, *, in_words: bool = False) -> dict[str, Any]:
        """Arguments of `learn`, whose goals include what is known. `in_words`: only the part before superwords."""
        known = len(self.remade)
        goal = self.budget_in_words if in_words else self.budget
        known_tokens = len(self.start.vocabulary) - len(BYTE_TOKENS) if self.start else 0
        first = self.policy.global_merges_of(self.budget)
        return {
            "merges": None if self.num_merges is None else known + goal,
            "tokens": None if self.vocab_size is None else known_tokens + goal,
            "global_merges": None if first is None else known + first,
            **self.policy.for_engine(),
            "min_frequency": self.min_frequency,
            "max_token_length": self.max_token_length,
            "whole_characters": self.whole_characters,
            "start": self.encoder_and_ids(),
        }

    def encoder_and_ids(self) -> tuple[_core.Encoder, npt.NDArray[np.uint32]] | None:
        if self.start is None or not self.as_encoded:
            return None
        model = self.start.model
        return model.encoder, np.array(model.training_start.ids, np.uint32)

    def describe(self) -> dict[str, Any]:
        """For pairity.json, and for the fingerprint of a checkpoint."""
        start = self.start
        return {
            "continued_from": start
            and {
                "vocab_size": start.vocab_size,
                "merges": len(start.merges),
                "digest": digest_of_table(start.model),
            },
            "method": self.policy.describe(),
            "vocab_size": self.vocab_size,
            "num_merges": self.num_merges,
            "min_frequency": self.min_frequency,
            "max_token_length": self.max_token_length,
            "whole_characters": self.whole_characters,
            "pretokenization": asdict(self.pretokenization),
        } | ({} if self.superwords is None else {"superwords": self.superwords})


def make_settings(
    continue_from: Any = None,
    *,
    vocab_size: int | None = None,
    num_merges: int | None = None,
    add_tokens: int | None = None,
    pretokenizer: str | None = None,
    digits: bool = False,
    normalize: Literal["nfc"] | None = None,
    special_tokens: Sequence[str] = (),
    reserved: int = 0,
    pad_to: int | None = None,
    **others: Any,
) -> Settings:
    """From the arguments of `train`. A continued tokenizer keeps its special tokens and its way of cutting text.

    `others` are roles, and fields of `Settings` as they are.
    """
    for name, goal in (("vocab_size", vocab_size), ("num_merges", num_merges)):
        if goal is not None:
            check_whole(name, goal)  # how much is enough is known later: `check_goal`
    check_numbers({"reserved": reserved, "pad_to": pad_to})
    check_add_tokens(add_tokens, vocab_size, num_merges, continue_from)
    given = {name: others.pop(name) for name in GivenRoles.__annotations__ if name in others}
    roles = cast(GivenRoles, given)
    if continue_from is None:
        chosen = NO_ROLES.changed(roles)
        special_tokens = with_roles(special_tokens, chosen)
        names, vocab_size = with_reserved(special_tokens, reserved, pad_to, vocab_size, num_merges)
        cut = Pretokenization.of(
            DEFAULT_PRETOKENIZER if pretokenizer is None else pretokenizer, digits, normalize
        )
        return Settings(
            vocab_size=vocab_size,
            num_merges=num_merges,
            pretokenization=cut if others.get("superwords") is None else cut.in_phrases(),
            special_tokens=names,
            roles=chosen,
            **others,
        )
    if special_tokens or reserved:
        raise PairityError(
            "a continued tokenizer keeps its special tokens and their ids, and cannot get new ones: leave "
            "out special_tokens (--special-token) and reserved (--reserved)."
        )
    start = opened(continue_from).with_roles(**roles)
    return Settings(
        vocab_size=vocab_size if add_tokens is None else start.vocab_size + add_tokens,
        num_merges=num_merges,
        pretokenization=inherit_pretokenization(start, pretokenizer, digits, normalize),
        special_tokens=tuple(sorted(start.special_tokens, key=start.special_tokens.__getitem__)),
        roles=start.roles,
        start=start,
        rows_padded_to=pad_to,
        **others,
    )


def opened(source: Any) -> Tokenizer:
    """The tokenizer to continue from: a `Tokenizer`, a path, or an object of `tokenizers` or `transformers`."""
    if isinstance(source, Tokenizer):
        return source
    if not isinstance(source, str | os.PathLike):
        start = Tokenizer.from_huggingface(source, allow_holes=True)
        with_holes_noted(start.model, f"the {type(source).__name__} to continue from")
        return start
    start = Tokenizer.load(source)
    if not start.special_tokens and (found := find(source)).kind == "ranks":
        warnings.warn(
            f"{found.place} lists no special tokens, so new tokens get the ids from {len(start)} on. If "
            f"the model's special tokens have these ids, {how_to_list(found)}",
            PairityWarning,
            stacklevel=2,
        )
    return start


def how_to_list(found: Found) -> str:
    """Advice on how to list the special tokens of a file of ranks."""
    contents = '{"special_tokens": {"NAME": ID}}'
    beside = Path(found.place).with_suffix(".json").name
    if beside != "tokenizer.json":
        return f"first list them next to it, in {beside}: {contents}."
    return (  # a file of that name would be opened instead of the ranks
        f"first copy it to ranks.tiktoken, list them next to the copy, in ranks.json: {contents}, and "
        f"continue from ranks.tiktoken@{found.pattern or 'PATTERN'}."
    )


def digest_of_table(model: BpeModel) -> str:
    """Of everything that decides how pre-tokens become ids."""
    tokens, offsets = model.buffers()
    rest = json.dumps([model.special_tokens, model.whole_pretokens]).encode()
    return digest(b"".join([tokens, offsets, model.merges.astype("<u4").tobytes(), rest]))


def with_roles(special_tokens: Sequence[str], roles: Roles) -> list[str]:
    """The special tokens, followed by those that only a role names."""
    names = list(special.check_names(special_tokens))
    names += [name for name in dict.fromkeys(roles.named.values()) if name not in names]
    if blank := [name for name in names if name.isspace()]:
        raise PairityError(
            f"the special token {blank[0]!r} is white space, which any text may contain. Give it a name "
            "such as '<s>'."
        )
    return names


def with_reserved(
    special_tokens: Sequence[str],
    reserved: int,
    pad_to: int | None,
    vocab_size: int | None,
    num_merges: int | None,
) -> tuple[tuple[str, ...], int | None]:
    """The special tokens with reserved ones and padding added, and the vocabulary size with the padding."""
    names = special.check_names(special_tokens)
    padding = 0
    if pad_to is not None:
        size = vocab_size or len(BYTE_TOKENS) + len(names) + reserved + (num_merges or 0)
        padding = special.padding(size, pad_to)
    return (*names, *special.reserved(reserved + padding)), vocab_size and vocab_size + padding


def inherit_pretokenization(
    start: Tokenizer, pretokenizer: str | None, digits: bool, normalize: str | None
) -> Pretokenization:
    """The pre-tokenization of the tokenizer to continue from; its merges make no sense with another."""
    own = start.model.cut
    if own.pattern is not None:
        check_pattern(own.pattern)  # an imported one may hide text from training
    if pretokenizer is not None or digits:
        asked = Pretokenization.of(pretokenizer or own.name.removesuffix(":digits"), digits)
        if asked.pattern != own.pattern:
            raise PairityError(
                f"the tokenizer to continue from splits text with {own.name!r}, but {asked.name!r} was "
                "requested: its tokens fit no other. Leave out pretokenizer (--pretokenizer) and digits "
                "(--single-digits)."
            )
    if normalize not in (None, own.normalize):
        raise PairityError(
            f"the tokenizer to continue from has normalize={own.normalize!r}, but {normalize!r} was "
            "requested: its tokens were learned that way. Leave out normalize (--normalize)."
        )
    return own
