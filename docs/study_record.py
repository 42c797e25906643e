"""What the studies measured, as rows: from the folders of `pairity experiment` to docs/results/studies.json.

Everything else that docs/studies.py writes is made from this record and from docs/results/paper.json alone.
"""

import json
import platform
import re
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq

from pairity.experiments.folder import Folder
from pairity.formats.json_files import read_json
from pairity.judging.scores import Scores
from pairity.training.run import run_of

RESULTS = Path(__file__).parent / "results"
MADE_BY = "make results"
HOME = "devtest"
AWAY = "ui"

GRID_PART = re.compile(r", (?:seed|balance|pretokenizer)=[^,@]*|@\d+$")
"""What a name has for each combination, beside the name of the run."""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A tokenizer of a study, judged on a text."""

    study: str
    name: str
    variant: str
    text: str
    method: str
    vocab_size: int
    tokens: int
    languages_judged: int
    balance: str | None
    sample: float | None
    seed: int | None
    pretokenizer: str
    global_share: float | None
    window: int | None
    dev_lines: int | None
    gini: float
    gini_low: float
    gini_high: float
    rate: float
    worst_best: float
    worst_language: str
    worst_cost: float
    reference_cost: float
    fertility_paper: float
    renyi_paper: float
    type_token_ratio: float
    vocabulary_used: float
    morph_precision_paper: float | None
    morph_recall_paper: float | None
    train_bytes: int
    seconds: float
    costs: dict[str, float]
    """Tokens per line of every language, to the thousandth."""
    states: dict[str, list[str]]
    """Language -> exhausted, stuck, starved, as the training told it."""

    @property
    def setting(self) -> tuple[Any, ...]:
        """What a row shares with the classical tokenizer that it is compared with."""
        return (self.study, self.text, self.vocab_size, self.balance, self.seed, self.pretokenizer)


MEASURED = [one.name for one in fields(Row) if one.name not in ("study", "variant", "costs", "states")]


@dataclass(frozen=True)
class Results:
    """All rows; `versions` and `machine` say with what."""

    rows: tuple[Row, ...]
    versions: dict[str, str]
    machine: str

    def find(self, study: str, text: str = HOME, **where: Any) -> list[Row]:
        """The rows of a study on a text; where(vocab_size=32000, variant="parity") chooses among them."""
        return [
            row
            for row in self.rows
            if (row.study, row.text) == (study, text)
            and all(getattr(row, key) == value for key, value in where.items())
        ]

    @property
    def largest(self) -> int:
        """The largest vocabulary of the main table, which is the one that the paper's has."""
        return max((row.vocab_size for row in self.find("table1")), default=0)

    @cached_property
    def classical(self) -> dict[tuple[Any, ...], Row]:
        """Of each setting."""
        return {row.setting: row for row in self.rows if row.method == "classical"}

    def baseline(self, row: Row) -> Row:
        """The classical tokenizer of the same study: of the same size, from the same text, on the same text."""
        return self.classical[row.setting]

    def reduction(self, row: Row) -> float:
        """By what share the Gini coefficient is lower than the classical tokenizer's."""
        return 1 - row.gini / self.baseline(row).gini

    def rate_change(self, row: Row) -> float:
        """Lines per token against the classical tokenizer's: -0.01 is 1% less."""
        return row.rate / self.baseline(row).rate - 1

    def parity(self, study: str, text: str = HOME, **where: Any) -> list[Row]:
        return [row for row in self.find(study, text, **where) if row.method == "parity"]

    def elsewhere(self, row: Row, text: str) -> Row | None:
        """The same tokenizer on another text."""
        return next(iter(self.find(row.study, text, name=row.name)), None)


def collect(runs: Path) -> Results:
    """The rows of every experiment below `runs`, a folder for each study."""
    rows: list[Row] = []
    versions: dict[str, str] = {}
    for table in sorted(runs.glob("*/table.parquet")):
        rows += rows_of(table.parent)
        versions |= json.loads(pq.read_table(table, columns=["versions"])["versions"][0].as_py())
    if not rows:
        raise SystemExit(f"{runs} has no finished experiment: run make results.")
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    return Results(tuple(rows), dict(sorted(versions.items())), machine)


def rows_of(folder: Path) -> Iterator[Row]:
    places = Folder(folder)
    found = pq.read_table(folder / "table.parquet").to_pylist()
    scores = {text: Scores.load(places.scores(text)) for text in {row["text"] for row in found}}
    for row in found:
        record = places.tokenizer(row["name"]) / "pairity.json"
        run = run_of(read_json(record)["record"]) if record.exists() else None
        states = {one.name: list(one.states) for one in run.languages if one.states} if run else {}
        costs = scores[row["text"]].costs(row["name"])
        yield Row(
            study=folder.name,
            variant=GRID_PART.sub("", row["name"]),
            costs={code: round(cost, 3) for code, cost in costs.items()},
            states=states,
            **{key: row[key] for key in MEASURED},
        )


def save(results: Results, path: Path) -> None:
    record = {
        "made_by": MADE_BY,
        "versions": results.versions,
        "machine": results.machine,
        "rows": [asdict(row) for row in results.rows],
    }
    # A row a line: a hundred of them, each with the costs of all languages.
    text = json.dumps(record | {"rows": []}, indent=1).removesuffix("[]\n}")
    lines = ",\n  ".join(json.dumps(row) for row in record["rows"])
    path.write_text(f"{text}[\n  {lines}\n ]\n}}\n", encoding="utf-8")


def load(path: Path = RESULTS / "studies.json") -> Results:
    record = json.loads(path.read_text(encoding="utf-8"))
    return Results(tuple(Row(**row) for row in record["rows"]), record["versions"], record["machine"])


def load_paper(path: Path = RESULTS / "paper.json") -> dict[str, dict[str, dict[str, Any]]]:
    """{label of a table: {name of a row: its values}}"""
    tables = json.loads(path.read_text(encoding="utf-8"))["tables"]
    return {label: {row["name"]: row for row in table["rows"]} for label, table in tables.items()}
