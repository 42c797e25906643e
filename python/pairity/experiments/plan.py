"""The plan: every row with its text and its policy, and every mistake that can be found before any work."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pairity.bpe.merges import BYTE_TOKENS
from pairity.errors import PairityError, did_you_mean, listed, quoted
from pairity.experiments.combinations import EXISTING, Combination, combinations
from pairity.experiments.data import Data, LinesByLanguage, lines_digest, place_digest, read_data, some_lines
from pairity.experiments.experiment import ALL, STEERED, UNIGRAM, Experiment, is_steered, nearest
from pairity.experiments.parity_unigram import SETTINGS as SETTINGS_OF_STEERED
from pairity.experiments.unigram import SETTINGS
from pairity.extras import load_extra
from pairity.judging.evaluation import check_name, check_reference, chosen_metrics
from pairity.judging.metrics.bootstrap import check_resamples
from pairity.judging.metrics.gold import read_morph
from pairity.judging.opening import open_tokenizer
from pairity.judging.protocol import TokenizerLike
from pairity.languages import SETS, meant
from pairity.progress import Progress
from pairity.text.parallel import check_parallel
from pairity.text.pretokenizers import DEFAULT_PRETOKENIZER, Pretokenization
from pairity.text.sampling import Draw
from pairity.training.checks import check_goal
from pairity.training.policy import Parity, Policy, policy_of
from pairity.training.settings import Settings, make_settings

SAID = {
    "unknown pre-tokenizer": "pretokenizer",
    "there is no set of": "languages",
    "the languages": "languages",
    "the ratio": "ratios",
    "a ratio": "ratios",
}
"""Beginning of an error that does not begin with its key -> the key."""
OPTIONS = re.compile(r" \(--[^)]*\)")
"""The options of other commands that their errors mention."""


@dataclass(frozen=True)
class Corpus:
    """A training text, counted once for all rows that learn from it."""

    languages: str
    """The name of the set."""
    codes: tuple[str, ...]
    draw: Draw
    pretokenizer: str

    @property
    def cut(self) -> Pretokenization:
        return Pretokenization.of(self.pretokenizer)


@dataclass(frozen=True)
class Planned:
    """One tokenizer. `settings` is what was given for it; an existing tokenizer has only `opened`."""

    name: str
    family: str
    series: str
    method: str
    settings: Mapping[str, Any]
    corpus: Corpus | None = None
    training: Settings | None = None
    """What `train` learns; None for UnigramLM and for an existing tokenizer."""
    dev: LinesByLanguage | None = None
    opened: TokenizerLike | None = None

    @property
    def vocab_size(self) -> int | None:
        size: int | None = self.settings.get("vocab_size")
        return size

    @property
    def is_prefix(self) -> bool:
        """Whether a smaller size is exactly the beginning of a larger one; not if a phase is a share of the size."""
        return self.training is not None and not isinstance(
            getattr(self.training.policy, "global_merges", 0), float
        )

    @cached_property
    def recipe(self) -> dict[str, Any]:
        """Everything besides the text of its corpus that determines this tokenizer."""
        if self.corpus is None:
            return {"tokenizer": place_digest(self.settings["tokenizer"])}
        unigram = SETTINGS_OF_STEERED if self.method == STEERED else SETTINGS
        return {
            "method": self.method,
            "vocab_size": self.vocab_size,
            "training": self.training.describe() if self.training else dict(unigram),
            "dev": lines_digest(self.dev) if self.dev else None,
        }

    @cached_property
    def of_all_sizes(self) -> dict[str, Any]:
        """The recipe without the size, shared by tokenizers that differ only in size."""
        described = self.training.describe() if self.training else {}
        return {**self.recipe, "vocab_size": None, "training": {**described, "vocab_size": None}}


@dataclass(frozen=True)
class Plan:
    experiment: Experiment
    data: Data
    rows: tuple[Planned, ...]
    notes: tuple[str, ...]

    def sets(self) -> dict[str, tuple[str, ...]]:
        """The sets of languages of the trained rows; the set of all languages if nothing is trained."""
        found = {row.corpus.languages: row.corpus.codes for row in self.rows if row.corpus}
        return found or {ALL: self.data.languages}

    def judged(self, text: str, codes: Sequence[str]) -> LinesByLanguage:
        """A text in those of the languages in `codes` that it has."""
        return {code: lines for code, lines in self.data.judged[text].items() if code in codes}


def plan(experiment: Experiment, show: Progress | None = None, data: Data | None = None) -> Plan:
    """Check everything, without counting or writing anything. `data` is the text, if it was read already."""
    wanted = combinations(experiment)
    check_evaluation(experiment, wanted)
    for one in wanted:  # first everything that needs no text, which may take long to read
        with placed(experiment, one):
            check_name(one.name)
        if one.method != EXISTING:
            with placed(experiment, one):
                listing_of(experiment, one.settings.get("languages", ALL))
                settings_of(one, ())
    data = data or read_data(experiment, show or Progress(False))
    notes = list(data.notes)
    sets: dict[str, tuple[str, ...]] = {}
    rows = []
    for one in wanted:
        with placed(experiment, one):
            if one.method == EXISTING:
                opened = open_tokenizer(one.settings["tokenizer"], name=one.name)
                rows.append(
                    Planned(one.name, one.family, one.series, one.method, one.settings, opened=opened)
                )
                continue
            name = one.settings.get("languages", ALL)
            if name not in sets:
                sets[name] = codes_of(experiment, name, data, notes, with_a_ratio(wanted, name))
            rows.append(planned(one, name, sets[name], data))
    made = Plan(experiment, data, tuple(rows), ())
    reference, judged = experiment.evaluation.get("reference"), set[str]()
    for name, codes in made.sets().items():
        for text in data.judged:
            there = made.judged(text, codes)
            judged.update(there)
            lacking = [code for code in codes if code not in there]
            if not there:
                experiment.refuse(
                    "[judge]", f"{text!r} has none of the languages in {name!r}: {listed(codes)}."
                )
            if lacking:
                notes.append(f"{text} has no text in {listed(lacking)}: evaluated without them")
            if reference not in (None, *there):
                notes.append(f"{text} has no token premiums, because it has no {reference}")
    if reference is not None:
        try:
            check_reference(reference, [code for code in data.languages if code in judged])
        except PairityError as error:
            experiment.refuse("[evaluation]", OPTIONS.sub("", str(error)))
    return Plan(experiment, data, tuple(rows), tuple(dict.fromkeys(notes)))


@contextmanager
def placed(experiment: Experiment, one: Combination) -> Iterator[None]:
    """Prefix errors with the place of the key they are about, and remove options of other commands."""
    try:
        yield
    except PairityError as error:
        said = OPTIONS.sub("", str(error))
        key = next((key for begin, key in SAID.items() if said.startswith(begin)), said.split(" ")[0])
        shared = key in experiment.grid and key not in one.own
        experiment.refuse("[grid]" if shared else one.place, said, error)


def listing_of(experiment: Experiment, name: str) -> str | Sequence[str]:
    """The definition of a set of languages: the name of a preset, or a list."""
    listing = experiment.languages.get(name, name)
    if isinstance(listing, str) and listing not in (*SETS, ALL):
        known = [*experiment.languages, *SETS, ALL]
        raise PairityError(
            f"there is no set of languages {name!r}.{nearest(name, known)} Known sets: {quoted(known)}. "
            f"To list codes, add them under [languages], as in {'mine' if '_' in name else name} = "
            "['eng_Latn', 'tam_Taml']."
        )
    return listing


def with_a_ratio(wanted: Sequence[Combination], name: str) -> set[str]:
    """The languages of a set that need no dev text: all rows that compare them on dev text have a ratio for them.

    A language that only some rows can compare is in none, because the rows of a set are evaluated together.
    """
    rows = [one for one in wanted if one.settings.get("languages", ALL) == name and is_steered(one.method)]
    ratios = [one.settings.get("ratios") for one in rows if one.settings.get("on") != "train"]
    codes = [set(one) if isinstance(one, Mapping) else set() for one in ratios]
    return set.intersection(*codes) if codes else set()


def codes_of(
    experiment: Experiment, name: str, data: Data, notes: list[str], rated: Collection[str]
) -> tuple[str, ...]:
    """The languages of a set, in the order of train; those in `rated` need no dev text."""
    dev = data.languages if data.dev is None else (*data.dev, *rated)
    if name == ALL:
        if left := [code for code in data.languages if code not in dev]:
            notes.append(f"train has {listed(left)}, but dev does not: not used for training")
        kept = tuple(code for code in data.languages if code in dev)
    else:
        listing = listing_of(experiment, name)
        codes = SETS[listing] if isinstance(listing, str) else tuple(listing)
        lacking = [code for code in codes if code not in data.languages or code not in dev]
        if lacking and not isinstance(listing, str):
            near = [other for code in lacking for other in meant(code, data.languages)]
            text = "train" if lacking[0] not in data.languages else "dev"
            raise PairityError(
                f"the languages {name!r} include {quoted(lacking)}, which {text} lacks.{did_you_mean(near)} "
                "Add the text, or remove them from the list."
            )
        if lacking:
            notes.append(f"{listing} is used without {listed(lacking)}, which train or dev lacks")
        kept = tuple(code for code in data.languages if code in codes and code in dev)
    if not kept:
        raise PairityError(f"none of the languages {name!r} is in train and dev.")
    return kept


def settings_of(one: Combination, codes: Sequence[str]) -> tuple[Draw, str, Settings | None]:
    """How to draw and cut the text, and what to train on it."""
    given = one.settings
    if "vocab_size" not in given:
        raise PairityError("vocab_size is missing: write it here or under [grid], as in vocab_size = 32000.")
    keys = ("sample", "balance", "temperature", "seed")
    draw = Draw(**{key: given[key] for key in keys if key in given})
    pretokenizer = given.get("pretokenizer", DEFAULT_PRETOKENIZER)
    if one.method in UNIGRAM:
        if one.method != STEERED:
            load_extra("sentencepiece", "method unigram")
        check_goal(given["vocab_size"], None, len(BYTE_TOKENS), continued=False)
        Pretokenization.of(pretokenizer)
        return draw, pretokenizer, None
    policy = policy_of(one.method, with_ratios(given, codes))
    return (
        draw,
        pretokenizer,
        make_settings(policy=policy, vocab_size=given["vocab_size"], pretokenizer=pretokenizer),
    )


def planned(one: Combination, name: str, codes: tuple[str, ...], data: Data) -> Planned:
    given = one.settings
    draw, pretokenizer, training = settings_of(one, codes)
    if data.counted and not draw.takes_all:
        raise PairityError(
            "train holds counts, and lines cannot be sampled from counts: leave out sample and balance."
        )
    corpus = Corpus(name, codes, draw, pretokenizer)
    if training is None and one.method != STEERED:
        return Planned(one.name, one.family, one.series, one.method, given, corpus)
    if training is None and data.dev is None:
        raise PairityError(f"method {STEERED} measures languages by parallel text: give dev.")
    policy = training.policy if training else Parity()
    dev = {code: data.dev[code] for code in codes if code in data.dev} or None if data.dev else None
    check_ratios(policy, name, codes, data)
    policy.check(codes, None if dev is None else list(dev))
    if dev is not None:
        drawn, number = given.get("dev_seed") is not None, given.get("dev_lines")
        lines = {code: len(dev[code]) for code in (dev if drawn else policy.compared_by_line(list(dev)))}
        fix = "Align the files line by line" + (", or leave dev_seed out." if drawn else ".")
        check_parallel(lines, what="dev text", fix=fix)
        least = min(len(texts) for texts in dev.values())
        if number is not None and number > least:
            raise PairityError(f"dev_lines is {number:,}, but dev has {least:,} lines: give fewer.")
        dev = some_lines(dev, number, given.get("dev_seed"))
    return Planned(one.name, one.family, one.series, one.method, given, corpus, training, dev)


def check_ratios(policy: Policy, name: str, codes: Sequence[str], data: Data) -> None:
    """Refuse a ratio of a language that this row is not trained on, and an estimate that dev lines would change."""
    if left := [code for code in policy.ratios or {} if code in data.languages and code not in codes]:
        raise PairityError(
            f"a ratio is given for {quoted(left)}, but the rows for the languages {name!r} are trained "
            f"without: leave it out, or give it to all rows of a set of languages with {quoted(left)}."
        )
    if read := [code for code in policy.estimated() if code in (data.dev or {})]:
        raise PairityError(
            f"the ratio of {quoted(read)} is auto (ratios), but dev has text of {quoted(read)}, and an "
            "experiment estimates ratios only for languages without: leave out the ratio, or the dev text."
        )


def with_ratios(given: Mapping[str, Any], codes: Sequence[str]) -> Mapping[str, Any]:
    """With ratios = "dev", each language copies that of its own dev lines: the paper's, measured on train text."""
    if given.get("ratios") != "dev":
        return given
    return {**given, "ratios": {code: code for code in codes} or None}


def check_evaluation(experiment: Experiment, rows: Sequence[Combination]) -> None:
    given = experiment.evaluation
    try:
        metrics = chosen_metrics(given.get("metrics"))
        if experiment.chart and not metrics & {"gini", "cost"}:
            raise PairityError("the chart shows gini and cost: add them to metrics, or leave chart out.")
        check_resamples(given.get("resamples", 0))
        if given.get("morph") is not None:
            read_morph(given["morph"])
    except PairityError as error:
        experiment.refuse("[evaluation]", str(error))
    families = list(dict.fromkeys(row.family for row in rows))
    baseline = given.get("baseline")
    if baseline is not None and baseline not in families:
        near = nearest(baseline, families)
        experiment.refuse(
            "[evaluation]", f"the baseline {baseline!r} is not a row.{near} Rows: {quoted(families)}."
        )
