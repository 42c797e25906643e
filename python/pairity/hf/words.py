"""From texts to words, and from words to the input of the engine.

["to be"]  ->  {"to": 1, "Ġbe": 1}, cut by the tokenizer's own pre-tokenizer
           ->  every character as one of at most 256 symbols, the engine's bytes
"""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt
from tokenizers import Tokenizer, models

from pairity import _core
from pairity.bpe.alphabet import BYTE_ORDER, to_text
from pairity.bpe.merges import join_merges
from pairity.counts.values import weighted
from pairity.errors import PairityError
from pairity.progress import Progress
from pairity.text.parallel import check_parallel
from pairity.text.pretokenizers import PRESETS, is_preset
from pairity.training.engine import Columns, Steps

TextStream = Iterable[str | Iterable[str]]

BYTES_AS_TEXT: Final = to_text(bytes(range(256)))
BATCH = 1 << 20  # bytes of text that go to the counter at once
# What Rust's str::trim removes; Python's strip also removes U+001C to U+001F.
WHITE_SPACE = "".join(character for character in map(chr, range(0x3001)) if character.isspace()).translate(
    dict.fromkeys(range(0x1C, 0x20))
)


@dataclass(frozen=True)
class WordCodes:
    """Distinct words end to end as codes of characters, where each ends, and how often it occurs."""

    codes: npt.NDArray[Any]
    offsets: npt.NDArray[np.int64]
    counts: npt.NDArray[np.uint64]
    texts: int
    """How many texts they were cut from."""

    def columns(self, table: npt.NDArray[np.int16], whole: bool = False) -> Columns:
        """For the engine. Drops characters without a symbol (-1) or, if `whole`, all words that contain one."""
        symbols = table[self.codes]
        known = symbols >= 0
        if known.all():
            return symbols.astype(np.uint8), self.offsets, self.counts
        offsets = np.concatenate(([0], np.cumsum(known)))[self.offsets]
        intact = np.diff(offsets) == np.diff(self.offsets)
        counts = np.where(intact, self.counts, np.uint64(0)) if whole else self.counts
        return symbols[known].astype(np.uint8), offsets, counts


@dataclass(frozen=True)
class Alphabet:
    vocabulary: tuple[str, ...]
    """Special tokens, then characters by code point: the ids before the first merge."""
    symbols: str
    """What the engine's bytes stand for, sorted so that it breaks ties as the strings would."""

    def merges(self, steps: Steps) -> list[tuple[str, str]]:
        """The engine's pairs of ids as pairs of strings."""
        pairs = steps.pairs.tolist()
        tokens, _ = join_merges(pairs, list(self.symbols) + [""] * (256 - len(self.symbols)))
        return [(tokens[left], tokens[right]) for left, right in pairs]


def make_alphabet(
    counter: "WordCounter",
    words: Sequence[WordCodes],
    *,
    special: Sequence[str],
    initial: Iterable[str],
    limit: int | None,
) -> Alphabet:
    """Which characters get an id, and which of them the engine sees."""
    occurrences = counter.occurrences(words)
    always = set(initial)
    if counter.byte_level and limit is None:
        always.update(BYTES_AS_TEXT)
    kept = sorted(always | set(occurrences))
    if limit is not None and len(kept) > limit:
        if len(always) > limit:
            raise PairityError(
                f"limit_alphabet is {limit}, but initial_alphabet has {len(always)} "
                "characters: raise the limit, or shorten the alphabet."
            )
        kept.sort(key=lambda character: (character not in always, -occurrences.get(character, 0)))
        kept = sorted(kept[:limit])
    vocabulary = dict.fromkeys([*special, *kept])
    symbols = "".join(sorted(character for character in occurrences if character in vocabulary))
    if len(symbols) > 256:
        raise PairityError(
            f"the words contain {len(symbols)} different characters, but the engine supports only 256. "
            "Add ByteLevel, as in pre_tokenizers.Sequence([Whitespace(), ByteLevel(use_regex=False)]), "
            "or set limit_alphabet to 256 or less."
        )
    return Alphabet(tuple(vocabulary), symbols)


