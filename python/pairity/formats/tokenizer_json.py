"""tokenizer.json, the file of the Hugging Face world: written and read.

The file can express more than a byte-level BPE. What we cannot do is refused when reading, with the reason: a tokenizer
that silently gives other ids is worse than none.
"""

import json
import os
import tempfile
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from pairity.bpe.alphabet import to_bytes, to_text
from pairity.bpe.model import BpeModel
from pairity.bpe.wrapping import Wrapping
from pairity.errors import PairityError, PairityWarning, listed, raise_unless_its_own
from pairity.formats import post_processor, pre_tokenizers
from pairity.formats.added_tokens import SPECIAL, check_flags, unlike_ours, with_named
from pairity.formats.json_files import of_type, read_json
from pairity.formats.tokenizer_config import Config, read_tokenizer_config
from pairity.text.pretokenizers import Pretokenization

EMPTY_MODEL = {
    "type": "BPE",
    "dropout": None,
    "unk_token": None,
    "continuing_subword_prefix": None,
    "end_of_word_suffix": None,
    "fuse_unk": False,
    "byte_fallback": False,
}


def vocab(model: BpeModel) -> dict[str, int]:
    """Every token as spelled in the file -> id; special tokens as they are."""
    names = names_by_id(last_first(model.special_tokens))
    return {
        text: i for i, token in enumerate(model.tokens) if token for text in names.get(i) or [to_text(token)]
    }


def names_by_id(special_tokens: Mapping[str, int]) -> dict[int, list[str]]:
    found: dict[int, list[str]] = {}
    for name, token_id in special_tokens.items():
        found.setdefault(token_id, []).append(name)
    return found


def last_first(special_tokens: Mapping[str, int]) -> dict[str, int]:
    """Reverse the names that share an id: Hugging Face decodes the id to the last of them, we to the first."""
    by_id = names_by_id(special_tokens)
    return {name: token_id for token_id, names in by_id.items() for name in reversed(names)}


def merge_list(model: BpeModel) -> list[tuple[str, str]]:
    """The merges as spelled in the file, without repeats: we use the first rank of a repeated pair, others the last."""
    texts = [to_text(token) for token in model.tokens]
    pairs = dict.fromkeys((left, right) for left, right, _ in model.merges.tolist())
    return [(texts[left], texts[right]) for left, right in pairs]


