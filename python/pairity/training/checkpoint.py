"""The merges so far, on disk, for a killed run to continue from.

The state of a run is its list of merges, and which languages had run out of pairs. A resumed run applies those merges
again.
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
from pairity.files.reading import unreadable
from pairity.files.tables import parquet_table
from pairity.files.writing import write_file
from pairity.training.engine import Exhausted, Steps

SECONDS = 5.0
"""The least time between two saves. (Ctrl-C saves too, so it loses nothing.)"""

COLUMNS = ["left", "right", "served", "count"]
TYPES = [pa.uint32(), pa.uint32(), pa.int32(), pa.uint64()]
FINGERPRINT = b"pairity fingerprint"
EXHAUSTED = b"pairity exhausted"
DIGEST = b"pairity digest"
IN_PHRASES = ":phrases"


def fingerprint(settings: Any) -> str:
    """A digest of what must be equal for a run to continue: the settings and the digests of all text."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True, default=str).encode()).hexdigest()


class Checkpoint:
    """One file, replaced as a whole at each save."""

    def __init__(self, path: Path, fingerprint: str) -> None:
        self.path = path
        self.fingerprint = fingerprint
        self.in_phrases = False
        """Whether these are merges of the second stage, in phrases (`Settings.superwords`)."""
        self._pace = Pace(SECONDS)
        self._newest: tuple[Steps, Exhausted] | None = None
        """The latest state, if it is not saved yet."""

    def hear(self, steps: Steps, exhausted: Exhausted) -> None:
        """Keep the state of the run in memory, and from time to time save it."""
        if not len(steps):
            return
        self._newest = steps, exhausted
        if self._pace.is_due():
            self.save_newest()

    def save_newest(self) -> None:
        """Save the latest state, unless it is saved. A full disk is only a warning: the run may still succeed."""
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
            DIGEST: digest_of_state(steps, exhausted),
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
            raise unreadable(self.path, error) from error
        try:
            steps, exhausted, metadata = parse(data)
        except Exception as error:  # Arrow and JSON raise many kinds
            raise PairityError(f"{self.path} is damaged ({error}): delete it to start over.") from error
        if metadata.get(DIGEST) != digest_of_state(steps, exhausted).encode():
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
    table = parquet_table(data)
    if table.schema.types != TYPES or any(column.null_count for column in table.columns):
        raise ValueError("its columns are not those of a checkpoint")
    metadata = table.schema.metadata or {}
    exhausted = [(language, step) for language, step in json.loads(metadata[EXHAUSTED])]
    return Steps.of([table[name].to_numpy() for name in COLUMNS]), exhausted, metadata


def digest_of_state(steps: Steps, exhausted: Exhausted) -> str:
    """Of the merges, not of the file, so it proves that what was read is what was learned."""
    columns = [np.ascontiguousarray(column).tobytes() for column in steps.columns]
    return digest(b"".join(columns) + json.dumps(exhausted).encode())
