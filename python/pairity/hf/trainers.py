"""Hugging Face's BPE trainers with our engine: change the import, keep the script.

    from pairity.hf import ParityBpeTrainer

    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    trainer = ParityBpeTrainer(num_merges=32_000, variant="window")
    trainer.train_from_iterator(tokenizer, [english, hindi], dev_iterators=[english_dev, hindi_dev])

The tokenizer's own normalizer and pre-tokenizer prepare the text, and `ParityBpeTrainer` learns the merges
that `tokenizers` 0.23 learns. What is taken in silence there and would spoil the result is an error here, or
a `PairityWarning`; docs/differences.md has the list.
"""

import json
import math
import warnings
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt
from tokenizers import AddedToken, Tokenizer, models, trainers

from pairity import _core
from pairity.bpe.alphabet import BYTE_ORDER, to_text
from pairity.errors import PairityError, PairityWarning
from pairity.progress import Progress
from pairity.threads import thread_count
from pairity.training.training import listed

Texts = Iterable[str | Iterable[str]]
Columns = tuple[Any, Any, Any]  # arrays of uint8, int64 and uint64: symbols, offsets, counts

_KNOWN_PATTERNS: Final = {pattern for pair in _core.PATTERNS.values() for pattern in pair if pattern}
_BYTES_AS_TEXT: Final = to_text(bytes(range(256)))
_BATCH = 1 << 20  # bytes of text that go to the counter at once
# What Rust's str::trim takes away; Python's strip also takes U+001C to U+001F.
_WHITE_SPACE = "".join(character for character in map(chr, range(0x3001)) if character.isspace()).translate(
    dict.fromkeys(range(0x1C, 0x20))
)


