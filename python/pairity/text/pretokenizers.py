"""Pre-tokenizers by name, and the check of a pattern that a user writes.

pattern_of("gpt4o")               -> the pattern of GPT-4o
pattern_of("gpt4o", digits=True)  -> the same, but every number character stands alone
pattern_of("gpt4o:words4")        -> the same, but up to four words in a row stay together, with the spaces between
pattern_of(r"\\S+|\\s+")            -> itself, if it is fit for training
pattern_of(r"\\p{N}(?then)\\s+")   -> itself: text is cut at numbers, then each piece at white space
pattern_of("none")                -> None: the text stays whole
"""

from __future__ import annotations

import hashlib
import json
import re
from dataclasses import dataclass, replace
from typing import Final

from pairity import _core
from pairity.errors import PairityError, as_typed

PRESETS: Final[dict[str, str | None]] = {name: pattern for name, (pattern, _) in _core.PATTERNS.items()}
"""Name -> pattern. gpt4o, gpt4 and gpt2 are OpenAI's, qwen35 is that of Qwen 3.5 as llama.cpp runs it, whitespace
that of the parity-aware BPE paper."""

DEFAULT_PRETOKENIZER: Final = "gpt4o"

WITH_WORDS: Final = [
    name for name, pattern in PRESETS.items() if pattern and _core.pattern_of_phrases(pattern, 2)
]
"""The presets that phrases can be built on."""

PROBE: Final = (
    "Don't stop,  it's HTMLPage_v2: (a+b)/c = 3.14!?\r\n\n\tÉcole e\u0301te\u0301 ŸŽ ǅ 'S "
    "Привет мир \u00a0Ελληνικά 12345 ٣٤ ½ हिन्दी में ९९। ภาษาไทย 日本語、カタカナ\u3000한국어 "
    "العَرَبِيَّة עברית 😀👨‍👩‍👧 \u200b\u2028\u0085 «quoted» --- \n"
)
"""Text with an example of everything that a pattern might forget."""

CL100K: Final = _core.CL100K
"""The pattern of GPT-4 as tiktoken writes it. Unlike gpt4, it keeps white space at the end of a text in one piece."""

THEN: Final = _core.THEN
"""Stands between the patterns of several steps: A(?then)B cuts by A, then each piece by B."""

TIKTOKEN_GPT2: Final = _core.TIKTOKEN_GPT2
"""The pattern of GPT-2 as tiktoken writes it."""

LOOKS_LIKE_A_NAME: Final = re.compile(r"[\w:,-]+")
"""As a pattern, such a word would match only itself: the user probably misspelled a name."""
OF_PHRASES: Final = re.compile(r"([\w-]+):words(\d+)")

MOST_WORDS: Final = _core.MOST_WORDS
"""How many words a phrase may have ..."""
WORDS: Final = 4
"""... and how many it has by default."""


