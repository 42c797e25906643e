"""The result of a tuning, and how it is written: the curve as a table and as JSON, the page, and the tokenizer."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.csv

from pairity.experiments.curve import table_of
from pairity.experiments.folder import CURVE, Folder
from pairity.experiments.knobs import CLASSICAL, PARITY
from pairity.experiments.making import Made
from pairity.experiments.sizing import Needed
from pairity.experiments.targets import WORDS, Target, aim
from pairity.files.writing import write_files, write_folder
from pairity.formats.folder import SETTINGS
from pairity.formats.json_files import as_json
from pairity.judging.scores import Scores
from pairity.reporting import report
from pairity.reporting.look import Look
from pairity.reporting.pareto import OTHER, Point, pareto_section
from pairity.reporting.pictures import write_figure

PAGE = "tune.html"
TOKENIZER = "tokenizer"


@dataclass(frozen=True)
class Tuned:
    """The result of tuning; everything is also in `folder`."""

    folder: Path
    targets: tuple[Target, ...]
    points: list[Point]
    """The settings that were tried, from classical to equal costs, and the tokenizers from `compare`."""
    chosen: Point | None
    """The best setting that meets the targets; it is trained in `folder`/tokenizer."""
    closest: Point | None
    """The setting closest to the targets, if none meets them."""
    needed: Needed | None
    """The vocabulary that would meet them, if one was searched for."""
    verdict: str
    """What was chosen and why, or what would be needed, in a sentence or two."""
    priced: tuple[str, ...]
    """The languages whose prices are shown."""
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    def described(self, vocab_size: int) -> dict[str, Any]:
        """For curve.json."""
        return {
            "vocab_size": vocab_size,
            "targets": [target.text for target in self.targets],
            "best": aim(self.targets) if self.targets else None,
            "chosen": self.chosen.name if self.chosen else None,
            "closest": self.closest.name if self.closest else None,
            "needed": asdict(self.needed) if self.needed else None,
            "verdict": self.verdict,
            "notes": list(self.notes),
            "points": [asdict(point) for point in self.points],
        }


def write_all(tuned: Tuned, scores: Scores, vocab_size: int, shipped: Made | None) -> None:
    """Write curve.csv, curve.json, tune.html, figures/ and the tokenizer, in an order that never leaves a mixture."""
    folder = Folder(tuned.folder)
    manifest = folder.path / TOKENIZER / SETTINGS
    is_there = shipped is not None and folder.finished(manifest, shipped.key) is not None
    if not is_there:
        remove(folder, manifest)
    (folder.path / PAGE).unlink(missing_ok=True)
    table = table_of(tuned.points, tuned.priced)
    write_files(
        {
            folder.path / "curve.csv": partial(pyarrow.csv.write_csv, table),
            folder.path / CURVE: as_json(tuned.described(vocab_size)),
        }
    )
    write_page(tuned, scores)
    if shipped is not None and not is_there:
        files = sorted(folder.tokenizer(shipped.row.name).iterdir())
        write_folder(manifest.parent, {file.name: file.read_bytes() for file in files})
        folder.finish(manifest, shipped.key)


def remove(folder: Folder, manifest: Path) -> None:
    """Remove the tokenizer of an earlier tuning with other targets."""
    for file in folder.noted_files(manifest):
        file.unlink(missing_ok=True)
    if manifest.parent.exists() and not any(manifest.parent.iterdir()):
        manifest.parent.rmdir()


def write_page(tuned: Tuned, scores: Scores) -> None:
    """The curve on top, and below it a report of the tokenizers worth comparing; all of them would be too many."""
    section = pareto_section(
        tuned.points,
        tuned.priced,
        verdict=tuned.verdict,
        notes=tuned.notes,
        limits=limits_of(tuned),
    )
    for figure in section.figures:
        write_figure(figure, Look(figure.order, ""), tuned.folder / "figures" / figure.name)
    found = tuned.chosen or tuned.closest
    shown = [CLASSICAL.name, PARITY.name, *([found.name] if found else [])]
    shown += [point.name for point in tuned.points if point.kind == OTHER]
    names = {name: name for name in scores.tokenizers if name in shown}
    report(scores.only(names), tuned.folder / PAGE, title="Tuning", sections=[section])


def limits_of(tuned: Tuned) -> dict[str, float]:
    """The limits to draw as lines in the figure: for Gini, and for the change of a language."""
    (classical,) = [point for point in tuned.points if point.name == CLASSICAL.name]
    found: dict[str, float] = {}
    for target in tuned.targets:
        if target.what == "gini" and classical.gini is not None:
            value = classical.gini * (1 + target.limit) if target.relative else target.limit
        elif target.what not in WORDS:
            value = target.limit if target.relative else target.limit / classical.costs[target.what] - 1
        else:
            continue
        found[target.what] = min(value, found.get(target.what, value))
    return found