def last_ranks(rows: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """The merges of an imported file without repeats; there, the last rank of a repeated pair counts."""
    last = {(left, right): rank for rank, (left, right, _) in enumerate(rows.tolist())}
    return rows[sorted(last.values())]


def write(model: BpeModel) -> dict[str, Any]:
    """The contents of tokenizer.json."""
    if others := [name for names in names_by_id(model.special_tokens).values() for name in names[1:]]:
        warnings.warn(
            "in Hugging Face's library an id has one name, so special tokens that share an id are plain "
            f"text there: {listed(others)}.",
            PairityWarning,
            stacklevel=2,
        )
    wrapping = model.wrapping
    return {
        "version": "1.0",
        "truncation": wrapping.truncation,
        "padding": wrapping.padding,
        "added_tokens": [
            {"id": token_id, "content": name, **SPECIAL, **wrapping.flags.get(name, {})}
            for name, token_id in sorted(last_first(model.special_tokens).items(), key=lambda item: item[1])
        ],
        "normalizer": {"type": "NFC"} if model.cut.normalize == "nfc" else None,
        "pre_tokenizer": pre_tokenizers.write(model.cut.pattern),
        "post_processor": wrapping.post_processor
        or post_processor.of_roles(model.roles, model.special_tokens),
        "decoder": wrapping.decoder or pre_tokenizers.BYTE_LEVEL,
        "model": {
            **EMPTY_MODEL,
            **wrapping.model,
            "ignore_merges": model.whole_pretokens,
            "vocab": vocab(model),
            "merges": merge_list(model),
        },
    }


def to_huggingface(model: BpeModel) -> Any:
    """A `tokenizers.Tokenizer`."""
    import tokenizers

    return tokenizers.Tokenizer.from_str(json.dumps(write(model)))


def read_from(source: Any, *, allow_holes: bool = False) -> BpeModel:
    """From a tokenizer.json, a folder with one, a `tokenizers.Tokenizer` or a fast tokenizer of transformers.

    Roles, chat template and the rest of tokenizer_config.json are kept, even if only the tokenizer.json next to it was
    named.
    """
    if isinstance(source, str | os.PathLike):
        path = Path(source)
        if path.is_dir() or path.name == "tokenizer.json":
            return read_folder(path if path.is_dir() else path.parent, allow_holes=allow_holes)
        contents = read_json(path)
    elif hasattr(source, "to_str"):
        contents = json.loads(source.to_str())
    elif hasattr(source, "backend_tokenizer"):
        with tempfile.TemporaryDirectory() as folder:
            source.save_pretrained(folder)
            return read_folder(Path(folder), allow_holes=allow_holes)
    else:
        raise PairityError(
            f"give a tokenizer.json, a folder with one, or a tokenizers.Tokenizer, not {source!r}."
        )
    return read(contents, allow_holes=allow_holes)


def read_folder(folder: Path, *, allow_holes: bool = False) -> BpeModel:
    """From a folder that transformers loads."""
    contents = read_json(folder / "tokenizer.json")
    return read(contents, read_tokenizer_config(folder), allow_holes=allow_holes)


def read(
    contents: Any, config: Config | None = None, *, allow_holes: bool = False, **others: Any
) -> BpeModel:
    """The model that a tokenizer.json describes, with its ids.

    Tokens that the file adds to the model are special tokens here, and nothing is put before or after a text:
    the ids are those of `encode(text, add_special_tokens=False)`.
    """
    try:
        parts = parse(contents, config or Config())
    except PairityError:
        raise
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError, RecursionError) as error:
        raise PairityError(
            f"tokenizer.json is damaged: {type(error).__name__} {error}. Get the file again, or save it again."
        ) from error
    return BpeModel.from_tokens(**(parts | others), allow_holes=allow_holes)


def parse(contents: dict[str, Any], config: Config) -> dict[str, Any]:
    """The contents as arguments of `BpeModel.from_tokens`."""
    if "model" not in contents:
        raise PairityError(
            "this JSON file is not a tokenizer.json: it has no model. Give the tokenizer.json, or its folder."
        )
    model = contents["model"]
    check_model(model)
    normalize = normalize_of(contents.get("normalizer"))
    check_decoder(contents.get("decoder"))
    added = contents.get("added_tokens")
    added = [] if added is None else of_type(list, added, "the added tokens")
    added = with_named(added, config, model["vocab"])
    for token in added:
        check_flags(token, normalize)
    special_tokens = last_first({token["content"]: token["id"] for token in added})
    if len(special_tokens) < len(added):
        raise PairityError("tokenizer.json adds the same token twice. Leave one out.")
    tokens, merges = table(model["vocab"], of_type(list, model["merges"], "the merges"), special_tokens)
    processor = contents.get("post_processor")
    processor, add_bos, add_eos = post_processor.read(processor, config.roles, special_tokens)
    for part in ("truncation", "padding", "post_processor", "decoder"):
        check_readable(part, contents.get(part))
    settings = {name: model[name] for name, ours in EMPTY_MODEL.items() if model.get(name, ours) != ours}
    check_readable("model", EMPTY_MODEL | settings | {"vocab": {}, "merges": []})
    return {
        "tokens": tokens,
        "merges": merges,
        "cut": Pretokenization(pre_tokenizers.read(contents.get("pre_tokenizer")), normalize),
        "special_tokens": special_tokens,
        "whole_pretokens": of_type(bool, model.get("ignore_merges", False), "ignore_merges"),
        "roles": replace(config.roles, add_bos=add_bos, add_eos=add_eos),
        "wrapping": Wrapping(
            truncation=contents.get("truncation"),
            padding=contents.get("padding"),
            post_processor=processor,
            decoder=None if contents.get("decoder") == pre_tokenizers.BYTE_LEVEL else contents.get("decoder"),
            model=settings,
            flags={token["content"]: flags for token in added if (flags := unlike_ours(token))},
            config=config.others,
            templates=config.templates,
        ),
    }


