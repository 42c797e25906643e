"""The two trainers, with the arguments and the results of those of `tokenizers`.

    from pairity.hf import ParityBpeTrainer

    tokenizer = Tokenizer(BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel()
    trainer = ParityBpeTrainer(num_merges=32_000, variant="window")
    trainer.train_from_iterator(tokenizer, [english, hindi], dev_iterators=[english_dev, hindi_dev])

The tokenizer's own normalizer and pre-tokenizer prepare the text, and `ParityBpeTrainer` learns the merges
that `tokenizers` 0.23 learns. What they silently accept although it spoils the result is an error here, or
a `PairityWarning`; docs/differences.md has the list.
"""

import warnings
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from tokenizers import AddedToken, Tokenizer, models, trainers

from pairity.errors import PairityError, PairityWarning, listed
from pairity.hf.words import Alphabet, TextStream, WordCodes, WordCounter, length, lines_of, make_alphabet
from pairity.progress import Progress
from pairity.threads import thread_count
from pairity.training.comparing import is_positive
from pairity.training.engine import EngineMeasure, learn
from pairity.training.policy import check_alpha, check_window
from pairity.training.record import stopped_early


class Trainer:
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
            raise PairityError(f"special_tokens must be a list: [{tokens!r}].")
        self._special_tokens = []
        for token in tokens:
            if not isinstance(token, str | AddedToken):
                raise PairityError(
                    f"special_tokens must be str or AddedToken, but {token!r} is {type(token).__name__}."
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
                    f"{name} is {getattr(self, name)!r}, which is not supported: in byte-level tokens a "
                    "space marks the start of a word. Leave it out, or use the trainer from tokenizers."
                )
        for character in self.initial_alphabet:
            if len(character) != 1:
                raise PairityError(f"initial_alphabet contains {character!r}: give single characters.")

    def _alphabet(self, counter: WordCounter, words: Sequence[WordCodes]) -> Alphabet:
        special = [token.content for token in self._special_tokens]
        return make_alphabet(
            counter, words, special=special, initial=self.initial_alphabet, limit=self.limit_alphabet
        )

    def _engine_settings(self) -> dict[str, Any]:
        longest = self.max_token_length
        return {
            "min_frequency": self.min_frequency,
            # In their trainer, a merge must stay below this length, but two characters may always merge.
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


class ParityBpeTrainer(Trainer):
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
            check_window("window_size", self.window_size)
            check_alpha(self.alpha)

    def train_from_iterator(
        self,
        tokenizer: Tokenizer,
        train_iterators: Iterable[TextStream],
        dev_iterators: Iterable[TextStream] | None = None,
        ratio: Sequence[float] | None = None,
    ) -> None:
        """Train the tokenizer in place on one iterator per language, which yields texts or lists of texts.

        Languages are balanced by parallel dev text (the same number of texts in every language), or by
        `ratio`: how many bytes per token to aim at, relative to the others.
        """
        self._check()
        trains = list(train_iterators)
        devs = None if dev_iterators is None else list(dev_iterators)
        ratios = self._check_languages(trains, devs, self.ratio if ratio is None else ratio)
        counter = WordCounter(tokenizer, trim=True)
        with Progress(None if self.show_progress else False) as show:
            train = counter.count_all(trains, "train_iterators", show)
            dev = None if devs is None else counter.count_parallel(devs, "dev_iterators", show)
            alphabet = self._alphabet(counter, [*train, *(dev or [])])
            budget = self._budget(len(alphabet.vocabulary))
            table = counter.table(alphabet.symbols)
            columns = [words.columns(table) for words in train]
            measures: Sequence[EngineMeasure | None] = [None] * len(train)
            if dev:
                measures = [(words.columns(table, whole=True), 1.0, 1.0) for words in dev]
            elif ratios:
                measures = [(text, length(text), float(r)) for text, r in zip(columns, ratios, strict=True)]
            show.stage("learning merges", unit="merges", total=budget)
            learned = learn(
                list(zip(columns, measures, strict=True)),
                merges=budget,
                global_merges=self.global_merges if dev or ratios else None,
                window=self._window(len(train)),
                tick=lambda done, _: show.at(done),
                **self._engine_settings(),
            )
        merges = alphabet.merges(learned.steps)
        if len(merges) < budget:
            result = f"{len(merges):,} merges were learned instead of {budget:,}"
            warnings.warn(stopped_early(result, self.min_frequency), PairityWarning, stacklevel=2)
        elif learned.exhausted:
            names = listed(f"train_iterators[{language}]" for language, _ in learned.exhausted)
            first = learned.exhausted[0][1]
            warning = f"{names} ran out of pairs (the first after {first:,} merges): give more training text."
            warnings.warn(warning, PairityWarning, stacklevel=2)
        self._install(tokenizer, alphabet.vocabulary, merges)

    def _check_languages(
        self, trains: Sequence[TextStream], devs: Sequence[TextStream] | None, ratio: Sequence[float] | None
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
                f"ratio=[1.0] * {len(trains)} to aim at the same bytes per token in every language."
            )
        for name, values in (("dev_iterators", devs), ("ratio", ratio)):
            if values is not None and len(values) != len(trains):
                raise PairityError(
                    f"train_iterators has {len(trains)} languages, but {name} has {len(values)}: give one for "
                    "each, in the same order."
                )
        for language, value in enumerate(ratio or []):
            if not is_positive(value):
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
        """Our engine compares products, theirs quotients. An alpha halfway between two steps suits both."""
        if self.variant == "base":
            return None
        size, threshold = self.window_size, self.alpha / languages
        allowed = bisect_right(range(size + 1), threshold, key=lambda served: served / size) - 1
        return size, (allowed + 0.5) * languages / size


class BpeTrainer(Trainer):
    """Classical BPE with the arguments of `tokenizers.trainers.BpeTrainer`.

    Pairs of equal count are taken in another order than there: the greater string first, as
    `ParityBpeTrainer` does in both libraries, not the smaller ids first. So merges of equal count change
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
        self._train(tokenizer, lines_of(files), "files")

    def train_from_iterator(self, tokenizer: Tokenizer, iterator: TextStream) -> None:
        """Train the tokenizer in place on texts or lists of texts."""
        self._train(tokenizer, iterator, "iterator")

    def _train(self, tokenizer: Tokenizer, texts: TextStream, name: str) -> None:
        self._check()
        added = tokenizer.get_added_tokens_decoder().values()
        counter = WordCounter(tokenizer, forbidden=[token.content for token in added])
        bar = None if self.show_progress and self.progress_format == "indicatif" else False
        with Progress(bar) as show:
            show.stage("reading", unit="texts")
            words = counter.count(texts, name, show)
            self._word_count = len(words.counts)
            alphabet = self._alphabet(counter, [words])
            taken = len(alphabet.vocabulary)
            if self.vocab_size < taken:
                raise PairityError(
                    f"vocab_size is {self.vocab_size}, but special tokens and alphabet already take {taken}: "
                    "give more."
                )
            show.stage("learning merges", unit="merges", total=self.vocab_size - taken)
            learned = learn(
                [(words.columns(counter.table(alphabet.symbols)), None)],
                # A merge that spells a special token adds nothing to the vocabulary, so learn that many more.
                tokens=self.vocab_size - taken + len(self._special_tokens),
                tick=lambda done, _: show.at(done),
                **self._engine_settings(),
            )
        vocabulary = set(alphabet.vocabulary)
        merges = []
        for left, right in alphabet.merges(learned.steps):
            if len(vocabulary) >= self.vocab_size:
                break
            merges.append((left, right))
            vocabulary.add(left + right)
        if len(vocabulary) < self.vocab_size:
            result = f"the vocabulary has {len(vocabulary):,} tokens instead of {self.vocab_size:,}"
            warnings.warn(stopped_early(result, self.min_frequency), PairityWarning, stacklevel=3)
        self._install(tokenizer, alphabet.vocabulary, merges)
