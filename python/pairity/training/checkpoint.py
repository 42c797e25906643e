"""The merges so far, on disk, so that a killed run can go on.

The state of a run is its list of merges, and who had run out of pairs by then: to resume is to apply them again.
"""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from pairity.errors import PairityError

FIELDS = {"left": "<u4", "right": "<u4", "served": "<i4", "count": "<u8"}
FINGERPRINT = b"pairity fingerprint"
EXHAUSTED = b"pairity exhausted"

Steps = tuple[Any, Any, Any, Any]
Exhausted = Sequence[tuple[int, int]]


def fingerprint(settings: Any) -> str:
    """What must be the same for a run to go on: the settings and the digests of all text."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()


class Checkpoint:
    """One file, replaced whole at each save."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = path
        self.fingerprint = fingerprint

    def save(self, columns: Sequence[bytes], exhausted: Exhausted) -> None:
        arrays = {
            name: pa.array(np.frombuffer(column, kind))
            for (name, kind), column in zip(FIELDS.items(), columns, strict=True)
        }
        metadata = {FINGERPRINT: self.fingerprint, EXHAUSTED: json.dumps(exhausted)}
        table = pa.table(arrays).replace_schema_metadata(metadata)
        unfinished = self.path.with_name(self.path.name + ".unfinished")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        try:
            pq.write_table(table, unfinished)
            unfinished.replace(self.path)
        finally:  # Ctrl-C may come while it is written
            unfinished.unlink(missing_ok=True)

    def load(self) -> tuple[Steps, Exhausted] | None:
        """The state of a run with the same settings and text; None where there is none to go on with."""
        if not self.path.exists():
            return None
        try:
            table = pq.read_table(self.path)
        except (OSError, pa.ArrowException) as error:
            raise PairityError(f"{self.path} is damaged ({error}): delete it to start anew.") from error
        if (table.schema.metadata or {}).get(FINGERPRINT) != self.fingerprint.encode():
            raise PairityError(
                f"{self.path} is of a run with other settings or other text: "
                "give the same ones to resume it, or delete it to start anew."
            )
        left, right, served, count = (table[name].to_numpy().astype(kind) for name, kind in FIELDS.items())
        exhausted = json.loads(table.schema.metadata[EXHAUSTED])
        return (left, right, served, count), [(language, step) for language, step in exhausted]
