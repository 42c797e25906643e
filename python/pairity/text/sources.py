"""SOURCEs to files: where the text of each language is, found from names alone.

A SOURCE is
- `LANG=PATH`: the text of one language, PATH a file, a glob or a folder of files;
- a folder with one file or one folder per language: `eng_Latn.txt.gz`, `deu_Latn.jsonl.zst`,
  `tel_Telu/*.parquet`;
- a text file (or a pipe named like one) whose name is its language, as in a folder: `data/*.txt` means the
  same as `data/`;
- a counts file, or a folder of them: Parquet with the columns language, pretoken, count;
- in Python also `{language: path | paths | iterable of lines | {pretoken: count}}`, a `Counts`, or an Arrow
  table of counts.

Every mistake that shows in names is found here, before any text is read. A language may come from one SOURCE
only: the same name in two is an error. Counts are the exception, since they are made to be summed: counts
files may share languages, and only giving the same file twice is an error.

A folder may hold more than text: names that begin with `.` or `_` are skipped, as Parquet readers do;
documentation (`*.md`, README, LICENSE and the like) is not read, and a note says so; anything else is an
error, so that `tel_Telu.docx` is never silently left out.
"""

from __future__ import annotations

import difflib
import glob
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

from pairity.errors import PairityError
from pairity.languages import hint_of_other_names
from pairity.text.inputs import AlreadyCounted, CountsInput, Resolved, TextFile, TextInput
from pairity.text.kinds import (
    READABLE,
    is_counts_file,
    is_documentation,
    is_open_file,
    is_stream,
    stem_of,
    text_file,
)


def resolve(sources: Any, languages: Iterable[str] | None = None) -> Resolved:
    """Find the languages in `sources`: a SOURCE or a sequence of them.

    With `languages` (those of train, when dev is read) others found in a folder are left out, and `left_out`
    lists them; another one that was named one by one is an error. What is resolved already is only chosen from.

    >>> resolve(["eng_Latn=a.txt", "more/"])  # doctest: +SKIP
    Resolved(inputs=(TextInput('eng_Latn', ...), TextInput('deu_Latn', ...)), ...)
    """
    if isinstance(sources, Resolved):
        if languages is None:
            return sources
        kept, others = keep_only(sources.inputs, list(languages))
        return Resolved(tuple(kept), sources.notes, (*sources.left_out, *others))
    notes: list[str] = []
    inputs: list[TextInput | CountsInput] = []
    for source in as_sequence(sources):
        try:
            inputs += resolve_one(source, notes)
        except OSError as error:  # a folder that may not be read, a name that is too long
            raise PairityError(
                f"cannot read {error.filename or source}: {error.strerror or error}."
            ) from error
    if not inputs:
        raise PairityError(
            "no SOURCE given: name a folder with one file per language, LANG=PATH, or a counts file."
            + "".join(f" {note}" for note in notes)
        )
    refuse_twice(inputs)
    sort_alone(inputs)
    left_out: list[str] = []
    if languages is not None:
        inputs, left_out = keep_only(inputs, list(languages))
    return Resolved(tuple(inputs), tuple(notes), tuple(left_out))


def sort_alone(inputs: list[TextInput | CountsInput]) -> None:
    """Files given one by one get the order of a folder: a shell sorts `data/*.txt` by the user's locale."""
    places = [place for place, part in enumerate(inputs) if isinstance(part, TextInput) and part.alone]
    found = sorted((inputs[place] for place in places), key=lambda part: str(part.language))
    for place, part in zip(places, found, strict=True):
        inputs[place] = part


def as_sequence(sources: Any) -> Sequence[Any]:
    if isinstance(sources, list | tuple):
        return sources
    return [sources]


def resolve_one(source: Any, notes: list[str]) -> list[TextInput | CountsInput]:
    if isinstance(source, str):
        if not source:
            raise PairityError(
                "a SOURCE is empty: is a variable of the shell not set? Write . for this folder."
            )
        path = Path(source).expanduser()
        language, equals, rest = source.partition("=")
        if equals and "/" not in language and not path.exists():
            return [named_input(language, rest, source, notes)]
        return resolve_path(path, source, notes)
    if isinstance(source, os.PathLike):
        path = Path(source)
        return resolve_path(path, str(path), notes)
    if hasattr(source, "__arrow_c_stream__"):
        return [CountsInput("the table given", source)]
    if isinstance(source, AlreadyCounted):
        return [CountsInput("the counts given", source)]
    if isinstance(source, Mapping):
        return [from_mapping(language, value, notes) for language, value in source.items()]
    raise PairityError(
        f"a SOURCE cannot be {type(source).__name__}: give LANG=PATH, a folder, a counts file, "
        "or {language: path, lines or counts}."
    )


