"""Export a tokenizer for another library, by the name of the format.

Every export gives exactly the ids of `Tokenizer.encode`. Anything that a format cannot express is an error: an export
never differs silently. The user may allow a difference for llama.cpp, where it is shown, and for WordPiece, which cuts
text differently.
"""

import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from pairity.bpe.model import BpeModel
from pairity.bpe.roles import GivenRoles
from pairity.errors import PairityError, PairityWarning, listed
from pairity.extras import load_extra
from pairity.files.locks import locked
from pairity.files.places import check_file, check_folder
from pairity.files.writing import write_files, write_folder
from pairity.formats import gguf, llama_cpp, merges_txt, tiktoken, tokenizer_json, transformers, wordpiece
from pairity.formats.json_files import as_json
from pairity.text.pretokenizers import PRESETS, TIKTOKEN_GPT2, Pretokenization

FORMATS = ("hf", "transformers", "tiktoken", "merges", "gguf", "wordpiece")
DIFFERENT = ("gguf", "wordpiece")
"""Formats that may give other ids than the tokenizer, if the user allows it."""
ONE_JSON = ("hf", "wordpiece")
"""Formats that are one tokenizer.json."""
HOLDS = {"hf": ("add_bos", "add_eos"), "wordpiece": ("add_bos", "add_eos"), "tiktoken": (), "merges": ()}
"""The parts of the roles that a format can express, for formats that cannot express all."""
NEEDS = {"bos_token": "add_bos", "eos_token": "add_eos"}
"""tokenizer.json names a token only if it also adds it to texts."""
FILES = {
    "hf": "tokenizer.json",
    "wordpiece": "tokenizer.json",
    "tiktoken": "a ranks file",
    "merges": "merges.txt",
}


def export(
    model: BpeModel,
    to: str,
    path: Path,
    *,
    force: bool = False,
    given: GivenRoles | None = None,
    allow_different: bool = False,
) -> list[Path]:
    """Write the model for another library, with the roles that are `given`; returns the files.

    hf            one tokenizer.json, at PATH or in the folder PATH
    transformers  a folder for AutoTokenizer with roles, chat template and what the tokenizer came with
    tiktoken      ranks at PATH, pattern and special tokens in a .json next to it
    merges        a folder with GPT-2's vocab.json and merges.txt
    gguf          a vocabulary for llama.cpp at PATH, with roles and chat template; with `allow_different` even if
                  its ids differ
    wordpiece     one tokenizer.json, as hf, with the same tokens and ids; it takes the longest token at every place
                  instead of merging, so it always needs `allow_different`

    A given role that the format has no place for is an error. Others that the tokenizer has are left out with a
    warning.
    """
    check_allowed(to, allow_different)
    check_given(to, given or {})
    model = model.with_roles(given or {})
    written = write_format(model, to, path, force, allow_different)
    if left_out := unsaid(to, model):
        warnings.warn(
            f"{FILES[to]} cannot store {listed(left_out)}, so that is left out. Export to transformers to "
            "keep it.",
            PairityWarning,
            stacklevel=3,
        )
    return written


def write_format(model: BpeModel, to: str, path: Path, force: bool, allow_different: bool) -> list[Path]:
    match to:
        case "hf":
            file = hf_file(path)
            return write(to, path, {file: as_json(tokenizer_json.write(model))}, force)
        case "wordpiece":
            return write(to, path, {hf_file(path): as_json(wordpiece.write(model))}, force)
        case "tiktoken":
            return write(to, path, tiktoken.files(model, path), force)
        case "gguf":
            llama_cpp.check(model, allow_different=allow_different)
            return write(to, path, {path: gguf.contents(model)}, force)
        case "transformers":
            files = transformers.files(model)
            transformers.check_leftovers(path)
        case "merges":
            merges_txt.check(model)
            files = merges_txt.files(model)
        case _:
            raise PairityError(f"unknown format {to!r}. Choose one of {', '.join(FORMATS)}.")
    with locked(path):
        check_place(to, path, force=force)
        return write_folder(path, files, obsolete=transformers.OBSOLETE if to == "transformers" else ())


def write(to: str, path: Path, files: Mapping[Path, bytes], force: bool) -> list[Path]:
    """Write single files into a folder that may have other contents."""
    with locked(path):
        check_place(to, path, force=force)
        return write_files(files)


def check_given(to: str, given: GivenRoles) -> None:
    """Refuse a role or a template that the format has no place for."""
    asked = {name: value for name, value in given.items() if value is not None}
    for name in asked if to in HOLDS else ():
        if name in HOLDS[to] or (to in ONE_JSON and asked.get(NEEDS.get(name, ""))):
            continue
        option = f"--{name.replace('_', '-')}"
        if to in ONE_JSON and name in NEEDS:
            flag = f"{NEEDS[name]}=True (--{NEEDS[name].replace('_', '-')})"
            raise PairityError(
                f"tokenizer.json cannot store the {name}, only what is added to every text. Also give "
                f"{flag}, leave out {name} ({option}), or export to transformers."
            )
        raise PairityError(
            f"{FILES[to]} cannot store {name}: leave it out ({option}), or export to transformers or gguf."
        )


def unsaid(to: str, model: BpeModel) -> list[str]:
    """What the tokenizer has but the format has no place for: ["bos_token '<s>'", "the chat template"]"""
    if to not in HOLDS:
        return []
    roles = model.roles
    found = [
        f"{role} {token!r}"
        for role, token in roles.named.items()
        if not (to in ONE_JSON and role in NEEDS and getattr(roles, NEEDS[role]))
    ]
    if model.templates:
        found.append("the chat template")
    if to == "merges":
        found += unsaid_of_cut(model.cut)
    if to not in ONE_JSON:
        found += [flag for flag in NEEDS.values() if getattr(roles, flag)]
        found += ["the post-processor"] if model.wrapping.post_processor else []
    return found


def unsaid_of_cut(cut: Pretokenization) -> list[str]:
    """Readers of GPT-2's two files cut text as GPT-2 does, so any other way is lost."""
    found = [f"the normalization {cut.normalize}"] if cut.normalize else []
    if cut.pattern not in (PRESETS["gpt2"], TIKTOKEN_GPT2):
        name = replace(cut, normalize=None).name
        found.append(
            f"the pre-tokenizer {name!r} (programs that read it use GPT-2's, which gives different ids)"
        )
    return found


def check_allowed(to: str, allow_different: bool) -> None:
    if allow_different and to not in DIFFERENT:
        raise PairityError(
            f"--allow-different (allow_different=True) is only for {' and '.join(DIFFERENT)}: {to} gives "
            "exactly the tokenizer's ids, or the export fails. Leave it out."
        )
    if to == "wordpiece" and not allow_different:
        raise PairityError(
            "WordPiece takes the longest match and does not merge, so its ids differ from the "
            "tokenizer's: a model trained with one cannot read the other. For a model that will be "
            "trained on its ids, use --allow-different (allow_different=True); otherwise export to hf."
        )


def check_place(to: str, path: Path, *, force: bool) -> None:
    """Refuse what is wrong whatever the model is: a place that cannot be written, a missing package."""
    match to:
        case "hf" | "wordpiece":
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
