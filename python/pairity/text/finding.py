"""Finding: the files that a path, a folder, a glob or an address stands for, and the languages in their names.

A folder may hold more than text: names that begin with `.` or `_` are skipped, as Parquet readers do;
documentation (`*.md`, README, LICENSE and the like) is not read, and a note says so; anything else is an
error, because leaving out `tel_Telu.docx` without a word would be worse.
"""

from __future__ import annotations

import glob
from collections.abc import Iterable
from pathlib import Path

from pairity.errors import PairityError
from pairity.text.addresses import Place
from pairity.text.inputs import CountsInput, TextFile, TextInput
from pairity.text.kinds import (
    READABLE,
    is_counts_file,
    is_documentation,
    is_open_file,
    is_stream,
    stem_of,
    text_file,
)
from pairity.text.mistakes import check_language, refuse_language_twice, refuse_missing, refuse_same_text


def resolve_path(path: Place, origin: str, notes: list[str]) -> list[TextInput | CountsInput]:
    # is_file first: on the web, is_dir would have to download the file to see that it is no folder.
    if not path.is_file() and path.is_dir():
        return resolve_folder(path, notes)
    if not path.exists():
        found = glob_matches(path)
        if found is None:
            refuse_missing(path, origin)
        return [part for match in found for part in resolve_path(match, origin, notes)]
    if is_documentation(path):
        notes.append(f"{path} looks like documentation and is not read.")
        return []
    file = text_file(path)
    if is_counts_file(file):
        return [counts_input(file)]
    language = stem_of(path)
    if is_open_file(path):
        raise PairityError(f"{path} does not name its language: write LANG={path}, such as eng_Latn={path}.")
    if "." in language or language.startswith("_"):
        language = language.partition(".")[0].lstrip("_") or "LANG"
        raise PairityError(f"the language of {path} is unclear: write {language}={path}.")
    check_language(language, str(path))
    return [TextInput(language, str(path), named=False, files=(file,), alone=True)]


def resolve_folder(folder: Place, notes: list[str]) -> list[TextInput | CountsInput]:
    """One file or one folder per language, or counts files only."""
    files, folders = list_folder(folder, notes)
    counts = [file for file in files if is_counts_file(file)]
    if counts:
        text = [file.path.name for file in files if file not in counts] + [f"{sub.name}/" for sub in folders]
        if text:
            raise PairityError(
                f"{folder} holds counts ({counts[0].path.name}) and text ({text[0]}): use two folders."
            )
        return [counts_input(file) for file in counts]
    if not files and not folders:
        raise PairityError(
            f"{folder} holds no text: it needs one file or one folder per language, "
            "such as eng_Latn.txt.gz or eng_Latn/part-0.parquet."
        )
    inputs: dict[str, TextInput] = {}
    entries = [(sub.name, sub) for sub in folders] + [(stem_of(file.path), file.path) for file in files]
    for language, entry in sorted(entries):
        if "." in language:
            short = language.partition(".")[0]
            raise PairityError(
                f"{entry}: is the language {short!r} or {language!r}? Put the parts of one language in a "
                f"folder ({folder / short}/), or name it: {short}={entry}."
            )
        check_language(language, str(entry))
        found = TextInput(language, str(entry), named=False, files=tuple(files_at(entry, str(entry), notes)))
        refuse_same_text(language, found.files)
        if language in inputs:
            refuse_language_twice(language, inputs[language].origin, found.origin)
        inputs[language] = found
    return list(inputs.values())


def list_folder(folder: Place, notes: list[str]) -> tuple[list[TextFile], list[Place]]:
    """The text files and the folders in a folder, sorted by name, without what is hidden or documentation."""
    files: list[TextFile] = []
    folders: list[Place] = []
    for entry in in_order(folder.iterdir()):
        if entry.name.startswith((".", "_")):
            continue
        if entry.is_dir():
            folders.append(entry)
        elif is_documentation(entry):
            notes.append(f"{entry} looks like documentation and is not read.")
        else:
            files.append(text_file(entry))
    return files, folders


def files_at(path: Place, origin: str, notes: list[str]) -> list[TextFile]:
    """The files of one language: a file, a folder of files, or a glob."""
    if path.is_file() or is_stream(path):
        return [text_file(path)]
    if path.is_dir():
        files, folders = list_folder(path, notes)
        if folders:
            # Data sets keep train/ and test/ side by side here, and nobody would notice that both were read.
            raise PairityError(
                f"{path} contains folders ({', '.join(sub.name for sub in folders[:5])}): name one, "
                f"such as LANG={folders[0]}, or all of them, LANG='{path}/*/*'."
            )
        if not files:
            raise PairityError(f"{path} holds no text: it needs files that end in {READABLE}.")
        return files
    found = glob_matches(path)
    if found is None:
        refuse_missing(path, origin)
    return [text_file(match) for match in found if match.is_file() or is_stream(match)]


def glob_matches(path: Place) -> list[Place] | None:
    """The matches of a glob in sorted order; None if there are none."""
    if not glob.has_magic(str(path)):
        return None
    if not isinstance(path, Path):
        return in_order(path.glob()) or None
    matches = glob.glob(str(path), recursive=True)  # noqa: PTH207 (Path.glob takes no absolute pattern)
    return in_order(map(Path, matches)) or None


def in_order(places: Iterable[Place]) -> list[Place]:
    return sorted(places, key=str)


def counts_input(file: TextFile) -> CountsInput:
    if not file.is_local:
        raise PairityError(f"{file.path} is a counts file, and those must be local: download it first.")
    return CountsInput(str(file.path), file.path)


def files_of_many(path: Place, origin: str, notes: list[str]) -> list[TextInput | CountsInput]:
    """Files whose records name their languages. Files without columns are named after their language, as always."""
    heard: list[str] = []
    files = files_at(path, origin, heard)
    tables = [file for file in files if file.kind not in ("txt", "words") and not is_counts_file(file)]
    if not tables:
        return resolve_path(path, origin, notes)
    if other := [file.path.name for file in files if file not in tables]:
        raise PairityError(
            f"{origin} holds files whose records name their languages ({tables[0].path.name}) and others "
            f"({other[0]}): give them separately."
        )
    notes += heard
    return [TextInput("", origin, named=False, files=tuple(files))]