def from_mapping(language: Any, value: Any, notes: list[str]) -> TextInput | CountsInput:
    if not isinstance(language, str):
        raise PairityError(f"a language is known by its name, a string, not by {language!r}.")
    origin = f"what was given for {language!r}"
    if isinstance(value, str):
        return named_input(language, value, f"{language}={value}", notes)
    check_language(language, origin)
    if isinstance(value, os.PathLike):
        value = [Path(value)]
    if isinstance(value, list | tuple) and value and all(isinstance(item, os.PathLike) for item in value):
        origin = f"{language}={os.fspath(value[0])}" + (", ..." if len(value) > 1 else "")
        files = [file for item in value for file in files_at(Path(item), origin, notes)]
        return text_input(language, files, origin)
    if isinstance(value, Mapping | AlreadyCounted):
        return CountsInput(origin, value, language)
    if isinstance(value, bytes) or not isinstance(value, Iterable):
        raise PairityError(
            f"the text of {language!r} cannot be {type(value).__name__}: give a path, an iterable of lines, "
            "or {pretoken: count}."
        )
    return TextInput(language, origin, named=True, lines=value)


def named_input(language: str, path: str, origin: str, notes: list[str]) -> TextInput:
    check_language(language, origin)
    if not path:
        raise PairityError(f"{origin!r} names no file: write {language}=PATH.")
    return text_input(language, files_at(Path(path).expanduser(), origin, notes), origin)


def text_input(language: str, files: Sequence[TextFile], origin: str) -> TextInput:
    for file in files:
        if file.kind == "parquet" and is_counts_file(file.path):
            raise PairityError(
                f"{file.path} is a counts file and names its languages itself: give it without '{language}='."
            )
    refuse_same_stem(language, files)
    return TextInput(language, origin, named=True, files=tuple(files))


def resolve_path(path: Path, origin: str, notes: list[str]) -> list[TextInput | CountsInput]:
    if path.is_dir():
        return resolve_folder(path, notes)
    if not path.exists():
        found = glob_matches(path)
        if found is None:
            refuse_missing(path, origin)
        return [part for match in found for part in resolve_path(match, origin, notes)]
    if is_documentation(path):
        notes.append(f"{path} is taken for documentation and is not read.")
        return []
    file = text_file(path)
    if file.kind == "parquet" and is_counts_file(path):
        return [CountsInput(str(path), path)]
    language = stem_of(path)
    if is_open_file(path):
        raise PairityError(
            f"{path} does not say what language it is: write LANG={path}, such as eng_Latn={path}."
        )
    if "." in language or language.startswith("_"):
        language = language.partition(".")[0].lstrip("_") or "LANG"
        raise PairityError(f"the language of {path} is unclear: write {language}={path}.")
    check_language(language, str(path))
    return [TextInput(language, str(path), named=False, files=(file,), alone=True)]


def resolve_folder(folder: Path, notes: list[str]) -> list[TextInput | CountsInput]:
    """One file or one folder per language, or counts files only."""
    files, folders = list_folder(folder, notes)
    counts = [file for file in files if file.kind == "parquet" and is_counts_file(file.path)]
    if counts:
        text = [file.path.name for file in files if file not in counts] + [f"{sub.name}/" for sub in folders]
        if text:
            raise PairityError(
                f"{folder} holds counts ({counts[0].path.name}) and text ({text[0]}): use two folders."
            )
        return [CountsInput(str(file.path), file.path) for file in counts]
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
                f"{entry}: is the language {short!r} or {language!r}? Put the parts of one language into "
                f"a folder ({folder / short}/), or name it: {short}={entry}."
            )
        check_language(language, str(entry))
        found = TextInput(language, str(entry), named=False, files=tuple(files_at(entry, str(entry), notes)))
        refuse_same_stem(language, found.files)
        if language in inputs:
            refuse_language_twice(language, inputs[language].origin, found.origin)
        inputs[language] = found
    return list(inputs.values())


def list_folder(folder: Path, notes: list[str]) -> tuple[list[TextFile], list[Path]]:
    """The text files and the folders in a folder, sorted by name, without what is hidden or documentation."""
    files: list[TextFile] = []
    folders: list[Path] = []
    for entry in sorted(folder.iterdir()):
        if entry.name.startswith((".", "_")):
            continue
        if entry.is_dir():
            folders.append(entry)
        elif is_documentation(entry):
            notes.append(f"{entry} is taken for documentation and is not read.")
        else:
            files.append(text_file(entry))
    return files, folders


