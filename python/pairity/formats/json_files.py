"""JSON files: how all of ours are written, and errors about those that cannot be read."""

import json
import re
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from pairity.errors import PairityError
from pairity.files.reading import unreadable

KINDS: dict[type, str] = {
    bool: "true or false",
    dict: "an object",
    int: "a whole number",
    list: "a list",
    str: "a string",
}
T = TypeVar("T")

HALF_CHARACTER = re.compile(rb"\\u[dD][89a-fA-F]")
"""The escape of one half of a surrogate pair; alone it is not a character."""


def as_json(contents: Any) -> bytes:
    text = json.dumps(contents, ensure_ascii=False, indent=1, default=plain, allow_nan=False)
    return (text + "\n").encode()


def plain(value: Any) -> Any:
    """Turn NumPy numbers into plain ones."""
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    raise PairityError(
        f"the record of a tokenizer must be plain data for JSON; {value!r} is {type(value).__name__}."
    )


def read_json(file: Path) -> dict[str, Any]:
    try:
        data = file.read_bytes()
    except FileNotFoundError:
        raise PairityError(
            f"there is no {file}. A tokenizer is a folder with a tokenizer.json, or that file."
        ) from None
    except OSError as error:
        raise unreadable(file, error) from None
    return parse_json(data, file)


def parse_json(data: bytes, file: Path) -> dict[str, Any]:
    try:
        contents = json.loads(data)
    except (ValueError, RecursionError) as error:  # not UTF-8, not JSON, a number of 5,000 digits, too deep
        raise PairityError(
            f"{file} is damaged, it is not JSON: {error}. Get the file again, or save it again."
        ) from None
    if not isinstance(contents, dict):
        raise PairityError(f"{file} is damaged: it holds a {type(contents).__name__}, not an object.")
    if HALF_CHARACTER.search(data) and not is_text(json.dumps(contents, ensure_ascii=False)):
        raise PairityError(
            f"{file} is damaged: it holds half a character (a lone surrogate such as \\ud800), which is not text."
        )
    return contents


def is_text(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def of_type(kind: type[T], value: Any, what: str) -> T:
    """The value, which must be exactly of this type: neither a bool nor 1.0 passes for an int."""
    if type(value) is not kind:
        raise PairityError(f"{what}: {shortened(value)} is not {KINDS[kind]}.")
    return value


def shortened(value: object) -> str:
    text = repr(value)
    return text if len(text) < 80 else f"{text[:76]} ..."
