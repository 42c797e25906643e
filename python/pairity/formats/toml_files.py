"""TOML files: what is said of one that cannot be read."""

import tomllib
from pathlib import Path
from typing import Any

from pairity.errors import PairityError
from pairity.formats.json_files import unreadable


def read_toml(path: Path, hint_if_twice: str = "") -> dict[str, Any]:
    """The contents; `hint_if_twice` is added to what is said of a key that is there twice."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise unreadable(path, error) from None
    except (ValueError, RecursionError) as error:
        twice = str(error).startswith(("Cannot overwrite", "Cannot declare"))
        hint = hint_if_twice if twice else ""
        raise PairityError(f"{path} cannot be read as TOML: {error}{hint}") from error
