"""Sizes: evaluate a tokenizer at several sizes, by truncating it.

    {"parity": 32,000 tokens, "gpt-4o": 200,019}, [8000, 32000]  ->  "parity@8000", "parity@32000", "gpt-4o"

Truncating is exact, since training at a smaller size would have learned the same merges up to there. The exception is a
hybrid whose classical part was a share of its size: it is evaluated only as it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pairity.errors import PairityError, listed
from pairity.judging.opening import by_name
from pairity.judging.own import PairityTokenizer
from pairity.judging.protocol import TokenizerLike


@dataclass(frozen=True)
class Sized:
    """What to evaluate. `families`: name of a truncated tokenizer -> name of the whole; `notes`: what was not cut."""

    tokenizers: dict[str, TokenizerLike]
    families: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def family(self, name: str) -> str:
        return self.families.get(name, name)

    def members(self, family: str) -> list[str]:
        """The names under which a tokenizer is evaluated, the smallest size first."""
        return [name for name in self.tokenizers if self.family(name) == family]

    def counterpart(self, name: str, baseline: str) -> str:
        """What a tokenizer is compared with: the baseline at the same size, or else at its largest."""
        same = [other for other in self.members(baseline) if self.sizes.get(other) == self.sizes.get(name)]
        return (same or self.members(baseline))[-1]

    def compared(self, one: str, other: str) -> bool:
        """Whether two tokenizers differ in only one way: in size, or in how they were made."""
        cut = one in self.families and other in self.families
        return not cut or self.family(one) == self.family(other) or self.sizes[one] == self.sizes[other]


def at_sizes(tokenizers: Mapping[str, TokenizerLike], sizes: Sequence[int] | None) -> Sized:
    """Every tokenizer at every size. Those that cannot be truncated stay as they are, with a note that says why."""
    if sizes is None:
        return Sized(dict(tokenizers))
    wanted = checked_sizes(sizes)
    made = Sized({})
    judged: list[tuple[str, TokenizerLike]] = []
    for name, tokenizer in tokenizers.items():
        cut, note = cuts_of(name, tokenizer, wanted)
        made.notes.extend([note] if note else [])
        for size, smaller in cut.items():
            made.families[f"{name}@{size}"], made.sizes[f"{name}@{size}"] = name, size
            judged.append((f"{name}@{size}", smaller))
        if not cut:
            judged.append((name, tokenizer))
    for name in tokenizers:
        if name in made.families:
            raise PairityError(
                f"{name!r} is the name of a tokenizer, and also of {made.families[name]!r} truncated to "
                f"{made.sizes[name]} tokens. Choose another name, without an at sign."
            )
    made.tokenizers.update(by_name(judged))
    missing = [size for size in wanted if size not in made.sizes.values()]
    if missing:
        raise PairityError(
            f"no tokenizer can be truncated to {missing[0]:,} tokens. "
            f"{' '.join(f'{note}.' for note in made.notes)} Choose other sizes, or train a larger "
            "tokenizer."
        )
    return made


def cuts_of(
    name: str, tokenizer: TokenizerLike, sizes: Sequence[int]
) -> tuple[dict[int, PairityTokenizer], str]:
    """A tokenizer at the sizes to which it can be truncated, and a note about the others."""
    as_it_is = f"{name} is evaluated as it is: "
    if not isinstance(tokenizer, PairityTokenizer):
        return {}, f"{as_it_is}only pairity's own tokenizers can be truncated"
    if sizes[0] < tokenizer.smallest_size:
        raise PairityError(
            f"{name} cannot be truncated to {sizes[0]:,} tokens: the bytes and its special tokens are "
            f"already {tokenizer.smallest_size:,}. Leave out that size."
        )
    if tokenizer.share_of_global_merges is not None:
        share = f"{tokenizer.share_of_global_merges:.0%}"
        return (
            {},
            (
                f"{as_it_is}the {share} that it learned as classical BPE depends on its size. Train it at "
                "each size"
            ),
        )
    larger = [f"{size:,}" for size in sizes if size > tokenizer.vocab_size]
    try:
        cut = {
            size: tokenizer.truncated(size, f"{name}@{size}")
            for size in sizes
            if size <= tokenizer.vocab_size
        }
    except PairityError as error:  # an imported table, whose ids are not in the order of its merges
        return {}, f"{as_it_is}{str(error).removesuffix('.')}"
    has = f"it has {tokenizer.vocab_size:,} tokens"
    if not cut:
        return {}, f"{as_it_is}{has}"
    return cut, f"{name} is evaluated without {listed(larger)}: {has}" if larger else ""


def cut_to(tokenizer: TokenizerLike, size: int | None) -> TokenizerLike:
    """The tokenizer at the size at which it was evaluated."""
    if size is None or not isinstance(tokenizer, PairityTokenizer) or size >= tokenizer.vocab_size:
        return tokenizer
    return tokenizer.truncated(size, tokenizer.name)


def checked_sizes(sizes: Any) -> list[int]:
    """The sizes in ascending order."""
    given = list(sizes) if isinstance(sizes, Iterable) and not isinstance(sizes, str) else [sizes]
    if not given:
        raise PairityError("sizes is empty: give vocabulary sizes, such as 8000,16000,32000.")
    for size in given:
        if not isinstance(size, int | np.integer) or isinstance(size, bool) or size < 1:
            raise PairityError(
                f"sizes has {size!r}: give vocabulary sizes as whole numbers, such as 8000,16000."
            )
        if given.count(size) > 1:
            raise PairityError(f"the size {size} is given twice: name it once.")
    return sorted(map(int, given))
