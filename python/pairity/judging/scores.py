"""The result of an evaluation: one tidy table, and the data to draw and check it.

table        tokenizer, language (null: over all languages), metric, value, low, high, aggregation, unit, n, note
differences  the same for pairs: tokenizer minus `against`, resampled together; and p, and p_holm: corrected for the
             number of comparisons (both null in scores of an older format)
groups       the same by script family and by resource level
lengths      tokens of every line, per tokenizer and language (-1: the tokenizer failed on it)
"""

from __future__ import annotations

import io
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet as pq

from pairity.errors import PairityError
from pairity.files.digests import check_manifest, has_digests, in_memory, read_checked, sealed
from pairity.files.locks import locked
from pairity.files.places import check_folder
from pairity.files.reading import check_format, settled
from pairity.files.tables import parquet_table
from pairity.files.writing import write_folder
from pairity.formats.json_files import of_type, read_json
from pairity.judging.arrays import Integers
from pairity.judging.metrics.fairness import lorenz, worst_language

LEAK = "evaluated on its own dev text"
"""How notes and warnings describe a tokenizer that has seen the text."""

FORMAT = 3  # 1 had no digests; 1 and 2 had no p-values
OF_THE_FOLDER = ("scores.json",)
"""The files that show that a folder has scores already."""

VALUES = [
    ("metric", pa.string()),
    ("value", pa.float64()),
    ("low", pa.float64()),
    ("high", pa.float64()),
    ("aggregation", pa.string()),
    ("unit", pa.string()),
    ("n", pa.int64()),
    ("note", pa.string()),
]
TABLE = pa.schema([("tokenizer", pa.string()), ("language", pa.string()), *VALUES])
P_VALUES = [("p", pa.float64()), ("p_holm", pa.float64())]
DIFFERENCES = pa.schema(
    [("tokenizer", pa.string()), ("against", pa.string()), ("language", pa.string()), *VALUES, *P_VALUES]
)
GROUPS = pa.schema([("tokenizer", pa.string()), ("grouping", pa.string()), ("group", pa.string()), *VALUES])


