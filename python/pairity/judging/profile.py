"""The profile of one language under one tokenizer: what it costs, what training did for it, where its tokens go.

    about = inspect_language("tokenizer/", "tam_Taml", "devtest/")
    about.text.cost, about.text.floor, about.text.words[0].shown; about.training.served

Unknown parts are left out, and `notes` say why: an imported tokenizer has no trace, and words need text.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pairity import sample
from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.counts.parquet import check_same
from pairity.errors import PairityError, listed
from pairity.judging.in_text import InText, look_at
from pairity.judging.scores import LEAK
from pairity.languages import meant, other_names
from pairity.progress import BytesListener
from pairity.text.inputs import CountsInput
from pairity.text.sources import resolve
from pairity.tokenizer.contents import dev_digests
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.run import Run, run_of
from pairity.training.trace import Trace

TENTHS = 10

TABLE = pa.schema(
    [
        ("language", pa.string()),
        ("what", pa.string()),
        ("rank", pa.int64()),
        ("item", pa.string()),
        ("value", pa.float64()),
        ("unit", pa.string()),
        ("count", pa.int64()),
        ("tokens", pa.string()),
        ("note", pa.string()),
    ]
)


@dataclass(frozen=True)
class InTraining:
    """What the record and the trace of a run say about a language; None for what they do not say.

    `rank`: 1 for the most expensive of the `measured` languages whose costs are compared, None for another one.
    `served`: merges learned for this language; `shared`: merges learned for all together. `first` and `last` are
    steps, counted from 1, and `tenths` the merges in each tenth of the run.
    """

    unit: str
    cost: float | None = None
    vocab_size: int | None = None
    floor: float | None = None
    rank: int | None = None
    measured: int = 0
    served: int | None = None
    merges: int | None = None
    shared: int | None = None
    first: int | None = None
    last: int | None = None
    tenths: tuple[int, ...] = ()


@dataclass(frozen=True)
class Profile:
    """One language under one tokenizer. `training` and `text` are None without a record or text of it."""

    language: str
    training: InTraining | None
    text: InText | None
    notes: tuple[str, ...] = ()

    def table(self) -> pa.Table:
        """All of it as tidy rows: language, what, rank, item, value, unit, count, tokens, note."""
        rows = [*training_rows(self.training), *text_rows(self.text)]
        return pa.Table.from_pylist([{"language": self.language, **row} for row in rows], schema=TABLE)


def inspect_language(
    tokenizer: Tokenizer | str | os.PathLike[str], language: str, data: Any = None
) -> Profile:
    """How a tokenizer treats `language` in detail (see `Profile`).

    data  text of this and other languages, as `pairity.count` reads it, or counts of it. Without any, it is the
          sample that ships with pairity, if that has the language.
    """
    return inspect_languages(tokenizer, [language], data)[0]


def inspect_languages(
    tokenizer: Tokenizer | str | os.PathLike[str],
    languages: Sequence[str],
    data: Any = None,
    *,
    progress: BytesListener | None = None,
) -> list[Profile]:
    """The same for several languages, reading the text only once; `progress` is called while reading."""
    found = tokenizer if isinstance(tokenizer, Tokenizer) else Tokenizer.load(tokenizer)
    run = run_of(found.record)
    trained, trace, notes = trained_languages(found.trace, run)
    if data is None:
        known = {*trained, *sample.languages()}
        check_known(languages, known, "neither in the training nor in the embedded sample")
        texts, source = sample_of(found, languages), "the embedded sample"
    else:
        texts, source = read_counts(found, data, progress), "the text given"
        check_known(languages, texts, "not in the text given")
    looks = look_at(found.model, texts, languages, source) if texts else {}
    return [
        Profile(
            language,
            in_training(run, trace, language) if language in trained else None,
            looks.get(language),
            (*notes, *notes_on(found, language, trained, texts.get(language))),
        )
        for language in dict.fromkeys(languages)
    ]


# ---------------------------------------------------------------------- what is given


def sample_of(tokenizer: Tokenizer, languages: Iterable[str]) -> Mapping[str, Any]:
    """The test lines of the embedded sample, counted, if one of the languages is in it."""
    if not set(languages) & sample.languages():
        return {}
    return count(sample.read("test"), pretokenizer=tokenizer.model.cut)


def read_counts(tokenizer: Tokenizer, data: Any, progress: BytesListener | None) -> Counts:
    """Text or counts, as counts with the pre-tokens of the tokenizer."""
    cut = tokenizer.model.cut
    if isinstance(data, Counts):
        counts = data
    else:
        found = resolve(data)
        files = [part.data for part in found.inputs if isinstance(part, CountsInput)]
        if len(files) < len(found.inputs) or not all(isinstance(file, Path) for file in files):
            return count(found, pretokenizer=cut, progress=progress)
        counts = Counts.load(files)  # of whatever split
    check_same("the counts", counts.pretokenization, cut, counts.split, counts.split)
    return counts


def check_known(languages: Sequence[str], known: Iterable[str], where: str) -> None:
    if not languages:
        raise PairityError("no language to inspect: name one, such as tam_Taml.")
    names = sorted(known)
    for language in languages:
        if language not in names:
            near = meant(language, names)
            hint = f"Did you mean {' or '.join(near)}?" if near else f"There are {listed(names)}."
            raise PairityError(f"{language!r} is {where}. {hint} Or give its text: {language}=PATH.")


# ---------------------------------------------------------------------- what training says


def trained_languages(table: pa.Table | None, run: Run) -> tuple[list[str], Trace | None, list[str]]:
    """The languages that the tokenizer was trained on, its trace, and notes if there is none."""
    told = [one.name for one in run.languages]
    if table is None:
        missing = "trace" if told else "record and no trace"
        return (
            told,
            None,
            [
                (
                    f"the tokenizer has no {missing} of its training, so it is not known which language was "
                    "served when"
                )
            ],
        )
    try:
        trace = Trace.from_table(table)
    except PairityError as error:
        return told, None, [f"it is not known which language was served when: {error}"]
    return list(dict.fromkeys([*told, *trace.languages])), trace, []


def in_training(run: Run, trace: Trace | None, language: str) -> InTraining:
    """From the trace, which ends where the tokenizer does; the record may describe a longer run."""
    about = next((one for one in run.languages if one.name == language), None)
    unit = run.unit_of(language)
    floor = about.floor if about and unit == "dev line" else None
    if trace is None:
        return InTraining(
            unit,
            cost=about.cost if about else None,
            floor=floor,
            served=about.served if about else None,
            merges=run.merges,
        )
    costs = trace.final_costs()
    cost = costs.get(language)
    compared = {name: other for name, other in costs.items() if name not in trace.set_apart}
    place = trace.languages.index(language) if language in trace.languages else None
    steps = np.flatnonzero(trace.served == place)
    by_tenth = np.array_split(trace.served[trace.learned] == place, TENTHS)
    return InTraining(
        unit,
        cost=cost,
        vocab_size=int(trace.vocab_size[trace.sampled[-1]]) if cost is not None else None,
        floor=floor,
        rank=1 + sum(other > compared[language] for other in compared.values())
        if language in compared
        else None,
        measured=len(compared),
        served=len(steps),
        merges=int(trace.learned.sum()),
        shared=int((trace.served[trace.learned] < 0).sum()),
        first=int(steps[0]) + 1 if len(steps) else None,
        last=int(steps[-1]) + 1 if len(steps) else None,
        tenths=tuple(int(part.sum()) for part in by_tenth),
    )


def notes_on(tokenizer: Tokenizer, language: str, trained: Sequence[str], text: Any) -> list[str]:
    notes = []
    if trained and language not in trained:
        hints = [f"; {other} is the same language" for other in other_names(language, trained)]
        notes.append(f"it is not one of the {len(trained)} languages of the training{''.join(hints)}")
    if text is None:
        notes.append(f"words, characters and neighbours need text: give {language}=PATH as data (--data)")
    elif text.digest() in dev_digests(tokenizer.record):
        notes.append(LEAK)
    return notes


# ---------------------------------------------------------------------- as rows


def row(what: str, value: float | None, unit: str, **others: Any) -> dict[str, Any]:
    return {"what": what, "value": value, "unit": unit, **others}


def training_rows(training: InTraining | None) -> list[dict[str, Any]]:
    if training is None:
        return []
    at = None if training.vocab_size is None else f"at {training.vocab_size} tokens"
    rows = [
        row("training_cost", training.cost, f"tokens/{training.unit}", note=at),
        row("training_floor", training.floor, "pre-tokens/dev line"),
        row("training_cost_rank", training.rank, "", count=training.measured),
        row("merges_served", training.served, "merges", count=training.merges),
        row("merges_for_all", training.shared, "merges", count=training.merges),
        row("first_merge", training.first, "step"),
        row("last_merge", training.last, "step"),
    ]
    rows += [row("merges_in_tenth", n, "merges", rank=rank) for rank, n in enumerate(training.tenths, 1)]
    return [one for one in rows if one["value"] is not None]


def text_rows(text: InText | None) -> list[dict[str, Any]]:
    if text is None:
        return []
    about = text.source if text.lines is None else f"{text.source}, {text.lines} lines"
    rows = [
        row("cost", text.cost, "tokens/line", note=about),
        row("floor", text.floor, "pre-tokens/line", note=about),
        row("cost_over_floor", text.cost_over_floor, "ratio", note=about),
        row("types", text.types, "tokens", note="distinct tokens in the text"),
        row("split_characters", text.cut_share, "share", count=text.characters),
    ]
    for rank, word in enumerate(text.words, 1):
        item = word.pretoken.decode(errors="replace")
        rows.append(
            row("word", word.extra, "extra tokens", rank=rank, item=item, count=word.count, tokens=word.shown)
        )
    for rank, one in enumerate(text.cut, 1):
        rows.append(row("split_character", one.cut, "times", rank=rank, item=one.character, count=one.count))
    for rank, near in enumerate(text.neighbours, 1):
        rows.append(row("neighbour", near.overlap, "share", rank=rank, item=near.language, count=near.shared))
    return [one for one in rows if one["value"] is not None]