class _Trainer:
    """The settings that both trainers have."""

    _numbers: ClassVar[tuple[str, ...]] = ("min_frequency",)
    _optional_numbers: ClassVar[tuple[str, ...]] = ("limit_alphabet", "max_token_length")

    def __init__(
        self,
        *,
        min_frequency: int,
        special_tokens: Sequence[str | AddedToken] | None,
        show_progress: bool,
        limit_alphabet: int | None,
        initial_alphabet: Sequence[str] | None,
        continuing_subword_prefix: str | None,
        end_of_word_suffix: str | None,
        max_token_length: int | None,
    ) -> None:
        self.min_frequency = min_frequency
        self.special_tokens = special_tokens or []
        self.show_progress = show_progress
        self.limit_alphabet = limit_alphabet
        self.initial_alphabet = list(initial_alphabet or [])
        self.continuing_subword_prefix = continuing_subword_prefix
        self.end_of_word_suffix = end_of_word_suffix
        self.max_token_length = max_token_length

    @property
    def special_tokens(self) -> list[AddedToken]:
        return list(self._special_tokens)

    @special_tokens.setter
    def special_tokens(self, tokens: Sequence[str | AddedToken]) -> None:
        if isinstance(tokens, str):
            raise PairityError(f"special_tokens come as a list: [{tokens!r}].")
        self._special_tokens = []
        for token in tokens:
            if not isinstance(token, str | AddedToken):
                raise PairityError(
                    f"special_tokens are str or AddedToken; {token!r} is {type(token).__name__}."
                )
            added = AddedToken(token, normalized=False) if isinstance(token, str) else token
            if not added.content:
                raise PairityError("a special token is empty: give it a text such as '<|endoftext|>'.")
            added.special = True
            self._special_tokens.append(added)

    def _check(self) -> None:
        for name in self._numbers + self._optional_numbers:
            value = getattr(self, name)
            if value is None and name in self._optional_numbers:
                continue
            if not isinstance(value, int) or value < 0:
                raise PairityError(f"{name} is {value!r}: it must be a whole number, 0 or more.")
        for name in ("continuing_subword_prefix", "end_of_word_suffix"):
            if getattr(self, name) is not None:
                raise PairityError(
                    f"{name} is {getattr(self, name)!r}, which is not supported: byte-level tokens say by a "
                    "space where a word begins. Leave it out, or use the trainer of tokenizers."
                )
        for character in self.initial_alphabet:
            if len(character) != 1:
                raise PairityError(f"initial_alphabet holds {character!r}: give single characters.")

    def _alphabet(self, prepared: "_Prepared", words: Sequence["_Words"]) -> "_Alphabet":
        """Which characters get an id, and which of them the engine sees."""
        occurrences = prepared.occurrences(words)
        initial = set(self.initial_alphabet)
        if prepared.byte_level and self.limit_alphabet is None:
            initial.update(_BYTES_AS_TEXT)
        kept = sorted(initial | set(occurrences))
        if self.limit_alphabet is not None and len(kept) > self.limit_alphabet:
            if len(initial) > self.limit_alphabet:
                raise PairityError(
                    f"limit_alphabet is {self.limit_alphabet}, but initial_alphabet has {len(initial)} "
                    "characters: raise the one, or shorten the other."
                )
            kept.sort(key=lambda character: (character not in initial, -occurrences.get(character, 0)))
            kept = sorted(kept[: self.limit_alphabet])
        vocabulary = dict.fromkeys([token.content for token in self._special_tokens] + kept)
        symbols = "".join(sorted(character for character in occurrences if character in vocabulary))
        if len(symbols) > 256:
            raise PairityError(
                f"the words are made of {len(symbols)} different characters, and the engine tells 256 apart. "
                "Add ByteLevel, as in pre_tokenizers.Sequence([Whitespace(), ByteLevel(use_regex=False)]), "
                "or set limit_alphabet to 256 or less."
            )
        return _Alphabet(tuple(vocabulary), symbols)

    def _engine_settings(self) -> dict[str, Any]:
        longest = self.max_token_length
        return {
            "min_frequency": self.min_frequency,
            # There, a merge must stay below this length, but two characters may always merge.
            "max_token_length": None if longest is None else max(2, longest - 1),
            "threads": thread_count(None),
        }

    def _install(
        self, tokenizer: Tokenizer, vocabulary: Iterable[str], merges: list[tuple[str, str]]
    ) -> None:
        """Give the tokenizer its model: special tokens, alphabet and merges, in this order."""
        model = tokenizer.model
        tokens = dict.fromkeys([*vocabulary, *(left + right for left, right in merges)])
        tokenizer.model = models.BPE(
            {token: number for number, token in enumerate(tokens)},
            merges,
            dropout=model.dropout,
            unk_token=model.unk_token,
            fuse_unk=model.fuse_unk,
            byte_fallback=model.byte_fallback,
            ignore_merges=model.ignore_merges,
        )
        tokenizer.add_special_tokens(self._special_tokens)


