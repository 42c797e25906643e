"""Texts: the counts of train and dev, and what each language is measured by.

If names tell the languages, dev is read before train: it is small, so its mistakes show before the long read.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Unpack

from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.counts.pruning import check_min_count
from pairity.counts.storage import Storage
from pairity.counts.values import LanguageCounts, Split, cut_again
from pairity.errors import PairityError, quoted
from pairity.languages import chosen, one_or_several
from pairity.progress import Progress
from pairity.text.inputs import CountsInput, Resolved, TextInput
from pairity.text.options import GivenReading, TextReading
from pairity.text.reading import read_texts
from pairity.text.sampling import Draw
from pairity.text.sources import resolve
from pairity.training.checks import (
    check_dev,
    check_lengths,
    check_not_learned,
    check_train,
    named_languages,
    unlikely_ratios,
    without,
)
from pairity.training.comparing import Comparing
from pairity.training.dev_sets import DevSets, of_set, together
from pairity.training.engine import Columns, EngineMeasure, columns
from pairity.training.estimating import LineEstimate, estimate_by_lines
from pairity.training.measure import Measure, set_apart
from pairity.training.policy import Policy
from pairity.training.settings import Settings


class GivenText(GivenReading, total=False):
    """What a caller may set about the text that is learned from."""

    skip: str | Iterable[str]
    """Languages to leave out: a code or several."""
    choose: str | Iterable[str] | None
    """The only languages to take: codes and names of sets ("paper-30"), one or several."""
    draw: Draw | None
    """How much of the training text to take: `Draw(balance="temperature", temperature=3.3, budget="10GB")`."""
    memory: str | int | None
    """What counting the training text may take in addition to the program itself ("4GB"), as for `count`."""
    min_count: int
    """Rarer pre-tokens of the training text are dropped, as for `count`. Default: 1."""


@dataclass(frozen=True)
class Texts:
    """The counts of all languages, in the order in which they were given."""

    train: Counts
    dev: Counts | None
    measures: Mapping[str, Measure]
    set_apart: Sequence[str] = ()
    """Languages whose costs are per line-equivalent while those of others are per dev line."""
    draw: Mapping[str, Any] = field(default_factory=dict)
    """How the train text was drawn in this run; counts that were drawn earlier record it themselves."""
    dev_sets: Mapping[str, Counts] = field(default_factory=dict)
    """All dev sets by name, if they have names; `dev` is the first."""
    weights: Mapping[str, float] = field(default_factory=dict)
    min_count: int = 1

    def for_engine(self) -> list[tuple[Columns, EngineMeasure | None]]:
        measured = {
            language: (columns(measure.text), measure.units, measure.ratio)
            for language, measure in self.measures.items()
        }
        return [(columns(counts), measured.get(language)) for language, counts in self.train.items()]

    def in_words(self) -> "Texts":
        """The same text cut into words instead of phrases."""
        cut = self.train.pretokenization.words
        assert cut is not None
        train = {language: cut_again(counts, cut.pattern) for language, counts in self.train.items()}
        measures = {
            language: replace(
                measure,
                text=train[language]
                if measure.text is self.train[language]
                else cut_again(measure.text, cut.pattern),
            )
            for language, measure in self.measures.items()
        }
        return replace(self, train=Counts(train, cut, self.train.split), measures=measures)

    def name(self, served: int | None) -> str:
        """The name of a language, from its number in the engine."""
        return "all languages" if served is None else list(self.train)[served]

    @cached_property
    def warnings(self) -> list[str]:
        """Warnings to give before the merges are learned."""
        measures = {language: self.measures[language] for language in self.set_apart}
        stated = {language: one.ratio for language, one in measures.items() if one.estimate is None}
        found = unlikely_ratios(stated, self.train, self.dev or {})
        for language, one in measures.items():
            if one.estimate and one.estimate.is_rough:
                found.append(
                    f"no language with dev text has the script of {language!r}, so its ratio of {one.ratio:,.1f} bytes "
                    "per line is a rough guess from all of them. Translate the first ten dev lines into "
                    f"{language!r}, or give a number."
                )
            elif self.has_all_lines(language, one.estimate):
                found.append(
                    f"{language!r} has all dev lines, which measure it better than an estimated ratio: "
                    "remove the ratio."
                )
        return found

    def has_all_lines(self, language: str, estimate: LineEstimate | None) -> bool:
        """Whether a language with an estimate has as many dev lines as the others, and so needs no estimate."""
        if estimate is None or estimate.lines is None or self.dev is None:
            return False
        # Without its ratio, it would need text in every set.
        in_all = all(language in one.left_out for one in self.further.values())
        return in_all and estimate.lines == self.dev[estimate.languages[0]].lines

    @cached_property
    def descriptions(self) -> dict[str, dict[str, Any]]:
        """{"eng_Latn": {"train": {"digest": ..., "lines": 997, ...}, "dev": {...}}, ...}; digests take a while."""
        described = {language: {"train": describe(counts)} for language, counts in self.train.items()}
        for language, given in (self.train.drawn.given if self.train.drawn else {}).items():
            described[language]["train"] |= {"of_lines": given.of_lines, "of_bytes": given.of_bytes}
        for language, counts in (self.dev or {}).items():
            described[language]["dev"] = describe(counts)
        for name, counts_of_set in self.further.items():
            for language, counts in counts_of_set.items():
                described[language].setdefault("further_dev", {})[name] = describe(counts)
        return described

    @property
    def further(self) -> dict[str, Counts]:
        """The dev sets after the first."""
        return dict(list(self.dev_sets.items())[1:])


def describe(counts: LanguageCounts) -> dict[str, Any]:
    return {
        "digest": counts.digest(),
        "lines": counts.lines,
        "bytes": counts.bytes,
        "distinct_pretokens": counts.distinct,
        "pretokens": counts.total,
    } | ({} if counts.pruned is None else {"pruned": asdict(counts.pruned)})


LINE_BY_LINE = {"on_error": "stop", "dedup": None}
"""Dev text is parallel: dropping a line in one language would misalign it with the others."""


@dataclass(frozen=True)
class Reader:
    """How train and dev are counted for one training."""

    settings: Settings
    show: Progress
    threads: int
    reading: Mapping[str, Any]
    """How text is read, as keyword arguments of `count`."""
    train_only: Mapping[str, Any]
    """Further arguments for train, which may be large: draw, memory, min_count, checkpoint, resume."""

    def read_train(
        self,
        sources: Resolved,
        languages: list[str] | None = None,
        choose: Iterable[str] | None = None,
    ) -> Counts:
        return self.read(sources, "train", languages, choose=choose, **self.reading, **self.train_only)

    def read_dev(self, sources: Resolved, languages: list[str]) -> Counts:
        by_word = self.settings.policy.unit == "word"
        return self.read(sources, "dev", languages, count_words=by_word, **{**self.reading, **LINE_BY_LINE})

    def read(self, sources: Resolved, split: Split, languages: list[str] | None, **options: Any) -> Counts:
        self.show.stage(f"reading {split}", unit="B")
        return count(
            sources,
            pretokenizer=self.settings.pretokenization,
            split=split,
            languages=languages,
            progress=self.show.bytes_read,
            threads=self.threads,
            **options,
        )


def read_train_and_dev(
    train: Any,
    dev: Any,
    settings: Settings,
    show: Progress,
    threads: int,
    *,
    checkpoint: Path | None = None,
    resume: bool = False,
    skip: str | Iterable[str] = (),
    choose: str | Iterable[str] | None = None,
    draw: Draw | None = None,
    memory: str | int | None = None,
    min_count: int = 1,
    **reading: Unpack[GivenReading],
) -> Texts:
    """Count train and dev (SOURCEs). `checkpoint` names a folder that keeps what is counted of train."""
    choose = None if choose is None else one_or_several(choose)
    check_min_count(min_count, "train")
    Storage.of(memory, None, False, threads)  # refuses a bad value before the dev text is read
    counting = {
        "draw": draw,
        "memory": memory,
        "min_count": min_count,
        "checkpoint": checkpoint,
        "resume": resume,
    }
    policy = settings.policy
    reader = Reader(settings, show, threads, reading, counting)
    column = reading.get("language_column")
    train_sources = resolve(train, language_column=column)
    dev_sources = resolve_sets(dev, column)

    train_counts = None
    of_train = named_languages(train_sources)
    if of_train is None:
        train_counts = reader.read_train(train_sources, choose=choose)
        of_train = [*train_counts, *train_counts.left_out]
    TextReading(**reading).check_languages(of_train)
    languages = of_train
    notes: list[str] = []
    if choose is not None:
        languages, notes = chosen(choose, of_train)
    languages = without(of_train, one_or_several(skip), languages)

    compared = compared_on_dev(policy, languages)
    dev_sets, sizes = read_dev_sets(reader, dev_sources, of_train, languages, compared)
    weights = dev.describe() if isinstance(dev, DevSets) else {}
    joined = measures_on_dev(dev_sets, weights, policy, compared)

    if train_counts is None:
        train_counts = reader.read_train(only(train_sources, languages), languages)
    train_counts = kept_and_checked(train_counts, languages, notes, settings)
    first = next(iter(dev_sets.values()), None)
    measures = {
        language: joined.get(language, measure)
        for language, measure in policy.measures(train_counts, first or {}, sizes).items()
        if language in joined or language not in compared
    }
    return Texts(
        train_counts,
        first,
        measures,
        set_apart(policy.ratios or {}, measures),
        draw.describe() if draw else {},
        dev_sets if weights else {},
        weights,
        min_count,
    )


def resolve_sets(dev: Any, column: str | None) -> dict[str, Resolved]:
    """Set -> its sources; one set without a name has the name ""."""
    given = dev.sets if isinstance(dev, DevSets) else {} if dev is None else {"": dev}
    found = {}
    for name, source in given.items():
        with of_set(name):
            found[name] = resolve(source, language_column=column)
    return found


def read_dev_sets(
    reader: Reader,
    sources: Mapping[str, Resolved],
    of_train: list[str],
    languages: list[str],
    compared: list[str],
) -> tuple[dict[str, Counts], dict[str, list[int]]]:
    """Set -> its counts, and the bytes of each line where ratios are estimated by lines (`lines_to_go_by`)."""
    policy = reader.settings.policy
    if not sources:
        policy.check(languages, None)
    dev_sets: dict[str, Counts] = {}
    sizes: dict[str, list[int]] = {}
    for name, one_set in sources.items():
        with of_set(name):
            if not dev_sets:
                dev_sets[name], sizes = read_dev_set(reader, one_set, policy, of_train, languages)
            else:  # ratios go by the lines of the first set
                plain = without_ratios(policy)
                dev_sets[name], _ = read_dev_set(reader, one_set, plain, of_train, compared or languages)
                refuse_later_lines(name, dev_sets, policy.estimated())
    return dev_sets, sizes


def refuse_later_lines(name: str, dev_sets: Mapping[str, Counts], estimated: Sequence[str]) -> None:
    """Refuse lines of a later set that a ratio would be estimated from if their set were the first."""
    first, counts = next(iter(dev_sets.items()))
    if late := [one for one in estimated if one not in counts and one in dev_sets[name].left_out]:
        raise PairityError(
            f"it has text of {quoted(late)}, whose ratio is auto, but auto goes by the lines of the first set, "
            f"{first!r}, which has none of {quoted(late)}: give {name!r} first, or leave out that text."
        )


def read_dev_set(
    reader: Reader, sources: Resolved, policy: Policy, of_train: list[str], languages: list[str]
) -> tuple[Counts, dict[str, list[int]]]:
    """Count one set. If the names of its files tell its languages, they are checked before anything is read."""
    # Dev may have languages of train that are not wanted now; a language that train lacks is an error.
    sources = resolve(found_only(resolve(sources, of_train)), languages)
    sources, sizes = lines_to_go_by(sources, policy, languages, reader.reading)
    named, left_out, counts = named_languages(sources), sources.left_out, None
    if named is None:
        counts = reader.read_dev(sources, languages)
        named, left_out = list(counts), counts.left_out
    left_out = (*left_out, *(language for language in named if language not in languages))
    named = [language for language in named if language in languages]
    policy.check(languages, named, left_out)
    if unread := [one for one in policy.estimated() if one in named and one not in sizes]:
        raise PairityError(
            f"the ratio of {quoted(unread)} is auto and there is dev text for {quoted(unread)}, but dev counts do not "
            f"record how long each line is: give all dev text as text, or leave out that of {quoted(unread)}."
        )
    counts = reader.read_dev(sources, languages) if counts is None else counts
    check_dev(counts, policy)
    check_lengths(counts)
    return counts, sizes


def kept_and_checked(train: Counts, languages: list[str], notes: list[str], settings: Settings) -> Counts:
    """The counts of these languages alone, which must be fit to learn from."""
    kept = {language: train[language] for language in train if language in languages}
    drawn = train.drawn and train.drawn.only(kept)
    train = Counts(kept, settings.pretokenization, "train", drawn, notes=[*train.notes, *notes])
    check_train(train)
    check_lengths(train)
    check_not_learned(settings.special_tokens, train, settings.min_frequency)
    return train


def measures_on_dev(
    dev_sets: Mapping[str, Counts], weights: Mapping[str, float], policy: Policy, compared: Sequence[str]
) -> dict[str, Measure]:
    """The measures of the languages that are compared on dev text and are in all sets. Needs no train text."""
    found = {}
    for name, dev in dev_sets.items():
        with of_set(name):
            texts = {language: dev[language] for language in compared if language in dev}
            found[name] = without_ratios(policy).measures(texts, dev)
    if len(found) < 2:
        return next(iter(found.values()), {})
    shared = [language for language in compared if all(language in one for one in found.values())]
    parts = {name: {language: one[language] for language in shared} for name, one in found.items()}
    return together(parts, weights) if shared else {}


def without_ratios(policy: Policy) -> Policy:
    return replace(policy, ratios=None) if isinstance(policy, Comparing) else policy


def compared_on_dev(policy: Policy, languages: list[str]) -> list[str]:
    return [] if policy.on == "train" else [one for one in languages if one not in (policy.ratios or {})]


def lines_to_go_by(
    sources: Resolved, policy: Policy, languages: list[str], reading: Mapping[str, Any]
) -> tuple[Resolved, dict[str, list[int]]]:
    """If a ratio is to be estimated from dev lines: the dev text, read into memory, and the bytes of its lines."""
    wanted, parts = policy.estimated(), sources.inputs
    counted = any(isinstance(part, CountsInput) for part in parts)
    if not wanted or counted or not any(part.language in ("", *wanted) for part in parts):
        return sources, {}
    texts = read_texts(sources, languages=languages, **{**reading, **LINE_BY_LINE})
    sizes = {language: [len(line.encode()) for line in lines] for language, lines in texts.items()}
    for language in wanted:
        if language in sizes:
            estimate_by_lines(language, sizes)  # raises what cannot be compared, before train is read
    read = replace(resolve(texts), notes=sources.notes, left_out=sources.left_out)
    return read, sizes if any(language in sizes for language in wanted) else {}


def found_only(sources: Resolved) -> Resolved:
    """The same sources as if their languages were found in a folder, not named by the user."""
    parts = (replace(part, named=False) if isinstance(part, TextInput) else part for part in sources.inputs)
    return replace(sources, inputs=tuple(parts))


def only(sources: Resolved, languages: list[str]) -> Resolved:
    """Without the texts of other languages. Sources with several languages are filtered when they are read."""
    kept = [part for part in sources.inputs if not part.language or part.language in languages]
    return replace(sources, inputs=tuple(kept))
