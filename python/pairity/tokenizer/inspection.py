"""What every token is and where it comes from, as one table for Parquet or CSV."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq

from pairity.counts.counts import LanguageCounts
from pairity.errors import PairityError
from pairity.tokenizer.tokenizer import Tokenizer


def _text(token: bytes) -> str | None:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


def table(tok: Tokenizer, counts: Mapping[str, LanguageCounts] | None = None) -> pa.Table:
    """id, bytes, text, kind (special, byte, learned or unmerged), step, language, count; see `Tokenizer.table`.

    With counts of text, also `in:LANG`: how often the token occurs in that text when it is encoded.
    """
    specials = set(tok.special_tokens.values())
    first_step: dict[int, int] = {}
    for step, new in enumerate(tok.merges[:, 2].tolist(), 1):  # row 0 of a trace is the start
        first_step.setdefault(new, step)

    ids = [i for i, token in enumerate(tok.tokens) if token]
    kinds = [_kind(tok, i, special=i in specials, merged=i in first_step) for i in ids]
    steps = pa.array([first_step.get(i) for i in ids], pa.int64())
    columns = {
        "id": pa.array(ids, pa.int64()),
        "bytes": pa.array([tok.tokens[i] for i in ids], pa.binary()),
        "text": pa.array([_text(tok.tokens[i]) for i in ids], pa.string()),
        "kind": pa.array(kinds, pa.string()),
        "step": steps,
    }
    for name, kind in (("language", pa.string()), ("count", pa.int64())):
        columns[name] = pa.nulls(len(ids), kind)
        if tok.trace is not None and name in tok.trace.column_names:
            columns[name] = tok.trace[name].combine_chunks().take(steps).cast(kind)
    for language, text in (counts or {}).items():
        columns[f"in:{language}"] = pa.array(_occurrences(tok, text)[ids])
    return pa.table(columns)


def _occurrences(tok: Tokenizer, text: LanguageCounts) -> npt.NDArray[np.int64]:
    """Token id -> how often it occurs in the text that was counted."""
    encoded = tok.encode_batch(text.pretokens.to_pylist(), disallowed_special=())
    weights = np.repeat(text.counts.astype(np.int64), [len(row) for row in encoded])
    ids = np.fromiter((i for row in encoded for i in row), np.int64, len(weights))
    total = np.zeros(tok.vocab_size, np.int64)
    np.add.at(total, ids, weights)
    return total


def write(tokens: pa.Table, path: Path) -> None:
    """A .parquet or a .csv file, there only when it is whole; CSV shows bytes in hexadecimal."""
    unfinished = path.with_name(f".{path.name}.unfinished")
    try:
        if path.suffix == ".parquet":
            pq.write_table(tokens, unfinished, compression="zstd")
        elif path.suffix == ".csv":
            shown = pa.array([token.hex() for token in tokens["bytes"].to_pylist()])
            index = tokens.column_names.index("bytes")
            pyarrow.csv.write_csv(tokens.set_column(index, "bytes", shown), unfinished)
        else:
            raise PairityError(f"{path}: the table of tokens is written as .parquet or .csv.")
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _kind(tok: Tokenizer, token_id: int, *, special: bool, merged: bool) -> str:
    if special:
        return "special"
    if len(tok.tokens[token_id]) == 1:
        return "byte"
    return "learned" if merged else "unmerged"
