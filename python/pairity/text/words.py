"""Word lists: each word is a text that occurs a given number of times.

    the<TAB>5021            in eng_Latn.words.tsv: " the", 5021 times

A list does not say what came before a word. In running text that is a space, so every word is counted with one in
front, unless it has one already or its language is written without spaces.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa

from pairity.errors import PairityError, listed
from pairity.extras import load_extra
from pairity.languages import script_of
from pairity.text.blocks import Block
from pairity.text.lines import Broken

WITHOUT_SPACES = ("Hani", "Hans", "Hant", "Jpan", "Khmr", "Laoo", "Mymr", "Thai", "Tibt")
"""Scripts of languages that put no spaces between words."""

DIGITS = 15
"""The most digits a count may have; a longer one is a mistake."""

WORDFREQ = "wordfreq:"

RAREST = 1e-6
"""Words of `wordfreq` rarer than this are left out: a vocabulary for many languages never gets to them."""

CAPITALISED = 0.1
"""wordfreq is all lower case; this share of each word is counted with a capital, as at the start of a sentence."""


def in_text(word: str, language: str) -> str:
    """The word as it appears in running text."""
    if word.startswith(" ") or script_of(language) in WITHOUT_SPACES:
        return word
    return f" {word}"


def parse(block: Block, language: str, broken: Broken) -> Block:
    """Turn the lines of a word list into texts."""
    words: list[bytes] = []
    times: list[int] = []
    numbers: list[int] = []
    space = in_text("", language).encode()
    for index, line in enumerate((block.lines or b"").split(b"\n")):
        if not line.strip():
            continue
        word, tab, number = line.removesuffix(b"\r").partition(b"\t")
        if not (word and tab and number.isdigit() and len(number) <= DIGITS and int(number)):
            what = "not a word, a tab and its count (a whole number), such as the<TAB>5021"
            broken(PairityError(f"{block.place(index)}: {what}."), block, index)
            continue
        words.append(word if word.startswith(b" ") else space + word)
        times.append(int(number))
        numbers.append(block.first + index)
    return of_words(replace(block, lines=None, unit="line", numbers=numbers), words, times)


def of_words(block: Block, words: list[bytes], times: list[int]) -> Block:
    return replace(block, texts=pa.array(words, pa.large_binary()), times=pa.array(times, pa.int64()))


@dataclass(frozen=True)
class WordList:
    """A word list of the package `wordfreq` (Robyn Speer), which has one for each of 40 languages: "en"."""

    code: str

    def __post_init__(self) -> None:
        known = wordfreq().available_languages("best")
        if self.code not in known:
            near = difflib.get_close_matches(self.code, known) or known
            raise PairityError(f"wordfreq has no list {self.code!r}; there are: {listed(sorted(near))}.")

    def words(self) -> dict[str, int]:
        """{"the": 4855000, "The": 485500, ...}

        wordfreq gives frequencies. Its lists end where its data does, so the rarest word of a list counts as one
        occurrence: a language with a longer list has that much more text.
        """
        frequencies = wordfreq().get_frequency_dict(self.code, wordlist="best")
        rarest = min(frequencies.values())
        counts: dict[str, int] = {}
        for word, frequency in frequencies.items():
            if frequency < RAREST or any(character.isdigit() for character in word):
                continue
            number = max(1, round(frequency / rarest))
            counts[word] = number
            capital = word[0].upper() + word[1:]
            if capital != word and (few := round(number * CAPITALISED)):
                counts[capital] = few
        return counts

    def blocks(self, language: str) -> Iterator[Block]:
        counts = self.words()
        texts = [in_text(word, language).encode() for word in counts]
        yield of_words(Block(f"{WORDFREQ}{self.code}", "word", 0), texts, list(counts.values()))

    def __iter__(self) -> Iterator[str]:
        return iter(self.words())


def wordfreq() -> Any:
    return load_extra("wordfreq", "a wordfreq list")
