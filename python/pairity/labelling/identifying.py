"""Identifying: the language of a text, and how much of the text supports it.

identify("ქართული ენა", identifier="script")  ->  Label("kat_Geor", 1.0)
identify("Where is the nearest station?")      ->  Label("eng_Latn", 0.96)
identify("ok 7")                               ->  Label("und_Latn", 0.0)
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from pairity import _core
from pairity.errors import PairityError
from pairity.extras import load_extra
from pairity.labelling.codes import code_of, only_language_in

SHARED = "Zyyy"
"""The ISO 15924 code of characters that all scripts share: digits, punctuation, emoji."""


class Label(NamedTuple):
    """`confidence` is the share of the text in this language, according to the identifier."""

    language: str
    confidence: float


Identifier = Callable[[str, str, float], tuple[str | None, float]]
"""(text, its script, the share of that script) -> (the language, or None if it cannot tell; the confidence)"""


def identify(text: str, *, identifier: str = "cld2", confidence: float = 0.6, unsure: str = "und") -> Label:
    """The language of a text. Below `confidence` it is `unsure`, with the script of the text: und_Latn."""
    return labeller(identifier, confidence, unsure)(text)


def labeller(identifier: str, confidence: float, unsure: str) -> Callable[[str], Label]:
    """The same for many texts."""
    if identifier not in IDENTIFIERS:
        raise PairityError(f"identifier is {identifier!r}: choose one of {', '.join(IDENTIFIERS)}.")
    if isinstance(confidence, bool) or not (math.isfinite(confidence) and 0 <= confidence <= 1):
        raise PairityError(f"confidence is {confidence!r}: give a share of the text, from 0 to 1.")
    if not (unsure.isascii() and unsure.isalpha()):
        raise PairityError(f"unsure is {unsure!r}: give a code made of letters, such as und.")
    look = IDENTIFIERS[identifier]()

    def label(text: str) -> Label:
        script, share = _core.script_of(text) or (SHARED, 0.0)
        language, sure = look(text, script, share)
        return Label(language if language and sure >= confidence else f"{unsure}_{script}", sure)

    return label


def by_script(text: str, script: str, share: float) -> tuple[str | None, float]:
    """By script alone, which identifies Georgian and Thai, but nothing in Latin script."""
    return only_language_in(script), share


def make_cld2() -> Identifier:
    cld2: Any = load_extra("pycld2", "identifying languages with cld2")

    def by_cld2(text: str, script: str, share: float) -> tuple[str | None, float]:
        try:
            reliable, _, found = cld2.detect(text, isPlainText=True)
        except cld2.error:  # control characters
            plain = "".join(character for character in text if character.isprintable())
            reliable, _, found = cld2.detect(plain, isPlainText=True)
        _, name, percent, _ = found[0]
        language = code_of(name, script) if reliable else None
        return (language, percent / 100) if language else by_script(text, script, share)

    return by_cld2


IDENTIFIERS: dict[str, Callable[[], Identifier]] = {"cld2": make_cld2, "script": lambda: by_script}
"""Name -> how to make it: CLD2 is an optional package. If it cannot tell the language, the script may."""
