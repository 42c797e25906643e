"""tokenizer.json, the file of the Hugging Face world: written and read.

The file says more than a byte-level BPE needs. What it can say and we cannot do is refused when read, with
the reason: a tokenizer that gives other ids without a word is worse than none.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from pairity import _core
from pairity.bpe.alphabet import to_bytes, to_text
from pairity.errors import PairityError
from pairity.formats.oniguruma import for_oniguruma, from_oniguruma
from pairity.tokenizer.tokenizer import Tokenizer

_FLAGS = ("single_word", "lstrip", "rstrip")


def vocab(tok: Tokenizer) -> dict[str, int]:
    """Every token as the files write it -> id; special tokens as they are."""
    names = {token_id: name for name, token_id in tok.special_tokens.items()}
    return {names.get(i) or to_text(token): i for i, token in enumerate(tok.tokens) if token}


def merge_list(tok: Tokenizer) -> list[tuple[str, str]]:
    """The merges as the files write them. Of equal pairs only the first: readers would take the last one's
    rank."""
    texts = [to_text(token) for token in tok.tokens]
    pairs = dict.fromkeys((left, right) for left, right, _ in tok.merges.tolist())
    return [(texts[left], texts[right]) for left, right in pairs]


def write(tok: Tokenizer) -> dict[str, Any]:
    """The contents of tokenizer.json."""
    byte_level = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True, "use_regex": False}
    pre_tokenizer: dict[str, Any] = byte_level
    if tok.pattern is not None:
        regex = {"Regex": for_oniguruma(tok.pattern)}
        split = {"type": "Split", "pattern": regex, "behavior": "Isolated", "invert": False}
        pre_tokenizer = {"type": "Sequence", "pretokenizers": [split, byte_level]}
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [
            {
                "id": token_id,
                "content": name,
                **dict.fromkeys(_FLAGS, False),
                "normalized": False,
                "special": True,
            }
            for name, token_id in sorted(tok.special_tokens.items(), key=lambda item: item[1])
        ],
        "normalizer": {"type": "NFC"} if tok.normalize == "nfc" else None,
        "pre_tokenizer": pre_tokenizer,
        "post_processor": None,
        "decoder": byte_level,
        "model": {
            "type": "BPE",
            "dropout": None,
            "unk_token": None,
            "continuing_subword_prefix": None,
            "end_of_word_suffix": None,
            "fuse_unk": False,
            "byte_fallback": False,
            "ignore_merges": tok.whole_pretokens,
            "vocab": vocab(tok),
            "merges": merge_list(tok),
        },
    }


def read(contents: Any, *, allow_holes: bool = False) -> Tokenizer:
    """The tokenizer that a tokenizer.json describes, with its ids.

    Tokens that the file adds to the model are special tokens here, and nothing is put before or after a text:
    the ids are those of `encode(text, add_special_tokens=False)`.
    """
    parts = parse(contents)
    tokens, merges = parts.pop("tokens"), parts.pop("merges")
    return Tokenizer(tokens, merges, allow_holes=allow_holes, **parts)


def parse(contents: Any) -> dict[str, Any]:
    """The same as the arguments of `Tokenizer`."""
    try:
        return _parse(contents)
    except (KeyError, TypeError, AttributeError, IndexError) as error:
        raise PairityError(
            f"tokenizer.json is damaged: {type(error).__name__} {error}. Get the file again, or save it anew."
        ) from None


def _parse(contents: dict[str, Any]) -> dict[str, Any]:
    model = contents["model"]
    _check_model(model)
    normalize = _normalize(contents.get("normalizer"))
    _check_decoder(contents.get("decoder"))
    added = contents.get("added_tokens") or []
    for token in added:
        _check_added(token, normalize)
    special_tokens = {token["content"]: token["id"] for token in added}
    if len(special_tokens) < len(added):
        raise PairityError("tokenizer.json adds the same token twice. Leave one out.")
    tokens, merges = table(model["vocab"], model["merges"], special_tokens)
    return {
        "tokens": tokens,
        "merges": merges,
        "pattern": _pattern(contents.get("pre_tokenizer")),
        "normalize": normalize,
        "special_tokens": special_tokens,
        "whole_pretokens": bool(model.get("ignore_merges", False)),
    }


def table(
    vocab: Mapping[str, int], merges: list[Any], special_tokens: Mapping[str, int]
) -> tuple[dict[int, bytes], npt.NDArray[np.int64]]:
    """Id -> bytes and (left, right, new) ids, from tokens and merges written in the byte-level alphabet."""
    tokens: dict[int, bytes] = {}
    for text, token_id in vocab.items():
        if not isinstance(token_id, int) or isinstance(token_id, bool):
            raise PairityError(f"the id of token {text!r} is {token_id!r}, not a whole number.")
        if text in special_tokens:
            if special_tokens[text] != token_id:
                raise PairityError(
                    f"the special token {text!r} has the id {special_tokens[text]}, but {token_id} in the "
                    "vocabulary."
                )
            continue
        if token_id in tokens:
            raise PairityError(f"id {token_id} is given to {to_text(tokens[token_id])!r} and to {text!r}.")
        try:
            tokens[token_id] = to_bytes(text)
        except KeyError:
            raise PairityError(
                f"token {text!r} (id {token_id}) is not written in the byte-level alphabet, and it is not a "
                "special token: this is no byte-level BPE, which is all that can be read."
            ) from None
    ordinary = {text: token_id for text, token_id in vocab.items() if text not in special_tokens}
    rows = [_merge_row(merge, rank, ordinary) for rank, merge in enumerate(merges)]
    return tokens, np.array(rows, np.int64).reshape(-1, 3)


def _merge_row(merge: Any, rank: int, ids: Mapping[str, int]) -> tuple[int, int, int]:
    pair = merge.split(" ") if isinstance(merge, str) else merge
    if len(pair) != 2:
        raise PairityError(f"merge {rank} is {merge!r}, not a pair of tokens.")
    left, right = pair
    try:
        return ids[left], ids[right], ids[left + right]
    except KeyError as error:
        role = "which it makes, " if error.args[0] == left + right else ""
        raise PairityError(
            f"merge {rank} ({left} + {right}): {error.args[0]!r}, {role}is not a token."
        ) from None


def _check_model(model: dict[str, Any]) -> None:
    kind = model.get("type", "BPE")
    if kind != "BPE":
        raise PairityError(
            f"the model of this tokenizer.json is {kind}, not BPE: its ids do not come from merges."
        )
    for option in ("continuing_subword_prefix", "end_of_word_suffix", "dropout", "byte_fallback"):
        if model.get(option):
            raise PairityError(
                f"this tokenizer.json sets {option} to {model[option]!r}; a byte-level BPE that gives the "
                "same ids every time cannot."
            )


def _normalize(normalizer: dict[str, Any] | None) -> str | None:
    if normalizer is None:
        return None
    if normalizer["type"] == "NFC":
        return "nfc"
    if normalizer["type"] == "Sequence" and len(normalizer["normalizers"]) <= 1:
        return _normalize(next(iter(normalizer["normalizers"]), None))
    raise PairityError(f"the normalizer {normalizer['type']} cannot be kept: only NFC can, or none.")


def _pattern(pre_tokenizer: dict[str, Any] | None) -> str | None:
    """The one regular expression that stands for the pre-tokenizers."""
    if pre_tokenizer is None:
        raise PairityError(
            "this tokenizer.json has no pre-tokenizer, so it is not byte-level, which is all that can be "
            "read."
        )
    steps = pre_tokenizer["pretokenizers"] if pre_tokenizer["type"] == "Sequence" else [pre_tokenizer]
    kinds = [step["type"] for step in steps]
    if kinds not in (["ByteLevel"], ["Split", "ByteLevel"]):
        raise PairityError(
            f"the pre-tokenizers {' + '.join(kinds)} cannot be kept: only ByteLevel can, alone or after one "
            "Split."
        )
    byte_level = steps[-1]
    if byte_level.get("add_prefix_space", True):
        raise PairityError(
            "ByteLevel with add_prefix_space puts a space before every text, so text would not come back."
        )
    uses_gpt2 = byte_level.get("use_regex", True)
    if len(steps) == 1:
        return _core.PATTERNS["gpt2"][0] if uses_gpt2 else None
    if uses_gpt2:
        raise PairityError(
            "a Split before a ByteLevel with a regex of its own cuts twice; one pattern cannot say that."
        )
    return _split_pattern(steps[0])


def _split_pattern(split: dict[str, Any]) -> str:
    if "Regex" not in split["pattern"]:
        raise PairityError(f"Split on the text {split['pattern']!r} is not a pattern of pre-tokens.")
    pattern = from_oniguruma(split["pattern"]["Regex"])
    behavior, invert = split["behavior"], split.get("invert", False)
    known = any(pattern in patterns for patterns in _core.PATTERNS.values())
    # Known patterns match all text, so removing what lies between matches removes nothing.
    if (behavior, invert) != ("Isolated", False) and not (known and (behavior, invert) == ("Removed", True)):
        raise PairityError(
            f"Split with behavior {behavior} and invert {invert} cannot be kept: only Isolated can."
        )
    return pattern


def _check_decoder(decoder: dict[str, Any] | None) -> None:
    if decoder is not None and decoder["type"] != "ByteLevel":
        raise PairityError(f"the decoder {decoder['type']} cannot be kept: only ByteLevel can.")


def _check_added(token: dict[str, Any], normalize: str | None) -> None:
    for flag in _FLAGS:
        if token.get(flag):
            raise PairityError(f"the added token {token['content']!r} sets {flag}, which cannot be kept.")
    if token.get("normalized") and normalize:
        raise PairityError(
            f"the added token {token['content']!r} is looked for in normalised text, which cannot be kept."
        )
