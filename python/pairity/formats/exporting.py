"""A tokenizer written for another library, by the name of the format.

Every export gives the very ids of `Tokenizer.encode`. What a format cannot express is refused with the
reason: never a tokenizer that silently differs.
"""

from collections.abc import Mapping
from pathlib import Path

from pairity.bpe.model import BpeModel
from pairity.errors import PairityError
from pairity.files import Content, check_free, write_files
from pairity.formats import gguf, merges_txt, tiktoken, tokenizer_json, transformers

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
    folder, files = contents(model, to, path, roles or {}, chat_template)
    check_free(folder, files, force=force)
    return write_files(folder, files)


def contents(
    model: BpeModel, to: str, path: Path, roles: transformers.Roles, chat_template: str | None
) -> tuple[Path, Mapping[str, Content]]:
    """The folder to write to, and its files."""
    match to:
        case "hf":
            file = path if path.suffix == ".json" else path / "tokenizer.json"
            return file.parent, {file.name: tokenizer_json.as_json(tokenizer_json.write(model))}
        case "transformers":
            return path, transformers.files(model, roles=roles, chat_template=chat_template)
        case "merges":
            merges_txt.check(model)
            return path, merges_txt.files(model)
        case "tiktoken":
            return path.parent, tiktoken.files(model, path)
        case "gguf":
            return path.parent, {path.name: gguf.writer(model, roles)}
        case _:
            raise PairityError(f"unknown format {to!r}. Choose one of {', '.join(FORMATS)}.")
