"""A tokenizer written for another library, by the name of the format.

Every export gives the very ids of `Tokenizer.encode`. What a format cannot express is refused with the
reason: never a tokenizer that silently differs. Only for llama.cpp can a difference be allowed, and it is shown.
"""

from collections.abc import Mapping
from pathlib import Path

from pairity.bpe.model import BpeModel
from pairity.errors import PairityError
from pairity.extras import load_extra
from pairity.files.locks import locked
from pairity.files.places import check_file, check_folder
from pairity.files.writing import write_files, write_folder
from pairity.formats import gguf, llama_cpp, merges_txt, tiktoken, tokenizer_json, transformers
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
    allow_different: bool = False,
) -> list[Path]:
    """Write the model for another library; returns the files.

    hf            one tokenizer.json, at PATH or in the folder PATH
    transformers  a folder for AutoTokenizer (`roles`: {"bos_token": ..., "eos_token": ..., "pad_token": ...})
    tiktoken      ranks at PATH, pattern and special tokens in a .json beside it
    merges        a folder with GPT-2's vocab.json and merges.txt
    gguf          a vocabulary for llama.cpp at PATH; with `allow_different` even where ids differ there
    """
    check_allowed(to, allow_different)
    roles = roles or {}
    match to:
        case "hf":
            file = hf_file(path)
            return write(to, path, {file: as_json(tokenizer_json.write(model))}, force)
        case "tiktoken":
            return write(to, path, tiktoken.files(model, path), force)
        case "gguf":
            llama_cpp.check(model, allow_different=allow_different)
            return write(to, path, {path: gguf.contents(model, roles)}, force)
        case "transformers":
            files = transformers.files(model, roles=roles, chat_template=chat_template)
        case "merges":
            merges_txt.check(model)
            files = merges_txt.files(model)
        case _:
            raise PairityError(f"unknown format {to!r}. Choose one of {', '.join(FORMATS)}.")
    with locked(path):
        check_place(to, path, force=force)
        return write_folder(path, files)


def write(to: str, path: Path, files: Mapping[Path, bytes], force: bool) -> list[Path]:
    """Single files into a folder that may hold anything else."""
    with locked(path):
        check_place(to, path, force=force)
        return write_files(files)


def check_allowed(to: str, allow_different: bool) -> None:
    if allow_different and to != "gguf":
        raise PairityError(
            f"--allow-different (allow_different=True) is for gguf alone: {to} gives the very ids of the tokenizer, or "
            "is refused. Leave it out."
        )


def check_place(to: str, path: Path, *, force: bool) -> None:
    """Refuse what is known before the model is: a place that cannot be written, and a missing package."""
    match to:
        case "hf":
            check_file(hf_file(path), force=force)
        case "tiktoken":
            for file in (path, tiktoken.settings_file(path)):
                check_file(file, force=force)
        case "gguf":
            load_extra("gguf", "a GGUF file")
            check_file(path, force=force)
        case "transformers":
            check_folder(path, transformers.NAMES, what="a tokenizer", force=force)
        case "merges":
            check_folder(path, merges_txt.NAMES, what="a tokenizer", force=force)


def hf_file(path: Path) -> Path:
    return path if path.suffix == ".json" else path / "tokenizer.json"
