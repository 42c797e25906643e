"""What is known about a language: its name, family, script, resource level, and the paper's two sets.

The facts are in `languages.csv`: the table of languages of the parity-aware BPE paper (30 and 60 languages),
followed by the other languages of FLORES-200. Three things differ from the printed table on purpose: Latvian is
Baltic and Tamil's script is Brahmic (misprints), and Croatian is added as the 60th language, because the table
prints 59 rows; its resource level is not stated there, so it is "unknown".

A language is known by the code the user gave it. Aliases (`fil_Latn` is FLORES+'s code for `tgl_Latn`) are for
looking up facts and pointing out a likely mistake; no code is ever renamed silently.
"""

from __future__ import annotations

import csv
import difflib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from importlib import resources

from pairity.errors import PairityError, did_you_mean, listed

UNKNOWN = "unknown"

# ISO 15924 code -> (script, script family), for codes that are not in the table.
SCRIPTS = {
    "Adlm": ("Adlam", "Adlam"),
    "Arab": ("Perso-Arabic", "Perso-Arabic"),
    "Armn": ("Armenian", "Armenian"),
    "Beng": ("Bengali", "Brahmic"),
    "Cans": ("Canadian Syllabics", "Canadian Syllabics"),
    "Cher": ("Cherokee", "Cherokee"),
    "Cyrl": ("Cyrillic", "Cyrillic"),
    "Deva": ("Devanagari", "Brahmic"),
    "Ethi": ("Ethiopic", "Ethiopic"),
    "Geor": ("Georgian", "Georgian"),
    "Grek": ("Greek", "Greek"),
    "Gujr": ("Gujarati", "Brahmic"),
    "Guru": ("Gurmukhi", "Brahmic"),
    "Hang": ("Hangul", "CJK"),
    "Hani": ("Hanzi", "CJK"),
    "Hans": ("Hanzi", "CJK"),
    "Hant": ("Hanzi", "CJK"),
    "Hebr": ("Hebrew", "Hebrew"),
    "Jpan": ("Kanji & Kana", "CJK"),
    "Khmr": ("Khmer", "Khmer"),
    "Knda": ("Kannada", "Brahmic"),
    "Kore": ("Hangul", "CJK"),
    "Laoo": ("Lao", "Lao"),
    "Latn": ("Latin", "Latin"),
    "Mlym": ("Malayalam", "Brahmic"),
    "Mtei": ("Meitei Mayek", "Brahmic"),
    "Mymr": ("Mon-Burmese", "Mon-Burmese"),
    "Nkoo": ("N'Ko", "N'Ko"),
    "Olck": ("Ol Chiki", "Ol Chiki"),
    "Orya": ("Odia", "Brahmic"),
    "Sinh": ("Sinhala", "Brahmic"),
    "Syrc": ("Syriac", "Syriac"),
    "Taml": ("Tamil", "Brahmic"),
    "Telu": ("Telugu", "Brahmic"),
    "Tfng": ("Tifinagh", "Tifinagh"),
    "Thaa": ("Thaana", "Thaana"),
    "Thai": ("Thai", "Thai"),
    "Tibt": ("Tibetan", "Tibetan"),
}
RIGHT_TO_LEFT = frozenset({"Adlm", "Arab", "Hebr", "Nkoo", "Rohg", "Syrc", "Thaa"})


@dataclass(frozen=True)
class Language:
    """Facts about one language, under the code that was asked for."""

    code: str
    name: str
    family: str = UNKNOWN
    script: str = UNKNOWN
    script_family: str = UNKNOWN
    resource_level: str = UNKNOWN
    in_30: bool = False
    in_60: bool = False
    aliases: tuple[str, ...] = ()

    @property
    def script_code(self) -> str:
        """The ISO 15924 part of the code: `Latn` of `eng_Latn`; empty when the code has none."""
        return script_of(self.code)

    @property
    def right_to_left(self) -> bool:
        return self.script_code in RIGHT_TO_LEFT


