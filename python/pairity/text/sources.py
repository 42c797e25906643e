"""SOURCEs to files: where the text of each language is, found from names alone.

A SOURCE is
- `LANG=PATH`: the text of one language, PATH a file, a glob, a folder of files, an address that fsspec knows
  (`s3://bucket/en/*.parquet`), `-` for standard input (`-.jsonl.gz` says what comes), or `wordfreq:en`; several with
  commas between them, `LANG=PATH,PATH`;
- a folder with one file or one folder per language: `eng_Latn.txt.gz`, `deu_Latn.jsonl.zst`,
  `tel_Telu/*.parquet`;
- a text file (or a pipe named like one) whose name is its language, as in a folder: `data/*.txt` means the
  same as `data/`;
- a counts file, or a folder of them: Parquet with the columns language, pretoken, count;
- with a language column, files of several languages, folders and globs of them, or standard input;
- in Python also `{language: path | paths | lines, records, a table, a data set | {pretoken: count}}`, a `Counts`, an
  Arrow table of counts, or with a language column records, a table or a data set of several languages.

Every mistake that shows in names is found here, before any text is read. A language may come from only one SOURCE:
the same name in two is an error. Counts are the exception, since they are made to be summed: counts files may share
languages, and only giving the same file twice is an error.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from pairity.errors import PairityError
from pairity.files.reading import unreadable
from pairity.text.addresses import MARK, Place, place_of
from pairity.text.finding import files_at, files_of_many, glob_matches, resolve_path
from pairity.text.inputs import (
    COUNTS_COLUMNS,
    AlreadyCounted,
    CountsInput,
    Resolved,
    TextFile,
    TextInput,
)
from pairity.text.kinds import is_counts_file, standard_input
from pairity.text.mistakes import (
    check_language,
    keep_only,
    refuse_other_language,
    refuse_same_text,
    refuse_twice,
)
from pairity.text.words import WORDFREQ, WordList


def resolve(
    sources: Any, languages: Iterable[str] | None = None, *, language_column: str | None = None
) -> Resolved:
    """Find the languages in `sources`: a SOURCE or a sequence of them.

    With `languages` (those of train, when dev is read), other languages found in a folder are left out and listed in
    `left_out`; other languages that the user named are an error. Sources that are resolved already are only filtered.
    `language_column` names the language of each record in sources that are not given as LANG=PATH.

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
    by_column = language_column is not None
    for source in [sources] if are_records(sources, language_column) else as_sequence(sources):
        try:
            inputs += resolve_one(source, notes, by_column)
        except OSError as error:  # no permission, or too long a name
            raise unreadable(error.filename or source, error) from error
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


def separated(word: str) -> list[str]:
    """The SOURCEs in a word that has commas between them. What follows LANG=PATH is of the same language.

    >>> separated("eng_Latn=a.txt,b.txt,deu_Latn=c.txt")
    ['eng_Latn=a.txt,b.txt', 'deu_Latn=c.txt']
    """
    if names_language(word) and len(at_commas(word.partition("=")[2])) == 1:
        return [word]
    found: list[str] = []
    for part in at_commas(word):
        if found and names_language(found[-1]) and not names_language(part):
            found[-1] += f",{part}"
        else:
            found.append(part)
    return found


def at_commas(word: str) -> list[str]:
    """The parts of a word, cut at its commas; a path or an address that has commas itself is one part.

    >>> at_commas("a.txt,more/*.txt")
    ['a.txt', 'more/*.txt']
    """
    parts = [part.strip() for part in word.split(",") if part.strip()]
    if not parts:
        return []
    if "," not in word or exists(word) or glob_matches(Path(word)) is not None:
        return [word]
    is_address = MARK in parts[0] and not all(MARK in part for part in parts)
    return [word] if is_address else parts


def names_language(source: str) -> bool:
    """Whether it is LANG=PATH."""
    language, equals, _ = source.partition("=")
    return bool(equals) and "/" not in language and not exists(source)


def exists(path: str) -> bool:
    """Whether there is such a path; there is none that is too long, about which `Path` would raise an error."""
    return os.path.exists(os.path.expanduser(path))  # noqa: PTH110, PTH111


def sort_alone(inputs: list[TextInput | CountsInput]) -> None:
    """Sort files given one by one as in a folder: a shell sorts `data/*.txt` by the user's locale."""
    places = [place for place, part in enumerate(inputs) if isinstance(part, TextInput) and part.alone]
    found = sorted((inputs[place] for place in places), key=lambda part: str(part.language))
    for place, part in zip(places, found, strict=True):
        inputs[place] = part


