"""Mistakes that show in names alone: errors that say what to type instead, before any text is read."""

from __future__ import annotations

import difflib
import glob
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

from pairity.errors import PairityError, did_you_mean
from pairity.languages import hint_of_other_names, is_known, meant, same_language
from pairity.text.addresses import Place
from pairity.text.inputs import CountsInput, TextFile, TextInput
from pairity.text.kinds import stem_of

ONLY_ONCE = "a pipe, which can be read only once"


def check_language(language: str, origin: str) -> None:
    if (
        not language
        or language != language.strip()
        or not language.isprintable()
        or set(language) & set("=/,")
    ):
        raise PairityError(
            f"{language!r} (from {origin}) cannot be the name of a language: a name must not be empty, "
            "contain '=', '/' or ',', or have spaces around it."
        )


def check_one_given(language: str | None, place: str | None, argument: str) -> None:
    """All texts are of one `language`, or the `argument` names the place where each has its own."""
    if (language is None) == (place is None):
        raise PairityError(f"the language is not clear: give either {argument} or language.")


def refuse_twice(inputs: Sequence[TextInput | CountsInput]) -> None:
    """Refuse two SOURCEs with the same language, file, counts file, or standard input."""
    seen: dict[str | Place, str] = {}
    for part in inputs:
        if isinstance(part, TextInput):
            if part.language:
                if part.language in seen:
                    refuse_language_twice(part.language, seen[part.language], part.origin)
                seen[part.language] = part.origin
            for file in part.files:
                place = resolved(file.path)
                if place in seen and (file.once or not part.language):
                    what = ONLY_ONCE if file.once else "given twice"
                    raise PairityError(f"{file.path} is {what} ({seen[place]}, {part.origin}): name it once.")
                seen[place] = part.origin
        elif isinstance(part.data, Path):
            place = resolved(part.data)
            if place in seen:
                raise PairityError(
                    f"the counts file {part.origin} is given twice (also as {seen[place]}): name it once."
                )
            seen[place] = part.origin


def refuse_language_twice(language: str, first: str, second: str) -> NoReturn:
    raise PairityError(
        f"the language {language!r} is given twice: {first} and {second}. Leave one out, or, if both are its "
        f"text, write {language}=PATH,PATH, or put both into one folder and write {language}=FOLDER."
    )


def refuse_other_language(language: str, paths: Sequence[str]) -> None:
    """Refuse `eng_Latn=web.txt,deu_Latn.txt`: what follows a comma is read as English, whatever its name.

    Names that are not known, such as `germanic`, may stand for several languages.
    """
    for number, path in enumerate(paths):
        other = stem_of(Path(path))
        if number and is_known(language) and is_known(other) and not same_language(language, other):
            raise PairityError(
                f"{language}={','.join(paths)}: {path} is named like {other}, but after a comma it would be read "
                f"as {language}. Write it as a separate word, {language}={','.join(paths[:number])} {path}, or as "
                f"{other}={path}; if it is text of {language}, put all of it into one folder and write "
                f"{language}=FOLDER."
            )


def refuse_same_text(language: str, files: Sequence[TextFile]) -> None:
    """Refuse a file given twice, and `part-0.txt` next to `part-0.txt.gz`: after `gzip -k`, this is the same text."""
    seen: dict[Place, Place] = {}
    for file in files:
        place, stem = resolved(file.path), resolved(file.path.parent) / stem_of(file.path)
        if place in seen:
            twice = "given twice" if seen[place] == file.path else f"the same file as {seen[place]}"
            raise PairityError(
                f"{language}: {file.path} is {ONLY_ONCE if file.once else twice}: name it once."
            )
        if stem in seen:
            raise PairityError(
                f"{language}: {seen[stem]} and {file.path} look like the same text twice: "
                "remove or rename one of them."
            )
        seen[place] = seen[stem] = file.path


def resolved(place: Place) -> Place:
    """The same for every way to write a path."""
    return place.resolve() if isinstance(place, Path) else place


def refuse_missing(path: Place, origin: str) -> NoReturn:
    """No such path: suggest similar names."""
    what = "no file matches" if glob.has_magic(str(path)) else "no such file or folder:"
    if not isinstance(path, Path):
        raise PairityError(f"{what} {path}. Check the URL.")
    folder, name = path.parent, path.name
    while not folder.is_dir() and folder != folder.parent:
        folder, name = folder.parent, folder.name
    there = sorted(entry.name for entry in folder.iterdir()) if folder.is_dir() else []
    near = [str(folder / match) for match in difflib.get_close_matches(name, there, n=3) if match != name]
    hint = did_you_mean(near)
    given = "" if origin == str(path) else f" (from {origin})"
    raise PairityError(f"{what} {path}{given}.{hint or ' Check the name.'}")


def keep_only(
    inputs: Sequence[TextInput | CountsInput], languages: list[str]
) -> tuple[list[TextInput | CountsInput], list[str]]:
    kept: list[TextInput | CountsInput] = []
    left_out: list[str] = []
    unknown: list[TextInput] = []
    for part in inputs:
        if isinstance(part, CountsInput) or part.language in ("", *languages):
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
    hint = did_you_mean(dict.fromkeys(near for name in names for near in meant(name, languages)))
    them = "it" if len(names) == 1 else "them"
    raise PairityError(
        f"dev names {given}, which train lacks{hint_of_other_names(names, languages)}.{hint} "
        f"Add {', '.join(names)} to train, or leave {them} out of dev."
    )
