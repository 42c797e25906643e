"""Aside: texts that wait on disk, in several parts, until there is memory to look for duplicates among them."""

from __future__ import annotations

import shutil
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from pairity.errors import PairityError
from pairity.text.blocks import Block

SCHEMA = pa.schema([("text", pa.large_binary()), ("language", pa.large_binary())])


class Aside:
    """A folder of temporary files, created with the first text."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._folder: Path | None = None
        self._writers: dict[int, Any] = {}

    def put(self, language: str, block: Block, parts: npt.NDArray[np.uint8]) -> None:
        with self._lock:
            try:
                for part in np.unique(parts):
                    texts = block.only(parts == part).texts
                    labels = pa.repeat(pa.scalar(language.encode(), pa.large_binary()), len(texts))
                    self.writer(int(part)).write(pa.record_batch([texts, labels], schema=SCHEMA))
            except OSError as error:
                raise PairityError(
                    f"cannot set text aside in {self._folder or tempfile.gettempdir()}: {error.strerror or error}. "
                    "Name a folder on a larger disk with the variable TMPDIR."
                ) from error

    def writer(self, part: int) -> Any:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="pairity-"))
        if part not in self._writers:
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            self._writers[part] = pa.ipc.new_stream(self.file(part), SCHEMA, options=options)
        return self._writers[part]

    def file(self, part: int) -> str:
        return f"{self._folder}/{part}.arrow"

    def parts(self) -> Iterator[Iterator[Block]]:
        """The blocks of each part; a part is deleted once it was read."""
        for writer in self._writers.values():
            writer.close()
        for part in sorted(self._writers):
            with pa.OSFile(self.file(part)) as file:
                yield blocks_in(file)
            Path(self.file(part)).unlink()

    def remove(self) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)


def blocks_in(file: Any) -> Iterator[Block]:
    for batch in pa.ipc.open_stream(file):
        yield Block("text set aside", "item", 0, texts=batch.column(0), labels=batch.column(1))
