"""Evaluate tokenizers on aligned text: tokenizers x languages x metrics -> one tidy table.

    scores = evaluate({"ours": "out/", "gpt-4o": "tiktoken:o200k_base"}, "devtest/", baseline="gpt-4o")
    scores.value("ours", "gini"); scores.difference("ours", "gpt-4o", "gini"); scores.save("scores/")

The steps: read the text, encode it with every tokenizer (measurement.py), fill the tables (tabulation.py).
"""

from __future__ import annotations

import unicodedata
import warnings
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from pairity.errors import PairityError, PairityWarning, listed, quoted
from pairity.judging.measurement import Encoded, Judged, encode, text_digest
from pairity.judging.metrics import FAMILIES, METRICS
from pairity.judging.metrics.bootstrap import Bootstrap, check_resamples
from pairity.judging.metrics.gold import MorphWord, read_morph
from pairity.judging.metrics.units import count_units
from pairity.judging.opening import by_name, open_tokenizer
from pairity.judging.protocol import TokenizerLike
from pairity.judging.scores import LEAK, Scores
from pairity.judging.sizes import Sized, at_sizes
from pairity.judging.tabulation import COMPARING, difference_table, group_table, score_table
from pairity.languages import hint_of_other_names, meant, one_or_several, other_names
from pairity.text.inputs import TextInput
from pairity.text.parallel import check_parallel
from pairity.text.reading import read_texts
from pairity.text.sources import resolve

REFERENCE = "eng_Latn"
"""The default. Without it, there are no premiums, and a warning says so; any other was asked for."""

StepListener = Callable[[str, int, int], None]
"""Called with (current work, steps done, total steps)."""


class LeakWarning(PairityWarning):
    """A tokenizer is evaluated on the very text that steered its training."""


class LossWarning(PairityWarning):
    """A tokenizer drops or changes text, which makes it look cheaper than it is."""


def evaluate(
    tokenizers: Any,
    data: Any,
    *,
    languages: str | Sequence[str] | None = None,
    metrics: Sequence[str] | None = None,
    baseline: str | None = None,
    sizes: Sequence[int] | None = None,
    reference: str | None = "eng_Latn",
    resamples: int = 1000,
    seed: int = 0,
    morph: Any = None,
    parallel: bool = True,
    threads: int | None = None,
    progress: StepListener | None = None,
) -> Scores:
    """Evaluate `tokenizers` on `data`.

    tokenizers  `{name: spec}`, a list of specs, or one (see `pairity.judging.opening.open_tokenizer`); or `Sized`,
                if several are sizes of one
    data        a folder with one file per language, `LANG=PATH`, a list of these, or `{language: lines or file}`
    languages   only these, in this order
    metrics     names or families of metrics (`pairity.judging.metrics.METRICS`); all if not given
    baseline    the tokenizer that `change` is measured from
    sizes       vocabulary sizes: every pairity tokenizer is evaluated truncated to each of them, as "NAME@SIZE", and
                compared with the baseline at the same size
    reference   the language that token premiums are measured against; only English may be missing from the data
    resamples   bootstrap resamples for the 95% intervals, at least 20; 0 for none
    seed        of the resamples
    morph       gold words for MorphScore: a folder, or the result of `pairity.judging.metrics.gold.read_morph`
    parallel    line i says the same in all languages. False leaves out metrics that compare lines across languages
    threads     for tokenizers that take a number of threads
    progress    called with the current work, the steps done and the total number of steps

    A tokenizer that fails on some lines is evaluated on the others, the same ones in all languages, and the scores say
    so.
    """
    wanted = chosen_metrics(metrics)
    check_resamples(resamples)
    if not parallel and (
        lost := [name for name in one_or_several(metrics or ()) if METRICS.get(name) in COMPARING]
    ):
        raise PairityError(
            f"{quoted(lost)} cannot be had of text that is not parallel: leave out the metric (--metric), or "
            "parallel=False (--not-parallel)."
        )
    whole = tokenizers if isinstance(tokenizers, Sized) else Sized(open_all(tokenizers, threads))
    for name in whole.tokenizers:
        check_name(name)
    if baseline is not None and not whole.members(baseline):
        names = dict.fromkeys(map(whole.family, whole.tokenizers))
        raise PairityError(f"the baseline {baseline!r} is not one of the tokenizers: {', '.join(names)}.")
    sized = whole if whole.families else at_sizes(whole.tokenizers, sizes)
    opened = sized.tokenizers
    texts = read_lines(data, None if languages is None else one_or_several(languages))
    if not texts:
        raise PairityError("there is no text to evaluate on: no language was chosen.")
    if reference not in (None, REFERENCE):
        check_reference(str(reference), texts)
    if parallel:
        check_parallel(
            {code: len(lines) for code, lines in texts.items()},
            what="the data",
            fix="Align the files, leave out those languages, or continue without comparing lines across languages "
            "(parallel=False, --not-parallel).",
        )
    gold = {} if morph is None else gold_words(morph, texts)
    units = {code: count_units(lines, code) for code, lines in texts.items()}
    judged = {
        name: Judged(name, opened[name], encoded, texts, units, parallel=parallel)
        for name, encoded in encode_all(opened, texts, wanted, progress).items()
    }
    bootstrap = Bootstrap(resamples if min(map(len, texts.values())) > 1 else 0, seed)
    leaks = {name: one.leaks for name, one in judged.items() if one.leaks}
    for name, leaked in {sized.family(name): leaked for name, leaked in leaks.items()}.items():
        warnings.warn(f"{name} is {LEAK}: {', '.join(leaked)}", LeakWarning, stacklevel=2)
    each = list(judged.values())
    for said in loss_warnings(each, sized):
        warnings.warn(said, LossWarning, stacklevel=2)

    def told() -> Iterator[Judged]:
        for number, one in enumerate(each, len(each)):
            if progress is not None:
                progress(f"{one.name}: resampling", number * len(texts), steps_of(opened, texts))
            yield one

    return Scores(
        table=score_table(
            told(),
            bootstrap,
            wanted,
            baselines={}
            if baseline is None
            else {name: judged[sized.counterpart(name, baseline)] for name in judged},
            reference=reference,
            gold=gold,
        ),
        differences=difference_table(each, bootstrap, sized.compared),
        groups=group_table(each, bootstrap, reference),
        lengths={one.name: {code: one.encoded[code].lengths for code in texts} for one in each},
        leaks=leaks,
        meta={
            "tokenizers": {
                name: {"vocab_size": tokenizer.vocab_size}
                | ({"cut_from": sized.families[name]} if name in sized.families else {})
                for name, tokenizer in opened.items()
            },
            "languages": {
                code: {"lines": len(lines), "sha256": text_digest(lines)} for code, lines in texts.items()
            },
            "baseline": None if baseline is None else sized.members(baseline)[-1],
            "reference": reference,
            "resamples": bootstrap.resamples,
            "seed": seed,
            "parallel": parallel,
            "versions": package_versions(),
            "failures": {one.name: one.failures for one in each if one.failures},
            "losses": {one.name: one.losses for one in each if one.losses},
            "warnings": [*collected_warnings(each, sized, texts, reference), *sized.notes],
        },
    )


