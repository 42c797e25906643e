"""TOML files, and errors about those that cannot be read."""

import tomllib
from pathlib import Path
from typing import Any

from pairity.errors import PairityError
from pairity.files.reading import unreadable


def read_toml(path: Path, hint_if_twice: str = "") -> dict[str, Any]:
    """The contents; `hint_if_twice` is added to the error about a repeated key."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, RecursionError) as error:
        twice = str(error).startswith(("Cannot overwrite", "Cannot declare"))
        hint = hint_if_twice if twice else ""
        raise PairityError(f"{path} cannot be read as TOML: {error}{hint}") from error
