"""Write what transformers reads next to tokenizer.json: roles of special tokens, chat template, and the rest."""

import tempfile
from pathlib import Path
from typing import Any

from pairity.bpe.model import BpeModel
from pairity.errors import PairityError
from pairity.extras import load_extra
from pairity.formats import tokenizer_json
from pairity.formats.json_files import as_json
from pairity.formats.tokenizer_config import CONFIG, LISTS, MAP, TEMPLATE, TEMPLATES

NAMES = ("tokenizer.json", CONFIG, MAP)
OBSOLETE = (TEMPLATE,)
"""A template that another program left in the folder would override ours."""


def without_role(model: BpeModel) -> list[str]:
    """The special tokens without a role."""
    others = model.wrapping.not_special | set(model.roles.named.values())
    return [name for name in model.special_tokens if name not in others]


def files(model: BpeModel) -> dict[str, bytes]:
    """The files of a folder that AutoTokenizer loads."""
    contents = tokenizer_json.write(model)
    config = config_of(model, contents)
    named = {key: config[key] for key in (*model.roles.named, *LISTS) if key in config}
    return {
        "tokenizer.json": as_json(contents),
        CONFIG: as_json(config),
        MAP: as_json(named),
    }


def config_of(model: BpeModel, contents: dict[str, Any]) -> dict[str, Any]:
    """tokenizer_config.json: that of the imported tokenizer, or ours."""
    added_tokens = {
        str(token["id"]): {key: value for key, value in token.items() if key != "id"}
        for token in contents["added_tokens"]
    }
    if model.wrapping.config:
        config = {**model.wrapping.config, "added_tokens_decoder": added_tokens}
    else:
        config = {
            "tokenizer_class": "PreTrainedTokenizerFast",
            "clean_up_tokenization_spaces": False,
            "model_max_length": int(1e30),  # how transformers writes "no limit"
            "added_tokens_decoder": added_tokens,
            "additional_special_tokens": without_role(model),
        }
    config |= model.roles.named
    for flag in ("add_bos", "add_eos"):  # transformers uses the post-processor, other programs use these
        if getattr(model.roles, flag):
            config.setdefault(f"{flag}_token", True)
    if model.wrapping.templates:
        config["chat_template"] = [{"name": name, "template": text} for name, text in model.templates.items()]
    elif model.roles.chat_template is not None:
        config["chat_template"] = model.roles.chat_template
    return config


def check_leftovers(folder: Path) -> None:
    """Refuse a folder whose chat templates would be read instead of ours."""
    if (folder / TEMPLATES).exists():
        raise PairityError(
            f"{folder / TEMPLATES} holds chat templates, which transformers would use instead of this "
            "tokenizer's. Remove that folder, or choose another place."
        )


def to_transformers(model: BpeModel) -> Any:
    """A `transformers.PreTrainedTokenizerFast`, or the class that an imported tokenizer had."""
    library = load_extra("transformers", "a transformers tokenizer")
    if model.wrapping.config:
        with tempfile.TemporaryDirectory() as folder:
            for name, data in files(model).items():
                (Path(folder) / name).write_bytes(data)
            return library.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    made = library.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer_json.to_huggingface(model),
        clean_up_tokenization_spaces=False,
        additional_special_tokens=without_role(model),
        **model.roles.named,
    )
    made.chat_template = model.templates if model.wrapping.templates else model.roles.chat_template
    return made