def files_at(path: Path, origin: str, notes: list[str]) -> list[TextFile]:
    """The files of one language: a file, a folder of files, or a glob."""
    if path.is_file() or is_stream(path):
        return [text_file(path)]
    if path.is_dir():
        files, folders = list_folder(path, notes)
        if folders:
            # Data sets keep train/ and test/ side by side here: reading both would be a bad, quiet mistake.
            raise PairityError(
                f"{path} holds folders ({', '.join(sub.name for sub in folders[:5])}), and which to read is "
                f"not said: name one, such as LANG={folders[0]}, or all, LANG='{path}/*/*'."
            )
        if not files:
            raise PairityError(f"{path} holds no text: it needs files that end in {READABLE}.")
        return files
    found = glob_matches(path)
    if found is None:
        refuse_missing(path, origin)
    return [text_file(match) for match in found if match.is_file() or is_stream(match)]


def glob_matches(path: Path) -> list[Path] | None:
    """The matches of a glob in sorted order; None if there are none."""
    if not glob.has_magic(str(path)):
        return None
    matches = glob.glob(str(path), recursive=True)  # noqa: PTH207 (Path.glob takes no absolute pattern)
    return [Path(match) for match in sorted(matches)] or None


# Mistakes that names alone show


def check_language(language: str, origin: str) -> None:
    if (
        not language
        or language != language.strip()
        or not language.isprintable()
        or set(language) & set("=/,")
    ):
        raise PairityError(
            f"{language!r} (from {origin}) cannot be the name of a language: a name is not empty and has "
            "no '=', '/', ',' and no space around it."
        )


def refuse_twice(inputs: Sequence[TextInput | CountsInput]) -> None:
    """The same language, or the same counts file, in two SOURCEs."""
    seen: dict[str | Path, str] = {}
    for part in inputs:
        if isinstance(part, TextInput):
            if part.language in seen:
                refuse_language_twice(part.language, seen[part.language], part.origin)
            seen[part.language] = part.origin
        elif isinstance(part.data, Path):
            path = part.data.resolve()
            if path in seen:
                raise PairityError(
                    f"the counts file {part.origin} is given twice (also as {seen[path]}): name it once."
                )
            seen[path] = part.origin


def refuse_language_twice(language: str, first: str, second: str) -> NoReturn:
    raise PairityError(
        f"the language {language!r} is given twice: {first} and {second}. Leave one out, "
        f"or put both into one folder and give that as {language}=FOLDER."
    )


def refuse_same_stem(language: str, files: Sequence[TextFile]) -> None:
    """`part-0.txt` beside `part-0.txt.gz` is the same text twice, as `gzip -k` leaves it."""
    seen: dict[Path, Path] = {}
    for file in files:
        stem = file.path.parent / stem_of(file.path)
        if stem in seen:
            raise PairityError(
                f"{language}: {seen[stem]} and {file.path} look like the same text twice: "
                "remove or rename one of them."
            )
        seen[stem] = file.path


def refuse_missing(path: Path, origin: str) -> NoReturn:
    """No such path: show what is near it."""
    what = "no file matches" if glob.has_magic(str(path)) else "no such file or folder:"
    folder, name = path.parent, path.name
    while not folder.is_dir() and folder != folder.parent:
        folder, name = folder.parent, folder.name
    there = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    near = [str(folder / match) for match in difflib.get_close_matches(name, there, n=3) if match != name]
    hint = f" Did you mean {' or '.join(near)}?" if near else ""
    given = "" if origin == str(path) else f" (from {origin})"
    raise PairityError(f"{what} {path}{given}.{hint or ' Check the name.'}")


def keep_only(
    inputs: Sequence[TextInput | CountsInput], languages: list[str]
) -> tuple[list[TextInput | CountsInput], list[str]]:
    kept: list[TextInput | CountsInput] = []
    left_out: list[str] = []
    unknown: list[TextInput] = []
    for part in inputs:
        if isinstance(part, CountsInput) or part.language in languages:
            kept.append(part)
        elif part.named:
            unknown.append(part)
        else:
            left_out.append(part.language)
    if unknown:
        refuse_unknown(unknown, languages)
    return kept, left_out


def refuse_unknown(unknown: Sequence[TextInput], languages: list[str]) -> NoReturn:
    names = [part.language for part in unknown]
    given = ", ".join(f"{part.language!r} ({part.origin})" for part in unknown)
    near = [match for name in names for match in difflib.get_close_matches(name, languages, n=3)]
    hint = f" Did you mean {' or '.join(dict.fromkeys(near))}?" if near else ""
    them = "it" if len(names) == 1 else "them"
    raise PairityError(
        f"dev names {given}, which train lacks{hint_of_other_names(names, languages)}.{hint} "
        f"Add {', '.join(names)} to train, or leave {them} out of dev."
    )