class ParityBpeTrainer(_Trainer):
    """Parity-aware BPE with the arguments and the merges of `tokenizers.trainers.ParityBpeTrainer`.

    `variant` is "base" or "window" (with `window_size` and `alpha`); the first `global_merges` merges are
    classical BPE. With `total_symbols`, special tokens and alphabet are taken off `num_merges`.
    Under ByteLevel the alphabet holds all 256 bytes, whether the text has them or not, unless
    `limit_alphabet` is given: with `initial_alphabet=pre_tokenizers.ByteLevel.alphabet()` the ids are the
    same there and here.
    `continuing_subword_prefix` and `end_of_word_suffix` are refused.
    """

    _numbers = ("num_merges", "min_frequency", "global_merges", "window_size")

    def __init__(
        self,
        num_merges: int = 32000,
        variant: str = "base",
        min_frequency: int = 0,
        ratio: Sequence[float] | None = None,
        global_merges: int = 0,
        window_size: int = 100,
        alpha: float = 2.0,
        total_symbols: bool = False,
        special_tokens: Sequence[str | AddedToken] | None = None,
        show_progress: bool = True,
        limit_alphabet: int | None = None,
        initial_alphabet: Sequence[str] | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        max_token_length: int | None = None,
    ) -> None:
        if variant not in ("base", "window"):
            raise PairityError(f"variant is {variant!r}: choose 'base' or 'window'.")
        self._variant = variant
        self.num_merges = num_merges
        self.ratio = ratio
        self.global_merges = global_merges
        self.window_size = window_size
        self.alpha = alpha
        self.total_symbols = total_symbols
        super().__init__(
            min_frequency=min_frequency,
            special_tokens=special_tokens,
            show_progress=show_progress,
            limit_alphabet=limit_alphabet,
            initial_alphabet=initial_alphabet,
            continuing_subword_prefix=continuing_subword_prefix,
            end_of_word_suffix=end_of_word_suffix,
            max_token_length=max_token_length,
        )
        self._check()

    @property
    def variant(self) -> str:
        return self._variant

    def __repr__(self) -> str:
        return (
            f'ParityBpeTrainer(num_merges={self.num_merges}, variant="{self.variant}", '
            f"min_frequency={self.min_frequency}, global_merges={self.global_merges}, "
            f"window_size={self.window_size}, alpha={np.format_float_positional(self.alpha, trim='-')}, "
            f"total_symbols={str(self.total_symbols).lower()})"
        )

    def _check(self) -> None:
        super()._check()
        if self.variant == "window":
            if self.window_size < 1:
                raise PairityError("window_size is 0: it must be at least 1 (the paper uses 100).")
            if not (math.isfinite(self.alpha) and self.alpha > 0):
                raise PairityError(f"alpha is {self.alpha}: it must be a positive number (the paper uses 2).")

    def train_from_iterator(
        self,
        tokenizer: Tokenizer,
        train_iterators: Iterable[Texts],
        dev_iterators: Iterable[Texts] | None = None,
        ratio: Sequence[float] | None = None,
    ) -> None:
        """Train the tokenizer in place on one iterator a language, which yields texts or lists of texts.

        Languages are balanced by parallel dev text (as many texts in every language), or by `ratio`: how many
        bytes per token to aim at, relative to the others.
        """
        self._check()
        trains = list(train_iterators)
        devs = None if dev_iterators is None else list(dev_iterators)
        ratios = self._check_languages(trains, devs, self.ratio if ratio is None else ratio)
        prepared = _Prepared(tokenizer, trim=True)
        with Progress(None if self.show_progress else False) as show:
            train = prepared.count_all(trains, "train_iterators", show)
            dev = None if devs is None else prepared.count_all(devs, "dev_iterators", show)
            _check_parallel(dev or [])
            alphabet = self._alphabet(prepared, [*train, *(dev or [])])
            budget = self._budget(len(alphabet.vocabulary))
            table = prepared.table(alphabet.symbols)
            columns = [words.columns(table) for words in train]
            measures: Sequence[tuple[Columns, float, float] | None] = [None] * len(train)
            if dev:
                measures = [(words.columns(table, whole=True), 1.0, 1.0) for words in dev]
            elif ratios:
                measures = [(text, _length(text), float(r)) for text, r in zip(columns, ratios, strict=True)]
            show.stage("learning merges", unit="merges", total=budget)
            steps, _, _, exhausted = _core.train(
                list(zip(columns, measures, strict=True)),
                merges=budget,
                global_merges=self.global_merges if dev or ratios else None,
                window=self._window(len(train)),
                tick=lambda done, _: show.at(done),
                **self._engine_settings(),
            )
        merges = alphabet.merges(steps)
        warning = None
        if len(merges) < budget:
            reached = f"{len(merges):,} merges were learned and not {budget:,}"
            warning = _gave_out(reached, self.min_frequency)
        elif exhausted:
            names = listed(f"train_iterators[{language}]" for language, _ in exhausted)
            warning = (
                f"{names} ran out of pairs (first after {exhausted[0][1]:,} merges): give more train text."
            )
        if warning:
            warnings.warn(warning, PairityWarning, stacklevel=2)
        self._install(tokenizer, alphabet.vocabulary, merges)

    def _check_languages(
        self, trains: Sequence[Texts], devs: Sequence[Texts] | None, ratio: Sequence[float] | None
    ) -> list[float] | None:
        if not trains:
            raise PairityError("train_iterators is empty: give one iterator of texts for each language.")
        if devs is not None and ratio is not None:
            raise PairityError(
                "dev_iterators and ratio are both given, but only one can balance languages: leave one out."
            )
        if devs is None and ratio is None and self.global_merges < self.num_merges:
            raise PairityError(
                "nothing says how to balance the languages. Give dev_iterators (parallel text), or "
                f"ratio=[1.0] * {len(trains)} for as many bytes per token in every language."
            )
        for name, values in (("dev_iterators", devs), ("ratio", ratio)):
            if values is not None and len(values) != len(trains):
                raise PairityError(
                    f"train_iterators has {len(trains)} languages, {name} has {len(values)}: give one for "
                    "each, in the same order."
                )
        for language, value in enumerate(ratio or []):
            if not (math.isfinite(value) and value > 0):
                raise PairityError(f"ratio[{language}] is {value}: it must be a positive number.")
        return None if ratio is None else list(ratio)

    def _budget(self, symbols: int) -> int:
        if not self.total_symbols:
            return self.num_merges
        if self.num_merges < symbols:
            raise PairityError(
                f"num_merges is {self.num_merges} with total_symbols, but special tokens and alphabet "
                f"already take {symbols}: give more."
            )
        return self.num_merges - symbols

    def _window(self, languages: int) -> tuple[int, float] | None:
        """Our engine compares products, theirs quotients: an alpha amid two steps is safe from rounding."""
        if self.variant == "base":
            return None
        size, threshold = self.window_size, self.alpha / languages
        allowed = bisect_right(range(size + 1), threshold, key=lambda served: served / size) - 1
        return size, (allowed + 0.5) * languages / size


