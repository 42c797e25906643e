"""A checkpoint: what was saved comes back, and what is not that is refused."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairity.errors import PairityError
from pairity.training.checkpoint import Checkpoint
from pairity.training.engine import Steps

STEPS = Steps(
    np.array([1, 2, 3], np.uint32),
    np.array([4, 5, 256], np.uint32),
    np.array([-1, 0, 1], np.int32),
    np.array([9, 8, 7], np.uint64),
)


def test_a_checkpoint_comes_back(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path / "c.parquet", "abc")
    assert checkpoint.load() is None
    checkpoint.save(STEPS, [(0, 2)])
    found = checkpoint.load()
    assert found is not None
    assert [column.tolist() for column in found[0].columns] == [column.tolist() for column in STEPS.columns]
    assert found[1] == [(0, 2)]
    with pytest.raises(PairityError, match="other settings or other text"):
        Checkpoint(tmp_path / "c.parquet", "abd").load()


def test_a_damaged_checkpoint_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "c.parquet"
    checkpoint = Checkpoint(path, "abc")
    checkpoint.save(STEPS, [(0, 2)])
    data, table = path.read_bytes(), pq.read_table(path)
    for damaged in (b"", b"PAR1", data[:-20], data[: len(data) // 2]):
        path.write_bytes(damaged)
        with pytest.raises(PairityError, match="is damaged"):
            checkpoint.load()
    metadata = table.schema.metadata
    nothing = table.cast(pa.schema([field.with_type(pa.int64()) for field in table.schema]))
    for changed, message in (
        (table.slice(1), "do not match its digest"),
        (nothing, "not those of a checkpoint"),
        (pa.table({"x": [1]}), "not those of a checkpoint"),
        (table.replace_schema_metadata(metadata | {b"pairity exhausted": b"[[1]]"}), "is damaged"),
        (table.replace_schema_metadata(metadata | {b"pairity exhausted": b"[" * 100_000}), "is damaged"),
        (table.replace_schema_metadata(None), "is damaged"),
    ):
        pq.write_table(changed, path)
        with pytest.raises(PairityError, match=message):
            checkpoint.load()
    path.unlink()
    path.mkdir()
    with pytest.raises(PairityError, match=r"cannot read .*: Is a directory"):
        checkpoint.load()


def test_the_interval_grows_with_the_run_and_with_what_a_save_takes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 100.0
    monkeypatch.setattr("pairity.files.pace.time.monotonic", lambda: now)
    saves: list[float] = []
    taking = 0.0

    def write(*_: object) -> None:
        nonlocal now
        saves.append(now - 100)
        now += taking

    monkeypatch.setattr("pairity.training.checkpoint.write_file", write)
    checkpoint = Checkpoint(tmp_path / "c.parquet", "abc")
    for _ in range(3600):
        now += 1
        checkpoint.hear(STEPS, [])
    assert saves[:3] == [5, 10, 15]
    assert all(later - earlier <= max(5, later / 50 + 1) for earlier, later in pairwise(saves))
    assert 50 <= saves[-1] - saves[-2] <= 75
    taking = 10.0
    before = len(saves)
    for _ in range(1000):
        now += 1
        checkpoint.hear(STEPS, [])
    assert saves[before + 1] - saves[before] >= 500
