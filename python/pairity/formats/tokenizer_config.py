"""What transformers reads next to tokenizer.json: tokenizer_config.json, special_tokens_map.json, chat templates.

tokenizer_config.json   {"bos_token": "<s>", "model_max_length": 4096, ...}
chat_template.jinja     the template; it overrides one in tokenizer_config.json
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pairity.bpe.roles import NO_ROLES, TOKENS, Roles
from pairity.errors import PairityError
from pairity.files.reading import unreadable
from pairity.formats.json_files import as_json, of_type, read_json

CONFIG = "tokenizer_config.json"
MAP = "special_tokens_map.json"
TEMPLATE = "chat_template.jinja"
TEMPLATES = "additional_chat_templates"
"""A folder with further templates."""

OURS = (*TOKENS, "chat_template", "added_tokens_decoder")
"""Keys that are stored separately from the rest of the file, or generated."""
PLACES = ("name_or_path", "special_tokens_map_file", "tokenizer_file")
"""Keys that only say where the files once were."""
LISTS = ("additional_special_tokens", "extra_special_tokens")


@dataclass(frozen=True, kw_only=True)
class Config:
    """Everything about a tokenizer that is not in its tokenizer.json."""

    roles: Roles = NO_ROLES
    """Without add_bos and add_eos, which come from the post-processor in tokenizer.json."""
    others: Mapping[str, Any] | None = None
    """The rest of tokenizer_config.json."""
    templates: Mapping[str, str] = field(default_factory=dict)
    """Chat templates other than the default one, by name."""
    tokens: tuple[tuple[str, dict[str, Any]], ...] = ()
    """Every token that is named: ("pad_token", {"content": "<pad>"}), with its id and flags if they are given."""


def read_tokenizer_config(folder: Path) -> Config:
    """From a folder; any of the files may be missing."""
    config = read_json(folder / CONFIG) if (folder / CONFIG).exists() else {}
    if "added_tokens_decoder" not in config and (folder / MAP).exists():
        config |= read_json(folder / MAP)  # as transformers does for older folders
    if "auto_map" in config:
        raise PairityError(
            f"{folder / CONFIG} names its own Python code (auto_map), which cannot be kept. To continue "
            "without it, copy only the tokenizer.json into another folder."
        )
    templates = read_templates(folder)
    try:
        as_json(config)  # raises if it cannot be written again
        return parse(config, templates or templates_in(config.get("chat_template")))
    except PairityError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
        raise PairityError(
            f"{folder / CONFIG} is damaged: {type(error).__name__} {error}. Get the file again, or save it again."
        ) from error


def parse(config: Mapping[str, Any], templates: dict[str, str]) -> Config:
    tokens = tuple(tokens_in(config))
    roles = {role: token["content"] for role, token in tokens if role in TOKENS}
    others = {key: value for key, value in config.items() if key not in (*OURS, *PLACES)}
    return Config(
        roles=Roles(**roles, chat_template=templates.pop("default", None)),
        others=others or None,
        templates=templates,
        tokens=tokens,
    )


def read_templates(folder: Path) -> dict[str, str]:
    """The templates that have their own files."""
    files = {"default": folder / TEMPLATE} if (folder / TEMPLATE).exists() else {}
    files |= {file.stem: file for file in sorted((folder / TEMPLATES).glob("*.jinja"))}
    return {name: read_template(file) for name, file in files.items()}


def read_template(file: Path) -> str:
    """The text of a chat template, every character as it is."""
    try:
        return file.read_bytes().decode()
    except OSError as error:
        raise unreadable(file, error) from None
    except UnicodeDecodeError:
        raise PairityError(f"{file} is not a Jinja template: it is not UTF-8 text.") from None


def templates_in(value: Any) -> dict[str, str]:
    """One template, or several as [{"name": "default", "template": ...}, ...]."""
    if value is None:
        return {}
    if isinstance(value, list):
        value = {template["name"]: template["template"] for template in value}
    elif not isinstance(value, dict):
        value = {"default": value}
    return {name: of_type(str, template, f"the chat template {name!r}") for name, template in value.items()}


def tokens_in(config: Mapping[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """(key, token) for every token that the file names."""
    for token_id, token in (config.get("added_tokens_decoder") or {}).items():
        yield "added_tokens_decoder", {**token, "id": int(token_id)}
    for key, value in config.items():
        if key in LISTS and value:
            for token in value.values() if isinstance(value, dict) else value:
                yield key, as_token(token, key)
        elif key.endswith("_token") and isinstance(value, str | dict) and value:
            yield key, as_token(value, key)


def as_token(value: Any, key: str) -> dict[str, Any]:
    token = {"content": value} if isinstance(value, str) else value
    of_type(str, of_type(dict, token, f"{key} in {CONFIG}")["content"], f"the text of {key} in {CONFIG}")
    return {name: part for name, part in token.items() if name != "__type"}
