"""Tune: find the setting between classical BPE and equal costs that meets the targets.

    tuned = tune("train/", "dev/", "tuned/", vocab_size=32_000, targets=["eng_Latn<=+5%"])

The settings of two knobs are trained, and evaluated on text that steered none of them. Where a target starts to be met,
the gap is halved a few times. The best setting that meets all targets becomes tuned/tokenizer; if none does, a search
finds a larger vocabulary that would.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from pairity.bpe.merges import BYTE_TOKENS
from pairity.errors import PairityError, listed
from pairity.experiments.curve import points_of
from pairity.experiments.data import Data, read_data
from pairity.experiments.experiment import Experiment, is_whole
from pairity.experiments.folder import EXPERIMENT, Folder
from pairity.experiments.knobs import KNOBS, LADDER, Setting, choose, in_order, search
from pairity.experiments.making import Made
from pairity.experiments.plan import Plan, plan
from pairity.experiments.running import check_places, notes_of, warnings_of
from pairity.experiments.scoring import score_all
from pairity.experiments.sizing import Needed, needed_size
from pairity.experiments.targets import (
    Measured,
    Target,
    check_floors,
    check_languages,
    read_targets,
    unknown,
)
from pairity.experiments.trying import Bench
from pairity.experiments.tuned import Tuned, write_all
from pairity.experiments.verdict import verdict_of
from pairity.extras import load_extra
from pairity.files.locks import locked
from pairity.formats.folder import SETTINGS
from pairity.formats.json_files import read_json
from pairity.judging.metrics.bootstrap import check_resamples
from pairity.judging.scores import LEAK, Scores
from pairity.progress import Listener, Progress
from pairity.threads import thread_count
from pairity.training.checks import check_goal

REFERENCE: Final = "eng_Latn"
"""The language whose price is shown by default."""
LARGEST: Final = 4
"""The largest vocabulary to try if no setting meets the targets, as a multiple of the size."""
HALVES: Final = (
    "no --judge: the odd dev lines steered every setting that was tried, and the even lines evaluated it; the "
    "tokenizer that is chosen is trained with all dev lines"
)


def tune(
    train: str | Sequence[str],
    dev: str | Sequence[str],
    out: str | os.PathLike[str],
    *,
    vocab_size: int,
    targets: Sequence[str] = (),
    judge: str | Sequence[str] | None = None,
    compare: Sequence[str] = (),
    price: str | None = None,
    pretokenizer: str | None = None,
    text_column: str = "text",
    steps: int = 4,
    largest: int | None = None,
    resamples: int = 1000,
    threads: int | None = None,
    progress: bool | Listener | None = None,
) -> Tuned:
    """Try settings from classical BPE to equal costs, and train the best one that meets all targets.

    train, dev    SOURCEs: text or counts to learn from, and the parallel text that steers training
    out           a folder for all results; finished parts there, from this or another tuning, are reused
    targets       upper limits such as "eng_Latn<=+5%" (compared with classical BPE of the same size), "eng_Latn<=45"
                  and "worst<=45" (tokens per line), "mean<=40", "every<=+10%", "gini<=0.01"
    judge         parallel text to evaluate on. Without it, the odd dev lines steer and the even dev lines evaluate the
                  settings that are tried, and the chosen one is trained once more with all dev lines
    compare       existing tokenizers, as for `evaluate`: shown next to the curve
    price         a language whose price is shown, in addition to those in the targets
    steps         how many times to halve the gap between a setting that meets the targets and one that does not
    largest       the largest vocabulary to try if no setting meets the targets; None: 4 times the size
    resamples     bootstrap resamples for the 95% intervals; 0 for none

    Among settings that meet all targets, the best is the one with the most lines per token if any target is about
    fairness (gini, worst), and the one with the lowest Gini coefficient otherwise.
    """
    wanted = read_targets(targets)
    check_numbers(vocab_size, steps)
    check_resamples(resamples)
    thread_count(threads)  # refuses a bad number
    experiment = experiment_of(
        train, dev, judge, compare, vocab_size, pretokenizer, text_column=text_column, resamples=resamples
    )
    largest = check_largest(largest, vocab_size)
    for module in ("jinja2", "markupsafe", "vl_convert"):
        load_extra(module, "the page of a tuning")
    folder = Folder(Path(out))
    check_folder(folder)
    with locked(folder.path), folder.gone_if_refused(), Progress(progress) as show:
        check_folder(folder)
        whole = read_data(experiment, show)
        data = halves(whole) if judge is None else judged_on_new_text(whole)
        bench = Bench(experiment, data, folder, threads, show)
        first = plan(experiment, data=data)
        check_places(first)
        priced = check_prices(bench, wanted, price)
        folder.claim()
        folder.tidy()
        tried, needed = try_all(bench, wanted, steps, vocab_size, largest)
        scores, made = judge_all(bench, first, tried)
        chosen, closest = choose(wanted, {name: Measured.of(scores, name) for name in tried})
        points = points_of(scores, tried, wanted, chosen, closest)
        tuned = Tuned(
            folder.path,
            wanted,
            points,
            next((point for point in points if point.chosen), None),
            next((point for point in points if point.closest), None),
            needed,
            verdict_of(wanted, points, needed, vocab_size),
            priced,
            (*first.notes, *([HALVES] if judge is None else [])),
            warnings_about(made, scores, chosen),
        )
        show.stage("writing the page", unit="pages")
        write_all(tuned, scores, vocab_size, None if chosen is None else shipped(bench, whole, tried[chosen]))
        # Not in the files of the result, which do not depend on what was in the folder before.
        return replace(tuned, notes=(*tuned.notes, *notes_of(of_other_sizes(folder, vocab_size), "tuning")))


def check_numbers(vocab_size: int, steps: int) -> None:
    if not is_whole(vocab_size):
        raise PairityError(f"tune: vocab_size is {vocab_size!r}: give a whole number, such as 32000.")
    check_goal(vocab_size, None, len(BYTE_TOKENS), continued=False)
    if not is_whole(steps) or steps < 0:
        raise PairityError(f"steps is {steps!r}: give a whole number, 0 or more.")


def check_largest(largest: int | None, vocab_size: int) -> int:
    """The largest vocabulary to try, `LARGEST` times the size by default."""
    most = LARGEST * vocab_size if largest is None else largest
    if not is_whole(most) or most < vocab_size:
        raise PairityError(f"largest is {largest!r}: give a vocabulary size, {vocab_size} or more.")
    return most


def experiment_of(
    train: str | Sequence[str],
    dev: str | Sequence[str],
    judge: str | Sequence[str] | None,
    compare: Sequence[str],
    vocab_size: int,
    pretokenizer: str | None,
    *,
    text_column: str,
    resamples: int,
) -> Experiment:
    grid: dict[str, Any] = {"vocab_size": vocab_size}
    if pretokenizer is not None:
        grid["pretokenizer"] = pretokenizer
    others = [compare] if isinstance(compare, str) else list(compare)
    return Experiment(
        title="Tuning",
        train=train,
        dev=dev,
        judge={"dev": dev} if judge is None else {"judge": judge},
        grid=grid,
        runs=[*(setting.run() for setting in LADDER), *({"tokenizer": spec} for spec in others)],
        evaluation={"resamples": resamples},
        text_column=text_column,
        where="tune",
        from_options=True,
    )


def check_folder(folder: Folder) -> None:
    folder.refuse_other(EXPERIMENT, "an experiment")
    folder.check("")


def halves(data: Data) -> Data:
    """The odd lines of dev to steer, and the even ones to evaluate on."""
    dev = data.dev or {}
    odd, even = ({code: texts[first::2] for code, texts in dev.items()} for first in (0, 1))
    for which, half, what in (("odd", odd, "steer"), ("even", even, "evaluate")):
        if empty := [code for code, texts in half.items() if not "".join(texts).strip()]:
            raise PairityError(
                f"tune: the {which} lines of dev, which are to {what}, have no text in {listed(empty)}: add --judge."
            )
    return replace(data, dev=odd, judged={"dev": even})


def judged_on_new_text(data: Data) -> Data:
    """Refuse to judge on dev text: every number would be about the text that steered the settings."""
    steering = list((data.dev or {}).values())
    if same := [code for texts in data.judged.values() for code, lines in texts.items() if lines in steering]:
        raise PairityError(
            f"tune: the text to judge on is the dev text in {listed(same)}, and these numbers would say nothing about "
            "new text: give other text to judge on, or leave it out to judge on the even dev lines."
        )
    return data


def check_prices(bench: Bench, targets: Sequence[Target], price: str | None) -> tuple[str, ...]:
    """The languages whose prices are shown. Targets that cannot be met, or name unknown languages, are an error."""
    codes = list(bench.lines)
    if len(codes) < 2:
        raise PairityError(
            f"tune: train, dev and the evaluation text have only one language in common ({codes[0]}): "
            "give two or more."
        )
    check_languages(targets, codes)
    if price is not None and price not in codes:
        raise PairityError(f"price {unknown(price, codes)}")
    check_floors(targets, bench.floors())
    named = [*([price] if price else []), *(target.what for target in targets if target.what in codes)]
    return tuple(dict.fromkeys(named)) or tuple(code for code in codes if code == REFERENCE)


def try_all(
    bench: Bench, targets: Sequence[Target], steps: int, vocab_size: int, largest: int
) -> tuple[dict[str, Setting], Needed | None]:
    """All settings that were tried, in order; and if none meets the targets, the size that would."""
    bench.make_settings(LADDER)
    tried = list(LADDER)
    if not targets:
        return {one.name: one for one in tried}, None
    for knob in KNOBS:
        tried += search(knob, targets, bench.measure, steps)
    found = {one.name: one for one in in_order(tried)}
    _, closest = choose(targets, {name: bench.measure(one) for name, one in found.items()})
    if closest is None or largest == vocab_size:
        return found, None
    return found, needed_size(bench.measured, found[closest], targets, vocab_size, largest)


def judge_all(bench: Bench, first: Plan, tried: dict[str, Setting]) -> tuple[Scores, list[Made]]:
    """Evaluate all settings that were tried and all tokenizers to compare with together, with intervals."""
    others = [row for row in first.rows if row.corpus is None]
    rows = (*bench.planned(list(tried.values())).rows, *others)
    made = bench.make(rows)
    (scored,) = score_all(replace(first, rows=rows), made, bench.folder, bench.threads, bench.show)
    return scored.scores, made


def warnings_about(made: Sequence[Made], scores: Scores, chosen: str | None) -> tuple[str, ...]:
    """Warnings about the scores and the chosen tokenizer; those of other tokenizers do not matter."""
    own = [one for one in made if one.row.name == chosen]
    leaked = [f"{name} is {LEAK}" for name in scores.leaks]
    told = [warning for warning in scores.warnings if not warning.startswith(tuple(leaked))]
    if leaked:
        told.insert(
            0,
            f"judged on the text that steered them: {listed(scores.leaks, 4)}. These numbers say nothing about new "
            "text: give other text to judge on.",
        )
    return (*warnings_of(own, []), *told)


def shipped(bench: Bench, whole: Data, setting: Setting) -> Made:
    """The chosen setting, steered by all dev lines; with a text to judge on, the tokenizer that was evaluated."""
    (row,) = bench.planned([setting]).rows
    if whole is not bench.data and row.dev is not None and whole.dev is not None:
        dev = {code: whole.dev[code] for code in row.dev}
        row = replace(row, name=f"{row.name}, all dev lines", dev=dev)
    (made,) = bench.make([row])
    return made


def of_other_sizes(folder: Folder, vocab_size: int) -> list[str]:
    """What a tuning with another --vocab-size left in the folder, under names that do not tell the size."""
    found = []
    for place in folder.noted_in("tokenizers"):
        if "@" not in place.name and (place / SETTINGS).exists():
            try:
                settings = read_json(place / SETTINGS)
            except PairityError:  # damaged: it is not one of this tuning, which would have been trained again
                settings = {}
            # The record has the size that was asked for, from which it may be cut; there may be too little text for it.
            sizes = (settings.get("vocab_size"), settings.get("record", {}).get("vocab_size"))
            if vocab_size not in sizes:
                found.append(str(place.relative_to(folder.path)))
    return found
