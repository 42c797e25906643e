"""Where counts are kept while counting: how much in memory, and in which folder."""

from __future__ import annotations

import os
import shutil
import tempfile
import weakref
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pyarrow as pa

from pairity.counts.checkpoint import CountCheckpoint, can_resume, exists, refuse_settings, remove
from pairity.counts.runs import Runs
from pairity.errors import PairityError
from pairity.sizes import parse_size, show_size
from pairity.text import blocks
from pairity.text.inputs import TextInput
from pairity.text.options import TextReading

BLOCKS = 4
"""What a thread holds in addition to its counters, in blocks of text: one as read, and copies made from it."""
LEAST = 12
"""The least memory per thread, in blocks: with less, every block would go to disk on its own."""


@dataclass(frozen=True)
class Storage:
    """`limit`: bytes for counters. `folder`: a checkpoint. Without either, everything stays in memory."""

    threads: int
    limit: int | None = None
    folder: Path | None = None
    resume: bool = False

    @classmethod
    def of(
        cls,
        memory: str | int | None,
        checkpoint: str | os.PathLike[str] | None,
        resume: bool,
        threads: int,
        *,
        beside: int = 0,
    ) -> Storage:
        """From what the user gave; `beside` is memory that is already used for something else."""
        if resume and checkpoint is None:
            raise PairityError("resume needs a checkpoint: name the folder that the killed run left.")
        folder = None if checkpoint is None else Path(checkpoint)
        if memory is None:
            return cls(threads, None, folder, resume)
        size = parse_size(memory, "memory") - beside
        least = LEAST * threads * blocks.BLOCK_BYTES
        if size < least:
            fewer = "" if threads == 1 else ", or fewer threads"
            raise PairityError(
                f"memory is {show_size(size)}, but {threads} threads need {show_size(least)} to hold blocks of text "
                f"and count them: give more{fewer}."
            )
        return cls(threads, size - BLOCKS * threads * blocks.BLOCK_BYTES, folder, resume)

    def open(
        self, inputs: Sequence[TextInput], settings: Mapping[str, Any], how: TextReading
    ) -> tuple[Runs | None, CountCheckpoint | None]:
        """The runs, if some may be needed, and a checkpoint, if the text can be read again."""
        if self.folder is None:
            return (None if self.limit is None else temporary_runs()), None
        runs = Runs(self.folder)
        if not can_resume(inputs, how):
            if self.resume and exists(self.folder):
                refuse_settings(self.folder)
            remove(self.folder)
            return runs, None
        # Another version may read files in other blocks.
        versions = {
            "pairity": version("pairity"),
            "pyarrow": pa.__version__,
            "block_bytes": blocks.BLOCK_BYTES,
        }
        checkpoint = CountCheckpoint(runs, {**settings, **versions}, inputs)
        if not (self.resume and checkpoint.load()):
            remove(self.folder)
        return runs, checkpoint


def temporary_runs() -> Runs:
    """Runs in a temporary folder, which is deleted when nothing refers to them any more."""
    folder = Path(tempfile.mkdtemp(prefix="pairity-"))
    runs = Runs(folder)
    weakref.finalize(runs, shutil.rmtree, folder, ignore_errors=True)
    return runs