def steps_of(tokenizers: Collection[Any], texts: Collection[Any]) -> int:
    """The total for `progress`: every text is encoded, and then resampled."""
    return 2 * len(tokenizers) * len(texts)


def chosen_metrics(names: Sequence[str] | None) -> set[str]:
    """The requested metrics, by name or family. Lost and failed lines are always included: no score makes sense without
    them."""
    if names is None:
        return set(METRICS)
    wanted = {"failed_lines", "round_trip"}
    for name in [names] if isinstance(names, str) else names:
        if name in FAMILIES:
            wanted |= {metric.name for metric in METRICS.values() if metric.family == name}
        elif name in METRICS:
            wanted.add(name)
        else:
            raise PairityError(
                f"there is no metric {name!r}. Families: {', '.join(FAMILIES)}. "
                f"Metrics: {', '.join(METRICS)}."
            )
    return wanted


def open_all(tokenizers: Any, threads: int | None) -> dict[str, TokenizerLike]:
    if isinstance(tokenizers, Mapping):
        opened = {
            str(name): open_tokenizer(spec, name=str(name), threads=threads)
            for name, spec in tokenizers.items()
        }
    else:
        several = isinstance(tokenizers, list | tuple)
        specs = tokenizers if several else [tokenizers]
        each = [open_tokenizer(spec, threads=threads) for spec in specs]
        opened = by_name((tokenizer.name, tokenizer) for tokenizer in each)
    if not opened:
        raise PairityError("there is no tokenizer to evaluate: give at least one.")
    return opened


def is_name(value: object) -> bool:
    """Whether a value can name something in a table: text that breaks no line and leaves a trace. (Not `isprintable`,
    which refuses the joiners of Persian and Hindi.)"""
    kinds = [unicodedata.category(one) for one in value] if isinstance(value, str) else []
    return any(kind[0] not in "CZ" for kind in kinds) and not {"Cc", "Cs", "Zl", "Zp"}.intersection(kinds)