@dataclass(frozen=True)
class Pretokenization:
    """How text was cut. Counts can be merged only if all of this is equal."""

    pattern: str | None
    normalize: str | None = None
    unicode: str = _core.UNICODE_VERSION

    def __post_init__(self) -> None:
        if self.normalize not in (None, "nfc"):
            raise PairityError(f"normalize is {self.normalize!r}: give 'nfc' or None.")

    @classmethod
    def of(
        cls, pretokenizer: str | Pretokenization, digits: bool = False, normalize: str | None = None
    ) -> Pretokenization:
        """From what the user gave: a name, a pattern, or a `Pretokenization`."""
        if isinstance(pretokenizer, Pretokenization):
            if digits or normalize is not None:
                raise PairityError(
                    "a Pretokenization already defines how digits are split and text is normalised: leave "
                    "out digits and normalize."
                )
            return pretokenizer
        return cls(pattern_of(pretokenizer, digits=digits), normalize)

    @property
    def words(self) -> Pretokenization | None:
        """How to cut text into words instead of phrases; None if text is not cut into phrases."""
        found = None if self.pattern is None else _core.words_of_phrases(self.pattern)
        return found and replace(self, pattern=found[0])

    @property
    def halves(self) -> Pretokenization | None:
        """Phrases of half as many words, and finally single words; None if text is not cut into phrases."""
        found = None if self.pattern is None else _core.words_of_phrases(self.pattern)
        if found is None:
            return None
        words, most = found
        return replace(self, pattern=_core.pattern_of_phrases(words, most // 2) or words)

    def in_phrases(self) -> Pretokenization:
        """The same with phrases instead of words; unchanged if it has phrases already."""
        phrases = self.pattern and _core.pattern_of_phrases(self.pattern, WORDS)
        if self.words or not phrases:
            return self
        return replace(self, pattern=phrases)

    @property
    def name(self) -> str:
        """The name, with `:digits` for single digits and `:words4` for phrases; without a name, the pattern."""
        if self.pattern is not None and (phrases := _core.words_of_phrases(self.pattern)):
            return f"{replace(self, pattern=phrases[0]).name}:words{phrases[1]}"
        for name, (pattern, single_digits) in _core.PATTERNS.items():
            if self.pattern == pattern:
                return name
            if self.pattern == single_digits:
                return f"{name}:digits"
        return str(self.pattern)

    @property
    def hash(self) -> str:
        parts = json.dumps([self.normalize, self.pattern, self.unicode])
        return hashlib.sha256(parts.encode()).hexdigest()

    def __str__(self) -> str:
        cut = f"pre-tokenizer {self.name}" if is_preset(self.pattern) else f"pattern {as_typed(self.name)}"
        return f"{cut}, normalize {self.normalize or 'none'}, Unicode {self.unicode} (hash {self.hash[:12]})"


def pattern_of(name_or_regex: str, *, digits: bool = False) -> str | None:
    """The regular expression that cuts text, from the name of a preset or a user's own expression."""
    if name_or_regex in _core.PATTERNS:
        pattern, single_digits = _core.PATTERNS[name_or_regex]
        return single_digits if digits else pattern
    if named := OF_PHRASES.fullmatch(name_or_regex):
        return pattern_of_phrases(named[1], int(named[2]), digits=digits)
    if LOOKS_LIKE_A_NAME.fullmatch(name_or_regex):
        digit = " Single digits are asked for with digits=True (--single-digits)."
        raise PairityError(
            f"unknown pre-tokenizer {name_or_regex!r}. Choose one of {', '.join(_core.PATTERNS)}, one for phrases such "
            r"as gpt4o:words4, or give a regular expression such as '\S+|\s+'."
            f"{digit if ':digits' in name_or_regex else ''}"
        )
    if digits:
        raise PairityError(
            r"digits=True is only for the named pre-tokenizers: a custom pattern decides itself how "
            r"numbers are split. Leave out digits and add \p{N} as a separate alternative in the pattern."
        )
    check_pattern(name_or_regex)
    return name_or_regex


def pattern_of_phrases(words: str, most: int, digits: bool = False) -> str:
    """The pattern of a name such as gpt4o:words4."""
    pattern = pattern_of(words, digits=digits)
    if not 2 <= most <= MOST_WORDS:
        raise PairityError(f"a phrase has 2 to {MOST_WORDS} words, not {most}: give {words}:words4.")
    phrases = None if pattern is None else _core.pattern_of_phrases(pattern, most)
    if phrases is None:
        raise PairityError(
            f"the pre-tokenizer {words!r} has no word boundaries for phrases to cross. Choose one of "
            f"{', '.join(WITH_WORDS)}."
        )
    return phrases


def is_preset(pattern: str | None) -> bool:
    """Whether a pattern is a preset: those match all text, and mean the same in every regex engine."""
    if any(pattern in patterns for patterns in _core.PATTERNS.values()):
        return True
    return pattern is not None and _core.words_of_phrases(pattern) is not None


def check_pattern(pattern: str) -> None:
    """Refuse a pattern that is broken or that would hide text from training."""
    if not pattern:
        raise PairityError("the pre-tokenizer pattern is empty. Use 'none' to keep every text whole.")
    try:
        _core.pretokenize(pattern, PROBE, strict=True)
    except ValueError as error:
        raise PairityError(str(error)) from None
