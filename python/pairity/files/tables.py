"""Tables: whole Parquet files in memory, read without Arrow's threads.

`pq.read_table` starts threads, which may still hold the file when its caller has long gone on. If Python ends then, it
kills a thread that waits for the interpreter, and the C++ of that thread ends the process with an abort.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pyarrow as pa


def parquet_table(data: bytes) -> pa.Table:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with pq.ParquetFile(pa.BufferReader(data)) as file:
        names = file.schema_arrow.names
        if len(set(names)) < len(names):
            raise pa.ArrowInvalid(f"several columns have one name: {', '.join(names)}")
        return file.read(use_threads=False)
