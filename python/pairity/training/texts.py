"""What is read: train counts, dev counts, and what each language is measured by.

Dev is read before train where names tell the languages: it is small, so its mistakes show before train is
read, which takes long.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from typing import Any, Unpack

from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.counts.values import LanguageCounts, Split, cut_again
from pairity.languages import chosen
from pairity.progress import Progress
from pairity.text.inputs import Resolved, TextInput
from pairity.text.options import GivenReading, TextReading
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
from pairity.training.engine import Columns, Measured, columns
from pairity.training.measure import Measure, set_apart
from pairity.training.policy import Policy
from pairity.training.settings import Settings


@dataclass(frozen=True)
class Texts:
    """The counts of all languages, in the order in which they were given."""

    train: Counts
    dev: Counts | None
    measures: Mapping[str, Measure]
    set_apart: Sequence[str] = ()
    """Languages whose costs are per line-equivalent while those of others are per dev line."""
    draw: Mapping[str, Any] = field(default_factory=dict)
    """How the train text was drawn here; counts that were drawn say so themselves."""

    def for_engine(self) -> list[tuple[Columns, Measured | None]]:
        measured = {
            language: (columns(measure.text), measure.units, measure.ratio)
            for language, measure in self.measures.items()
        }
        return [(columns(counts), measured.get(language)) for language, counts in self.train.items()]

    def in_words(self, policy: Policy) -> "Texts":
        """The same text cut into words, where this is cut into phrases."""
        train, dev = (counts and in_words(counts) for counts in (self.train, self.dev))
        assert train is not None
        return replace(self, train=train, dev=dev, measures=policy.measures(train, dev or {}))

    def name(self, served: int | None) -> str:
        """Of a language that the engine knows by its number."""
        return "all languages" if served is None else list(self.train)[served]

    @cached_property
    def warnings(self) -> list[str]:
        """What a user should hear before the merges are learned."""
        ratios = {language: self.measures[language].ratio for language in self.set_apart}
        return unlikely_ratios(ratios, self.dev or {})

    @cached_property
    def descriptions(self) -> dict[str, dict[str, Any]]:
        """{"eng_Latn": {"train": {"digest": ..., "lines": 997, ...}, "dev": {...}}, ...}; digests take a while."""
        described = {language: {"train": describe(counts)} for language, counts in self.train.items()}
        for language, given in (self.train.drawn.given if self.train.drawn else {}).items():
            described[language]["train"] |= {"of_lines": given.of_lines, "of_bytes": given.of_bytes}
        for language, counts in (self.dev or {}).items():
            described[language]["dev"] = describe(counts)
        return described


def in_words(phrases: Counts) -> Counts:
    """Every word of a phrase occurs as often as the phrase; its edges are the same wherever it stands."""
    cut = phrases.pretokenization.words
    assert cut is not None
    languages = {language: cut_again(counts, cut.pattern) for language, counts in phrases.items()}
    return Counts(languages, cut, phrases.split)


def describe(counts: LanguageCounts) -> dict[str, Any]:
    return {
        "digest": counts.digest(),
        "lines": counts.lines,
        "bytes": counts.bytes,
        "distinct_pretokens": counts.distinct,
        "pretokens": counts.total,
    } | ({} if counts.pruned is None else {"pruned": asdict(counts.pruned)})


LINE_BY_LINE = {"on_error": "stop", "dedup": None}
"""Lines of dev text are those of other languages: none of them may be passed over."""


def read_train_and_dev(
    train: Any,
    dev: Any,
    skip: Iterable[str],
    settings: Settings,
    show: Progress,
    threads: int | None,
    *,
    choose: Iterable[str] | None = None,
    draw: Draw | None = None,
    counting: Mapping[str, Any] | None = None,
    **reading: Unpack[GivenReading],
) -> Texts:
    """Count train and dev (SOURCEs). `reading` says how text is read, in the words of `count`.

    `choose` and `draw` say what of the train text is taken, `counting` how it is counted, since it may be large:
    memory, min_count, checkpoint, resume.
    """
    column = reading.get("language_column")

    def read(
        sources: Resolved,
        split: Split,
        languages: list[str] | None = None,
        choose: Iterable[str] | None = None,
    ) -> Counts:
        show.stage(f"reading {split}", unit="B")
        return count(
            sources,
            pretokenizer=settings.pretokenization,
            split=split,
            languages=languages,
            count_words=split == "dev" and settings.policy.unit == "word",
            progress=show.bytes_read,
            threads=threads,
            choose=choose,
            draw=draw if split == "train" else None,
            **(reading if split == "train" else {**reading, **LINE_BY_LINE}),
            **((counting or {}) if split == "train" else {}),
        )

    train_sources = resolve(train, language_column=column)
    dev_sources = None if dev is None else resolve(dev, language_column=column)
    train_counts = dev_counts = dev_languages = None
    left_out: tuple[str, ...] = ()

    languages = named_languages(train_sources)
    if languages is None:
        train_counts = read(train_sources, "train", choose=choose)
        languages = list(train_counts)
    TextReading(**reading).check_languages(languages)
    of_train = languages
    languages = without(languages, skip)
    notes: list[str] = []
    if choose is not None:
        languages, notes = chosen(choose, languages)

    if dev_sources is not None:
        # What train has and is not wanted is left out of dev, named or not; what train lacks is an error.
        dev_sources = resolve(found_only(resolve(dev_sources, of_train)), languages)
        dev_languages = named_languages(dev_sources)
        left_out = dev_sources.left_out
        if dev_languages is None:
            dev_counts = read(dev_sources, "dev", languages)
            dev_languages, left_out = list(dev_counts), dev_counts.left_out
        left_out = (*left_out, *(language for language in dev_languages if language not in languages))
        dev_languages = [language for language in dev_languages if language in languages]
    settings.policy.check(languages, dev_languages, left_out)

    if dev_sources is not None and dev_counts is None:
        dev_counts = read(dev_sources, "dev", languages)
    if dev_counts is not None:
        check_dev(dev_counts, settings.policy)
        check_lengths(dev_counts)
    if train_counts is None:
        train_counts = read(only(train_sources, languages), "train", languages)
    kept = {language: train_counts[language] for language in train_counts if language in languages}
    drawn = train_counts.drawn and train_counts.drawn.only(kept)
    notes = [*train_counts.notes, *notes]
    train_counts = Counts(kept, settings.pretokenization, "train", drawn, notes=notes)
    check_train(train_counts)
    check_lengths(train_counts)
    check_not_learned(settings.special_tokens, train_counts, settings.min_frequency)
    measures = settings.policy.measures(train_counts, dev_counts or {})
    apart = set_apart(settings.policy.ratios or {}, measures)
    return Texts(train_counts, dev_counts, measures, apart, draw.describe() if draw else {})


def found_only(sources: Resolved) -> Resolved:
    """As if no language had been named, but all found in a folder."""
    parts = (replace(part, named=False) if isinstance(part, TextInput) else part for part in sources.inputs)
    return replace(sources, inputs=tuple(parts))


def only(sources: Resolved, languages: list[str]) -> Resolved:
    """Without the texts of other languages; what holds several is chosen from when it is read."""
    kept = [part for part in sources.inputs if not part.language or part.language in languages]
    return replace(sources, inputs=tuple(kept))
