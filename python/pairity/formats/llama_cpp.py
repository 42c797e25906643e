r"""How llama.cpp cuts text, and what that changes for a tokenizer.

Its files have no place for a pattern: they name one of the pre-tokenizers built into llama.cpp. Here, each is written
as a pattern that makes our engine cut in the same places, so the ids that llama.cpp would give are known without it.

    cut("gpt-2", "it's हिन्दी")      ->  ["it", "'s", " ह", "ि", "न", "्", "द", "ी"]
    cut("qwen35", "it's हिन्दी")     ->  ["it", "'s", " हिन्दी"]
"""

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from pairity import _core, sample
from pairity.bpe.alphabet import to_bytes
from pairity.bpe.model import BpeModel
from pairity.errors import PairityError, PairityWarning
from pairity.text.pretokenizers import CL100K, TIKTOKEN_GPT2, pattern_of
from pairity.threads import thread_count

GPT4O, GPT4, GPT2, QWEN35 = (str(pattern_of(name)) for name in ("gpt4o", "gpt4", "gpt2", "qwen35"))
GPT4O_DIGITS, GPT4_DIGITS = (str(pattern_of(name, digits=True)) for name in ("gpt4o", "gpt4"))

ANY_CASE: Final = "(?i:'s|'t|'re|'ve|'m|'ll|'d)"
ASCII_CASE: Final = "(?:'[sS]|'[tT]|'[rR][eE]|'[vV][eE]|'[mM]|'[lL][lL]|'[dD])"
QWEN35_OF_QWEN: Final = QWEN35.replace(ASCII_CASE, ANY_CASE)
"""As in the files of Qwen 3.5."""


def in_ascii_case(pattern: str) -> str:
    """How llama.cpp reads a pattern that distinguishes case: there, only a-z and A-Z have a case."""
    return (
        pattern.replace(ANY_CASE, ASCII_CASE)
        .replace(r"[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]", r"(?:(?=[\p{L}\p{M}])[^a-z])")
        .replace(r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]", r"(?:(?=[\p{L}\p{M}])[^A-Z])")
    )


PATTERNS: Final = {
    "qwen35": QWEN35,
    "gpt-2": GPT2,
    "llama-bpe": in_ascii_case(GPT4),
    "dbrx": in_ascii_case(GPT4),
    "qwen2": in_ascii_case(GPT4_DIGITS),
    "granite-embed-multi-97m": in_ascii_case(GPT4O),
}
"""llama.cpp's name -> its pattern; `cut` reads it with llama.cpp's table of characters."""

TAKE_WHOLE: Final = {"llama-bpe", "granite-embed-multi-97m"}
"""The names under which llama.cpp keeps a pre-token whole if it is a token (`ignore_merges`)."""


@dataclass(frozen=True)
class Nearest:
    """The closest thing that llama.cpp has to one of our patterns."""

    names: tuple[str, ...]
    """The first name is used that treats whole pre-tokens as the tokenizer does."""
    unlike: str = ""
    """A text that llama.cpp cuts differently; empty if there is none."""


# gpt4o does not get the name gpt-4o, under which llama.cpp keeps marks out of words and so shreds Hindi, Tamil and
# Thai. The name below is the same pattern with marks.
NEAREST: Final = {
    QWEN35: Nearest(("qwen35",)),
    GPT2: Nearest(("gpt-2",)),
    TIKTOKEN_GPT2: Nearest(("gpt-2",)),
    GPT4: Nearest(("llama-bpe", "dbrx"), "x'ſa"),
    GPT4_DIGITS: Nearest(("qwen2",), "x'ſa"),
    CL100K: Nearest(("llama-bpe", "dbrx"), "x\n "),
    QWEN35_OF_QWEN: Nearest(("qwen35",), "x'ſa"),
    GPT4O: Nearest(("granite-embed-multi-97m",), "éÉ"),
    GPT4O_DIGITS: Nearest(("qwen35",), "don't aB"),
}
"""Our pattern -> the closest one of llama.cpp."""

CODE: Final = (
    "I don't think they'll say it's WRONG, I'D say we've won: that's McDonald's iPhone, isn't it?",
    "def parseHTMLPage(self, maxRetries=3): return self.fetchURL('https://example.org/a/b.html')  # TODO",
    "for (int i = 0; i < 1024; i++) {\n    sumOfSquares += x[i] * x[i];\n}\n\n",
    'ls -la /usr/local/bin/ // 2>&1 | grep -v "node_modules" >> build.log && echo doneNow',
    '{"userId": 12345, "isActive": true, "createdAt": "2024-02-29T23:59:59Z"}',
    "| name | JavaScript | GitHub |\n|---|---|---|\n| camelCase | x's | 3.14159 |\n",
)
"""What the sample lacks: chat, code and tables."""

INSTEAD: Final = "Train with --pretokenizer qwen35 (pretokenizer='qwen35'), which llama.cpp runs exactly"


@dataclass(frozen=True)
class IdDifference:
    """How the ids of one language differ in llama.cpp."""

    language: str
    unlike: float
    """The share of its lines with other ids."""
    here: float
    """Tokens per line."""
    there: float


def cut(name: str, text: str) -> list[str]:
    """The pre-tokens of a text under a name of llama.cpp."""
    return _core.pretokenize(as_read(PATTERNS[name]), text)


