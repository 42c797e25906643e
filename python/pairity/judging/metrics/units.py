"""The units of costs and rates: bytes, characters and words of every line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pairity.errors import PairityError
from pairity.judging.arrays import Integers


@dataclass(frozen=True)
class Units:
    """Sizes of every line. `words` are cut by Hugging Face's `Whitespace`, `split_words` by str.split()."""

    bytes: Integers
    chars: Integers
    words: Integers
    split_words: Integers

    def __len__(self) -> int:
        return len(self.bytes)


def count_units(lines: list[str], language: str = "the text") -> Units:
    r"""The sizes of `lines`.

    Words follow the regular expression \w+|[^\w\s]+ with Unicode's \w, which includes combining marks. Python's \w
    does not, and would shred every Hindi word, so this uses the Hugging Face pre-tokenizer itself.
    """
    from tokenizers.pre_tokenizers import Whitespace

    whitespace: Any = Whitespace()
    sizes = np.zeros((4, len(lines)), dtype=np.int64)
    for index, line in enumerate(lines):
        try:
            sizes[0, index] = len(line.encode())
        except UnicodeEncodeError as error:
            raise PairityError(
                f"{language}, line {index + 1}: not Unicode text (character {error.start + 1} is half of "
                "a surrogate pair). Repair the line or leave it out."
            ) from error
        sizes[1, index] = len(line)
        sizes[2, index] = len(whitespace.pre_tokenize_str(line))
        sizes[3, index] = len(line.split())
    return Units(*sizes)
