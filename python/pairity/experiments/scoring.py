"""Scores of all rows on every text. Rows trained on the same set of languages are evaluated on it together."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pairity.experiments.combinations import EXISTING
from pairity.experiments.data import LinesByLanguage, files_digest, lines_digest
from pairity.experiments.folder import Folder, key_of
from pairity.experiments.making import Made
from pairity.experiments.plan import Plan
from pairity.judging.evaluation import LeakWarning, evaluate, package_versions, steps_of
from pairity.judging.opening import open_tokenizer
from pairity.judging.protocol import TokenizerLike
from pairity.judging.scores import OF_THE_FOLDER, Scores
from pairity.judging.sizes import Sized
from pairity.progress import Progress


@dataclass(frozen=True)
class ScoredRows:
    """The scores of some rows on one text; `key` identifies all their inputs."""

    text: str
    languages: str
    rows: tuple[Made, ...]
    scores: Scores
    digest: str
    key: str


def score_all(
    plan: Plan, made: Sequence[Made], folder: Folder, threads: int | None, show: Progress
) -> list[ScoredRows]:
    """In the order of the texts and, for each text, of the sets of languages."""
    evaluation = dict(plan.experiment.evaluation)
    if evaluation.get("morph") is not None:
        evaluation["morph"] = files_digest(Path(evaluation["morph"]))
    tasks = []
    names = iter(score_names(plan))
    for text in plan.data.judged:
        for name, codes in plan.sets().items():
            rows = [one for one in made if one.row.corpus is None or one.row.corpus.languages == name]
            lines = plan.judged(text, codes)
            recipe = recipe_of(evaluation, rows, lines)
            tasks.append((text, name, rows, lines, folder.scores(next(names)), key_of(recipe)))
    left = [task for task in tasks if folder.finished(task[4] / OF_THE_FOLDER[0], task[5]) is None]
    total = sum(steps_of(rows, lines) for _, _, rows, lines, _, _ in left)
    done = 0
    found = []
    opened: dict[str, TokenizerLike] = {}
    for text, name, rows, lines, place, key in tasks:
        manifest = place / OF_THE_FOLDER[0]
        if folder.finished(manifest, key) is None:
            show.stage("judging", unit="texts", total=total)
            for one in rows:
                opened.setdefault(one.row.name, opened_of(one, folder, threads))
            scores = score(plan, rows, opened, lines, threads, lambda what, at, _: show.at(done + at, what))  # noqa: B023
            done += steps_of(rows, lines)
            scores.save(place)
            folder.finish(manifest, key)
        else:
            scores = Scores.load(place)
        found.append(ScoredRows(text, name, tuple(rows), scores, lines_digest(lines), key))
    return found


def score_names(plan: Plan) -> list[str]:
    """The names of the scores: the text, and the set of languages if there are several."""
    sets = plan.sets()
    return [text if len(sets) == 1 else f"{text}, {name}" for text in plan.data.judged for name in sets]


def recipe_of(evaluation: Mapping[str, Any], rows: Sequence[Made], lines: LinesByLanguage) -> dict[str, Any]:
    return {
        "rows": [[one.row.name, one.row.family, one.key] for one in rows],
        "text": lines_digest(lines),
        "evaluation": evaluation,
        "versions": package_versions(),
    }


def opened_of(made: Made, folder: Folder, threads: int | None) -> TokenizerLike:
    row = made.row
    return row.opened or open_tokenizer(folder.tokenizer(row.name), name=row.name, threads=threads)


def score(
    plan: Plan,
    rows: Sequence[Made],
    opened: Mapping[str, TokenizerLike],
    lines: LinesByLanguage,
    threads: int | None,
    progress: Any,
) -> Scores:
    given = dict(plan.experiment.evaluation)
    baseline = given.pop("baseline", None)
    if given.get("reference") not in (None, *lines):  # but others have it (`plan`)
        given["reference"] = None
    families = {one.row.family: one for one in reversed(rows)}
    if baseline not in families:
        methods = {one.row.family: one.row.method for one in rows}
        plain = [name for name, method in methods.items() if method == "classical"]
        baseline = plain[0] if plain else list(methods)[-1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LeakWarning)  # printed with the scores, which contain it
        return evaluate(
            sized_of(rows, opened),
            lines,
            baseline=baseline if len(families) > 1 or len(rows) > 1 else None,
            threads=threads,
            progress=progress,
            **given,
        )


def sized_of(rows: Sequence[Made], opened: Mapping[str, TokenizerLike]) -> Sized:
    """Treat rows that differ only in size as sizes of one tokenizer, the smallest first."""
    order = sorted(rows, key=lambda one: one.row.vocab_size or 0)
    made = Sized({})
    for family in dict.fromkeys(one.row.family for one in rows):
        for one in order:
            if one.row.family != family:
                continue
            made.tokenizers[one.row.name] = opened[one.row.name]
            if one.row.method != EXISTING and one.row.name != family:
                made.families[one.row.name] = family
                made.sizes[one.row.name] = int(one.row.vocab_size or 0)
    return made
