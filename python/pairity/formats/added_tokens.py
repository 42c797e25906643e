"""Added tokens of tokenizer.json, and which of their flags can be kept."""

from collections.abc import Mapping, Sequence
from typing import Any

from pairity.errors import PairityError
from pairity.formats.json_files import of_type
from pairity.formats.tokenizer_config import Config

FLAGS = ("single_word", "lstrip", "rstrip")
SPECIAL = {**dict.fromkeys(FLAGS, False), "normalized": False, "special": True}
"""The flags of the special tokens that pairity writes."""


def with_named(
    added: Sequence[dict[str, Any]], config: Config, vocab: Mapping[str, int]
) -> list[dict[str, Any]]:
    """The added tokens, including those named only in tokenizer_config.json, which transformers adds too."""
    found = list(added)
    places = {token["content"]: place for place, token in enumerate(found)}
    for key, token in config.tokens:
        name = token["content"]
        if name in places:
            place = places[name]
            if token.get("id", found[place]["id"]) != found[place]["id"]:
                raise PairityError(
                    f"tokenizer_config.json gives {name!r} the id {token['id']}, but tokenizer.json the id "
                    f"{found[place]['id']}."
                )
            if key == "added_tokens_decoder":
                found[place] = found[place] | token
            continue
        token_id = vocab.get(name, token.get("id"))
        if token_id is None:
            raise PairityError(
                f"tokenizer_config.json names the {key} {name!r}, but tokenizer.json has no such token. Add the token "
                f"and save the tokenizer again, or remove {key} from tokenizer_config.json."
            )
        places[name] = len(found)
        found.append({**SPECIAL, **token, "id": token_id})
    return found


def unlike_ours(token: Mapping[str, Any]) -> dict[str, bool]:
    """The flags of an added token that differ from those of our special tokens."""
    flags = {
        flag: of_type(bool, token.get(flag, ours), f"{flag} of {token['content']!r}")
        for flag, ours in SPECIAL.items()
    }
    return {flag: value for flag, value in flags.items() if value != SPECIAL[flag]}


def check_flags(token: dict[str, Any], normalize: str | None) -> None:
    of_type(str, token["content"], "the text of an added token")
    of_type(int, token["id"], f"the id of the added token {token['content']!r}")
    for flag in FLAGS:
        if token.get(flag):
            raise PairityError(f"the added token {token['content']!r} sets {flag}, which cannot be kept.")
    if token.get("normalized") and normalize:
        raise PairityError(
            f"the added token {token['content']!r} is matched in normalised text, which cannot be kept."
        )
