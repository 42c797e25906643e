"""tekken.json of Mistral: ranks, their pattern and special tokens in one file.

Special tokens come first, so the id of a token is its rank plus their number. The file lists more ranks than the
model uses.
"""

import base64
import binascii
from pathlib import Path

from pairity.errors import PairityError
from pairity.formats.json_files import of_type, read_json
from pairity.formats.published import TEKKEN
from pairity.formats.tiktoken import RankTable

MOST_SPECIAL_TOKENS = 1_000_000
"""More than any file has: a damaged number must not make us generate names for all of them."""


def is_tekken(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        start = file.read(4096)
    return '"pattern"' in start and '"config"' in start and "default_vocab_size" in start


def read_table(path: Path) -> RankTable:
    content = read_json(path)
    try:
        config = content["config"]
        reserved = of_type(int, config["default_num_special_tokens"], "default_num_special_tokens")
        learned = of_type(int, config["default_vocab_size"], "default_vocab_size") - reserved
        vocab = of_type(list, content["vocab"], "the vocabulary")
        if not (0 <= reserved < MOST_SPECIAL_TOKENS and 0 < learned <= len(vocab)):
            raise PairityError(
                f"{path} is damaged: {reserved} special tokens and {learned} others, but {len(vocab)} are listed."
            )
        ranks: dict[bytes, int] = {}
        for entry in vocab[:learned]:
            token = base64.b64decode(entry["token_bytes"], validate=True)
            if token in ranks:
                raise PairityError(f"{path}: the token {token!r} appears twice.")
            ranks[token] = reserved + of_type(int, entry["rank"], f"the rank of {token!r}")
        return RankTable(
            place=str(path),
            ranks=ranks,
            pattern=of_type(str, config["pattern"], "the pattern"),
            special_tokens=special_tokens(content.get("special_tokens"), reserved),
        )
    except (KeyError, TypeError, ValueError, IndexError, binascii.Error) as error:
        if isinstance(error, PairityError):
            raise
        raise PairityError(f"{path} is damaged ({error!r}). Get the file again.") from error


def special_tokens(listed: list[dict[str, object]] | None, number: int) -> dict[str, int]:
    """Name -> id: the tokens listed in the file, or else the standard ones. Unused ids get names too."""
    names = {f"<SPECIAL_{token_id}>": token_id for token_id in range(number)}
    if listed is None:
        found = {name: token_id for token_id, name in enumerate(TEKKEN) if token_id < number}
    else:
        found = {
            of_type(str, entry["token_str"], "a special token"): of_type(int, entry["rank"], "its rank")
            for entry in listed
        }
    taken = set(found.values())
    return found | {name: token_id for name, token_id in names.items() if token_id not in taken}
