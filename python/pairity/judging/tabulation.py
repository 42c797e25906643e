"""From judged tokenizers to the rows of the score tables.

Each `add_` function loops over the metrics of one kind and passes them their inputs.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pairity.judging.arrays import Floats, Integers, Mask
from pairity.judging.measurement import Encoded, Judged
from pairity.judging.metrics import METRICS
from pairity.judging.metrics.bootstrap import Bootstrap, interval
from pairity.judging.metrics.comparisons import holm, p_value
from pairity.judging.metrics.compression import COMPRESSION, FERTILITY, FLOOR, compression_rate_line, cost
from pairity.judging.metrics.entropy import ENTROPY
from pairity.judging.metrics.fairness import (
    AGAINST_BASELINE,
    AGAINST_REFERENCE,
    EXTREMES,
    INEQUALITY,
    change,
    premium,
)
from pairity.judging.metrics.gold import MorphWord
from pairity.judging.metrics.integrity import INTEGRITY, Utf8Integrity
from pairity.judging.metrics.lines import FAILURES, ROUND_TRIP, Lines
from pairity.judging.metrics.metric import ACROSS, MEAN, ONE, POOLED, AnyMetric
from pairity.judging.metrics.morphology import (
    MORPHOLOGY,
    MORPHOLOGY_PAPER,
    MorphScore,
    macro,
    morph_score,
    resampled,
)
from pairity.judging.metrics.sums import Sums
from pairity.judging.metrics.vocabulary import VOCABULARY, Frequencies
from pairity.judging.scores import DIFFERENCES, GROUPS, LEAK, TABLE
from pairity.languages import language as facts

RATIOS = [*COMPRESSION, *FERTILITY, *FLOOR]

COMPARING: tuple[AnyMetric, ...] = (*INEQUALITY, *EXTREMES, *AGAINST_REFERENCE)
"""The metrics that need parallel lines."""

NOT_PARALLEL = "the lines of the languages are not parallel"
ONE_LANGUAGE = "needs at least 2 languages"
NO_FLOOR = "the tokenizer does not show its pre-tokenizer"


@dataclass
class ScoreRows:
    """Collects rows, drops metrics that were not requested, and turns NaN and infinity into null."""

    wanted: set[str]
    paired: bool = False
    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(
        self,
        place: Mapping[str, str | None],
        metric: str,
        samples: npt.ArrayLike | None,
        aggregation: str,
        n: int,
        note: str | None = None,
    ) -> None:
        """Add a row at `place`. `samples`: a number, a value and its resamples, or None, and `note` says why."""
        if metric not in self.wanted:
            return
        array = np.atleast_1d(np.asarray(math.nan if samples is None else samples, dtype=np.float64))
        value, low, high = map(number, interval(array))
        row: dict[str, Any] = {**place, "metric": metric, "value": value, "low": low, "high": high}
        row |= {"aggregation": aggregation, "unit": METRICS[metric].unit, "n": n, "note": note}
        if self.paired:
            row["p"] = p_value(array)
        self.rows.append(row)


def number(value: float) -> float | None:
    return value if math.isfinite(value) else None


def score_table(
    judged: Iterable[Judged],
    bootstrap: Bootstrap,
    wanted: set[str],
    *,
    baselines: Mapping[str, Judged],
    reference: str | None,
    gold: Mapping[str, list[MorphWord]],
) -> pa.Table:
    """The tidy table: every tokenizer, every language and all together, every metric.

    `baselines`: name -> the tokenizer that it is compared with.
    """
    rows = ScoreRows(wanted)
    for one in judged:
        add_ratios(rows, one, one.sums(bootstrap))
        add_fairness(rows, one, bootstrap)
        add_premium(rows, one, one.sums(bootstrap), reference)
        if one.name in baselines:
            add_change(rows, one, baselines[one.name], bootstrap)
        add_vocabulary(rows, one)
        add_integrity(rows, one)
        add_lines(rows, one)
        add_morphology(rows, one, gold, bootstrap)
    return pa.Table.from_pylist(rows.rows, schema=TABLE)


def place_of(one: Judged, code: str | None) -> dict[str, str | None]:
    return {"tokenizer": one.name, "language": code}


def mean(values: Floats) -> Floats | None:
    """The unweighted mean over languages; None without languages."""
    return np.asarray(values.mean(axis=1)) if values.shape[1] else None


def add_ratios(rows: ScoreRows, one: Judged, sums: Sums) -> None:
    """Metrics that divide one sum over lines by another."""
    pooled, lines = sums.pooled(), int(sums.lines[0].sum())
    bare = any(encoded.pretokens is None for encoded in one.encoded.values())
    for metric in RATIOS:
        why_not = NO_FLOOR if bare and metric.family == "floor" else ""
        values = metric.function(sums)
        for code in one.all_languages:
            samples = values[:, one.languages.index(code)] if code in one.languages else None
            note = one.note(code, why_not)
            rows.add(place_of(one, code), metric.name, samples, ONE, one.lines(code), note)
        everywhere, note = place_of(one, None), one.note(None, why_not)
        if metric.over_languages == MEAN:
            rows.add(everywhere, metric.name, mean(values), MEAN, len(one.languages), note)
        else:
            rows.add(everywhere, metric.name, metric.function(pooled)[:, 0], POOLED, lines, note)


def add_fairness(rows: ScoreRows, one: Judged, bootstrap: Bootstrap) -> None:
    """Metrics that compare the costs of the languages."""
    codes, costs = one.languages, cost(one.sums(bootstrap))
    why_not = NOT_PARALLEL if not one.parallel else ONE_LANGUAGE if len(codes) < 2 else ""
    for metric in INEQUALITY:
        samples = None if why_not else one.noisy(bootstrap).samples(metric.function, metric.of_extremes)
        rows.add(place_of(one, None), metric.name, samples, ACROSS, len(codes), one.note(None, why_not))
    if why_not:
        return
    for extreme in EXTREMES:
        code = extreme.function(dict(zip(codes, costs[0].tolist(), strict=True)))
        samples = costs[:, codes.index(code)]
        rows.add(place_of(one, code), extreme.name, samples, ACROSS, len(codes), one.note(code))


def add_premium(rows: ScoreRows, one: Judged, sums: Sums, reference: str | None) -> None:
    """Cost relative to the reference language."""
    if reference is None:
        return
    everywhere = place_of(one, None)
    for metric in AGAINST_REFERENCE:
        if reference not in one.languages or not one.parallel:
            why_not = NOT_PARALLEL if not one.parallel else f"no cost for the reference language {reference}"
            rows.add(everywhere, metric.name, None, MEAN, 0, one.note(None, why_not))
            continue
        values = metric.function(cost(sums), cost(sums.of([reference])))
        for column, code in enumerate(one.languages):
            samples = values[:, column]
            rows.add(place_of(one, code), metric.name, samples, ONE, one.lines(code), one.note(code))
        rows.add(everywhere, metric.name, mean(values), MEAN, len(one.languages), one.note(None))


def add_change(rows: ScoreRows, one: Judged, baseline: Judged, bootstrap: Bootstrap) -> None:
    """Cost relative to the baseline tokenizer, on the lines that both could encode."""
    keep = one.shared_lines(baseline)
    if not keep:
        return
    costs, baseline_costs = cost(one.sums(bootstrap, keep)), cost(baseline.sums(bootstrap, keep))
    everywhere, against = place_of(one, None), f"against {baseline.name}"
    worst = list(keep)[int(change(costs, baseline_costs)[0].argmax())]
    for metric in AGAINST_BASELINE:
        if metric.over_languages == ACROSS:
            note = one.note(None, f"{against}: {worst}")
            multiples = one.noisy_against(baseline, bootstrap, keep)
            samples = multiples.samples(
                lambda ratios, metric=metric: metric.function(ratios, 1.0),  # type: ignore[misc]
                metric.of_extremes,
            )
            rows.add(everywhere, metric.name, samples, ACROSS, len(keep), note)
            continue
        values = metric.function(costs, baseline_costs)
        for column, (code, mask) in enumerate(keep.items()):
            note = one.note(code, against)
            rows.add(place_of(one, code), metric.name, values[:, column], ONE, int(mask.sum()), note)
        rows.add(everywhere, metric.name, mean(values), MEAN, len(keep), one.note(None, against))


def add_vocabulary(rows: ScoreRows, one: Judged) -> None:
    """Metrics of token frequencies."""
    places: dict[str | None, Integers] = {code: one.encoded[code].frequencies for code in one.languages}
    places[None] = pooled_frequencies([one.encoded[code] for code in one.languages])
    for code, counts in places.items():
        seen = Frequencies(counts, one.tokenizer.vocab_size)
        aggregation, n = POOLED if code is None else ONE, int(counts.sum())
        for metric in (*VOCABULARY, *ENTROPY):
            rows.add(place_of(one, code), metric.name, metric.function(seen), aggregation, n, one.note(code))


def pooled_frequencies(encoded: Sequence[Encoded]) -> Integers:
    if not encoded:
        return np.zeros(0, dtype=np.int64)
    types, index = np.unique(np.concatenate([one.types for one in encoded]), return_inverse=True)
    counts = np.zeros(len(types), dtype=np.int64)
    np.add.at(counts, index, np.concatenate([one.frequencies for one in encoded]))
    return counts


def add_integrity(rows: ScoreRows, one: Judged) -> None:
    found = [(code, one.encoded[code].integrity) for code in one.languages]
    places: dict[str | None, Utf8Integrity] = {code: each for code, each in found if each is not None}
    if places:
        first, *others = places.values()
        places[None] = sum(others, first)
    for code, integrity in places.items():
        aggregation = POOLED if code is None else ONE
        for metric in INTEGRITY:
            share = metric.function(integrity)
            note = one.note(code, "" if share.whole else share.nothing)
            rows.add(place_of(one, code), metric.name, share.value, aggregation, share.whole, note)


def add_lines(rows: ScoreRows, one: Judged) -> None:
    """Lost and failed lines, out of all lines, so that a failure counts as lost text."""
    each = {code: Lines(one.encoded[code].failed, one.encoded[code].came_back) for code in one.all_languages}
    checked = [lines.came_back for lines in each.values() if lines.came_back is not None]
    failed = np.concatenate([lines.failed for lines in each.values()])
    came_back = np.concatenate(checked) if checked else None
    places: list[tuple[str | None, Lines]] = [*each.items(), (None, Lines(failed, came_back))]
    for metric in (*ROUND_TRIP, *FAILURES):
        for code, lines in places:
            aggregation, value = POOLED if code is None else ONE, metric.function(lines)
            rows.add(place_of(one, code), metric.name, value, aggregation, len(lines), one.note(code))


def add_morphology(
    rows: ScoreRows, one: Judged, gold: Mapping[str, list[MorphWord]], bootstrap: Bootstrap
) -> None:
    """MorphScore, with words of one token left out (MorphScore's own) and scored 1 (the paper's tables)."""
    for exclude, metrics in ((True, MORPHOLOGY), (False, MORPHOLOGY_PAPER)):
        if not gold or not rows.wanted & {metric.name for metric in metrics}:
            continue
        scores: dict[str | None, list[MorphScore]] = {}  # the actual words first, then the resampled ones
        for stream, (language, words) in enumerate(gold.items(), start=1 + len(one.all_languages)):
            score = morph_score(words, one.tokenizer, exclude_single_token=exclude)
            scores[language] = [score, *resampled(score, bootstrap, stream)]
        scores[None] = [macro(each) for each in zip(*scores.values(), strict=True)]
        for code, (score, *drawn) in scores.items():
            aggregation = MEAN if code is None else ONE
            note = f"{score.skipped_words} words could not be aligned" if score.skipped_words else None
            for metric in metrics:
                samples = [metric.function(each) for each in (score, *drawn)]
                rows.add(place_of(one, code), metric.name, samples, aggregation, score.words, note)


def difference_table(
    judged: Sequence[Judged], bootstrap: Bootstrap, compared: Callable[[str, str], bool]
) -> pa.Table:
    """For every two tokenizers that are compared: one minus the other, on the same lines and resamples.

    Holm's correction is over all rows with the same metric: those over all languages, and those of one language each.
    """
    rows = ScoreRows(set(METRICS), paired=True)
    for one, other in combinations(judged, 2):
        if not compared(one.name, other.name):
            continue
        keep = one.shared_lines(other)
        if keep:
            add_differences(rows, one, other, keep, bootstrap)
    families: dict[tuple[str, bool], list[dict[str, Any]]] = {}
    for row in rows.rows:
        families.setdefault((row["metric"], row["language"] is None), []).append(row)
    for family in families.values():
        for row, p in zip(family, holm([row["p"] for row in family]), strict=True):
            row |= {"p": number(row["p"]), "p_holm": number(p)}
    return pa.Table.from_pylist(rows.rows, schema=DIFFERENCES)


def add_differences(
    rows: ScoreRows, one: Judged, other: Judged, keep: Mapping[str, Mask], bootstrap: Bootstrap
) -> None:
    pair = {"tokenizer": one.name, "against": other.name}
    everywhere: dict[str, str | None] = {**pair, "language": None}
    leaking = [each.name for each in (one, other) if each.leaks]
    note = f"{', '.join(leaking)}: {LEAK}" if leaking else None
    first, second = one.sums(bootstrap, keep), other.sums(bootstrap, keep)
    for metric in RATIOS:
        if not metric.paired:
            continue
        if metric.over_languages == MEAN:
            gap = metric.function(first) - metric.function(second)
            for column, (code, mask) in enumerate(keep.items()):
                rows.add({**pair, "language": code}, metric.name, gap[:, column], ONE, int(mask.sum()), note)
            rows.add(everywhere, metric.name, mean(gap), MEAN, len(keep), note)
        else:
            gap = metric.function(first.pooled()) - metric.function(second.pooled())
            rows.add(everywhere, metric.name, gap[:, 0], POOLED, int(first.lines[0].sum()), note)
    if one.parallel and len(keep) > 1:
        for unequal in INEQUALITY:
            if unequal.paired:
                ours, theirs = (each.noisy(bootstrap, keep).draws(unequal.function) for each in (one, other))
                samples = ours - theirs
                rows.add(everywhere, unequal.name, samples, ACROSS, len(keep), note)


def group_table(judged: Sequence[Judged], bootstrap: Bootstrap, reference: str | None) -> pa.Table:
    """Costs and fairness within script families and within resource levels."""
    rows = ScoreRows(set(METRICS))
    for one in judged:
        for grouping in ("script_family", "resource_level"):
            members: dict[str, list[str]] = {}
            for code in one.languages:
                members.setdefault(getattr(facts(code), grouping), []).append(code)
            for group, codes in members.items():
                place: dict[str, str | None] = {"tokenizer": one.name, "grouping": grouping, "group": group}
                add_group(rows, place, one, bootstrap, codes, reference)
    return pa.Table.from_pylist(rows.rows, schema=GROUPS)


def add_group(
    rows: ScoreRows,
    place: Mapping[str, str | None],
    one: Judged,
    bootstrap: Bootstrap,
    codes: Sequence[str],
    reference: str | None,
) -> None:
    sums, n = one.sums(bootstrap), len(codes)
    group = sums.of(codes)
    leaked = sum(code in one.leaks for code in codes)
    note = f"{LEAK} ({leaked} of {n} languages)" if leaked else None
    rate = compression_rate_line(group.pooled())[:, 0]
    rows.add(place, "cost", mean(cost(group)), MEAN, n, note)
    rows.add(place, "compression_rate_line", rate, POOLED, int(group.lines[0].sum()), note)
    if not one.parallel:
        return
    if reference in one.languages:
        premiums = premium(cost(group), cost(sums.of([str(reference)])))
        rows.add(place, "premium", mean(premiums), MEAN, n, note)
    noisy = one.noisy_group(bootstrap, codes)
    for metric in INEQUALITY:
        samples = noisy.samples(metric.function, metric.of_extremes) if n > 1 else None
        rows.add(place, metric.name, samples, ACROSS, n, note if n > 1 else ONE_LANGUAGE)
