"""What every token is and where it comes from, as one table for Parquet or CSV."""

import pyarrow as pa

from pairity.tokenizer import Tokenizer


def _text(token: bytes) -> str | None:
    try:
        return token.decode()
    except UnicodeDecodeError:
        return None


def table(tok: Tokenizer) -> pa.Table:
    """id, bytes, text, kind (special, byte, learned or unmerged), step, language, count; see
    `Tokenizer.table`."""
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
    return pa.table(columns)


def _kind(tok: Tokenizer, token_id: int, *, special: bool, merged: bool) -> str:
    if special:
        return "special"
    if len(tok.tokens[token_id]) == 1:
        return "byte"
    return "learned" if merged else "unmerged"