class BpeTrainer(_Trainer):
    """Classical BPE with the arguments of `tokenizers.trainers.BpeTrainer`.

    Pairs of equal count are taken in another order than there: the greater string first, as
    `ParityBpeTrainer` does in both libraries, and not the smaller ids. So merges of equal count change
    places, and a few of the rarest tokens differ.
    Under ByteLevel the alphabet holds all 256 bytes, as for `ParityBpeTrainer`.
    """

    _numbers = ("vocab_size", "min_frequency")

    def __init__(
        self,
        *,
        vocab_size: int = 30000,
        min_frequency: int = 0,
        show_progress: bool = True,
        progress_format: str = "indicatif",
        special_tokens: Sequence[str | AddedToken] | None = None,
        limit_alphabet: int | None = None,
        initial_alphabet: Sequence[str] | None = None,
        continuing_subword_prefix: str | None = None,
        end_of_word_suffix: str | None = None,
        max_token_length: int | None = None,
    ) -> None:
        self.vocab_size = vocab_size
        self.progress_format = progress_format
        self._word_count = 0
        super().__init__(
            min_frequency=min_frequency,
            special_tokens=special_tokens,
            show_progress=show_progress,
            limit_alphabet=limit_alphabet,
            initial_alphabet=initial_alphabet,
            continuing_subword_prefix=continuing_subword_prefix,
            end_of_word_suffix=end_of_word_suffix,
            max_token_length=max_token_length,
        )
        self._check()

    def __repr__(self) -> str:
        others = ("show_progress", "special_tokens", "initial_alphabet")
        settings = {name: getattr(self, name) for name in self._numbers + self._optional_numbers + others}
        return repr(
            trainers.BpeTrainer(**{name: value for name, value in settings.items() if value is not None})
        )

    def _check(self) -> None:
        super()._check()
        if self.progress_format not in ("indicatif", "silent"):
            raise PairityError(
                f"progress_format is {self.progress_format!r}: choose 'indicatif' for a bar, or 'silent'."
            )

    def get_word_count(self) -> int:
        """Distinct words of the last training."""
        return self._word_count

    def train(self, tokenizer: Tokenizer, files: Iterable[str | Path]) -> None:
        """Train the tokenizer in place on the lines of files. Line ends are part of the text, as there."""
        if isinstance(files, str | Path):
            raise PairityError(f"files is one path: give a list, [{str(files)!r}].")
        self._train(tokenizer, _lines(files), "files")

    def train_from_iterator(self, tokenizer: Tokenizer, iterator: Texts) -> None:
        """Train the tokenizer in place on texts or lists of texts."""
        self._train(tokenizer, iterator, "iterator")

    def _train(self, tokenizer: Tokenizer, texts: Texts, name: str) -> None:
        self._check()
        added = tokenizer.get_added_tokens_decoder().values()
        prepared = _Prepared(tokenizer, forbidden=[token.content for token in added])
        bar = None if self.show_progress and self.progress_format == "indicatif" else False
        with Progress(bar) as show:
            show.stage("reading", unit="texts")
            words = prepared.count(texts, name, show)
            self._word_count = len(words.counts)
            alphabet = self._alphabet(prepared, [words])
            taken = len(alphabet.vocabulary)
            if self.vocab_size < taken:
                raise PairityError(
                    f"vocab_size is {self.vocab_size}, but special tokens and alphabet already take {taken}: "
                    "give more."
                )
            show.stage("learning merges", unit="merges", total=self.vocab_size - taken)
            steps, *_ = _core.train(
                [(words.columns(prepared.table(alphabet.symbols)), None)],
                # A merge that makes a special token adds nothing to the vocabulary: have some in reserve.
                tokens=self.vocab_size - taken + len(self._special_tokens),
                tick=lambda done, _: show.at(done),
                **self._engine_settings(),
            )
        vocabulary = set(alphabet.vocabulary)
        merges = []
        for left, right in alphabet.merges(steps):
            if len(vocabulary) >= self.vocab_size:
                break
            merges.append((left, right))
            vocabulary.add(left + right)
        if len(vocabulary) < self.vocab_size:
            reached = f"the vocabulary has {len(vocabulary):,} tokens and not {self.vocab_size:,}"
            warnings.warn(_gave_out(reached, self.min_frequency), PairityWarning, stacklevel=3)
        self._install(tokenizer, alphabet.vocabulary, merges)


