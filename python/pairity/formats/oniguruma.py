r"""The same pattern for two regex engines.

Our patterns follow the Rust regex crates, like those of tiktoken. Hugging Face runs patterns with Oniguruma, which
understands some constructs differently. A pattern is rewritten where that is simple and refused where it is not, and
both versions are compared on a text with something of everything.

    for_oniguruma(r"\s+$|\S+")  ->  r"\s+\z|\S+"    $ would stop at every line end
    for_oniguruma(r"(?s:.)")    ->  r"(?m:.)"       the flag of the dot has another letter
"""

import re

from pairity import _core
from pairity.errors import PairityError, as_typed
from pairity.text.pretokenizers import CL100K, PROBE, THEN, is_preset

BY_HAND = {
    # tiktoken's cl100k_base: Oniguruma takes {1,3}+ for a repeat of a repeat.
    CL100K: CL100K.replace("{1,3}+", "{1,3}").replace("$", r"\z"),
}

PIECE = re.compile(
    r"\\[pP](?:\{[^}]*\}|.)|\\x\{[^}]*\}|\\u[0-9a-fA-F]{4}|\\.|\(\?[a-zA-Z-]+[:)]|\{\d+(?:,\d*)?\}[+?]?|\[:|.",
    re.DOTALL,
)
SAFE_LETTERS = set("sSdDrntfvAz")
# Our \w; that of Oniguruma lacks some marks and joiners.
WORD = r"\p{Alphabetic}\p{M}\p{Nd}\p{Pc}\u200C\u200D"
PROBES = (
    PROBE,
    PROBE[::-1],
    "ab\n\ncd \r\n 1234567  \n",
    "x's'S'ſ ß ﬁ ﬀ ŉ ǰ İ ı K \u200d\u200c\u00ad _-~&",
    "a1b22c333 \t\t\u00a0\u2003z ",
    "Ⅷ ⓐ ªº ʰ ² ³ ١٢٣ 一二三",
)


def for_oniguruma(pattern: str) -> str:
    """The pattern as Hugging Face needs it, step by step."""
    return THEN.join(step_for_oniguruma(step) for step in pattern.split(THEN))


def step_for_oniguruma(pattern: str) -> str:
    if is_preset(pattern):
        return pattern  # tests prove these equal, on far more text than a probe
    translated = BY_HAND.get(pattern) or translate(pattern)
    compare(pattern, translated)
    return translated


def from_oniguruma(pattern: str) -> str:
    """The pattern of a Hugging Face file as we need it, step by step."""
    return THEN.join(step_from_oniguruma(step) for step in pattern.split(THEN))


def step_from_oniguruma(pattern: str) -> str:
    if is_preset(pattern):
        return pattern
    for ours, theirs in BY_HAND.items():
        if pattern == theirs:
            return ours
    ours = pattern.replace("(?m:", "(?s:").replace(f"[{WORD}]", r"\w")
    if translate(ours) != pattern:
        raise PairityError(
            f"the pattern {as_typed(pattern)} means different things in our regex engine and in Hugging Face's "
            "(Oniguruma), so it cannot be kept."
        )
    compare(ours, pattern)
    return ours


def translate(pattern: str) -> str:
    pieces: list[str] = []
    classes: list[str] = []  # the pieces in character classes; a space for all other pieces
    depth = 0  # of character classes
    for piece in PIECE.findall(pattern):
        opened = classes[-1:] == ["["] or classes[-2:] == ["[", "^"]
        if (piece == "[:" and not depth) or piece == "[":
            depth += 1
        elif piece == "]" and depth and not opened:  # as the first character of a class, it stands for itself
            depth -= 1
        pieces.append(translate_piece(piece, pattern, in_class=depth > 0))
        classes.append(piece if depth else " ")
    if set_operator := re.search(r"--|~~", "".join(classes)):
        raise unlike(pattern, set_operator[0])
    return "".join(pieces)


def translate_piece(piece: str, pattern: str, *, in_class: bool) -> str:
    if piece == r"\w":
        return WORD if in_class else f"[{WORD}]"
    if piece == r"\W" and not in_class:
        return f"[^{WORD}]"
    if piece.startswith("\\") and len(piece) == 2 and piece[1].isalnum() and piece[1] not in SAFE_LETTERS:
        raise unlike(pattern, piece)
    if in_class:
        if piece == "[:":
            raise unlike(pattern, piece)
        return piece
    if piece in ("$", "^"):
        return r"\z" if piece == "$" else r"\A"
    if piece.startswith("{") and piece[-1] in "+?":
        raise unlike(pattern, piece)
    if piece.startswith("(?") and len(piece) > 2:
        if piece not in ("(?i:", "(?s:"):
            raise unlike(pattern, piece)
        return piece.replace("s", "m")
    return piece


def unlike(pattern: str, piece: str) -> PairityError:
    return PairityError(
        f"the pattern {as_typed(pattern)} cannot be used with Hugging Face: its regex engine (Oniguruma) reads "
        f"{as_typed(piece)} differently. Write the pattern without it."
    )


def compare(ours: str, theirs: str) -> None:
    from tokenizers import Regex, pre_tokenizers

    try:
        split = pre_tokenizers.Split(Regex(theirs), "isolated")
    except Exception as error:  # tokenizers raises plain exceptions
        raise PairityError(
            f"the regex engine of Hugging Face (Oniguruma) cannot run the pattern {as_typed(theirs)}: {error}."
        ) from None
    for probe in PROBES:
        try:
            expected = _core.pretokenize(ours, probe)
        except ValueError as error:
            raise PairityError(str(error)) from None
        found = [text for text, _ in split.pre_tokenize_str(probe)]
        if found != expected:
            unlike = next(
                (pair for pair in zip(expected, found, strict=False) if pair[0] != pair[1]), ("", "")
            )
            raise PairityError(
                f"the pattern {as_typed(ours)} cannot be used with Hugging Face: its regex engine (Oniguruma) "
                f"gives {unlike[1]!r} where ours gives {unlike[0]!r}."
            )
