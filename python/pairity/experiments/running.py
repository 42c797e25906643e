"""Run an experiment: plan, count, make, score, write."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from pairity.errors import listed, quoted
from pairity.experiments.corpus import Counted, count_all
from pairity.experiments.experiment import Experiment
from pairity.experiments.folder import CURVE, EXPERIMENT, Folder, file_name
from pairity.experiments.making import Made, make_all
from pairity.experiments.pages import remove_other_page, write_page
from pairity.experiments.plan import Plan, plan
from pairity.experiments.reading import as_toml, read
from pairity.experiments.scoring import ScoredRows, score_all, score_names
from pairity.experiments.table import Row, rows_of, table_of
from pairity.extras import load_extra
from pairity.files.locks import locked
from pairity.files.writing import Content, write_files
from pairity.progress import Listener, Progress
from pairity.threads import thread_count


@dataclass(frozen=True)
class Result:
    """The result of an experiment; everything is also in `folder`."""

    folder: Path
    rows: list[Row]
    """One per tokenizer and text."""
    given: Mapping[str, Mapping[str, Mapping[str, int]]]
    """The counts file of each training text -> how much of each language it has."""
    notes: tuple[str, ...]
    warnings: tuple[str, ...]

    @property
    def table(self) -> pa.Table:
        """The rows as an Arrow table."""
        return table_of(self.rows)


def run(
    experiment: Experiment | str | os.PathLike[str],
    out: str | os.PathLike[str],
    *,
    threads: int | None = None,
    progress: bool | Listener | None = None,
) -> Result:
    """Run an experiment (or its file) and write to the folder `out`; finished parts there are reused."""
    if not isinstance(experiment, Experiment):
        experiment = read(experiment)
    thread_count(threads)  # refuses a bad number
    for module in ("jinja2", "markupsafe", "vl_convert"):
        load_extra(module, "the page of an experiment")
    folder, text = Folder(Path(out)), as_toml(experiment)
    folder.refuse_other(CURVE, "a tuning")
    folder.check(text)
    with locked(folder.path), folder.gone_if_refused(), Progress(progress) as show:
        folder.check(text)
        planned = plan(experiment, show)
        check_places(planned)
        folder.claim()
        folder.tidy()
        corpora = list(dict.fromkeys(row.corpus for row in planned.rows if row.corpus))
        counted = count_all(corpora, planned.data, folder, threads, show)
        made = make_all(planned.rows, counted, folder, threads, show)
        scored = score_all(planned, made, folder, threads, show)
        rows = rows_of(scored, planned.data)
        # The file, the tables and the page must belong to one experiment, even if the run is killed in between.
        remove_other_page(folder, experiment, scored)
        write_tables(folder, text, rows, counted)
        show.stage("writing the page", unit="pages")
        write_page(folder, experiment, scored, rows)
        kept = [folder.tokenizer(row.name) for row in planned.rows]
        kept += [folder.scores(name) for name in score_names(planned)]
    return Result(
        folder.path,
        rows,
        {one.path.name: one.given for one in counted},
        (*planned.notes, *notes_of(folder.gone(kept))),
        warnings_of(made, scored),
    )


def check_places(planned: Plan) -> None:
    """Refuse two names that would share a folder: names are free text, names of folders are not."""
    for what, names in (
        ("[[run]]", [row.name for row in planned.rows if row.corpus]),
        ("[judge]", score_names(planned)),
    ):
        places = [file_name(name).casefold() for name in names]
        if alike := [name for name, place in zip(names, places, strict=True) if places.count(place) > 1]:
            planned.experiment.refuse(what, f"{quoted(alike)} would share a folder: give them other names.")


def notes_of(gone: list[str], what: str = "experiment") -> list[str]:
    if not gone:
        return []
    return [f"no longer part of this {what}: {listed(gone)}; delete them if you do not need them"]


def write_tables(folder: Folder, text: str, rows: list[Row], counted: list[Counted]) -> None:
    table = table_of(rows)
    gave = [
        {"counts": one.path.name, "languages": one.corpus.languages}
        | {name: getattr(one.corpus.draw, name) for name in ("sample", "balance", "temperature", "seed")}
        | {"balance": str(one.corpus.draw.balance), "language": code, **sizes}
        for one in counted
        for code, sizes in one.given.items()
    ]
    files: dict[Path, Content] = {
        folder.path / EXPERIMENT: text,
        folder.path / "table.parquet": partial(pq.write_table, table),
        folder.path / "table.csv": partial(pyarrow.csv.write_csv, table),
    }
    if gave:
        files[folder.path / "text.csv"] = partial(pyarrow.csv.write_csv, pa.Table.from_pylist(gave))
    write_files(files)
    folder.finish(folder.path / EXPERIMENT, EXPERIMENT)


def warnings_of(made: list[Made], scored: list[ScoredRows]) -> tuple[str, ...]:
    """The warnings of trainings and scores, each with the name it belongs to."""
    found = [f"{one.row.name}: {warning}" for one in made for warning in one.warnings]
    found += [f"{one.text}: {warning}" for one in scored for warning in one.scores.warnings]
    return tuple(dict.fromkeys(found))
