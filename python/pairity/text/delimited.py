"""Tables as text: .csv, whose values may be quoted and then contain line ends, and .tsv, where nothing is quoted.

The first line names the columns. A column given by number (`--text-column 3`) means that the table has
no such line.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from typing import Any, Literal

import pyarrow as pa
import pyarrow.csv

from pairity.errors import PairityError
from pairity.text.columns import FIXES, refuse_column, refuse_double

BLOCK_BYTES = 8 << 20
"""How much Arrow reads at a time. It cannot split a row, so longer rows are refused."""


def batches(
    stream: Any,
    kind: Literal["csv", "tsv"],
    columns: Sequence[str],
    where: str,
    skip: Callable[[int, PairityError], None] | None,
) -> Iterator[list[Any]]:
    """The texts, some rows at a time: one Arrow array of bytes per column.

    `skip` is called for every row with more or fewer columns than the first; without it, such a row is an error.
    """
    quoted = kind == "csv"
    numbered = columns[0].isdecimal()
    if any(column.isdecimal() != numbered for column in columns):
        raise PairityError(
            f"{where}: one column is given by number and one by name ({', '.join(columns)}): give both in "
            "the same way."
        )
    names = [f"f{int(column) - 1}" if numbered else column for column in columns]
    watched = Watched(stream, kind)
    there = [] if numbered else watched.plain_columns()
    for name, fix in zip(columns, FIXES, strict=False):
        if there and name not in there:
            refuse_column(where, name, there, fix)

    def other_size(row: Any) -> str:
        number = row.number - (1 if numbered else 2)  # Arrow counts from 1 and includes the header
        there = f"{row.actual_columns} columns where the first row has {row.expected_columns}"
        if skip:
            skip(number, PairityError(f"{where}, row {number + 1}: {there}."))
        return "skip"

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
                invalid_row_handler=other_size if skip else None,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                include_columns=names, column_types=dict.fromkeys(names, pa.large_binary()), check_utf8=False
            ),
        )
        for name in names:
            refuse_double(where, name, [] if numbered else watched.columns())
        for batch in reader:
            yield batch.columns
    except KeyError as error:
        missing = next((n for n, name in enumerate(names) if name in str(error)), 0)
        refuse_column(where, columns[missing], watched.columns(), FIXES[missing])
    except pa.ArrowInvalid as error:
        if "straddling" not in str(error):
            raise
        watched.check_quotes(where)
        raise PairityError(f"{where}: a row is longer than {BLOCK_BYTES >> 20} MB. Split it.") from error
    finally:
        watched.end()
    watched.check_quotes(where)


class Watched:
    """A stream whose beginning is known, and whether its quotation marks are balanced.

    A thread of Arrow reads it ahead. If Python ends while it does, the C++ of that thread may abort the process. So the
    most common mistake, a missing column, is found before the thread starts, and after others no more is read.
    """

    closed = False

    def __init__(self, stream: Any, kind: Literal["csv", "tsv"]) -> None:
        self._stream = stream
        self._kind = kind
        self._first: bytes = stream.read(BLOCK_BYTES)
        self._is_new = True
        self._quotes = 0
        self._reading = Lock()
        self._ended = False

    def read(self, size: int = -1) -> bytes:
        """The block that is known, and then what the stream has; Arrow asks for whole blocks."""
        with self._reading:
            known, self._is_new = self._is_new, False
            data: bytes = b"" if self._ended else self._first if known else self._stream.read(size)
            self._quotes += data.count(b'"')
            return data

    def end(self) -> None:
        """Wait for a read that has begun; there is nothing to read after it."""
        with self._reading:
            self._ended = True

    def plain_columns(self) -> list[str]:
        """The columns, if they are sure without Arrow: quoted ones may contain line ends, and it skips empty lines."""
        line = self._first_line
        is_plain = line and line != self._first and not (self._kind == "csv" and b'"' in line)
        return self.columns() if is_plain else []

    @property
    def _first_line(self) -> bytes:
        return re.split(rb"[\r\n]", self._first, maxsplit=1)[0]

    def columns(self) -> list[str]:
        line = self._first_line.decode("utf-8-sig", "replace")
        if self._kind == "tsv":
            return line.split("\t")
        try:
            return next(csv.reader([line]))
        except csv.Error:  # Python's reader refuses very long names and NUL bytes
            return line.split(",")

    def check_quotes(self, where: str) -> None:
        """Refuse a missing mark: it would turn all rows up to the next mark into one text."""
        if self._kind == "csv" and self._quotes % 2:
            raise PairityError(
                f"{where}: the number of quotation marks is odd, so one is missing or a value contains an "
                'unescaped one. In CSV, quote such a value and double the mark: "a 3"" nail". If the '
                "file does not use quoting, name it .tsv."
            )