@dataclass(frozen=True)
class _Words:
    """Distinct words end to end as codes of characters, where each ends, how often it occurs."""

    codes: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]
    counts: npt.NDArray[np.uint64]
    texts: int
    """How many texts they were cut from."""

    def columns(self, table: npt.NDArray[np.int16], whole: bool = False) -> Columns:
        """For the engine. Unknown characters (-1) vanish; if `whole`, the words that have any do."""
        symbols = table[self.codes]
        known = symbols >= 0
        if known.all():
            return symbols.astype(np.uint8), self.offsets, self.counts
        offsets = np.concatenate(([0], np.cumsum(known)))[self.offsets]
        intact = np.diff(offsets) == np.diff(self.offsets)
        counts = np.where(intact, self.counts, np.uint64(0)) if whole else self.counts
        return symbols[known].astype(np.uint8), offsets, counts


@dataclass(frozen=True)
class _Alphabet:
    vocabulary: tuple[str, ...]
    """Special tokens, then characters by code point: the ids before the first merge."""
    symbols: str
    """What the engine's bytes stand for. Sorted, so that its ties are those of the strings."""

    def merges(self, steps: Sequence[bytes]) -> list[tuple[str, str]]:
        tokens = list(self.symbols) + [""] * (256 - len(self.symbols))
        learned: set[str] = set()
        merges = []
        for left, right in zip(np.frombuffer(steps[0], "<u4"), np.frombuffer(steps[1], "<u4"), strict=True):
            pair = tokens[left], tokens[right]
            merges.append(pair)
            if "".join(pair) not in learned:
                learned.add("".join(pair))
                tokens.append("".join(pair))
        return merges


