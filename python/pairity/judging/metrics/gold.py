"""The gold words of MorphScore: word forms cut at their morpheme boundaries.

read_morph("morph/")["eng_Latn"][0]     MorphWord("lighted", ("light", "ed"), frequency=1.0)
"""

from __future__ import annotations

import csv
import math
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pairity.errors import PairityError, PairityWarning, listed
from pairity.files.tables import parquet_table
from pairity.languages import by_name, is_known
from pairity.text.inputs import PARQUET_DAMAGE, refuse_broken

CODE = re.compile(r"[a-z]{2,3}_[A-Z][a-z]{3}(_\w+)?")
"""eng_Latn, or zho_Hant_HK"""


@dataclass(frozen=True)
class MorphWord:
    """A word form cut as [prefix] stem [suffix]: 1 to 3 parts."""

    word: str
    parts: tuple[str, ...]
    frequency: float = 1.0


def read_morph(
    source: str | Path | Mapping[str, str | Path | Sequence[MorphWord]], *, every_row: bool = False
) -> dict[str, list[MorphWord]]:
    """Gold words per language, from a folder with one CSV or Parquet file per language, or from
    `{language: file or words}`; `every_row` as in `read_morph_file`.

    A file is named by code (`eng_Latn.csv`) or as MorphScore names it (`english_morph_data.csv`,
    `scottish_gaelic_data.csv`). One whose language is not known is left out with a warning.
    """
    if isinstance(source, Mapping):
        return {
            language: read_morph_file(entry, every_row=every_row)
            if isinstance(entry, str | Path)
            else list(entry)
            for language, entry in source.items()
        }
    folder = Path(source)
    files = (
        sorted(path for path in folder.glob("*") if path.suffix in {".csv", ".parquet"})
        if folder.is_dir()
        else []
    )
    if not files:
        raise PairityError(
            f"no MorphScore data in {folder}: it needs a folder with one .csv or .parquet per language."
        )
    words: dict[str, list[MorphWord]] = {}
    unknown = []
    for path in files:
        language = language_of(path)
        if language is None:
            unknown.append(path.name)
            continue
        if language in words:
            raise PairityError(f"{path}: there is already a file for {language!r}. Keep one of the two.")
        words[language] = read_morph_file(path, every_row=every_row)
    name_it = f"Name each file after its language code, such as eng_Latn{files[0].suffix}."
    if not words:
        raise PairityError(f"{folder}: unknown languages: {listed(unknown)}. {name_it}")
    if unknown:
        warnings.warn(
            f"MorphScore data for unknown languages is left out: {listed(unknown)}. {name_it}",
            PairityWarning,
            stacklevel=2,
        )
    return words


def read_morph_file(path: str | Path, *, every_row: bool = False) -> list[MorphWord]:
    """The gold words of one file.

    v1   full_word, pt1, rest
    v2   wordform, stem, preceding_part, following_part; also word_freq_norm, word_freq or frequency

    Rows whose parts do not make up the word are left out. Of a v2 file, so are those that MorphScore itself leaves
    out by default, as far as the file has the columns to tell: words with a digit, rows that are not marked
    `unique`, and those whose stem is not the `lemma`. `every_row` keeps them.
    """
    path = Path(path)
    try:
        rows = morph_rows(path)
    except PARQUET_DAMAGE as error:
        refuse_broken(path, "Parquet" if path.suffix == ".parquet" else "CSV", error)
    except csv.Error as error:
        refuse_broken(path, "CSV", error)
    columns = set(rows[0]) if rows else set()
    if {"full_word", "pt1", "rest"} <= columns:
        form, parts = "full_word", ["pt1", "rest"]
    elif {"wordform", "stem", "preceding_part", "following_part"} <= columns:
        form, parts = "wordform", ["preceding_part", "stem", "following_part"]
    else:
        raise PairityError(
            f"{path}: this is not MorphScore data. It needs the columns full_word, pt1, rest (v1) or wordform, stem, "
            f"preceding_part, following_part (v2); it has {', '.join(sorted(columns)) or 'no rows'}."
        )
    weight = next((name for name in ("word_freq_norm", "word_freq", "frequency") if name in columns), None)
    if form == "wordform" and not every_row:
        rows = [row for row in rows if is_default(row)]
    words = []
    for row in rows:
        word, cut = row[form].strip(), tuple(row[part].strip() for part in parts if row[part].strip())
        # v2 has stems in lower case; only the lengths matter.
        if word and "".join(cut).lower() == word.lower() and len("".join(cut).encode()) == len(word.encode()):
            words.append(MorphWord(word, cut, frequency_of(path, row[weight]) if weight else 1.0))
    if not words:
        raise PairityError(f"{path}: in no row do the parts add up to the word.")
    return words


def morph_rows(path: Path) -> list[dict[str, str]]:
    if path.suffix == ".parquet":
        table: list[dict[str, object]] = parquet_table(path.read_bytes()).to_pylist()
        return [{key: "" if value is None else str(value) for key, value in row.items()} for row in table]
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [
            {key: value or "" for key, value in row.items() if key is not None}
            for row in csv.DictReader(file)
        ]


def is_default(row: Mapping[str, str]) -> bool:
    """Whether MorphScore v2 uses this row by default."""
    return (
        not any(character.isdigit() for character in row["wordform"])
        and row.get("unique", "true").strip().lower() in ("true", "1", "1.0", "yes")
        and row.get("lemma", row["stem"]).strip().lower() == row["stem"].strip().lower()
    )


def frequency_of(path: Path, text: str) -> float:
    try:
        value = float(text) if text else 0.0
    except ValueError as error:
        raise PairityError(f"{path}: the word frequency {text!r} is not a number.") from error
    if not math.isfinite(value) or value < 0:
        raise PairityError(f"{path}: the word frequency {text!r} is not a number of 0 or more.")
    return value


def language_of(path: Path) -> str | None:
    """From the code, known or not, or the name of the language."""
    stem = path.stem.removesuffix("_data").removesuffix("_morph")
    return stem if is_known(stem) or CODE.fullmatch(stem) else by_name(stem.replace("_", " "))
