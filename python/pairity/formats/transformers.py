"""What transformers reads beside tokenizer.json: the roles of special tokens, and the chat template."""

from collections.abc import Mapping
from typing import Any

from pairity.bpe.model import BpeModel
from pairity.errors import PairityError
from pairity.extras import load_extra
from pairity.formats import tokenizer_json
from pairity.formats.json_files import as_json

Roles = Mapping[str, str | None]
"""{"bos_token": "<s>", "eos_token": None, ...}"""


NAMES = ("tokenizer.json", "tokenizer_config.json", "special_tokens_map.json")


def roles_of(bos_token: str | None, eos_token: str | None, pad_token: str | None) -> Roles:
    return {"bos_token": bos_token, "eos_token": eos_token, "pad_token": pad_token}


def split_roles(model: BpeModel, roles: Roles) -> tuple[dict[str, str], list[str]]:
    """The special tokens that have a role, and the others."""
    named = {role: name for role, name in roles.items() if name is not None}
    for role, name in named.items():
        if name not in model.special_tokens:
            have = ", ".join(map(repr, model.special_tokens)) or "none"
            raise PairityError(f"{role} {name!r} is not a special token of this tokenizer, which has {have}.")
    return named, [name for name in model.special_tokens if name not in named.values()]


def files(model: BpeModel, *, roles: Roles, chat_template: str | None) -> dict[str, bytes]:
    """The files of a folder that AutoTokenizer loads."""
    named, others = split_roles(model, roles)
    contents = tokenizer_json.write(model)
    config: dict[str, Any] = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "clean_up_tokenization_spaces": False,
        "model_max_length": int(1e30),  # transformers' way to say: no limit
        "added_tokens_decoder": {
            str(token["id"]): {key: value for key, value in token.items() if key != "id"}
            for token in contents["added_tokens"]
        },
        "additional_special_tokens": others,
        **named,
    }
    if chat_template is not None:
        config["chat_template"] = chat_template
    return {
        "tokenizer.json": as_json(contents),
        "tokenizer_config.json": as_json(config),
        "special_tokens_map.json": as_json({**named, "additional_special_tokens": others}),
    }


def to_transformers(model: BpeModel, *, roles: Roles, chat_template: str | None) -> Any:
    """A `transformers.PreTrainedTokenizerFast`."""
    library = load_extra("transformers", "a transformers tokenizer")
    named, others = split_roles(model, roles)
    made = library.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer_json.to_huggingface(model),
        clean_up_tokenization_spaces=False,
        additional_special_tokens=others,
        **named,
    )
    made.chat_template = chat_template
    return made