def language(code: str) -> Language:
    """Facts about `code`. An unknown code is not an error: its script is read from the suffix, the rest is "unknown".

    >>> language("kat_Geor").name, language("fil_Latn").name, language("xyz_Cyrl").script
    ('Georgian', 'Filipino', 'Cyrillic')
    """
    known = languages_by_code().get(canonical(code))
    if known is not None:
        return replace(known, code=code)
    script, script_family = SCRIPTS.get(script_of(code), (UNKNOWN, UNKNOWN))
    return Language(code=code, name=code, script=script, script_family=script_family)


def is_known(code: str) -> bool:
    """Whether `code` is in the table, itself or as an alias."""
    return canonical(code) in languages_by_code()


def canonical(code: str) -> str:
    """The FLORES-200 code of the same language: `fil_Latn` -> `tgl_Latn`; any other code as it is."""
    return codes_by_alias().get(code, code)


def same_language(one: str, other: str) -> bool:
    """Whether two codes stand for the same language under different names."""
    return canonical(one) == canonical(other)


def other_names(code: str, available: Iterable[str]) -> list[str]:
    """Codes in `available` that are the same language under another name: the hint in an error message.

    >>> other_names("fil_Latn", ["eng_Latn", "tgl_Latn"])
    ['tgl_Latn']
    """
    return [other for other in available if other != code and same_language(code, other)]


def hint_of_other_names(codes: Iterable[str], available: Iterable[str]) -> str:
    """What to append to names that were not found, if they exist under other codes.

    >>> hint_of_other_names(["fil_Latn", "eng_Latn"], ["tgl_Latn"])
    ' (but tgl_Latn is the same language as fil_Latn)'
    """
    there = list(available)
    hints = [
        f"{other} is the same language as {code}" for code in codes for other in other_names(code, there)
    ]
    return f" (but {'; '.join(hints)})" if hints else ""


def no_such_language(codes: Sequence[str], available: Collection[str]) -> str:
    """The end of a sentence about names that were not found.

    >>> no_such_language(["tam"], ["eng_Latn", "tam_Taml"])
    'no such language: eng_Latn, tam_Taml. Did you mean tam_Taml?'
    """
    hint = hint_of_other_names(codes, available)
    near = () if hint else dict.fromkeys(other for code in codes for other in meant(code, available))
    return f"no such language{hint}: {listed(available)}.{did_you_mean(near)}"


def by_name(name: str) -> str | None:
    """The code of a language given by its English name, in upper or lower case; None when it is not known.

    >>> by_name("armenian"), by_name("Klingon")
    ('hye_Armn', None)
    """
    return codes_by_name().get(name.casefold())


def meant(code: str, available: Iterable[str]) -> list[str]:
    """Codes in `available` that a user may have meant: the same language under another name, spelling or script; if
    there is none, codes with a similar spelling. Sharing a script does not make two codes similar.

    >>> [meant(code, ["eng_Latn", "tam_Taml"]) for code in ("Tamil", "tam", "TAM-taml", "tam_Tmil", "ta", "xyz_Latn")]
    [['tam_Taml'], ['tam_Taml'], ['tam_Taml'], ['tam_Taml'], ['tam_Taml'], []]
    """
    codes = [other for other in available if other != code]
    named, own = by_name(code) or code, without_script(code)
    same = [
        other
        for other in codes
        if same_language(named, by_name(other) or other) or own in (other.casefold(), without_script(other))
    ]
    if same:
        return same
    alike = difflib.get_close_matches(code, codes, n=3)
    return [other for other in alike or codes if difflib.get_close_matches(first(code), [first(other)])]


def first(code: str) -> str:
    return code.partition("_")[0]


def without_script(code: str) -> str:
    """ "TAM-taml" -> "tam"; a name that does not end with a script as it is"""
    plain = code.replace("-", "_").casefold()
    name, _, script = plain.rpartition("_")
    return name if script.capitalize() in SCRIPTS else plain


