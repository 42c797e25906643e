"""Tables as text: .csv, whose values may be quoted and then hold line ends, and .tsv, where nothing is quoted.

The first line names the columns. A column that is given by its number (`--text-column 3`) is that of a table without
such a line.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import Any, Literal

import pyarrow as pa
import pyarrow.csv

from pairity.errors import PairityError
from pairity.text.columns import refuse_column, refuse_double

BLOCK_BYTES = 8 << 20
"""Arrow reads so much at a time, and cannot cut a row: longer ones are refused."""


def batches(stream: Any, kind: Literal["csv", "tsv"], text_column: str, where: str) -> Iterator[Any]:
    """The texts, some rows at a time, as Arrow arrays of bytes."""
    quoted = kind == "csv"
    numbered = text_column.isdecimal()
    name = f"f{int(text_column) - 1}" if numbered else text_column
    watched = Watched(stream, kind)
    try:
        reader = pyarrow.csv.open_csv(
            pa.PythonFile(watched, "r"),
            read_options=pyarrow.csv.ReadOptions(
                use_threads=False, block_size=BLOCK_BYTES, autogenerate_column_names=numbered
            ),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter="," if quoted else "\t",
                quote_char='"' if quoted else False,
                newlines_in_values=quoted,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=[name], column_types={name: pa.large_binary()}, check_utf8=False
            ),
        )
        refuse_double(where, name, [] if numbered else watched.columns())
        for batch in reader:
            yield batch.column(0)
    except KeyError:
        refuse_column(where, text_column, watched.columns())
    except pa.ArrowInvalid as error:
        if "straddling" not in str(error):
            raise
        watched.check_quotes(where)
        raise PairityError(f"{where}: a row is longer than {BLOCK_BYTES >> 20} MB. Cut it.") from error
    watched.check_quotes(where)


class Watched:
    """A stream that knows how it began, and whether every quotation mark has its other."""

    closed = False

    def __init__(self, stream: Any, kind: Literal["csv", "tsv"]) -> None:
        self._stream = stream
        self._kind = kind
        self._first = b""
        self._quotes = 0

    def read(self, size: int = -1) -> bytes:
        data: bytes = self._stream.read(size)
        self._first = self._first or data
        self._quotes += data.count(b'"')
        return data

    def columns(self) -> list[str]:
        line = self._first.partition(b"\n")[0].decode("utf-8-sig", "replace").rstrip("\r")
        return next(csv.reader([line])) if self._kind == "csv" else line.split("\t")

    def check_quotes(self, where: str) -> None:
        """With one mark missing, all rows up to the next one would be a single text."""
        if self._kind == "csv" and self._quotes % 2:
            raise PairityError(
                f"{where}: the number of quotation marks is odd, so one is missing or stands alone in a value. In CSV "
                'a value with such a mark is quoted, and the mark doubled: "a 3"" nail". Without quoting, name it .tsv.'
            )
