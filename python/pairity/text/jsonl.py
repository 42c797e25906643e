"""JSON lines: one record per line, its text in a column."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from pairity.errors import PairityError
from pairity.text.columns import FIXES, to_utf8, value_in


def texts(
    lines: bytes,
    columns: Sequence[str],
    place: Callable[[int], str],
    broken: Callable[[int, PairityError], None],
) -> tuple[list[Any], list[int] | None]:
    """One Arrow array of texts per column, and the line numbers if some lines are left out.

    `place` names a line of the block in errors. `broken` is called with every error, and raises it unless broken lines
    are skipped.
    """
    fast = texts_at_once(lines, columns)
    if fast is not None:
        return fast, None
    found: list[list[bytes]] = []
    numbers: list[int] = []
    for number, line in enumerate(lines.split(b"\n")):
        if line.strip():
            try:
                found.append(texts_in(line, place(number), columns))
                numbers.append(number)
            except PairityError as error:
                broken(number, error)
    return [pa.array([row[n] for row in found], pa.large_binary()) for n in range(len(columns))], numbers


def texts_at_once(lines: bytes, columns: Sequence[str]) -> list[Any] | None:
    """The texts by Arrow's parser, which releases the GIL; None if the slow parser has to look."""
    wanted: dict[str, Any] = {}
    for column in columns:
        first, *inner = column.split(".")
        kind = pa.large_string()
        for name in reversed(inner):
            kind = pa.struct([(name, kind)])
        if first in wanted and wanted[first] != kind:  # two fields of one object
            return None
        wanted |= {column: pa.large_string()} | {first: kind}
    try:
        table = pyarrow.json.read_json(
            pa.BufferReader(lines),
            read_options=pyarrow.json.ReadOptions(use_threads=False, block_size=len(lines) + 1),
            parse_options=pyarrow.json.ParseOptions(
                explicit_schema=pa.schema(list(wanted.items())),
                unexpected_field_behavior="ignore",
            ),
        )
    except (pa.ArrowException, OverflowError):
        return None
    # Arrow does not insist on one record per line. `}{` is valid nowhere inside JSON, so if all lines begin with
    # `{` and end with `}`, no record is spread over two lines, and equal numbers mean one record on each line.
    lines = lines.removesuffix(b"\n")
    breaks = lines.count(b"\n")
    starts = breaks == lines.count(b"}\n{") == len(table) - 1 and lines[:1] == b"{" and lines[-1:] == b"}"
    found = [texts_of(table, column) for column in columns]
    if not starts or any(texts.null_count for texts in found):
        return None
    return [texts.cast(pa.large_binary()) for texts in found]


def texts_of(table: Any, column: str) -> Any:
    first, *inner = column.split(".")
    texts = table.column(column).combine_chunks()
    if inner and texts.null_count == len(texts):  # no column has this name, so it is a path
        return pc.struct_field(table.column(first).combine_chunks(), inner)
    return texts


def texts_in(line: bytes, place: str, columns: Sequence[str]) -> list[bytes]:
    try:
        # Bytes that are not UTF-8 pass through: all formats are checked for them in one place, later.
        record = json.loads(line.decode("utf-8", "surrogateescape"))
    except json.JSONDecodeError as error:
        raise PairityError(
            f"{place}, column {error.colno}: not JSON ({error.msg}). A .jsonl file has one record per line."
        ) from None
    except (ValueError, RecursionError) as error:
        raise PairityError(f"{place}, column 1: this JSON cannot be read ({error}).") from None
    if not isinstance(record, dict):
        raise PairityError(
            f'{place}: not a JSON object such as {{"{columns[0]}": "..."}}, but {type_of(record)}.'
        )
    return [text_in(record, place, columns, number) for number in range(len(columns))]


def text_in(record: Mapping[str, Any], place: str, columns: Sequence[str], number: int) -> bytes:
    text = value_in(record, columns[number], place, FIXES[number])
    if not isinstance(text, str):
        raise PairityError(f"{place}: {columns[number]!r} is {type_of(text)}, not a string. {FIXES[number]}")
    return to_utf8(text)


def type_of(value: object) -> str:
    names = {bool: "true or false", dict: "an object", list: "a list", str: "a string", type(None): "null"}
    return names.get(type(value), "a number")