def all_languages() -> list[Language]:
    """Every language of the table, the paper's 60 first."""
    return list(languages_by_code().values())


def script_of(code: str) -> str:
    return code.split("_")[1] if "_" in code else ""


@cache
def languages_by_code() -> dict[str, Language]:
    text = resources.files("pairity").joinpath("languages.csv").read_text(encoding="utf-8")
    return {
        row["code"]: Language(
            code=row["code"],
            name=row["name"],
            family=row["family"],
            script=row["script"],
            script_family=row["script_family"],
            resource_level=row["resource_level"],
            in_30=row["in_30"] == "yes",
            in_60=row["in_60"] == "yes",
            aliases=tuple(row["aliases"].split()),
        )
        for row in csv.DictReader(text.splitlines())
    }


@cache
def codes_by_alias() -> dict[str, str]:
    return {alias: entry.code for entry in languages_by_code().values() for alias in entry.aliases}


# Names in MorphScore v1 and v2 that differ from those in the table.
OTHER_NAMES = {
    "kurdish": "kmr_Latn",
    "mandarin": "zho_Hans",
    "chinese": "zho_Hans",
    "norwegian": "nob_Latn",
    "tagalog": "tgl_Latn",
    "azerbaijani": "azj_Latn",
    "uzbek": "uzn_Latn",
    "kirghiz": "kir_Cyrl",
    "mongolian": "khk_Cyrl",
    "pashto": "pbt_Arab",
}


@cache
def codes_by_name() -> dict[str, str]:
    return {entry.name.casefold(): entry.code for entry in languages_by_code().values()} | OTHER_NAMES


LANGUAGES_30: tuple[str, ...] = tuple(entry.code for entry in all_languages() if entry.in_30)
LANGUAGES_60: tuple[str, ...] = tuple(entry.code for entry in all_languages() if entry.in_60)

SETS: Mapping[str, tuple[str, ...]] = {"paper-30": LANGUAGES_30, "paper-60": LANGUAGES_60}
"""Sets of languages by name; those that a text lacks are left out."""


def one_or_several(names: str | Iterable[str]) -> list[str]:
    """A list in any case: a lone name would be an iterable of its letters.

    >>> one_or_several("paper-30")
    ['paper-30']
    """
    return [names] if isinstance(names, str) else list(names)


def is_chosen(code: str, names: Iterable[str]) -> bool:
    """Whether `names` includes a language, by its code or as part of a set."""
    return any(
        code == name or any(same_language(code, other) for other in SETS.get(name, ())) for name in names
    )


def chosen(names: Iterable[str], available: Sequence[str]) -> tuple[list[str], list[str]]:
    """The languages of `available` that are named, by code or as part of a set, in their order; and notes.

    >>> chosen(["eng_Latn", "paper-30"], ["tam_Taml", "xyz_Latn", "eng_Latn"])[0]
    ['tam_Taml', 'eng_Latn']
    """
    kept: set[str] = set()
    notes = []
    for name in names:
        if name in SETS and name not in available:
            there = [code for code in available if any(same_language(code, other) for other in SETS[name])]
            if not there:
                raise PairityError(
                    f"the text has none of the languages of {name}: it has {listed(available)}."
                )
            lacking = [code for code in SETS[name] if not any(same_language(code, other) for other in there)]
            notes += [f"{name} is used without {listed(lacking)}, which the text lacks"] if lacking else []
            kept.update(there)
        elif name in available:
            kept.add(name)
        else:
            near = [*meant(name, available), *difflib.get_close_matches(name, SETS)]
            raise PairityError(
                f"the text has no language {name!r}.{did_you_mean(near)} It has {listed(available)}; "
                f"sets of languages are {', '.join(SETS)}."
            )
    return [code for code in available if code in kept], notes
