"""A tokenizer written for another library, by the name of the format.

Every export gives the very ids of `Tokenizer.encode`. What a format cannot express is refused with the
reason: never a tokenizer that silently differs.
"""

from collections.abc import Mapping
from pathlib import Path

from pairity.bpe.model import BpeModel
from pairity.errors import PairityError
from pairity.files.locks import locked
from pairity.files.places import check_file, check_folder
from pairity.files.writing import write_file, write_folder
from pairity.formats import gguf, merges_txt, tiktoken, tokenizer_json, transformers
from pairity.formats.json_files import as_json

FORMATS = ("hf", "transformers", "tiktoken", "merges", "gguf")


def export(
    model: BpeModel,
    to: str,
    path: Path,
    *,
    force: bool = False,
    roles: transformers.Roles | None = None,
    chat_template: str | None = None,
) -> list[Path]:
    """Write the model for another library; returns the files.

    hf            one tokenizer.json, at PATH or in the folder PATH
    transformers  a folder for AutoTokenizer (`roles`: {"bos_token": ..., "eos_token": ..., "pad_token": ...})
    tiktoken      ranks at PATH, pattern and special tokens in a .json beside it
    merges        a folder with GPT-2's vocab.json and merges.txt
    gguf          a vocabulary for llama.cpp at PATH
    """
    roles = roles or {}
    match to:
        case "hf":
            file = path if path.suffix == ".json" else path / "tokenizer.json"
            return write(file, {file: as_json(tokenizer_json.write(model))}, force)
        case "tiktoken":
            return write(path, tiktoken.files(model, path), force)
        case "gguf":
            return write(path, {path: gguf.contents(model, roles)}, force)
        case "transformers":
            files = transformers.files(model, roles=roles, chat_template=chat_template)
        case "merges":
            merges_txt.check(model)
            files = merges_txt.files(model)
        case _:
            raise PairityError(f"unknown format {to!r}. Choose one of {', '.join(FORMATS)}.")
    check_folder(path, files, what="a tokenizer", force=force)
    with locked(path):
        return write_folder(path, files)


def write(path: Path, files: Mapping[Path, bytes], force: bool) -> list[Path]:
    """Single files, in order, into a folder that may hold anything else."""
    for file in files:
        check_file(file, force=force)
    with locked(path):
        return [write_file(file, data) for file, data in files.items()]
