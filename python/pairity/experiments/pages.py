"""The page of an experiment: the report of the first text, and what it adds to that."""

from __future__ import annotations

from collections.abc import Sequence

from pairity.experiments.experiment import Experiment
from pairity.experiments.folder import Folder
from pairity.experiments.scoring import Scored
from pairity.experiments.table import Row
from pairity.reporting import report


def write_page(folder: Folder, experiment: Experiment, scored: Sequence[Scored], rows: Sequence[Row]) -> None:
    report(scored[0].scores, folder.path / "report.html", title=experiment.title)
