"""The one call into the engine, which is written in Rust: buffers in, arrays out.

    learn([(columns(train["eng_Latn"]), None)], merges=2)
    -> Learned(steps=Steps(left=[63, 71], right=[72, 256], served=[-1, -1], count=[83, 41]), ...)

Ids 0 to 255 are the bytes in the order of `alphabet.BYTE_ORDER`; learned tokens start at 256.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from pairity import _core
from pairity.counts.values import LanguageCounts

Columns = tuple[Any, Any, Any]
"""Pre-tokens end to end (uint8), the n + 1 offsets between them (int64), how often each occurs (uint64)."""

EngineMeasure = tuple[Columns, float, float]
"""The text that a language is measured by, its units and its ratio."""

Exhausted = Sequence[tuple[int, int]]
"""(language, number of merges when it ran out of pairs)."""


@dataclass(frozen=True)
class Steps:
    """The merges: for each, the two ids, the language served (-1: none), and the count of the pair there."""

    left: npt.NDArray[np.uint32]
    right: npt.NDArray[np.uint32]
    served: npt.NDArray[np.int32]
    count: npt.NDArray[np.uint64]

    @classmethod
    def of(cls, columns: Sequence[Any]) -> "Steps":
        """From the four buffers that the engine returns."""
        kinds = zip(columns, ("<u4", "<u4", "<i4", "<u8"), strict=True)
        return cls(*(np.frombuffer(column, kind) for column, kind in kinds))

    @classmethod
    def known(cls, pairs: npt.NDArray[np.uint32]) -> "Steps":
        """Merges of an earlier run, as rows of (left, right). They serve no language, and their counts are unknown."""
        left, right = (np.ascontiguousarray(pairs[:, side]) for side in (0, 1))
        return cls(left, right, np.full(len(pairs), -1, np.int32), np.zeros(len(pairs), np.uint64))

    def __len__(self) -> int:
        return len(self.left)

    def __add__(self, further: "Steps") -> "Steps":
        """These steps, then `further`."""
        both = zip(self.columns, further.columns, strict=True)
        return Steps(*(np.concatenate(columns) for columns in both))

    @property
    def columns(self) -> tuple[Any, Any, Any, Any]:
        return self.left, self.right, self.served, self.count

    @property
    def pairs(self) -> npt.NDArray[np.uint32]:
        """One row (left, right) per merge."""
        return np.stack([self.left, self.right], axis=1)


@dataclass(frozen=True)
class Learned:
    """What a run learned. `token_counts` has one row for each of `sampled` and one column per language."""

    steps: Steps
    exhausted: Exhausted
    sampled: npt.NDArray[np.int64]
    """The numbers of merges after which tokens were counted."""
    token_counts: npt.NDArray[np.uint64]
    """The tokens in the measured text of each language at that time."""

    def after(self, steps: Steps) -> "Learned":
        """The same with `steps` put before what was learned; costs during those are unknown."""
        number = len(steps)
        exhausted = [(language, number + step) for language, step in self.exhausted]
        return replace(self, steps=steps + self.steps, exhausted=exhausted, sampled=number + self.sampled)


def learn(
    languages: Sequence[tuple[Columns, EngineMeasure | None]],
    *,
    merges: int | None = None,
    tokens: int | None = None,
    global_merges: int | None = None,
    window: tuple[int, float] | None = None,
    joint: float | None = None,
    beta: float | None = None,
    min_frequency: int = 0,
    max_token_length: int | None = None,
    whole_characters: bool = False,
    threads: int = 1,
    start: tuple[_core.Encoder, Any] | None = None,
    known: Steps | None = None,
    known_exhausted: Exhausted = (),
    tick: Callable[[int, int | None], object] | None = None,
    checkpoint: Callable[[Steps, Exhausted], object] | None = None,
    checkpoint_seconds: float = 1.0,
) -> Learned:
    """Learn until there are `merges` merges, or `tokens` tokens in addition to the bytes, including the `known` ones.

    `start` is (encoder, ids): pre-tokens start as the encoder cuts them, not as bytes, and only tokens that it lacks
    are learned. The ids are those of its tokens in the order of their numbers here, where the first 256 are the bytes.
    `global_merges`: how many merges to take from all languages together (None: all). `tick(done, language)` is called
    from time to time, `checkpoint(steps, exhausted)` every `checkpoint_seconds`, both on this thread.
    """
    columns, sampled, counted, exhausted = _core.train(
        list(languages),
        merges=merges,
        tokens=tokens,
        global_merges=global_merges,
        window=window,
        joint=joint,
        beta=beta,
        min_frequency=min_frequency,
        max_token_length=max_token_length,
        whole_characters=whole_characters,
        threads=threads,
        start=start,
        known=None if known is None else known.columns,
        known_exhausted=known_exhausted,
        tick=tick,
        checkpoint=None
        if checkpoint is None
        else lambda columns, exhausted: checkpoint(Steps.of(columns), exhausted),
        checkpoint_seconds=checkpoint_seconds,
    )
    return Learned(
        steps=Steps.of(columns),
        exhausted=exhausted,
        sampled=np.frombuffer(sampled, "<u8").astype(np.int64),
        token_counts=np.frombuffer(counted, "<u8").reshape(-1, len(languages)),
    )


def columns(counts: LanguageCounts) -> Columns:
    """Counts in the layout that the engine reads, without copying."""
    data, offsets = counts.buffers()
    return np.frombuffer(data, np.uint8), np.frombuffer(offsets, np.int64), counts.counts
