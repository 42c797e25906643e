"""The pre-tokenizers of a tokenizer.json as one pattern, and a pattern as pre-tokenizers.

Several of them become the steps of a pattern: Digits + ByteLevel -> r"\\p{N}(?then)'s|'t|..."; each cuts what the one
before it left. A step that no pattern can express exactly is refused by name.
"""

import re
from collections.abc import Iterable
from typing import Any

from pairity.errors import PairityError
from pairity.formats.json_files import of_type
from pairity.formats.oniguruma import for_oniguruma, from_oniguruma
from pairity.text.pretokenizers import PRESETS, THEN, is_preset

BYTE_LEVEL = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}

META_CHARACTER = re.compile(r"[\\.+*?()|\[\]{}^$]")

PUNCTUATION = r"[!-/:-@\[-`{-~\p{P}]"
"""Punctuation as Hugging Face defines it: that of ASCII, including symbols, and that of Unicode."""


def write(pattern: str | None) -> dict[str, Any]:
    if pattern is None:
        return BYTE_LEVEL
    splits = [
        {"type": "Split", "pattern": {"Regex": step}, "behavior": "Isolated", "invert": False}
        for step in for_oniguruma(pattern).split(THEN)
    ]
    return {"type": "Sequence", "pretokenizers": [*splits, BYTE_LEVEL]}


def read(pre_tokenizer: dict[str, Any] | None) -> str | None:
    """The pattern equivalent to the pre-tokenizers; None if they keep text whole."""
    steps = [] if pre_tokenizer is None else list(flat(pre_tokenizer))
    if not steps or steps[-1]["type"] != "ByteLevel":
        found = f"ends with {steps[-1]['type']}, not with ByteLevel" if steps else "is missing"
        raise PairityError(
            f"the pre-tokenizer of this tokenizer.json {found}: it is not a byte-level BPE whose "
            "ids can be kept. eval, encode and decode can use it as it is."
        )
    patterns = [pattern_of_step(step) for step in steps[:-1]]
    if steps[-1].get("add_prefix_space", True):
        raise PairityError(
            "ByteLevel with add_prefix_space puts a space before every text, so decoding would not return "
            "the original text."
        )
    if steps[-1].get("use_regex", True):
        patterns.append(str(PRESETS["gpt2"]))
    return THEN.join(patterns) if patterns else None


def flat(pre_tokenizer: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """The steps, with nested sequences flattened."""
    if pre_tokenizer["type"] != "Sequence":
        yield pre_tokenizer
        return
    for step in pre_tokenizer["pretokenizers"]:
        yield from flat(step)


def pattern_of_step(step: dict[str, Any]) -> str:
    kind = step["type"]
    match kind:
        case "Split":
            return pattern_of_split(step)
        case "Digits":
            return r"\p{N}" if step.get("individual_digits", False) else r"\p{N}+"
        case "Punctuation" if step.get("behavior", "Isolated") in ("Isolated", "Contiguous"):
            return PUNCTUATION + ("+" if step.get("behavior") == "Contiguous" else "")
    how = f" with behavior {step['behavior']}" if "behavior" in step else ""
    raise PairityError(
        f"the pre-tokenizer {kind}{how} cannot be kept: before the ByteLevel at the end there can be Split, Digits and "
        "Punctuation, which keep all text. eval, encode and decode can use the tokenizer as it is."
    )


def pattern_of_split(split: dict[str, Any]) -> str:
    given = split["pattern"]
    if "Regex" in given:
        pattern = from_oniguruma(of_type(str, given["Regex"], "the regex of Split"))
    else:
        text = of_type(str, given["String"], "the text of Split")
        pattern = META_CHARACTER.sub(r"\\\g<0>", text)
    behavior, invert = split["behavior"], split.get("invert", False)
    # Presets match all text, so there is nothing between matches to remove.
    keeps_all = is_preset(pattern) and (behavior, invert) == ("Removed", True)
    if (behavior, invert) != ("Isolated", False) and not keeps_all:
        raise PairityError(
            f"the pre-tokenizer Split with behavior {behavior} and invert {invert} cannot be kept: only Isolated can. "
            "eval, encode and decode can use the tokenizer as it is."
        )
    return pattern
