"""JSON lines: one record per line, its text in a column."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.json

from pairity.errors import PairityError
from pairity.text.columns import COLUMN_FIX, to_utf8, value_in


def texts(lines: bytes, text_column: str, place: Callable[[int], str]) -> tuple[Any, list[int] | None]:
    """The texts of whole lines as an Arrow array, and their line numbers where blank lines lie between them.

    `place` says where a line of the block stands, for errors.
    """
    fast = texts_at_once(lines, text_column)
    if fast is not None:
        return fast, None
    found: list[bytes] = []
    numbers: list[int] = []
    for number, line in enumerate(lines.split(b"\n")):
        if line.strip():
            found.append(text_in(line, place(number), text_column))
            numbers.append(number)
    return pa.array(found, pa.large_binary()), numbers


def texts_at_once(lines: bytes, text_column: str) -> Any | None:
    """The texts by Arrow's parser, which does not hold the GIL; None where the slow parser must look."""
    first, *inner = text_column.split(".")
    kind = pa.large_string()
    for name in reversed(inner):
        kind = pa.struct([(name, kind)])
    wanted = {text_column: pa.large_string()} | {first: kind}
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
    texts = table.column(text_column).combine_chunks()
    if inner and texts.null_count == len(texts):  # no such name, so it is a path
        texts = pc.struct_field(table.column(first).combine_chunks(), inner)
    # Arrow does not insist on one record a line. As `}{` is nowhere valid inside JSON, lines that all begin
    # with `{` and end with `}` cut no record in two, and then as many records as lines means one on each.
    lines = lines.removesuffix(b"\n")
    breaks = lines.count(b"\n")
    one_a_line = breaks == lines.count(b"}\n{") == len(texts) - 1 and lines[:1] == b"{" and lines[-1:] == b"}"
    if not one_a_line or texts.null_count:
        return None
    return texts.cast(pa.large_binary())


def text_in(line: bytes, place: str, text_column: str) -> bytes:
    try:
        # Bytes that are not UTF-8 pass through here and are judged where all text is.
        record = json.loads(line.decode("utf-8", "surrogateescape"))
    except json.JSONDecodeError as error:
        raise PairityError(
            f"{place}, column {error.colno}: not JSON ({error.msg}). A .jsonl file has one record a line."
        ) from None
    except (ValueError, RecursionError) as error:
        raise PairityError(f"{place}, column 1: this JSON cannot be read ({error}).") from None
    if not isinstance(record, dict):
        raise PairityError(
            f'{place}: not a JSON object such as {{"{text_column}": "..."}}, but {type_of(record)}.'
        )
    text = value_in(record, text_column, place)
    if not isinstance(text, str):
        raise PairityError(f"{place}: {text_column!r} is {type_of(text)}, not a string. {COLUMN_FIX}")
    return to_utf8(text)


def type_of(value: object) -> str:
    names = {bool: "true or false", dict: "an object", list: "a list", str: "a string", type(None): "null"}
    return names.get(type(value), "a number")
