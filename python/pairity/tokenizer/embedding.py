"""The embedding of an extended tokenizer: for each new token, the old tokens that it is made of.

initial_rows(old, new)                  -> {32000: [512, 97], 32001: [1207, 5, 88], ...}
extend_embeddings(model, old, new)      gives a model of transformers rows for them: the mean of the old rows
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pairity.bpe.model import NO_ID
from pairity.bpe.special import padding
from pairity.errors import PairityError
from pairity.files.writing import write_file
from pairity.formats.json_files import as_json
from pairity.tokenizer.tokenizer import Tokenizer


def check_same_ids(old: Tokenizer, new: Tokenizer) -> int:
    """Refuse a new tokenizer in which any old id stands for other bytes. Returns how many were compared."""
    for token_id, token in enumerate(old.tokens):
        found = new.tokens[token_id] if token_id < len(new) else b""
        if token and found != token:
            instead = repr(found) if found else "no token"
            raise PairityError(
                f"the new tokenizer does not extend the old one: id {token_id} is {token!r} in the old one and "
                f"{instead} in the new one."
            )
    for name, token_id in old.special_tokens.items():
        if new.special_tokens.get(name) != token_id:
            raise PairityError(
                f"the new tokenizer does not extend the old one: its special token {name!r} (id {token_id}) is gone."
            )
    return sum(map(bool, old.tokens))


def initial_rows(old: Tokenizer, new: Tokenizer) -> dict[int, list[int]]:
    """New id -> the old ids of its bytes, for every id that the old tokenizer does not have."""
    check_same_ids(old, new)
    parts = {i: [i] for i, token in enumerate(old.tokens) if token}
    old_ids = set(parts)
    origins = new.origins().tolist()
    uncut = old.model.uncut.encoder
    for token_id, token in enumerate(new.tokens):
        waiting = [token_id] if token else []
        while waiting:  # the parts of a token may have higher ids than the token
            left, right = origins[waiting[-1]]
            if waiting[-1] in parts:
                waiting.pop()
            elif left == NO_ID:  # a new special token, or one that merging never produces
                parts[waiting[-1]] = uncut.encode(new.tokens[waiting[-1]])
            elif missing := [part for part in (left, right) if part not in parts]:
                waiting += missing
            else:
                parts[waiting[-1]] = parts[left] + parts[right]
    return {i: parts[i] for i in sorted(parts) if i not in old_ids}


def padded_rows(new: Tokenizer, pad_to: int | None) -> int:
    """The number of rows that an embedding needs, rounded up to a multiple of `pad_to`."""
    return len(new) + padding(len(new), pad_to or 1)


def extend_embeddings(
    model: Any, old: Tokenizer, new: Tokenizer, *, pad_to: int | None = None
) -> dict[int, list[int]]:
    """Give a transformers model a row for each new token, in the input and the output embedding.

    Each new row is the mean of the rows of the old tokens that the new one is made of, so that the model starts from
    what it knows. Old rows stay as they are. `pad_to` rounds the number of rows up (64, 128). Returns `initial_rows`.
    """
    rows = initial_rows(old, new)
    have = len(model.get_input_embeddings().weight)
    if have < len(old):
        raise PairityError(
            f"the embedding of the model has {have} rows, but the old tokenizer has ids up to {len(old) - 1}: "
            "this is not the tokenizer of the model."
        )
    wanted = padded_rows(new, pad_to)
    if wanted > have:
        model.resize_token_embeddings(wanted, mean_resizing=False)
    layers = (model.get_input_embeddings(), model.get_output_embeddings())
    found = [getattr(layer, name, None) for layer in layers for name in ("weight", "bias")]
    # The two layers may share their weights.
    distinct = {id(weights): weights for weights in found if weights is not None}
    for weights in distinct.values():
        for token_id, parts in rows.items():
            weights.data[token_id] = weights.data[parts].mean(0)
    return rows


def write_rows(old: Tokenizer, new: Tokenizer, path: Path) -> int:
    """`initial_rows` as a file, with the bytes of each token in .parquet and as {"id": [old ids]} in .json."""
    check_name(path)
    rows = initial_rows(old, new)
    if path.suffix == ".json":
        write_file(path, as_json({str(token_id): parts for token_id, parts in rows.items()}))
    else:
        table = pa.table(
            {
                "id": pa.array(list(rows), pa.int64()),
                "bytes": pa.array([new.tokens[i] for i in rows], pa.binary()),
                "old_ids": pa.array(list(rows.values()), pa.list_(pa.int64())),
            }
        )
        write_file(path, lambda file: pq.write_table(table, file, compression="zstd"))
    return len(rows)


def check_name(path: Path) -> None:
    if path.suffix not in (".parquet", ".json"):
        raise PairityError(f"{path}: the rows of an embedding are written as .parquet or .json.")