def table(
    vocab: Mapping[str, int], merges: list[Any], special_tokens: Mapping[str, int]
) -> tuple[dict[int, bytes], npt.NDArray[np.int64]]:
    """Id -> bytes and (left, right, new) ids, from tokens and merges written in the byte-level alphabet."""
    tokens: dict[int, bytes] = {}
    for text, token_id in vocab.items():
        of_type(int, token_id, f"the id of token {text!r}")
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
                "special token: this is not a byte-level BPE, the only kind that can be read."
            ) from None
    ordinary = {text: token_id for text, token_id in vocab.items() if text not in special_tokens}
    rows = [merge_row(merge, rank, ordinary) for rank, merge in enumerate(merges)]
    return tokens, last_ranks(np.array(rows, np.int64).reshape(-1, 3))


def merge_row(merge: Any, rank: int, ids: Mapping[str, int]) -> tuple[int, int, int]:
    pair = merge.split(" ") if isinstance(merge, str) else merge
    if not isinstance(pair, list) or len(pair) != 2 or not all(isinstance(part, str) for part in pair):
        raise PairityError(f"merge {rank} is {merge!r}, not a pair of tokens.")
    left, right = pair
    try:
        return ids[left], ids[right], ids[left + right]
    except KeyError as error:
        role = "which it makes, " if error.args[0] == left + right else ""
        raise PairityError(
            f"merge {rank} ({left!r} + {right!r}): {error.args[0]!r}, {role}is not a token."
        ) from None


def check_model(model: dict[str, Any]) -> None:
    kind = model.get("type", "BPE")
    if kind != "BPE":
        raise PairityError(
            f"the model of this tokenizer.json is {kind}, not BPE: its ids do not come from merges, so there is "
            "nothing to export or continue. encode, decode, eval and tax can use it as it is; for a byte-level BPE, "
            "train one on the same text with pairity train."
        )
    if model.get("byte_fallback"):
        raise PairityError(
            "this tokenizer.json sets byte_fallback, as SentencePiece files do: its tokens are "
            "characters, and bytes replace unknown ones. Only a byte-level BPE, whose tokens are bytes, "
            "can be read."
        )
    for option in ("continuing_subword_prefix", "end_of_word_suffix", "dropout"):
        if model.get(option):
            raise PairityError(
                f"this tokenizer.json sets {option} to {model[option]!r}, which a byte-level BPE with "
                "reproducible ids cannot have."
            )


def normalize_of(normalizer: dict[str, Any] | None) -> str | None:
    if normalizer is None:
        return None
    if normalizer["type"] == "NFC":
        return "nfc"
    if normalizer["type"] == "Sequence" and len(normalizer["normalizers"]) <= 1:
        return normalize_of(next(iter(normalizer["normalizers"]), None))
    raise PairityError(f"the normalizer {normalizer['type']} cannot be kept: only NFC can, or none.")


def check_decoder(decoder: dict[str, Any] | None) -> None:
    if decoder is not None and decoder["type"] != "ByteLevel":
        raise PairityError(f"the decoder {decoder['type']} cannot be kept: only ByteLevel can.")


def check_readable(name: str, part: Any) -> None:
    """For a part that is only kept, not interpreted: refuse it if Hugging Face's library cannot read it."""
    if part is None or part == pre_tokenizers.BYTE_LEVEL:
        return
    import tokenizers

    empty = {"version": "1.0", "added_tokens": [], "model": {"type": "BPE", "vocab": {}, "merges": []}}
    try:
        tokenizers.Tokenizer.from_str(json.dumps(empty | {name: part}))
    except BaseException as error:
        raise_unless_its_own(error)
        raise PairityError(
            f"tokenizer.json is damaged: Hugging Face's library cannot read its {name}: {error}."
        ) from None
