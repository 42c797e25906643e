"""One table of all tokens and their origins, for Parquet or CSV."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from pairity.bpe.model import BpeModel
from pairity.counts.values import LanguageCounts
from pairity.errors import PairityError
from pairity.files.writing import write_file
from pairity.threads import thread_count


def token_text(token: bytes) -> str | None:
    """The text of a token; None if it contains part of a character."""
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


def table(model: BpeModel, counts: Mapping[str, LanguageCounts] | None = None) -> pa.Table:
    """id, bytes, text, kind (special, byte, learned or unmerged), step, language, count; see `Tokenizer.table`.

    With counts of text, also `in:LANG`: how often the token occurs in that text when it is encoded.
    """
    specials = set(model.special_tokens.values())
    first_step: dict[int, int] = {}
    for step, new in enumerate(model.merges[:, 2].tolist(), 1):  # row 0 of a trace is the start
        first_step.setdefault(new, step)

    ids = [i for i, token in enumerate(model.tokens) if token]
    kinds = [kind_of(model, i, special=i in specials, merged=i in first_step) for i in ids]
    steps = pa.array([first_step.get(i) for i in ids], pa.int64())
    columns = {
        "id": pa.array(ids, pa.int64()),
        "bytes": pa.array([model.tokens[i] for i in ids], pa.binary()),
        "text": pa.array([token_text(model.tokens[i]) for i in ids], pa.string()),
        "kind": pa.array(kinds, pa.string()),
        "step": steps,
    }
    for name, kind in (("language", pa.string()), ("count", pa.int64())):
        columns[name] = pa.nulls(len(ids), kind)
        if model.trace is not None and name in model.trace.column_names:
            columns[name] = model.trace[name].combine_chunks().take(steps).cast(kind)
    for language, text in (counts or {}).items():
        columns[f"in:{language}"] = pa.array(occurrences(model, text)[ids])
    return pa.table(columns)


def occurrences(model: BpeModel, text: LanguageCounts) -> npt.NDArray[np.int64]:
    """Token id -> how often it occurs in the counted text."""
    ids, lengths = encode_pretokens(model, text)
    weights = np.repeat(text.counts.astype(np.int64), lengths)
    total = np.zeros(len(model.tokens), np.int64)
    np.add.at(total, ids, weights)
    return total


def encode_pretokens(
    model: BpeModel, text: LanguageCounts
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The ids of all distinct pre-tokens end to end, and how many ids each has."""
    encoded = model.uncut.encoder.encode_batch(tuple(text.pretokens.to_pylist()), threads=thread_count(None))
    lengths = np.fromiter(map(len, encoded), np.int64, len(encoded))
    return np.fromiter((i for row in encoded for i in row), np.int64, int(lengths.sum())), lengths


def write(table: pa.Table, path: Path) -> None:
    """Write a .parquet or .csv file, which appears only when complete; CSV shows bytes in hexadecimal."""
    check_name(path)
    if path.suffix == ".parquet":
        write_file(path, lambda unfinished: pq.write_table(table, unfinished, compression="zstd"))
        return
    for place, field in enumerate(table.schema):
        if pa.types.is_binary(field.type):
            shown = pa.array([found.hex() for found in table[field.name].to_pylist()], pa.string())
            table = table.set_column(place, field.name, shown)
    write_file(path, lambda unfinished: pyarrow.csv.write_csv(table, unfinished))


def check_name(path: Path) -> None:
    if path.suffix not in (".parquet", ".csv"):
        raise PairityError(f"{path}: a table is written as .parquet or .csv.")


def kind_of(model: BpeModel, token_id: int, *, special: bool, merged: bool) -> str:
    if special:
        return "special"
    if len(model.tokens[token_id]) == 1:
        return "byte"
    return "learned" if merged else "unmerged"