class _Prepared:
    """A tokenizer that cuts texts into words. Where our counter knows the rule it cuts: the same, faster.

    The normalizer is always theirs. Even NFC is not the same in both libraries, since their Unicode versions
    order some rare marks in different ways.
    """

    def __init__(self, tokenizer: Tokenizer, *, trim: bool = False, forbidden: Sequence[str] = ()) -> None:
        if not isinstance(tokenizer, Tokenizer):
            raise PairityError(f"give a tokenizers.Tokenizer to train, not {type(tokenizer).__name__}.")
        if not isinstance(tokenizer.model, models.BPE):
            raise PairityError(
                f"the model of the tokenizer is {type(tokenizer.model).__name__}: give Tokenizer(BPE())."
            )
        self._normalizer = tokenizer.normalizer
        self._pre_tokenizer = tokenizer.pre_tokenizer
        self._trim = trim
        self._forbidden = forbidden
        steps = _steps(self._pre_tokenizer, "pretokenizers")
        self.byte_level = any(
            step["type"] == "ByteLevel" for step in (*steps, *_steps(self._normalizer, "normalizers"))
        )
        self._pattern, self._prefix = _known_pattern(steps)
        code_points = map(ord, _BYTES_AS_TEXT) if self._pattern else range(0x110000)
        self._code_points: npt.NDArray[np.int64] = np.fromiter(code_points, np.int64)

    def count_all(self, sources: Iterable[Texts], name: str, show: Progress) -> list[_Words]:
        show.stage(f"reading {name}", unit="texts")
        return [self.count(texts, f"{name}[{language}]", show) for language, texts in enumerate(sources)]

    def count(self, source: Texts, name: str, show: Progress) -> _Words:
        texts = self._normalized(source, name, show)
        try:
            words = self._scan(texts) if self._pattern else self._cut(texts)
        except UnicodeEncodeError:
            raise PairityError(f"{name} yields a text with a lone surrogate, which is no text.") from None
        if not words.counts.any():
            raise PairityError(f"{name} has no text: give some, or leave the language out everywhere.")
        return words

    def _normalized(self, source: Texts, name: str, show: Progress) -> Iterator[str]:
        for number, text in enumerate(_flat(source, name)):
            if number % 1000 == 0:
                show.at(number, name)
            normalized = text if self._normalizer is None else self._normalizer.normalize_str(text)
            for token in self._forbidden:
                if token in text or token in normalized:
                    raise PairityError(
                        f"{name} yields {token!r}, a token that the tokenizer has already and would cut out "
                        "of the text. Train a new Tokenizer, and give the token as one of special_tokens."
                    )
            yield normalized

    def _scan(self, texts: Iterable[str]) -> _Words:
        counter = _core.Counter(self._pattern)
        for batch in _batches(texts, self._prefix):
            ends: Any = np.cumsum([0, *map(len, batch)], dtype=np.int64)
            counter.add_texts(b"".join(batch), ends)
        data, offsets, counts, totals = counter.finish()
        return _Words(
            np.frombuffer(data, np.uint8),
            np.frombuffer(offsets, np.int64),
            np.frombuffer(counts, np.uint64),
            totals["lines"],
        )

    def _cut(self, texts: Iterable[str]) -> _Words:
        words: Counter[str] = Counter()
        number = 0
        for text in texts:
            number += 1
            if self._pre_tokenizer is None:
                words[text.strip(_WHITE_SPACE) if self._trim else text] += 1
            else:
                words.update(word for word, _ in self._pre_tokenizer.pre_tokenize_str(text))
        words.pop("", None)
        codes = np.frombuffer("".join(words).encode("utf-32-le"), "<u4")
        ends = np.cumsum([0, *map(len, words)], dtype=np.int64)
        return _Words(codes, ends, np.fromiter(words.values(), np.uint64), number)

    def occurrences(self, words: Iterable[_Words]) -> dict[str, int]:
        """Character -> how often it occurs."""
        total = np.zeros(len(self._code_points))
        for part in words:
            weights = np.repeat(part.counts, np.diff(part.offsets))
            found = np.bincount(part.codes, weights)
            total[: len(found)] += found
        return {chr(self._code_points[code]): int(total[code]) for code in np.flatnonzero(total)}

    def table(self, symbols: str) -> npt.NDArray[np.int16]:
        """Code of a character -> the engine's byte for it, or -1."""
        table = np.full(0x110000, -1, np.int16)
        table[[ord(symbol) for symbol in symbols]] = list(BYTE_ORDER[: len(symbols)])
        return table[self._code_points]