def check_name(name: str) -> None:
    if not is_name(name):
        raise PairityError(
            f"the name {name!r} of a tokenizer cannot be shown in a table: give it one on one line, such as "
            "'ours'."
        )


def encode_all(
    opened: Mapping[str, TokenizerLike],
    texts: Mapping[str, list[str]],
    wanted: set[str],
    progress: StepListener | None,
) -> dict[str, dict[str, Encoded]]:
    families = {METRICS[name].family for name in wanted}
    encoded: dict[str, dict[str, Encoded]] = {name: {} for name in opened}
    places = [(name, code) for name in opened for code in texts]
    for done, (name, code) in enumerate(places):
        if progress is not None:
            progress(f"{name}: {code}", done, steps_of(opened, texts))
        encoded[name][code] = encode(opened[name], texts[code], families)
    return encoded


def gold_words(morph: Any, texts: Mapping[str, list[str]]) -> dict[str, list[MorphWord]]:
    """The gold words of MorphScore for the evaluated languages."""
    words = read_morph(morph)
    gold = {code: words[code] for code in texts if code in words}
    if not gold:
        raise PairityError(
            f"none of the languages evaluated ({', '.join(texts)}) has MorphScore data: "
            f"there is some for {', '.join(sorted(words))}."
        )
    return gold


def collected_warnings(
    judged: Sequence[Judged], sized: Sized, texts: Mapping[str, Any], reference: str | None
) -> list[str]:
    said = []
    for one in judged:
        name = sized.family(one.name)
        if one.leaks:
            leaked = ", ".join(one.leaks)
            said.append(f"{name} is {LEAK}: {leaked}. Its scores there say nothing about new text.")
        said += [f"{name} on {code}: {failure}" for code, failure in one.failures.items()]
    said = list(dict.fromkeys(said))  # only once for all sizes of a tokenizer
    said += loss_warnings(judged, sized)
    if reference is not None and reference not in texts:
        hints = [f"; {other} is the same language" for other in other_names(reference, texts)]
        said.append(f"no token premium: the data has no {reference}{''.join(hints)}")
    for code in texts:
        twins = [other for other in other_names(code, texts) if other > code]
        said += [
            f"{code} and {other} are the same language under two names, so it counts twice" for other in twins
        ]
    if len(texts) == 1:
        said.append(f"only one language ({next(iter(texts))}): no Gini coefficient and no worst/best")
    return said


def loss_warnings(judged: Sequence[Judged], sized: Sized) -> list[str]:
    said = {}
    for one in judged:
        if one.losses:
            name = sized.family(one.name)
            worst = max(one.losses, key=lambda code: one.losses[code] / len(one.encoded[code].lengths))
            there = one.loss(worst).removeprefix("loses text ")
            said[name] = (
                f"{name} {one.loss()}; in {worst}, {there}. Dropped text costs no tokens, so the "
                "tokenizer looks cheaper than it is."
            )
    return list(said.values())


def package_versions() -> dict[str, str]:
    found = {}
    for package in ("pairity", "numpy", "tokenizers", "tiktoken", "sentencepiece", "transformers"):
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def read_lines(source: Any, languages: Sequence[str] | None = None) -> dict[str, list[str]]:
    """The lines of every language of a SOURCE (see `pairity.text.sources`).

    Lines end only at a line feed; a carriage return before it is removed. Unicode has other line separators, but
    cutting there would misalign all lines that follow.
    """
    if languages is None:
        return read_texts(source)
    available = [part.language for part in resolve(source).inputs if isinstance(part, TextInput)]
    missing = [code for code in languages if code not in available]
    if missing:
        raise PairityError(
            f"no text for {quoted(missing)}{hint_of_meant(missing, available)}. Add it to the data, or leave it out."
        )
    if isinstance(source, Mapping):
        source = {code: source[code] for code in languages}
    texts = read_texts(source, languages=languages)
    return {code: texts[code] for code in languages}


def hint_of_meant(missing: Sequence[str], available: Collection[str]) -> str:
    """ " (did you mean eng_Latn?)", to append to names that were not found; empty if nothing is near."""
    near = [other for code in missing for other in meant(code, available)]
    return hint_of_other_names(missing, available) or (
        f" (did you mean {' or '.join(near)}?)" if near else ""
    )


def check_reference(reference: str, languages: Collection[str]) -> None:
    """Refuse a language that the text lacks."""
    if reference not in languages:
        hint = hint_of_meant([reference], languages)
        raise PairityError(
            f"no token premium: the text has no {reference}{hint}. Choose another reference (--reference) "
            f"among {listed(languages)}."
        )