def as_read(pattern: str) -> str:
    """Restrict a pattern to the characters that llama.cpp knows: its table is of Unicode 15.1, ours is newer."""
    return re.sub(r"\\p\{([LMN])\}", r"[\\p{\1}&&\\p{age=15.1}]", pattern)


def as_there(model: BpeModel, name: str) -> BpeModel:
    """The model as llama.cpp would run it."""
    there = replace(model.cut, pattern=as_read(PATTERNS[name]))
    return replace(model, cut=there, whole_pretokens=name in TAKE_WHOLE)


def name_of(model: BpeModel) -> str:
    """The name of the pre-tokenizer in the file. Refuse a model for which there is none."""
    if model.cut.normalize:
        raise PairityError(
            f"llama.cpp cannot normalise text ({model.cut.normalize}) for BPE: ids would differ. Train "
            "without --normalize, on text that is already normalised."
        )
    if model.cut.words:
        raise PairityError(
            "llama.cpp cannot split text into phrases: train without superwords (--superwords)."
        )
    nearest = NEAREST.get(model.cut.pattern or "")
    if nearest is None:
        raise PairityError(
            f"llama.cpp knows pre-tokenizers only by name, and has no name for {model.cut.name!r}. "
            f"{INSTEAD}; it also has names for gpt2, gpt4 and gpt4o."
        )
    if not len(model.merges):
        raise PairityError(
            "llama.cpp does not load a vocabulary without merges, and this tokenizer has none."
        )
    reasons = [taken_otherwise(model, name) for name in nearest.names]
    if all(reasons):
        raise PairityError(reasons[0])
    return nearest.names[reasons.index("")]


def taken_otherwise(model: BpeModel, name: str) -> str:
    """A sentence about a pre-token that is one token here but not there, or the reverse; empty if there is none."""
    if model.whole_pretokens != (name in TAKE_WHOLE) and (never := model.unmerged()):
        does = "takes" if name in TAKE_WHOLE else "does not take"
        return (
            f"merging never gives the token {model.tokens[never[0]]!r} (id {never[0]}), and llama.cpp under "
            f"the name {name} {does} such tokens whole, unlike this tokenizer."
        )
    for special in model.special_tokens if name in TAKE_WHOLE else ():
        if len(cut(name, text_of(special))) == 1:
            return (
                f"the special token {special!r} is written like a word, and llama.cpp under the name {name} would "
                "take that word for it in any text. Choose another name, such as one in <|...|>."
            )
    return ""


def text_of(special: str) -> str:
    """The text that the byte-level alphabet would spell like this special token; empty if there is none."""
    try:
        return to_bytes(special).decode()
    except (KeyError, UnicodeDecodeError):
        return ""


def in_sample(model: BpeModel) -> list[IdDifference]:
    """The languages of pairity's sample, and code, whose ids would differ."""
    compared: dict[str, Sequence[str]] = {**sample.read("dev"), "(code)": CODE}
    return [row for row in differences(model, name_of(model), compared) if row.unlike]


def check(model: BpeModel, *, allow_different: bool) -> None:
    """Refuse a tokenizer whose ids would differ in llama.cpp, and say what that costs every language."""
    found = in_sample(model)
    if not found:
        return
    told = (
        "llama.cpp splits text differently from this tokenizer (its nearest pre-tokenizer is "
        f"{name_of(model)}), so the same text gets different ids there. In pairity's sample of "
        f"{len(sample.languages())} languages and code:\n"
        "\n"
        f"{table(found)}\n"
        "\n"
        "All others get the same ids. "
    )
    if not allow_different:
        raise PairityError(
            f"{told}{INSTEAD}, or write the file anyway with --allow-different (allow_different=True)."
        )
    warnings.warn(f"{told}A model must be trained on the ids that it will see.", PairityWarning, stacklevel=4)


def promise(pattern: str | None) -> str:
    """One sentence about how far a pattern that passed the check can be trusted."""
    nearest = NEAREST[pattern or ""]
    if not nearest.unlike:
        return "llama.cpp gives exactly the ids of this tokenizer (for all characters of Unicode 15.1)."
    return (
        "llama.cpp gives the ids of this tokenizer on every line of pairity's sample, but not on all "
        f"text: it splits {nearest.unlike!r} differently. --pretokenizer qwen35 is exact."
    )


def differences(model: BpeModel, name: str, lines: Mapping[str, Sequence[str]]) -> list[IdDifference]:
    """The difference for every language, the one that loses most first."""
    there = as_there(model, name)
    threads = thread_count(None)
    found = []
    for language, texts in lines.items():
        ids = [made.encoder.encode_batch(tuple(texts), threads=threads) for made in (model, there)]
        per_line = [float(np.mean([len(line) for line in side])) for side in ids]
        unlike = np.mean([ours != theirs for ours, theirs in zip(*ids, strict=True)])
        found.append(IdDifference(language, float(unlike), *per_line))
    return sorted(found, key=lambda row: (row.here / row.there, -row.unlike, row.language))


def table(rows: Sequence[IdDifference]) -> str:
    """Aligned columns, as text for a message."""
    head = f"{'language':<12}{'lines that differ':>18}{'tokens per line here':>22}{'there':>8}"
    return "\n".join(
        [head, *(f"{r.language:<12}{r.unlike:>18.0%}{r.here:>22.1f}{r.there:>8.1f}" for r in rows)]
    )