def _steps(component: Any, inside: str) -> list[Mapping[str, Any]]:
    """What a normalizer or pre-tokenizer is made of; nothing for one written in Python."""
    if component is None:
        return []
    try:
        state = json.loads(component.__getstate__())
    except Exception:  # tokenizers raises plain exceptions
        return []
    steps: list[Mapping[str, Any]] = state.get(inside, [state])
    return steps


def _known_pattern(steps: Sequence[Mapping[str, Any]]) -> tuple[str | None, bool]:
    """The pattern that says all that the pre-tokenizer does, if there is one; and if a space goes first."""
    match steps:
        case [{"type": "ByteLevel", "use_regex": True, "add_prefix_space": bool(prefix)}]:
            return _core.PATTERNS["gpt2"][0], prefix
        case [
            {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
            {"type": "ByteLevel", "use_regex": False, "add_prefix_space": False},
        ] if pattern in _KNOWN_PATTERNS:
            return pattern, False
    return None, False


def _batches(texts: Iterable[str], prefix: bool) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for text in texts:
        batch.append((f" {text}" if prefix and text and text[0] != " " else text).encode())
        size += len(batch[-1])
        if size >= _BATCH:
            yield batch
            batch, size = [], 0
    yield batch


def _flat(source: Texts, name: str) -> Iterator[str]:
    if isinstance(source, str | bytes):
        raise PairityError(f"{name} is a single text: give an iterator of texts, or put it in a list.")
    for item in source:
        if isinstance(item, str):
            yield item
            continue
        if isinstance(item, bytes) or not isinstance(item, Iterable):
            raise PairityError(f"{name} yields {type(item).__name__}: texts are str, or lists of str.")
        for text in item:
            if not isinstance(text, str):
                raise PairityError(f"{name} yields a list with {type(text).__name__} in it: texts are str.")
            yield text


def _lines(files: Iterable[str | Path]) -> Iterator[str]:
    for path in files:
        try:
            with Path(path).open(encoding="utf-8", newline="\n") as file:
                yield from file
        except UnicodeDecodeError as error:
            raise PairityError(f"{path} is not UTF-8 ({error.reason}): convert it first.") from None
        except OSError as error:
            raise PairityError(f"cannot read {path}: {error.strerror}.") from None


def _length(text: Columns) -> float:
    """Tokens before the first merge."""
    _, offsets, counts = text
    return float(np.diff(offsets).astype(np.uint64) @ counts)


def _check_parallel(dev: Sequence[_Words]) -> None:
    texts = [words.texts for words in dev]
    if len(set(texts)) > 1:
        [(usual, _)] = Counter(texts).most_common(1)
        odd = [f"dev_iterators[{i}] has {number}" for i, number in enumerate(texts) if number != usual]
        raise PairityError(
            f"dev text is not parallel: most languages have {usual} texts, but {listed(odd)}. "
            "Align them text by text, or give ratio instead."
        )


def _gave_out(reached: str, min_frequency: int) -> str:
    return (
        f"the data gave out: no pair occurs {max(1, min_frequency)} times or more any longer, so {reached}. "
        "Give more text, or lower min_frequency."
    )