def as_sequence(sources: Any) -> Sequence[Any]:
    if isinstance(sources, list | tuple):
        return sources
    return [sources]


def resolve_one(source: Any, notes: list[str], by_column: bool) -> list[TextInput | CountsInput]:
    if isinstance(source, str):
        if not source:
            raise PairityError("a SOURCE is empty: is a shell variable not set? Write . for this folder.")
        if names_language(source):
            language, _, rest = source.partition("=")
            return [named_input(language, rest, source, notes)]
        if file := standard_input(source, by_column):
            if not by_column:
                raise PairityError(
                    f"{source} does not name its language: write LANG={source}, such as eng_Latn={source}."
                )
            return [TextInput("", source, named=False, files=(file,))]
        return at_place(place_of(source), source, notes, by_column)
    if isinstance(source, os.PathLike):
        path = Path(source)
        return at_place(path, str(path), notes, by_column)
    if isinstance(source, AlreadyCounted):
        return [CountsInput("the counts given", source)]
    if hasattr(source, "__arrow_c_stream__") and (not by_column or is_counts_table(source)):
        return [CountsInput("the table given", source)]
    if isinstance(source, Mapping):
        if hasattr(source, "column_names"):
            first = next(iter(source), "train")
            raise PairityError(
                f"a {type(source).__name__} has several splits: give one of them, such as [{first!r}]."
            )
        return [from_mapping(language, value, notes) for language, value in source.items()]
    if by_column and is_data(source):
        return [TextInput("", "the records given", named=False, lines=source)]
    raise PairityError(
        f"a SOURCE cannot be {type(source).__name__}: give LANG=PATH, a folder, a counts file, "
        "or {language: path, lines or counts}. For records that name their languages, name that column with "
        "language_column."
    )


def at_place(place: Place, origin: str, notes: list[str], by_column: bool) -> list[TextInput | CountsInput]:
    return (files_of_many if by_column else resolve_path)(place, origin, notes)


def are_records(sources: Any, language_column: str | None) -> bool:
    """Whether a list holds records, not SOURCEs: the first one has the column."""
    if language_column is None or not isinstance(sources, list | tuple) or not sources:
        return False
    first = sources[0]
    return isinstance(first, Mapping) and (
        language_column in first or language_column.partition(".")[0] in first
    )


def is_data(value: Any) -> bool:
    """Whether it has texts or records to give."""
    return not isinstance(value, bytes) and (
        isinstance(value, Iterable) or hasattr(value, "__arrow_c_stream__")
    )


def is_counts_table(table: Any) -> bool:
    """By the names of its columns, which Arrow and polars keep in different places."""
    names: Any = getattr(table, "column_names", None) or getattr(table, "columns", ())
    return set(COUNTS_COLUMNS) <= set(map(str, names))


def from_mapping(language: Any, value: Any, notes: list[str]) -> TextInput | CountsInput:
    if not isinstance(language, str):
        raise PairityError(f"the name of a language must be a string, not {language!r}.")
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
    if not is_data(value):
        raise PairityError(
            f"the text of {language!r} cannot be {type(value).__name__}: give a path, an iterable of lines, "
            "or {pretoken: count}."
        )
    return TextInput(language, origin, named=True, lines=value)


def named_input(language: str, path: str, origin: str, notes: list[str]) -> TextInput:
    check_language(language, origin)
    paths = at_commas(path)
    if not paths:
        raise PairityError(f"{origin!r} does not name a file: write {language}=PATH.")
    if word_lists := [one for one in paths if one.startswith(WORDFREQ)]:
        if len(paths) > 1:
            raise PairityError(
                f"{origin}: {word_lists[0]} is all that a language can have: leave it out, or the rest."
            )
        return TextInput(language, origin, named=True, lines=WordList(path.removeprefix(WORDFREQ)))
    refuse_other_language(language, paths)
    files: list[TextFile] = []
    for one in paths:
        file = standard_input(one)
        files += [file] if file else files_at(place_of(one), origin, notes)
    return text_input(language, files, origin)


def text_input(language: str, files: Sequence[TextFile], origin: str) -> TextInput:
    for file in files:
        if is_counts_file(file):
            raise PairityError(
                f"{file.path} is a counts file and names its languages itself: give it without '{language}='."
            )
    refuse_same_text(language, files)
    return TextInput(language, origin, named=True, files=tuple(files))
