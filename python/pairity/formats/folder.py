"""A tokenizer on disk: the folder that `save` writes and `load` reads.

Files are written in a temporary folder beside the target and renamed when all are complete, so a reader sees
the old tokenizer or the new one, and a crash leaves no half of one.
"""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Mapping
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq

from pairity import _core
from pairity.errors import PairityError
from pairity.formats import tokenizer_json
from pairity.formats.oniguruma import for_oniguruma, from_oniguruma
from pairity.tokenizer.tokenizer import Tokenizer

FORMAT = 1
SETTINGS = "pairity.json"
TRACE = "trace.parquet"

Writer = bytes | Callable[[Path], None]
Roles = Mapping[str, str | None]


def save(tok: Tokenizer, path: Path, *, force: bool, roles: Roles, chat_template: str | None) -> None:
    files: dict[str, Writer] = {}
    files |= transformers_files(tok, roles=roles, chat_template=chat_template)
    files |= merges_files(tok)
    if tok.trace is not None:
        files[TRACE] = lambda target: pq.write_table(tok.trace, target, compression="zstd")
    files[SETTINGS] = as_json(_settings(tok))
    write(files, path, force=force, stale=(TRACE,))


def transformers_files(tok: Tokenizer, *, roles: Roles, chat_template: str | None) -> dict[str, Writer]:
    """What transformers' AutoTokenizer reads."""
    named, others = split_roles(tok, roles)
    contents = tokenizer_json.write(tok)
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


def split_roles(tok: Tokenizer, roles: Roles) -> tuple[dict[str, str], list[str]]:
    """The special tokens that have a role, and the others."""
    named = {role: name for role, name in roles.items() if name is not None}
    for role, name in named.items():
        if name not in tok.special_tokens:
            have = ", ".join(map(repr, tok.special_tokens)) or "none"
            raise PairityError(f"{role} {name!r} is not a special token of this tokenizer, which has {have}.")
    return named, [name for name in tok.special_tokens if name not in named.values()]


def merges_files(tok: Tokenizer) -> dict[str, Writer]:
    """GPT-2's pair of files."""
    lines = ["#version: 0.2", *(" ".join(pair) for pair in tokenizer_json.merge_list(tok))]
    return {
        "vocab.json": as_json(tokenizer_json.vocab(tok)),
        "merges.txt": ("\n".join(lines) + "\n").encode(),
    }


def load(path: Path) -> Tokenizer:
    file = path / "tokenizer.json" if path.is_dir() else path
    contents = read_json(file)
    settings_file = file.parent / SETTINGS
    if not settings_file.exists():
        return tokenizer_json.read(contents)
    settings = read_json(settings_file)
    trace_file = file.parent / TRACE
    trace = pq.read_table(trace_file) if trace_file.exists() else None
    try:
        return _restore(contents, settings, trace)
    except (KeyError, TypeError, AttributeError) as error:
        raise PairityError(f"{settings_file} is damaged: {type(error).__name__} {error}.") from None


def _restore(contents: dict[str, Any], settings: dict[str, Any], trace: Any) -> Tokenizer:
    if settings["format"] > FORMAT:
        raise PairityError(
            f"the tokenizer was saved by pairity {settings['versions']['pairity']}, in a format that is "
            "newer than this version can read. Upgrade pairity."
        )
    parts = tokenizer_json.parse(contents)
    # Hugging Face may have been given another spelling of the pattern; ours is the one in the settings.
    pattern = settings["pattern"]
    theirs = None if pattern is None else from_oniguruma(for_oniguruma(pattern))
    if parts["pattern"] != theirs:
        raise PairityError(
            f"{SETTINGS} and tokenizer.json have different patterns: one of them was changed after the other."
        )
    tokens, merges = parts.pop("tokens"), parts.pop("merges")
    parts["pattern"] = pattern
    return Tokenizer(tokens, merges, allow_holes=True, record=settings["record"], trace=trace, **parts)


def _settings(tok: Tokenizer) -> dict[str, Any]:
    return {
        "format": FORMAT,
        "pretokenizer": tok.pretokenizer,
        "pattern": tok.pattern,
        "normalize": tok.normalize,
        "special_tokens": dict(tok.special_tokens),
        "vocab_size": tok.vocab_size,
        "merges": len(tok.merges),
        "versions": {"pairity": metadata.version("pairity"), "unicode": _core.UNICODE_VERSION},
        "record": tok.record,
    }


def as_json(contents: Any) -> bytes:
    text = json.dumps(contents, ensure_ascii=False, indent=1, default=_plain, allow_nan=False)
    return (text + "\n").encode()


def _plain(value: Any) -> Any:
    """Numbers of numpy as JSON has them."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise PairityError(
        f"the record of a tokenizer must be plain data for JSON; {value!r} is {type(value).__name__}."
    )


def read_json(file: Path) -> dict[str, Any]:
    try:
        contents = json.loads(file.read_bytes())
    except FileNotFoundError:
        raise PairityError(
            f"there is no {file}. A tokenizer is a folder with a tokenizer.json, or that file."
        ) from None
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise PairityError(
            f"{file} is damaged, it is not JSON: {error}. Get the file again, or save it anew."
        ) from None
    if not isinstance(contents, dict):
        raise PairityError(f"{file} is damaged: it holds a {type(contents).__name__}, not an object.")
    return contents


def check_free(target: Path, names: Iterable[str] = ("tokenizer.json",), *, force: bool = False) -> None:
    """Refuse a folder that holds a tokenizer already, and one that cannot be written."""
    there_is = next(path for path in (target, *target.absolute().parents) if path.exists())
    if not there_is.is_dir():
        raise PairityError(f"{there_is} is a file, and a tokenizer needs a folder. Choose another name.")
    if not os.access(there_is, os.W_OK | os.X_OK):
        raise PairityError(
            f"{target} cannot be written: no permission for {there_is}. Choose another folder."
        )
    there = [name for name in names if (target / name).exists()]
    if there and not force:
        raise PairityError(
            f"{target} already holds a tokenizer ({there[0]}). Choose another folder, or replace it with "
            "--force (force=True)."
        )


def write(files: Mapping[str, Writer], target: Path, *, force: bool, stale: tuple[str, ...] = ()) -> None:
    """Write all the files to the folder, or none. `stale` ones of an older tokenizer are removed."""
    check_free(target, files, force=force)
    target.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        for name, content in files.items():
            if isinstance(content, bytes):
                (temporary / name).write_bytes(content)
            else:
                content(temporary / name)
        target.mkdir(exist_ok=True)
        for name in files:
            (temporary / name).replace(target / name)
        for name in set(stale) - files.keys():
            (target / name).unlink(missing_ok=True)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def _umask() -> int:
    """Which rights new files shall lack; it can only be read by setting it."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
