"""What a run keeps of its merges: now and then, and when it is interrupted; no disk is full enough to end it."""

import numpy as np
import pytest

from interrupted_training import interrupted_after
from pairity import PairityError, PairityWarning, train
from pairity.training import checkpoint as module
from pairity.training.checkpoint import Checkpoint
from pairity.training.engine import Steps

TEXT = {"a": ["the cat sat on the mat"] * 20}
SETTINGS = {"num_merges": 8, "progress": False, "dev": TEXT}


def steps(number):
    return Steps.known(np.arange(2 * number, dtype=np.uint32).reshape(number, 2))


def saved(keeper):
    found = keeper.load()
    return None if found is None else len(found[0])


def test_merges_go_to_disk_now_and_then_and_when_asked(tmp_path, monkeypatch):
    clock = [0.0]
    monkeypatch.setattr("pairity.files.pace.time.monotonic", lambda: clock[0])
    keeper = Checkpoint(tmp_path / "c.parquet", "run")
    for clock[0], number, on_disk in (
        (1, 0, None),
        (4, 3, None),
        (6, 5, 5),
        (9, 7, 5),
        (1000, 9, 9),
        (1019, 10, 9),
    ):
        keeper.hear(steps(number), [])
        assert saved(keeper) == on_disk, f"after {clock[0]} seconds"
    keeper.hear(steps(11), [])
    keeper.save_newest()
    assert saved(keeper) == 11
    written = keeper.path.stat().st_ino
    keeper.save_newest()
    assert keeper.path.stat().st_ino == written, "what is saved already is not saved again"


def test_nothing_learned_is_nothing_to_keep(tmp_path):
    keeper = Checkpoint(tmp_path / "c.parquet", "run")
    keeper.hear(steps(0), [])
    keeper.save_newest()
    assert list(tmp_path.iterdir()) == []


def test_a_checkpoint_that_cannot_be_written_does_not_end_the_run(tmp_path, monkeypatch):
    def full(path, content):
        raise PairityError(f"cannot write {path}: No space left on device.")

    whole = train(TEXT, **SETTINGS)
    monkeypatch.setattr(module, "write_file", full)
    with pytest.warns(PairityWarning, match="the checkpoint is not up to date: cannot write .*No space left"):
        trained = train(TEXT, **SETTINGS, checkpoint=tmp_path / "c.parquet")
    assert trained == whole


def test_an_interrupted_run_keeps_what_it_had_last(tmp_path, monkeypatch):
    from pairity import _core

    whole = train(TEXT, **SETTINGS)
    path = tmp_path / "c.parquet"
    with interrupted_after(2, 5):
        train(TEXT, **SETTINGS, checkpoint=path)
    heard = []
    original_learn = _core.train

    def watched(*arguments, **options):
        heard.append(len(options["known"][0]))
        return original_learn(*arguments, **options)

    monkeypatch.setattr(_core, "train", watched)
    assert train(TEXT, **SETTINGS, checkpoint=path, resume=True) == whole
    assert heard == [5]
