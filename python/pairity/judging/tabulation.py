"""From measured tokenizers to the rows of the score tables."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pairity.judging import metrics
from pairity.judging.measurement import LEAK, Counts, Encoded, Floats, Mask, Measured, Sums
from pairity.judging.metrics.bootstrap import Bootstrap, interval
from pairity.judging.metrics.morphology import macro
from pairity.judging.scores import DIFFERENCES, GROUPS, TABLE
from pairity.languages import language as facts

ENTROPY_ORDERS = {"1": 1.0, "2": 2.0, "2.5": 2.5, "inf": math.inf}

# How a value came about: the column `aggregation`.
ONE = "language"
POOLED = "pooled"
MEAN = "mean over languages"
ACROSS = "across languages"

NOT_PARALLEL = "the lines of the languages are not parallel"
ONE_LANGUAGE = "needs at least 2 languages"
NO_FLOOR = "the tokenizer does not show its pre-tokenizer"
ACROSS_METRICS = (("gini", metrics.gini), ("worst_best", metrics.worst_best))


@dataclass
class Rows:
    """Collects rows; drops the metrics that were not asked for; turns what is not a number into null."""

    wanted: set[str]
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
        """One row at `place`. `samples`: a number; a value and its resamples; None where `note` says why
        not.
        """
        if metric not in self.wanted:
            return
        array = np.atleast_1d(np.asarray(math.nan if samples is None else samples, dtype=np.float64))
        value, low, high = (float(end) if np.isfinite(end) else None for end in interval(array))
        row: dict[str, Any] = {**place, "metric": metric, "value": value, "low": low, "high": high}
        row |= {"aggregation": aggregation, "unit": metrics.METRICS[metric].unit, "n": n, "note": note}
        self.rows.append(row)


def score_table(
    measured: Sequence[Measured],
    bootstrap: Bootstrap,
    wanted: set[str],
    *,
    baseline: Measured | None,
    reference: str | None,
    gold: Mapping[str, list[metrics.MorphWord]],
) -> pa.Table:
    """The tidy table: every tokenizer, every language and all of them, every metric."""
    rows = Rows(wanted)
    for one in measured:
        _add_ratios(rows, one, one.sums(bootstrap))
        _add_fairness(rows, one, one.sums(bootstrap))
        _add_premium(rows, one, one.sums(bootstrap), reference)
        if baseline is not None:
            _add_change(rows, one, baseline, bootstrap)
        _add_vocabulary(rows, one)
        _add_integrity(rows, one)
        _add_lines(rows, one)
        _add_morphology(rows, one, gold)
    return pa.Table.from_pylist(rows.rows, schema=TABLE)


def _place(one: Measured, code: str | None) -> dict[str, str | None]:
    return {"tokenizer": one.name, "language": code}


def _ratios(sums: Sums) -> dict[str, Floats]:
    """The metrics that are one sum over lines divided by another."""
    return {
        "cost": sums.costs,
        "compression_rate_line": metrics.compression_rate(sums.lines, sums.tokens),
        "compression_rate_byte": metrics.compression_rate(sums.bytes, sums.tokens),
        "compression_rate_char": metrics.compression_rate(sums.chars, sums.tokens),
        "compression_rate_word": metrics.compression_rate(sums.words, sums.tokens),
        "fertility": metrics.fertility(sums.tokens, sums.words),
        "fertility_paper": metrics.fertility(sums.blank_ratios, sums.blank_lines),
        "floor": metrics.floor(sums.pretokens, sums.lines),
        "cost_over_floor": metrics.cost_over_floor(sums.tokens, sums.pretokens),
    }


def _add_ratios(rows: Rows, one: Measured, sums: Sums) -> None:
    each, pooled = _ratios(sums), _ratios(sums.pooled())
    for metric, values in each.items():
        bare = metrics.METRICS[metric].family == "floor" and any(
            encoded.pretokens is None for encoded in one.encoded.values()
        )
        why_not = NO_FLOOR if bare else ""
        for code in one.all_languages:
            samples = values[:, one.languages.index(code)] if code in one.languages else None
            rows.add(_place(one, code), metric, samples, ONE, one.lines(code), one.note(code, why_not))
        everywhere, note = _place(one, None), one.note(None, why_not)
        # A cost is per line of ONE language: over several, languages weigh equally. Rates are pooled.
        if metric in {"cost", "floor"}:
            rows.add(everywhere, metric, _mean(values), MEAN, len(one.languages), note)
        else:
            rows.add(everywhere, metric, pooled[metric][:, 0], POOLED, int(sums.lines[0].sum()), note)


def _mean(values: Floats) -> Floats | None:
    return np.asarray(values.mean(axis=1)) if values.shape[1] else None


def _add_fairness(rows: Rows, one: Measured, sums: Sums) -> None:
    codes = one.languages
    why_not = NOT_PARALLEL if not one.parallel else ONE_LANGUAGE if len(codes) < 2 else ""
    for metric, function in ACROSS_METRICS:
        samples = None if why_not else function(sums.costs)
        rows.add(_place(one, None), metric, samples, ACROSS, len(codes), one.note(None, why_not))
    if why_not:
        return
    costs = dict(zip(codes, sums.costs[0].tolist(), strict=True))
    worst, best = metrics.worst_language(costs), metrics.best_language(costs)
    for metric, code in (("worst_language", worst), ("best_language", best)):
        rows.add(_place(one, code), metric, sums.of([code]).costs[:, 0], ACROSS, len(codes), one.note(code))


def _add_premium(rows: Rows, one: Measured, sums: Sums, reference: str | None) -> None:
    if reference is None:
        return
    everywhere = _place(one, None)
    if reference not in one.languages or not one.parallel:
        why_not = NOT_PARALLEL if not one.parallel else f"no cost for the reference language {reference}"
        rows.add(everywhere, "premium", None, MEAN, 0, one.note(None, why_not))
        return
    premiums = metrics.premium(sums.costs, sums.of([reference]).costs)
    for column, code in enumerate(one.languages):
        rows.add(_place(one, code), "premium", premiums[:, column], ONE, one.lines(code), one.note(code))
    rows.add(everywhere, "premium", _mean(premiums), MEAN, len(one.languages), one.note(None))


def _add_change(rows: Rows, one: Measured, baseline: Measured, bootstrap: Bootstrap) -> None:
    """Cost against the baseline tokenizer, on the lines that both could encode."""
    keep = one.shared_lines(baseline)
    if not keep:
        return
    changes = metrics.change(one.sums(bootstrap, keep).costs, baseline.sums(bootstrap, keep).costs)
    against = f"against {baseline.name}"
    for column, (code, mask) in enumerate(keep.items()):
        note = one.note(code, against)
        rows.add(_place(one, code), "change", changes[:, column], ONE, int(mask.sum()), note)
    everywhere = _place(one, None)
    worst = list(keep)[int(changes[0].argmax())]
    rows.add(everywhere, "change", _mean(changes), MEAN, len(keep), one.note(None, against))
    note = one.note(None, f"{against}: {worst}")
    rows.add(everywhere, "change_worst", changes.max(axis=1), ACROSS, len(keep), note)


def _add_vocabulary(rows: Rows, one: Measured) -> None:
    """Everything that is made of token frequencies."""
    size = one.tokenizer.vocab_size
    places: dict[str | None, Counts] = {code: one.encoded[code].frequencies for code in one.languages}
    places[None] = _pooled_frequencies([one.encoded[code] for code in one.languages])
    for code, frequencies in places.items():
        entropies = {key: metrics.renyi_entropy(frequencies, order) for key, order in ENTROPY_ORDERS.items()}
        values = {
            "vocabulary_utilisation": metrics.vocabulary_utilisation(frequencies, size),
            "type_token_ratio": metrics.type_token_ratio(frequencies),
            "average_token_rank": metrics.average_token_rank(frequencies),
            **{f"renyi_entropy_{key}": bits for key, bits in entropies.items()},
            "renyi_efficiency_2.5": metrics.renyi_efficiency(frequencies, 2.5, size),
            "renyi_efficiency_paper_2.5": metrics.renyi_efficiency_paper(frequencies, 2.5),
        }
        aggregation, n = POOLED if code is None else ONE, int(frequencies.sum())
        for metric, value in values.items():
            rows.add(_place(one, code), metric, value, aggregation, n, one.note(code))


def _pooled_frequencies(encoded: Sequence[Encoded]) -> Counts:
    if not encoded:
        return np.zeros(0, dtype=np.int64)
    types, index = np.unique(np.concatenate([one.types for one in encoded]), return_inverse=True)
    counts = np.zeros(len(types), dtype=np.int64)
    np.add.at(counts, index, np.concatenate([one.frequencies for one in encoded]))
    return counts


def _add_integrity(rows: Rows, one: Measured) -> None:
    found = [(code, one.encoded[code].integrity) for code in one.languages]
    places: dict[str | None, metrics.Utf8Integrity] = {code: each for code, each in found if each is not None}
    if places:
        first, *others = places.values()
        places[None] = sum(others, first)
    for code, integrity in places.items():
        aggregation = POOLED if code is None else ONE
        for metric, share in (
            ("whole_character_tokens", integrity.whole_character_tokens()),
            ("unknown_tokens", integrity.unknown_share()),
        ):
            rows.add(_place(one, code), metric, share, aggregation, integrity.tokens, one.note(code))
        for width in (None, 2, 3, 4):
            metric = "split_characters" if width is None else f"split_characters_{width}"
            n = int(integrity.characters.sum() if width is None else integrity.characters[width - 1])
            note = one.note(code, "" if n else "the text has no such characters")
            rows.add(_place(one, code), metric, integrity.split_share(width), aggregation, n, note)


def _add_lines(rows: Rows, one: Measured) -> None:
    """Round trip, and lines the tokenizer failed on: over all lines, so that a failure counts as text
    lost.
    """
    found = [(code, one.encoded[code].round_trip) for code in one.all_languages]
    trips: dict[str | None, Mask] = {code: trip for code, trip in found if trip is not None}
    failed: dict[str | None, Mask] = {code: one.encoded[code].failed for code in one.all_languages}
    for metric, places, measure in (("round_trip", trips, np.mean), ("failed_lines", failed, np.sum)):
        if places:
            places[None] = np.concatenate(list(places.values()))
        for code, mask in places.items():
            aggregation = POOLED if code is None else ONE
            rows.add(_place(one, code), metric, measure(mask), aggregation, len(mask), one.note(code))


def _add_morphology(rows: Rows, one: Measured, gold: Mapping[str, list[metrics.MorphWord]]) -> None:
    """Both conventions: words of one token left out (MorphScore's own), and scored 1 (the paper's tables)."""
    conventions = {
        True: {name: name.removeprefix("morph_") for name in metrics.METRICS if name.startswith("morph_")},
        False: {"morph_recall_paper": "recall", "morph_precision_paper": "precision"},
    }
    conventions[True] = {
        name: field for name, field in conventions[True].items() if not name.endswith("_paper")
    }
    for exclude, fields in conventions.items():
        if not gold or not rows.wanted & set(fields):
            continue
        scores: dict[str | None, metrics.MorphScore] = {
            code: metrics.morph_score(words, one.tokenizer, exclude_single_token=exclude)
            for code, words in gold.items()
        }
        scores[None] = macro(list(scores.values()))
        for code, score in scores.items():
            note = f"{score.skipped_words} words could not be aligned" if score.skipped_words else None
            for metric, name in fields.items():
                aggregation = MEAN if code is None else ONE
                rows.add(_place(one, code), metric, getattr(score, name), aggregation, score.words, note)


def difference_table(measured: Sequence[Measured], bootstrap: Bootstrap) -> pa.Table:
    """For every two tokenizers one minus the other, on the same lines and the same resamples."""
    rows = Rows(set(metrics.METRICS))
    for one, other in combinations(measured, 2):
        keep = one.shared_lines(other)
        if not keep:
            continue
        pair = {"tokenizer": one.name, "against": other.name}
        everywhere: dict[str, str | None] = {**pair, "language": None}
        leaking = [each.name for each in (one, other) if each.leaks]
        note = f"{', '.join(leaking)}: {LEAK}" if leaking else None
        first, second = one.sums(bootstrap, keep), other.sums(bootstrap, keep)
        gap = first.costs - second.costs
        for column, (code, mask) in enumerate(keep.items()):
            rows.add({**pair, "language": code}, "cost", gap[:, column], ONE, int(mask.sum()), note)
        rows.add(everywhere, "cost", _mean(gap), MEAN, len(keep), note)
        rates, other_rates = _ratios(first.pooled()), _ratios(second.pooled())
        lines = int(first.lines[0].sum())
        for metric in ("compression_rate_line", "compression_rate_byte", "fertility"):
            rows.add(everywhere, metric, (rates[metric] - other_rates[metric])[:, 0], POOLED, lines, note)
        if one.parallel and len(keep) > 1:
            for metric, function in ACROSS_METRICS:
                samples = function(first.costs) - function(second.costs)
                rows.add(everywhere, metric, samples, ACROSS, len(keep), note)
    return pa.Table.from_pylist(rows.rows, schema=DIFFERENCES)


def group_table(measured: Sequence[Measured], bootstrap: Bootstrap, reference: str | None) -> pa.Table:
    """Costs and fairness within script families and within resource levels."""
    rows = Rows(set(metrics.METRICS))
    for one in measured:
        sums = one.sums(bootstrap)
        for grouping in ("script_family", "resource_level"):
            members: dict[str, list[str]] = {}
            for code in one.languages:
                members.setdefault(getattr(facts(code), grouping), []).append(code)
            for group, codes in members.items():
                place: dict[str, str | None] = {"tokenizer": one.name, "grouping": grouping, "group": group}
                _add_group(rows, place, one, sums, codes, reference)
    return pa.Table.from_pylist(rows.rows, schema=GROUPS)


def _add_group(
    rows: Rows,
    place: Mapping[str, str | None],
    one: Measured,
    sums: Sums,
    codes: Sequence[str],
    reference: str | None,
) -> None:
    group, n = sums.of(codes), len(codes)
    leaked = sum(code in one.leaks for code in codes)
    note = f"{LEAK} ({leaked} of {n} languages)" if leaked else None
    rate = _ratios(group.pooled())["compression_rate_line"][:, 0]
    rows.add(place, "cost", _mean(group.costs), MEAN, n, note)
    rows.add(place, "compression_rate_line", rate, POOLED, int(group.lines[0].sum()), note)
    if not one.parallel:
        return
    if reference in one.languages:
        premiums = metrics.premium(group.costs, sums.of([str(reference)]).costs)
        rows.add(place, "premium", _mean(premiums), MEAN, n, note)
    for metric, function in ACROSS_METRICS:
        samples = function(group.costs) if n > 1 else None
        rows.add(place, metric, samples, ACROSS, n, note if n > 1 else ONE_LANGUAGE)
