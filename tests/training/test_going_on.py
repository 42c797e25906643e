"""A run that goes on, from a checkpoint or from a tokenizer, is the run that it would have been."""

import pytest

from pairity import Classical, PairityError, PairityWarning, Parity, Trace, train
from pairity.counts.counting import count
from small_corpus import DEV, WORDS, learn


def test_resume_gives_what_one_run_gives(tmp_path, lines):
    """A run killed at any time goes on from its checkpoint to the very same result."""
    from pairity import _core
    from pairity.training.checkpoint import Checkpoint

    dev, _ = lines
    settings = {
        "dev": dev,
        "num_merges": 900,
        "method": Parity(global_merges=200, window=20),
        "progress": False,
    }
    whole = train(dev, **settings)
    path = tmp_path / "run.checkpoint.parquet"
    original = _core.train

    def killed(*arguments, **options):
        cut = original(*arguments, **options | {"merges": 400, "checkpoint": None})
        options["checkpoint"](cut[0], cut[3])
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "train", killed)
        with pytest.raises(KeyboardInterrupt):
            train(dev, **settings, checkpoint=path)
    assert path.exists()
    with pytest.raises(PairityError, match="belongs to a run with other settings or other text"):
        train(dev, **settings | {"num_merges": 800}, checkpoint=path, resume=True)
    resumed = train(dev, **settings, checkpoint=path, resume=True)
    assert resumed == whole
    assert resumed.trace["left"].equals(whole.trace["left"])
    assert resumed.trace["language"].equals(whole.trace["language"])
    again = train(dev, **settings, checkpoint=path, resume=True)
    assert again == whole, "a finished run is kept until its tokenizer is saved"
    assert Checkpoint(tmp_path / "none", "x").load() is None


def test_two_goes_equal_one(lines):
    """Under the classical policy, going on from a tokenizer gives what a longer run gives."""
    dev, _ = lines
    counts = count(dev)
    settings = {"method": Classical(), "progress": False}
    whole = train(counts, vocab_size=1500, special_tokens=["<s>"], **settings)
    first = train(counts, vocab_size=800, special_tokens=["<s>"], **settings)
    assert first == whole.truncate(800)
    second = train(counts, vocab_size=1500, continue_from=first, **settings)
    assert second == whole
    said = second.record["continued_from"]
    assert (said["vocab_size"], said["merges"], len(said["digest"])) == (800, 543, 64)
    assert second.trace["left"].equals(whole.trace["left"])


def test_continuing_serves_whom_the_first_run_neglected(lines):
    dev, test = lines
    first = train(dev, num_merges=1000, method=Classical(), progress=False)
    further = train(dev, dev=dev, num_merges=1000, continue_from=first, progress=False)
    assert [further.token_of(i) for i in range(first.vocab_size)] == list(first.tokens)
    text = test["tam_Taml"]
    assert further.count(text).sum() < 0.8 * first.count(text).sum()
    assert further.record["merges"] == 2000
    costs = Trace.from_table(further.trace).final_costs()
    assert costs["tam_Taml"] == further.count(dev["tam_Taml"]).sum() / 60


def test_continuing_keeps_the_cut_and_the_special_tokens(lines):
    dev, _ = lines
    first = train(dev, num_merges=50, method=Classical(), pretokenizer="gpt2", progress=False)
    assert (
        train(dev, num_merges=5, method=Classical(), continue_from=first, progress=False).pretokenizer
        == "gpt2"
    )
    for settings, message in [
        ({"pretokenizer": "gpt4"}, r"Leave out pretokenizer \(--pretokenizer\)"),
        ({"pretokenizer": "gpt4o"}, "splits text with 'gpt2', but 'gpt4o' was requested"),
        ({"digits": True}, r"splits text with 'gpt2', but 'gpt2:digits' was requested.*--single-digits"),
        ({"normalize": "nfc"}, r"Leave out normalize \(--normalize\)"),
        ({"special_tokens": ["<s>"]}, r"keeps its special tokens.*--special-token"),
        ({"reserved": 2}, r"keeps its special tokens.*--reserved"),
    ]:
        with pytest.raises(PairityError, match=message):
            train(dev, num_merges=5, method=Classical(), continue_from=first, progress=False, **settings)


def test_continuing_may_name_the_cut_that_is_kept(lines):
    dev, _ = lines
    settings = {"method": Classical(), "progress": False, "normalize": "nfc", "digits": True}
    first = train(dev, num_merges=50, pretokenizer="gpt4", **settings)
    for named in (None, "gpt4"):
        further = train(dev, num_merges=5, continue_from=first, pretokenizer=named, **settings)
        assert (further.pretokenizer, further.normalize) == ("gpt4:digits", "nfc")
    with pytest.raises(PairityError, match="splits text with 'gpt4:digits', but 'gpt4' was requested"):
        train(dev, num_merges=5, continue_from=first, pretokenizer="gpt4", method=Classical())


def test_resume_remembers_who_ran_out(tmp_path):
    """tel has three pairs; it runs out long before the run is cut."""
    from pairity import _core

    settings = {"num_merges": 14, "min_frequency": 1, "dev": DEV}
    with pytest.warns(PairityWarning, match="ran out"):
        whole = learn(WORDS | {"tel": {" త": 3}}, **settings)
    original = _core.train

    def killed(*arguments, **options):
        cut = original(*arguments, **options | {"merges": 12, "checkpoint": None})
        options["checkpoint"](cut[0], cut[3])
        raise KeyboardInterrupt

    path = tmp_path / "c.parquet"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "train", killed)
        with pytest.raises(KeyboardInterrupt):
            learn(WORDS | {"tel": {" త": 3}}, **settings, checkpoint=path)
    with pytest.warns(PairityWarning, match="ran out"):
        resumed = learn(WORDS | {"tel": {" త": 3}}, **settings, checkpoint=path, resume=True)
    assert whole.record["exhausted"]["tel"] < 12
    assert resumed.record["exhausted"] == whole.record["exhausted"]