class WordCounter:
    """Cuts texts into words as the tokenizer does; with our counter if it knows the rule, which is faster.

    The normalizer is always theirs: even NFC differs between the libraries, since their Unicode versions order some
    rare marks differently.
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
        steps = parts_of(self._pre_tokenizer, "pretokenizers")
        self.byte_level = any(
            step["type"] == "ByteLevel" for step in (*steps, *parts_of(self._normalizer, "normalizers"))
        )
        self._pattern, self._prefix = known_pattern(steps)
        code_points = map(ord, BYTES_AS_TEXT) if self._pattern else range(0x110000)
        self._code_points: npt.NDArray[np.int64] = np.fromiter(code_points, np.int64)

    def count_all(self, sources: Iterable[TextStream], name: str, show: Progress) -> list[WordCodes]:
        show.stage(f"reading {name}", unit="texts")
        return [self.count(texts, f"{name}[{language}]", show) for language, texts in enumerate(sources)]

    def count_parallel(self, sources: Iterable[TextStream], name: str, show: Progress) -> list[WordCodes]:
        counted = self.count_all(sources, name, show)
        check_parallel(
            {f"{name}[{language}]": words.texts for language, words in enumerate(counted)},
            what="dev text",
            unit="texts",
            fix="Align them text by text, or give ratio instead.",
        )
        return counted

    def count(self, source: TextStream, name: str, show: Progress) -> WordCodes:
        texts = self._normalized(source, name, show)
        try:
            words = self._scan(texts) if self._pattern else self._cut(texts)
        except UnicodeEncodeError:
            raise PairityError(f"{name} yields a text with a lone surrogate, which is not text.") from None
        if not words.counts.any():
            raise PairityError(f"{name} has no text: give some, or leave the language out everywhere.")
        return words

    def _normalized(self, source: TextStream, name: str, show: Progress) -> Iterator[str]:
        for number, text in enumerate(flat(source, name)):
            if number % 1000 == 0:
                show.at(number, name)
            normalized = text if self._normalizer is None else self._normalizer.normalize_str(text)
            for token in self._forbidden:
                if token in text or token in normalized:
                    raise PairityError(
                        f"{name} yields {token!r}, a token that the tokenizer already has and would cut out "
                        "of the text. Train a new Tokenizer, and give the token as one of special_tokens."
                    )
            yield normalized

    def _scan(self, texts: Iterable[str]) -> WordCodes:
        counter = _core.Counter(self._pattern)
        for batch in batches(texts, self._prefix):
            ends: Any = np.cumsum([0, *map(len, batch)], dtype=np.int64)
            counter.add_texts(b"".join(batch), ends)
        data, offsets, counts, totals = counter.finish()
        return WordCodes(
            np.frombuffer(data, np.uint8),
            np.frombuffer(offsets, np.int64),
            np.frombuffer(counts, np.uint64),
            totals["lines"],
        )

    def _cut(self, texts: Iterable[str]) -> WordCodes:
        words: Counter[str] = Counter()
        number = 0
        for text in texts:
            number += 1
            if self._pre_tokenizer is None:
                words[text.strip(WHITE_SPACE) if self._trim else text] += 1
            else:
                words.update(word for word, _ in self._pre_tokenizer.pre_tokenize_str(text))
        words.pop("", None)
        codes = np.frombuffer("".join(words).encode("utf-32-le"), "<u4")
        ends = np.cumsum([0, *map(len, words)], dtype=np.int64)
        return WordCodes(codes, ends, np.fromiter(words.values(), np.uint64), number)

    def occurrences(self, words: Iterable[WordCodes]) -> dict[str, int]:
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


def parts_of(component: Any, inside: str) -> list[Mapping[str, Any]]:
    """The steps of a normalizer or pre-tokenizer; none if it is written in Python."""
    if component is None:
        return []
    try:
        state = json.loads(component.__getstate__())
    except Exception:  # tokenizers raises plain exceptions
        return []
    steps: list[Mapping[str, Any]] = state.get(inside, [state])
    return steps


def known_pattern(steps: Sequence[Mapping[str, Any]]) -> tuple[str | None, bool]:
    """The pattern that is equivalent to the pre-tokenizer, if there is one; and whether to add a space in front."""
    match steps:
        case [{"type": "ByteLevel", "use_regex": True, "add_prefix_space": bool(prefix)}]:
            return PRESETS["gpt2"], prefix
        case [
            {"type": "Split", "pattern": {"Regex": pattern}, "behavior": "Isolated", "invert": False},
            {"type": "ByteLevel", "use_regex": False, "add_prefix_space": False},
        ] if is_preset(pattern):
            return pattern, False
    return None, False


def batches(texts: Iterable[str], prefix: bool) -> Iterator[list[bytes]]:
    batch: list[bytes] = []
    size = 0
    for text in texts:
        batch.append((f" {text}" if prefix and text and text[0] != " " else text).encode())
        size += len(batch[-1])
        if size >= BATCH:
            yield batch
            batch, size = [], 0
    yield batch


def flat(source: TextStream, name: str) -> Iterator[str]:
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


def lines_of(files: Iterable[str | Path]) -> Iterator[str]:
    for path in files:
        try:
            with Path(path).open(encoding="utf-8", newline="\n") as file:
                yield from file
        except UnicodeDecodeError as error:
            raise PairityError(f"{path} is not UTF-8 ({error.reason}): convert it first.") from None
        except OSError as error:
            raise PairityError(f"cannot read {path}: {error.strerror}.") from None


def length(text: Columns) -> float:
    """The number of tokens before the first merge."""
    _, offsets, counts = text
    return float(weighted(np.diff(offsets), counts))
