"""MorphScore: do token boundaries fall on morpheme boundaries? (Arnett et al.; v1 2024, v2 2025)

Gold is a word form cut as [prefix] stem [suffix]. The boundaries a tokenizer predicts are the ends of its
tokens, the end of the word included, as in the published code. Positions are compared in bytes, so that a
token that ends inside a character predicts no boundary there; the published code decodes such tokens one by
one and counts wrong lengths.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path

import numpy as np

from pairity.errors import PairityError
from pairity.judging.opening import TokenizerLike
from pairity.languages import by_name, is_known


@dataclass(frozen=True)
class MorphWord:
    word: str
    parts: tuple[str, ...]
    frequency: float = 1.0


@dataclass(frozen=True)
class MorphScore:
    """The score of one language, or (`macro`) the unweighted mean over languages."""

    recall: float
    precision: float
    precision_corrected: float
    words: int
    single_token_words: int
    skipped_words: int


def word_scores(parts: Sequence[str], tokens: Sequence[bytes]) -> tuple[float, float, float] | None:
    """Recall, precision and corrected precision of one word, None for a word
    without a gold cut.

    two parts     boundary hit: 1 and 1/#tokens; missed: 0 and 0
    three parts   both hit: 1 and 2/#tokens; one: 0.5 and 1/#tokens; none: 0 and 0
    one token     (1, 1): it is the caller who leaves such words out
    corrected     hits / (#tokens - 1): the end of the word, which every tokenizer gets right, does not
    count, so a
                  perfect two-part split has precision 1 and not 0.5

    >>> word_scores(["light", "ed"], [b"light", b"ed"])
    (1.0, 0.5, 1.0)
    """
    if len(tokens) == 1:
        return 1.0, 1.0, 1.0
    if len(parts) < 2:
        return None
    gold = list(accumulate(len(part.encode()) for part in parts))[:-1]
    predicted = set(accumulate(len(token) for token in tokens))
    hits = sum(boundary in predicted for boundary in gold)
    return hits / len(gold), hits / len(tokens), hits / (len(tokens) - 1)


def morph_score(
    words: Sequence[MorphWord],
    tokenizer: TokenizerLike,
    *,
    exclude_single_token: bool = True,
    weighted: bool = True,
) -> MorphScore:
    """MorphScore of one language: the mean of `word_scores`, weighted by word frequency (1 where none is
    given).

    `exclude_single_token=True` leaves out words that are one token, MorphScore's own default; False scores
    them (1, 1), as the paper's tables do. Words that the tokenizer does not give back whole (unknown tokens)
    are skipped and counted.
    """
    ids, offsets = tokenizer.encode_lines([entry.word for entry in words])
    rows: list[tuple[float, float, float, float]] = []
    single = skipped = 0
    for number, entry in enumerate(words):
        tokens = _pieces(entry.word, ids[offsets[number] : offsets[number + 1]].tolist(), tokenizer)
        if not tokens:
            skipped += 1
            continue
        single += len(tokens) == 1
        if len(tokens) == 1 and exclude_single_token:
            continue
        scores = word_scores(entry.parts, tokens)
        if scores is not None:
            rows.append((*scores, entry.frequency if weighted else 1.0))
    table = np.array(rows, dtype=np.float64).reshape(-1, 4)
    total = float(table[:, 3].sum())
    recall, precision, corrected = (
        (table[:, :3].T @ table[:, 3] / total).tolist() if total > 0 else [math.nan] * 3
    )
    return MorphScore(recall, precision, corrected, len(rows), single, skipped)


def macro(scores: Sequence[MorphScore]) -> MorphScore:
    """The unweighted mean over the languages that have data: the global value in the paper's tables."""
    scored = [score for score in scores if score.words]

    def mean(values: Sequence[float]) -> float:
        return float(np.mean(values)) if values else math.nan

    return MorphScore(
        mean([score.recall for score in scored]),
        mean([score.precision for score in scored]),
        mean([score.precision_corrected for score in scored]),
        words=sum(score.words for score in scored),
        single_token_words=sum(score.single_token_words for score in scores),
        skipped_words=sum(score.skipped_words for score in scores),
    )


def read_morph(
    source: str | Path | Mapping[str, str | Path | Sequence[MorphWord]],
) -> dict[str, list[MorphWord]]:
    """Gold words per language from a folder with one CSV or Parquet file per language, or `{language: file
    or words}`.

    A file is named by code (`eng_Latn.csv`) or as MorphScore names it (`english_morph_data.csv`,
    `english_data.csv`).
    """
    if isinstance(source, Mapping):
        return {
            language: read_morph_file(entry) if isinstance(entry, str | Path) else list(entry)
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
    for path in files:
        language = _language_of(path)
        if language in words:
            raise PairityError(f"{path}: the language {language!r} has a second file. Keep one of the two.")
        words[language] = read_morph_file(path)
    return words


def read_morph_file(path: str | Path) -> list[MorphWord]:
    """Gold words of one file: v1 (`full_word, pt1, rest`) or v2 (`wordform, stem, preceding_part,
    following_part`).

    v2 may carry `word_freq_norm`, `word_freq` or `frequency`. Rows whose parts do not make up the word are
    left out.
    """
    path = Path(path)
    rows = _rows(path)
    columns = set(rows[0]) if rows else set()
    if {"full_word", "pt1", "rest"} <= columns:
        form, parts = "full_word", ["pt1", "rest"]
    elif {"wordform", "stem", "preceding_part", "following_part"} <= columns:
        form, parts = "wordform", ["preceding_part", "stem", "following_part"]
    else:
        raise PairityError(
            f"{path}: not MorphScore data. It needs the columns full_word, pt1, rest (v1) or wordform, stem, "
            f"preceding_part, following_part (v2); it has {', '.join(sorted(columns)) or 'no rows'}."
        )
    weight = next((name for name in ("word_freq_norm", "word_freq", "frequency") if name in columns), None)
    words = []
    for row in rows:
        word, cut = row[form].strip(), tuple(row[part].strip() for part in parts if row[part].strip())
        # v2 keeps stems in lower case: the lengths are what counts.
        if word and "".join(cut).lower() == word.lower() and len("".join(cut).encode()) == len(word.encode()):
            words.append(MorphWord(word, cut, _frequency(path, row[weight]) if weight else 1.0))
    if not words:
        raise PairityError(f"{path}: no row whose parts make up its word.")
    return words


def _rows(path: Path) -> list[dict[str, str]]:
    if path.suffix == ".parquet":
        import pyarrow.parquet as pq

        table: list[dict[str, object]] = pq.read_table(path).to_pylist()
        return [{key: "" if value is None else str(value) for key, value in row.items()} for row in table]
    with path.open(encoding="utf-8-sig", newline="") as file:
        return [
            {key: value or "" for key, value in row.items() if key is not None}
            for row in csv.DictReader(file)
        ]


def _frequency(path: Path, text: str) -> float:
    try:
        value = float(text) if text else 0.0
    except ValueError as error:
        raise PairityError(f"{path}: the word frequency {text!r} is not a number.") from error
    if not math.isfinite(value) or value < 0:
        raise PairityError(f"{path}: the word frequency {text!r} is not a number of 0 or more.")
    return value


def _language_of(path: Path) -> str:
    stem = path.stem.removesuffix("_data").removesuffix("_morph")
    code = stem if is_known(stem) or "_" in stem else by_name(stem.replace("_", " "))
    if code is None:
        raise PairityError(
            f"{path}: which language is this? Name the file by its code, such as eng_Latn{path.suffix}."
        )
    return code


def _pieces(word: str, ids: Sequence[int], tokenizer: TokenizerLike) -> list[bytes]:
    """The tokens of a word as bytes that join to the word; empty where they do not.

    The space that SentencePiece puts before a word is no part of it; a tokenizer that changes letters (lower
    case) is aligned by characters where their number stays the same.
    """
    pieces = [tokenizer.token_bytes(token) for token in ids]
    if not pieces or any(piece is None for piece in pieces):
        return []
    tokens = [piece for piece in pieces if piece is not None]
    if tokens[0].startswith(b" ") and not word.startswith(" "):
        tokens[0] = tokens[0][1:]
    tokens = [token for token in tokens if token]
    if b"".join(tokens) == word.encode():
        return tokens
    try:
        letters = [token.decode() for token in tokens]
    except UnicodeDecodeError:
        return []
    if sum(map(len, letters)) != len(word):
        return []
    ends = list(accumulate(map(len, letters), initial=0))
    return [word[start:end].encode() for start, end in pairwise(ends)]