@dataclass(frozen=True)
class Interval:
    """A value with its 95% interval; the ends are None if nothing was resampled."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class Overview:
    """A tokenizer in one row; None for a metric that was not evaluated or is not defined."""

    tokenizer: str
    gini: Interval | None
    compression_rate: float | None  # lines per token
    worst_best: float | None
    worst_language: str | None
    lost_lines: int = 0


@dataclass
class Scores:
    """See the module. `meta` holds the settings, versions, text digests, failures and warnings."""

    table: pa.Table
    differences: pa.Table
    groups: pa.Table
    lengths: dict[str, dict[str, Integers]]
    leaks: dict[str, list[str]] = field(default_factory=dict)
    meta: dict[str, Any] = field(default_factory=dict)

    @property
    def tokenizers(self) -> list[str]:
        """The names of the tokenizers."""
        return list(self.lengths)

    @property
    def languages(self) -> list[str]:
        """The languages that were evaluated."""
        return list(next(iter(self.lengths.values()), {}))

    @property
    def warnings(self) -> list[str]:
        """Warnings about these scores, as sentences."""
        return list(self.meta.get("warnings", []))

    def select(
        self, tokenizer: str | None = None, metric: str | None = None, *, per_language: bool | None = None
    ) -> pa.Table:
        """Rows of the table for a tokenizer, a metric, or both; with or without those per language."""
        rows = self.table
        if tokenizer is not None:
            rows = rows.filter(pc.equal(rows["tokenizer"], tokenizer))
        if metric is not None:
            rows = rows.filter(pc.equal(rows["metric"], metric))
        if per_language is not None:
            rows = rows.filter(
                pc.is_valid(rows["language"]) if per_language else pc.is_null(rows["language"])
            )
        return rows

    def interval(self, tokenizer: str, metric: str, language: str | None = None) -> Interval | None:
        """One value with its interval; None if it is not defined (its row's note says why).

        Asking for something that was not evaluated is an error.
        """
        rows = [row for row in self.select(tokenizer, metric).to_pylist() if row["language"] == language]
        if not rows:
            place = "over all languages" if language is None else f"for {language!r}"
            raise PairityError(f"these scores have no {metric!r} for {tokenizer!r} {place}.")
        row = rows[0]
        return None if row["value"] is None else Interval(row["value"], row["low"], row["high"])

    def value(self, tokenizer: str, metric: str, language: str | None = None) -> float | None:
        """One value, as `interval` gives it."""
        found = self.interval(tokenizer, metric, language)
        return None if found is None else found.value

    def costs(self, tokenizer: str) -> dict[str, float]:
        """Tokens per line of every language that has a cost."""
        rows = self.select(tokenizer, "cost", per_language=True).to_pylist()
        return {row["language"]: row["value"] for row in rows if row["value"] is not None}

    def overview(self) -> list[Overview]:
        """One row per tokenizer: how unequally it treats languages, and at what cost."""
        evaluated = set(self.table["metric"].to_pylist())
        rows = []
        for name in self.tokenizers:
            costs = self.costs(name)
            rows.append(
                Overview(
                    tokenizer=name,
                    gini=self.interval(name, "gini") if "gini" in evaluated else None,
                    compression_rate=(
                        self.value(name, "compression_rate_line")
                        if "compression_rate_line" in evaluated
                        else None
                    ),
                    worst_best=self.value(name, "worst_best") if "worst_best" in evaluated else None,
                    worst_language=worst_language(costs) if costs else None,
                    lost_lines=sum(self.meta.get("losses", {}).get(name, {}).values()),
                )
            )
        return rows

    def curves(self) -> dict[str, list[str]]:
        """Tokenizer -> the names of its sizes, the smallest first; empty if it was evaluated at one size only.

        {"parity": ["parity@8000", "parity@32000"], "gpt-4o": ["gpt-4o"]}
        """
        found: dict[str, list[str]] = {}
        for name in self.tokenizers:
            found.setdefault(self.about(name).get("cut_from", name), []).append(name)
        return found if any("cut_from" in self.about(name) for name in self.tokenizers) else {}

    def about(self, tokenizer: str) -> dict[str, Any]:
        """What `meta` says of a tokenizer: {"vocab_size": 8000, "cut_from": "parity"}."""
        return dict(self.meta.get("tokenizers", {}).get(tokenizer, {}))

    def at_largest_size(self) -> Scores:
        """Each tokenizer under its own name, at its largest size; the same scores if there is only one size."""
        shown = {names[-1]: name for name, names in self.curves().items()}
        return self.only(shown) if shown else self

    def only(self, shown: Mapping[str, str]) -> Scores:
        """The scores of some tokenizers: {name here: name there}."""
        leaks = {shown[name]: leaked for name, leaked in self.leaks.items() if name in shown}
        told = {
            what: {shown[name]: one for name, one in self.meta.get(what, {}).items() if name in shown}
            for what in ("failures", "losses")
        }
        meta = {
            "tokenizers": {shown[name]: self.about(name) for name in shown},
            "baseline": shown.get(str(self.meta.get("baseline"))),
            **told,
        }
        return Scores(
            renamed(self.table, shown, "tokenizer"),
            renamed(self.differences, shown, "tokenizer", "against"),
            renamed(self.groups, shown, "tokenizer"),
            {shown[name]: self.lengths[name] for name in shown},
            leaks,
            {**self.meta, **meta},
        )

    def lorenz(self, tokenizer: str) -> tuple[list[float], list[float]]:
        """The Lorenz curve of the costs: share of languages, share of all tokens."""
        share, cost = lorenz(list(self.costs(tokenizer).values()))
        return share.tolist(), cost.tolist()

    def difference(
        self, tokenizer: str, against: str, metric: str = "gini", language: str | None = None
    ) -> Interval:
        """`tokenizer` minus `against`, both on the same resampled lines."""
        row = self._difference(tokenizer, against, metric, language)
        low, high = row["low"], row["high"]
        if row["tokenizer"] == tokenizer:
            return Interval(row["value"], low, high)
        return Interval(-row["value"], None if high is None else -high, None if low is None else -low)

    def p_value(
        self, tokenizer: str, against: str, metric: str = "gini", language: str | None = None
    ) -> float | None:
        """How likely such a difference is by chance, as one of all comparisons in that metric (Holm's correction).

        None if nothing was resampled, and for scores in an older format.
        """
        p: float | None = self._difference(tokenizer, against, metric, language)["p_holm"]
        return p

    def _difference(self, tokenizer: str, against: str, metric: str, language: str | None) -> dict[str, Any]:
        pairs = ((tokenizer, against), (against, tokenizer))
        for row in self.differences.to_pylist():
            if row["metric"] != metric or row["language"] != language or row["value"] is None:
                continue
            if (row["tokenizer"], row["against"]) in pairs:
                return dict(row)
        raise PairityError(
            f"these scores have no difference in {metric!r} between {tokenizer!r} and {against!r}."
        )

    def save(self, folder: str | Path, *, force: bool = True) -> None:
        """Write scores, differences and groups as Parquet and CSV, lengths.npz and scores.json into `folder`.

        The folder changes as a whole: scores.json is written last and has the digests of the other files.
        """
        path = Path(folder)
        files: dict[str, bytes] = {}
        tables = {"scores": self.table, "differences": self.differences, "groups": self.groups}
        for name, table in tables.items():
            files[f"{name}.parquet"] = in_memory(partial(pq.write_table, table))
            files[f"{name}.csv"] = in_memory(partial(pyarrow.csv.write_csv, table))
        # Names of tokenizers are free text, which file names are not, so the arrays are numbered.
        places = [(tokenizer, language) for tokenizer in self.lengths for language in self.lengths[tokenizer]]
        arrays = {f"lengths_{i}": self.lengths[t][lang] for i, (t, lang) in enumerate(places)}
        files["lengths.npz"] = in_memory(lambda file: np.savez_compressed(file, **arrays))  # type: ignore[arg-type]
        content = {"format": FORMAT, "meta": self.meta, "leaks": self.leaks, "lengths": places}
        files["scores.json"] = json.dumps(sealed(content, files), ensure_ascii=False, indent=1).encode()
        with locked(path):
            check_folder(path, OF_THE_FOLDER, what="scores", force=force)
            write_folder(path, files)

    @classmethod
    def load(cls, folder: str | Path) -> Scores:
        """Load what `save` wrote."""
        path = Path(folder)
        return settled(lambda: cls.load_once(path), path / "scores.json")

    @classmethod
    def load_once(cls, folder: Path) -> Scores:
        """Like `load`, but without retrying while another process writes."""
        if not (folder / "scores.json").exists():
            raise PairityError(
                f"no scores in {folder}: there is no scores.json. Make them with `pairity eval -o {folder}`."
            )
        content = read_json(folder / "scores.json")
        try:
            stated = of_type(int, content["format"], "the format in scores.json")
            check_format(stated, FORMAT, f"the scores in {folder} have")
            if has_digests(content):
                check_manifest(content, folder / "scores.json")

            def read(name: str) -> io.BytesIO:
                return io.BytesIO(read_checked(folder, name, content))

            kinds = {"scores": TABLE, "differences": DIFFERENCES, "groups": GROUPS}
            if content["format"] < 3:
                kinds["differences"] = without_p_values(DIFFERENCES)
            tables = [read_table(read(f"{name}.parquet"), name, schema) for name, schema in kinds.items()]
            for name, kind in P_VALUES if content["format"] < 3 else []:
                tables[1] = tables[1].append_column(name, pa.nulls(len(tables[1]), kind))
            lengths: dict[str, dict[str, Integers]] = {}
            with np.load(read("lengths.npz"), allow_pickle=False) as arrays:
                for index, (tokenizer, language) in enumerate(content["lengths"]):
                    of_type(str, tokenizer, "the name of a tokenizer")
                    of_type(str, language, "the name of a language")
                    lengths.setdefault(tokenizer, {})[language] = check_lengths(arrays[f"lengths_{index}"])
            leaks = of_type(dict, content["leaks"], "the leaks")
            for name, languages in leaks.items():
                of_type(list, languages, f"the leaks of {name!r}")
            meta = of_type(dict, content["meta"], "the settings")
            of_type(list, meta.get("warnings", []), "the warnings")
            for what, kind in (("failures", str), ("losses", int)):
                for name, told in of_type(dict, meta.get(what, {}), f"the {what}").items():
                    for code, value in of_type(dict, told, f"the {what} of {name!r}").items():
                        of_type(kind, value, f"the {what} of {name!r} in {code!r}")
            return cls(tables[0], tables[1], tables[2], lengths, leaks, meta)
        except PairityError:
            raise
        except Exception as error:  # numpy, zipfile, zlib and Arrow each raise their own
            raise PairityError(f"the scores in {folder} are damaged ({error!r}). Make them again.") from error


def renamed(table: pa.Table, names: Mapping[str, str], *columns: str) -> pa.Table:
    """The rows of the tokenizers in `names`, with their new names."""
    for column in columns:
        place = pc.index_in(table[column], value_set=pa.array(names, pa.string()))
        table = table.filter(pc.is_valid(place))
        new = pa.array(names.values(), pa.string()).take(place.drop_null())
        table = table.set_column(table.column_names.index(column), column, new)
    return table


def without_p_values(schema: pa.Schema) -> pa.Schema:
    for name, _ in P_VALUES:
        schema = schema.remove(schema.get_field_index(name))
    return schema


def read_table(file: io.BytesIO, name: str, schema: pa.Schema) -> pa.Table:
    table = parquet_table(file.getvalue())
    if not table.schema.equals(schema):
        raise ValueError(f"{name}.parquet does not have the columns of an evaluation's {name}")
    table.validate(full=True)
    return table


def check_lengths(lengths: Any) -> Integers:
    if not isinstance(lengths, np.ndarray) or lengths.ndim != 1 or lengths.dtype.kind not in "iu":
        raise ValueError("lengths.npz does not hold line lengths")
    return lengths
