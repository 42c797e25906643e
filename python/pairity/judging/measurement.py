"""Measure one tokenizer on all languages: encode the text, keep what the metrics need, sum it over resampled lines."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pairity.errors import PairityError, raise_unless_its_own
from pairity.judging.arrays import Floats, Ids, Integers, Mask
from pairity.judging.metrics.bootstrap import Bootstrap
from pairity.judging.metrics.compression import cost
from pairity.judging.metrics.corrected import Noisy, noisy
from pairity.judging.metrics.integrity import Utf8Integrity, utf8_integrity
from pairity.judging.metrics.lines import comes_back
from pairity.judging.metrics.sums import COUNTED, Sums, line_table, ratio
from pairity.judging.metrics.units import Units
from pairity.judging.protocol import TokenizerLike, steered_by
from pairity.judging.scores import LEAK


def text_digest(lines: Iterable[str]) -> str:
    r"""SHA-256 of the lines joined by "\n", in UTF-8, not normalised."""
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@dataclass
class Encoded:
    """What is kept of one language under one tokenizer. `lengths` is -1 for lines on which the tokenizer failed."""

    lengths: Integers
    types: Ids
    frequencies: Integers
    integrity: Utf8Integrity | None = None
    came_back: Mask | None = None
    lost: Mask | None = None
    pretokens: Integers | None = None
    failure: str = ""

    @property
    def failed(self) -> Mask:
        return self.lengths < 0


def encode(tokenizer: TokenizerLike, lines: list[str], families: set[str]) -> Encoded:
    """Encode the lines once, and keep what the `families` of metrics need."""
    failure = ""
    try:
        ids, offsets = tokenizer.encode_lines(lines)
        lengths = np.diff(offsets)
        if len(lengths) != len(lines):
            raise PairityError(f"{tokenizer.name} gave {len(lengths)} results for {len(lines)} lines.")
    except BaseException as error:
        raise_unless_its_own(error)
        ids, offsets, lengths, failure = encode_one_by_one(tokenizer, lines)
    types, frequencies = np.unique(ids, return_counts=True)
    encoded = Encoded(lengths, types, frequencies.astype(np.int64), failure=failure)
    if "integrity" in families:
        encoded.integrity = utf8_integrity(ids, offsets, tokenizer.token_bytes)
    if "round_trip" in families:
        came_back, lost = comes_back(lines, ids, offsets, forgiving(tokenizer))
        encoded.came_back, encoded.lost = came_back & ~encoded.failed, lost & ~encoded.failed
    if "floor" in families and hasattr(tokenizer, "pretoken_counts"):
        encoded.pretokens = tokenizer.pretoken_counts(lines)
    return encoded


def encode_one_by_one(tokenizer: TokenizerLike, lines: Sequence[str]) -> tuple[Ids, Integers, Integers, str]:
    """Used if encoding all lines at once failed. A line that fails has length -1 and no ids; also returns the error
    about the first."""
    pieces: list[Ids] = []
    lengths = np.full(len(lines), -1, dtype=np.int64)
    first = ""
    for number, line in enumerate(lines):
        try:
            ids, _ = tokenizer.encode_lines([line])
        except BaseException as error:
            raise_unless_its_own(error)
            first = first or f"line {number + 1}: {type(error).__name__}: {error}"
            continue
        pieces.append(np.asarray(ids, dtype=np.uint32))
        lengths[number] = len(ids)
    failed = int((lengths < 0).sum())
    offsets = np.concatenate([[0], np.cumsum(np.maximum(lengths, 0))])
    whole = np.concatenate(pieces) if pieces else np.zeros(0, dtype=np.uint32)
    said = f"failed on {failed} of {len(lines)} lines (the first is {first})" if failed else ""
    return whole, offsets, lengths, said


def forgiving(tokenizer: TokenizerLike) -> Callable[[Sequence[int]], str | bytes]:
    """A decode that, on failure, returns bytes that equal no text: the line then counts as lost."""

    def decode(ids: Sequence[int]) -> str | bytes:
        try:
            return tokenizer.decode(ids)
        except BaseException as error:
            raise_unless_its_own(error)
            return b"\xff"

    return decode


def key_of(keep: Mapping[str, Mask]) -> bytes:
    return b"|".join(code.encode() + np.packbits(mask).tobytes() for code, mask in keep.items())


class Judged:
    """One tokenizer on all languages: which lines and languages count, and notes about it.

    If the tokenizer fails on most lines of a language, that language is left out. If it fails on a few lines, these are
    left out in all languages, so the text stays parallel.
    """

    def __init__(
        self,
        name: str,
        tokenizer: TokenizerLike,
        encoded: Mapping[str, Encoded],
        texts: Mapping[str, list[str]],
        units: Mapping[str, Units],
        *,
        parallel: bool,
    ) -> None:
        self.name, self.tokenizer, self.encoded = name, tokenizer, encoded
        self.units, self.parallel = units, parallel
        self.all_languages = list(texts)
        self.languages = [code for code in texts if 2 * encoded[code].failed.sum() <= len(texts[code])]
        self.failures = {code: encoded[code].failure for code in texts if encoded[code].failure}
        self.losses = {
            code: int(lost.sum()) for code in texts if (lost := encoded[code].lost) is not None and lost.any()
        }
        # Compare the text, not its name: the same text under another code is a leak too.
        self.leaks = [code for code in texts if steered_by(tokenizer, texts[code])]
        self.keep: dict[str, Mask] = {code: ~encoded[code].failed for code in self.languages}
        if parallel and self.languages:
            common: Mask = np.logical_and.reduce(list(self.keep.values()))
            self.keep = dict.fromkeys(self.languages, common)
        self._sums: dict[bytes, Sums] = {}
        self._noisy: dict[bytes, Noisy] = {}

    def lines(self, code: str) -> int:
        """The number of lines of a language that count."""
        return int(self.keep[code].sum()) if code in self.keep else 0

    def sums(self, bootstrap: Bootstrap, keep: Mapping[str, Mask] | None = None) -> Sums:
        """Resampled sums over the kept lines: the tokenizer's own, or those it shares with another."""
        keep = self.keep if keep is None else keep
        key = key_of(keep)
        if key not in self._sums:
            self._sums[key] = self._sum(keep, bootstrap)
        return self._sums[key]

    def _sum(self, keep: Mapping[str, Mask], bootstrap: Bootstrap) -> Sums:
        per_language = [np.zeros((1 + bootstrap.resamples, len(COUNTED)))] if not keep else []
        for code, mask in keep.items():
            encoded = self.encoded[code]
            table = line_table(self.units[code], encoded.lengths, mask, encoded.pretokens)
            # Aligned lines are resampled together in all languages; others in each language separately.
            stream = 0 if self.parallel else 1 + self.all_languages.index(code)
            per_language.append(bootstrap.sums(table, stream))
        together = np.stack(per_language, axis=1)[:, : len(keep)]
        return Sums(list(keep), *(together[:, :, column] for column in range(len(COUNTED))))

    def noisy(self, bootstrap: Bootstrap, keep: Mapping[str, Mask] | None = None) -> Noisy:
        """The costs of the languages on these lines with their noise, for metrics that compare languages."""
        keep = self.keep if keep is None else keep
        key = key_of(keep)
        if key not in self._noisy:
            costs = cost(self.sums(bootstrap, keep))
            lines = (lambda: self.deviations(keep)) if self.parallel else None
            self._noisy[key] = noisy(costs, lines, bootstrap.seed)
        return self._noisy[key]

    def noisy_group(self, bootstrap: Bootstrap, codes: Sequence[str]) -> Noisy:
        """The same for some of the languages."""
        keep = {code: self.keep[code] for code in codes}
        return noisy(cost(self.sums(bootstrap).of(codes)), lambda: self.deviations(keep), bootstrap.seed)

    def noisy_against(self, other: Judged, bootstrap: Bootstrap, keep: Mapping[str, Mask]) -> Noisy:
        """Costs as multiples of those under another tokenizer."""
        costs, others = (cost(one.sums(bootstrap, keep)) for one in (self, other))

        def lines() -> Iterator[Floats]:
            for ours, theirs in zip(self.deviations(keep), other.deviations(keep), strict=True):
                yield ours - theirs

        return noisy(ratio(costs, others), lines if self.parallel else None, bootstrap.seed)

    def deviations(self, keep: Mapping[str, Mask]) -> Iterator[Floats]:
        """For each language: the deviation of each line from the cost, relative to the cost."""
        for code, mask in keep.items():
            tokens = self.encoded[code].lengths[mask]
            yield tokens / tokens.mean() - 1.0

    def shared_lines(self, other: Judged) -> dict[str, Mask]:
        """The languages and lines that both tokenizers could encode."""
        both = [code for code in self.languages if code in other.languages]
        return {code: self.keep[code] & other.keep[code] for code in both}

    def note(self, code: str | None, extra: str = "") -> str | None:
        """The note of a row: `extra` first, then leaks, failures and lost text."""
        parts = [extra] if extra else []
        if code is None:
            total = len(self.all_languages)
            parts += [f"{LEAK} ({len(self.leaks)} of {total} languages)"] if self.leaks else []
            lost = [other for other in self.all_languages if other not in self.languages]
            parts += [f"without {', '.join(lost)}, where it failed"] if lost else []
            partly = [other for other in self.failures if other not in lost]
            parts += [f"without the lines it failed on in {', '.join(partly)}"] if partly else []
        else:
            parts += [LEAK] if code in self.leaks else []
            parts += [self.failures[code]] if code in self.failures else []
        return "; ".join(filter(None, [*parts, self.loss(code)])) or None

    def loss(self, code: str | None = None) -> str:
        """ "loses text in 12 of 1,012 lines", in a language or in all of them; empty if it loses none."""
        codes = self.all_languages if code is None else [code]
        lost = sum(self.losses.get(one, 0) for one in codes)
        lines = sum(len(self.encoded[one].lengths) for one in codes)
        return f"loses text in {lost:,} of {lines:,} lines" if lost else ""
