"""The merges so far, on disk, so that a killed run can go on.

The state of a run is its list of merges, and who had run out of pairs by then: a resumed run applies
those merges again.
"""

import hashlib
import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from pairity.errors import PairityError, PairityWarning
from pairity.files.digests import digest
from pairity.files.pace import Pace
from pairity.files.writing import write_file
from pairity.training.engine import Exhausted, Steps

SECONDS = 5.0
"""The merges so far go to disk no more often than this. (An interruption saves, and costs nothing.)"""

COLUMNS = ["left", "right", "served", "count"]
TYPES = [pa.uint32(), pa.uint32(), pa.int32(), pa.uint64()]
FINGERPRINT = b"pairity fingerprint"
EXHAUSTED = b"pairity exhausted"
DIGEST = b"pairity digest"
IN_PHRASES = ":phrases"


def fingerprint(settings: Any) -> str:
    """What must be the same for a run to go on: the settings and the digests of all text."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()


class Checkpoint:
    """One file, replaced whole at each save."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = path
        self.fingerprint = fingerprint
        self.in_phrases = False
        """Whether these are merges of the second stage, in phrases (`Settings.superwords`)."""
        self._pace = Pace(SECONDS)
        self._newest: tuple[Steps, Exhausted] | None = None
        """What was heard since the last save."""

    def hear(self, steps: Steps, exhausted: Exhausted) -> None:
        """Keep the state of the run in memory, and now and then on disk."""
        if not len(steps):
            return
        self._newest = steps, exhausted
        if self._pace.is_due():
            self.save_newest()

    def save_newest(self) -> None:
        """Save what was heard last, if that is not saved yet. A disk that is full now is no reason to end a run."""
        if self._newest is None:
            return
        newest, self._newest = self._newest, None
        try:
            self.save(*newest)
        except PairityError as error:
            warnings.warn(
                f"the checkpoint is not up to date: {error}",
                PairityWarning,
                stacklevel=2,
            )

    def save(self, steps: Steps, exhausted: Exhausted) -> None:
        import pyarrow.parquet as pq

        table = pa.table([pa.array(column) for column in steps.columns], COLUMNS)
        metadata = {
            FINGERPRINT: self.fingerprint + (IN_PHRASES if self.in_phrases else ""),
            EXHAUSTED: json.dumps(exhausted),
            DIGEST: digest_of(steps, exhausted),
        }
        table = table.replace_schema_metadata(metadata)
        with self._pace.saving():
            write_file(self.path, lambda file: pq.write_table(table, file))

    def load(self) -> tuple[Steps, Exhausted] | None:
        """The state of a run with the same settings and text, or None if there is no file."""
        try:
            data = self.path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise PairityError(f"cannot read {self.path}: {error.strerror or error}.") from error
        try:
            steps, exhausted, metadata = parse(data)
        except Exception as error:  # Arrow and JSON each have several
            raise PairityError(f"{self.path} is damaged ({error}): delete it to start over.") from error
        if metadata.get(DIGEST) != digest_of(steps, exhausted).encode():
            raise PairityError(
                f"{self.path} is damaged: its merges do not match its digest. Delete it to start over."
            )
        found = metadata.get(FINGERPRINT, b"").decode()
        self.in_phrases = found.endswith(IN_PHRASES)
        if found.removesuffix(IN_PHRASES) != self.fingerprint:
            raise PairityError(
                f"{self.path} belongs to a run with other settings or other text: use the same ones to "
                "resume it, or delete it to start over."
            )
        return steps, exhausted


def parse(data: bytes) -> tuple[Steps, Exhausted, dict[bytes, bytes]]:
    import pyarrow.parquet as pq

    table = pq.read_table(pa.BufferReader(data))
    if table.schema.types != TYPES or any(column.null_count for column in table.columns):
        raise ValueError("its columns are not those of a checkpoint")
    metadata = table.schema.metadata or {}
    exhausted = [(language, step) for language, step in json.loads(metadata[EXHAUSTED])]
    return Steps.of([table[name].to_numpy() for name in COLUMNS]), exhausted, metadata


def digest_of(steps: Steps, exhausted: Exhausted) -> str:
    """Over the merges themselves and not the file: what it says is what was learned."""
    columns = [np.ascontiguousarray(column).tobytes() for column in steps.columns]
    return digest(b"".join(columns) + json.dumps(exhausted).encode())
