"""Shards: one count in many jobs, each with some of the files, and their sum when all are done.

    files of 5, 4, 3, 3 and 2 GB in 2 shards  ->  5 + 3 and 4 + 3 + 2

Every job deals out all files in the same way and counts its own. A shard records its number and a digest of the deal,
so a sum with a missing or repeated shard is an error. Each shard has all languages in the order of the SOURCEs, some
perhaps with nothing counted, so the sum is exactly the counts file that one job would have written.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pairity.errors import PairityError, listed
from pairity.files.digests import digest_of
from pairity.text.inputs import CountsInput, Resolved, TextFile, TextInput


@dataclass(frozen=True)
class Shard:
    """Which part of a count this is, from 1 to `of`; `deal` is a digest of the files of all parts."""

    number: int
    of: int
    deal: str

    def __post_init__(self) -> None:
        if self.of < 1:
            raise PairityError(f"of is {self.of}: give the number of shards, at least 1.")
        if not 1 <= self.number <= self.of:
            raise PairityError(f"shard is {self.number}: give a number from 1 to {self.of}.")

    def __str__(self) -> str:
        return f"shard {self.number} of {self.of}"


def take_shard(found: Resolved, shard: Any) -> tuple[Resolved, Shard]:
    """What one job counts: every language, with the files of `shard`, which is (number, of)."""
    if not (isinstance(shard, tuple) and len(shard) == 2 and all(type(value) is int for value in shard)):
        raise PairityError(f"shard is {shard!r}: give its number and how many there are, as in (3, 16).")
    inputs = [files_only(part) for part in found.inputs]
    number, of = shard
    hands = deal(inputs, Shard(number, of, "").of)
    # Digest all hands, not just the files: another version may deal the same files differently.
    files = [
        sorted([part.language, str(file.path), file.size] for part in hand for file in part.files)
        for hand in hands
    ]
    one = Shard(number, of, digest_of({"deal": files}))
    mine = hands[number - 1]
    note = f"{one}: {len(files[number - 1])} of {sum(map(len, files))} files"
    return Resolved(tuple(mine), (*found.notes, note), found.left_out), one


def files_only(part: TextInput | CountsInput) -> TextInput:
    """Refuse anything but regular files: every job must find the same ones, and read them again."""
    if isinstance(part, CountsInput):
        raise PairityError(
            f"{part.origin} holds counts, but shards are made from text: merge it with the shards afterwards."
        )
    if part.lines is not None or any(file.once for file in part.files):
        raise PairityError(
            f"{part.origin} is not a file: shards need files, because every job reads them itself."
        )
    return part


def deal(inputs: Sequence[TextInput], hands: int, together: float = 1 / 4) -> list[list[TextInput]]:
    """Deal whole files, the largest first, each to the hand with the fewest bytes; their order does not matter.

    Files of one language stay together, up to the share `together` of a hand: then fewer words occur in several hands
    and have to be summed. Every hand has all languages, some of them without a file.
    """
    most = together * sum(size_of(part.files) for part in inputs) / hands
    # By the number of the input: files of records have no language.
    sorted_files = [sorted(part.files, key=lambda file: str(file.path)) for part in inputs]
    order = sorted(
        range(len(inputs)), key=lambda n: (inputs[n].language, *(str(f.path) for f in sorted_files[n]))
    )
    stacks: list[tuple[int, Sequence[TextFile]]] = []
    for number in order:
        stacks += ((number, stack) for stack in stacked(sorted_files[number], most))
    dealt: list[list[list[TextFile]]] = [[[] for _ in inputs] for _ in range(hands)]
    loads = [(0, hand) for hand in range(hands)]
    for number, stack in sorted(stacks, key=lambda one: -size_of(one[1])):
        load, hand = loads[0]
        dealt[hand][number] += stack
        heapq.heapreplace(loads, (load + size_of(stack), hand))
    return [
        [replace(part, files=tuple(files)) for part, files in zip(inputs, hand, strict=True)]
        for hand in dealt
    ]


def stacked(files: Iterable[TextFile], most: float) -> list[list[TextFile]]:
    """Files of 3, 1, 5, 1 and 1 GB in stacks of at most 4 GB: 3 + 1, 5, 1 + 1."""
    stacks: list[list[TextFile]] = []
    size = 0
    for file in files:
        size += file.size
        if size > most or not stacks:
            stacks.append([])
            size = file.size
        stacks[-1].append(file)
    return stacks


def size_of(files: Iterable[TextFile]) -> int:
    return sum(file.size for file in files)


def check_shards(parts: Iterable[tuple[str, Shard | None]]) -> None:
    """Refuse to sum shards, given with their origins, unless they are one complete deal."""
    seen: dict[int, str] = {}
    first: tuple[str, Shard] | None = None
    for origin, shard in parts:
        if shard is None:
            continue
        name, one = first = first or (origin, shard)
        if (shard.of, shard.deal) != (one.of, one.deal):
            raise PairityError(
                f"{name} ({one}) and {origin} ({shard}) do not belong together: they come from different "
                "files, a different number of shards, or another version of pairity. Merge each set "
                "separately, or count again with the same SOURCEs."
            )
        if shard.number in seen:
            raise PairityError(f"{shard} is given twice: {seen[shard.number]} and {origin}. Leave one out.")
        seen[shard.number] = origin
    if first:
        name, one = first
        if missing := [str(number) for number in range(1, one.of + 1) if number not in seen]:
            raise PairityError(
                f"{name} is {one}, but {listed(missing)} {'is' if len(missing) == 1 else 'are'} missing: "
                f"count with --shard {missing[0]} --of {one.of}, and so on, and merge all of them "
                "together."
            )
