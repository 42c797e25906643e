"""Continuing from tables that no training made: pre-tokens start as their encoder cuts them."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import pairity
from interrupted_training import interrupted_after
from pairity import Tokenizer, _core, train
from pairity.bpe.start import Start
from pairity.errors import PairityError, PairityWarning
from pairity.training.policy import Classical, Parity
from pairity.training.settings import digest_of_table, make_settings
from peer_tokenizers import byte_level, unigram, wordpiece, write_ranks
from small_tokenizers import BYTES, sample_lines, small

LATER = {256: b"abc", 257: b"bc", 258: b"ab", 259: b"xyz", 260: b" abc"}
"""`abc` is made of `a` and `bc`, whose rank is higher; nothing makes `xyz`."""
RANKS = [(97, 257, 256), (98, 99, 257), (97, 98, 258), (32, 256, 260)]


def odd(whole_pretokens: bool = True, pattern: str | None = None) -> Tokenizer:
    return Tokenizer(
        BYTES | LATER,
        RANKS,
        pattern=pattern or pairity.text.pretokenizers.PRESETS["gpt4o"],
        special_tokens={"<s>": 261},
        whole_pretokens=whole_pretokens,
    )


def settings(**others: object) -> dict[str, object]:
    return {"method": Classical(), "progress": False, "min_frequency": 1} | others


@pytest.mark.parametrize("whole", [True, False])
def test_old_ids_stay_and_new_tokens_come_after_them(whole: bool) -> None:
    start = odd(whole)
    assert start.model.training_start.as_encoded
    assert start.encode("xyz abc") == ([259, 260] if whole else [120, 121, 122, 260])
    text = ["xyz abcd abcd abcd", "xyzzy abcab"]
    longer = train({"eng": text}, vocab_size=268, continue_from=start, **settings())
    assert longer.tokens[:262] == start.tokens
    assert (longer.vocab_size, len(longer)) == (268, 268)
    assert longer.special_tokens == {"<s>": 261}
    assert longer.whole_pretokens == whole
    assert longer.token_of(262) == b" abcd"  # " abc" + "d", three times
    assert longer.merges[: len(RANKS)].tolist() == [list(row) for row in RANKS]
    assert longer.merges[len(RANKS)].tolist() == [260, 100, 262]
    for line in ["abc ab xyz", "cba", "bc bc", *sample_lines()]:
        before, after = start.encode(line), longer.encode(line)
        assert longer.decode(after) == line
        if max(after, default=0) < 262:
            assert after == before


def test_a_token_that_exists_is_not_made_in_another_way() -> None:
    """`xyz` is there as a whole pre-token; within a longer one it would change ids that need no new token."""
    start = odd()
    longer = train({"eng": ["xyzxyzxyz " * 9, "xyz"]}, num_merges=6, continue_from=start, **settings())
    assert len(longer.merges) == len(RANKS) + 6
    assert b"xyz" not in [longer.token_of(new) for new in longer.merges[len(RANKS) :, 2].tolist()]
    assert longer.encode("xyz") == [259]
    assert max(longer.encode("xyzxyz")) > 261


def test_both_ways_to_start_are_one_where_training_made_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    first = small()
    lines = sample_lines()
    remade = train({"all": lines}, num_merges=200, continue_from=first, **settings())
    begin = first.model.training_start
    assert not begin.as_encoded
    again = Tokenizer.from_model(replace(first.model))
    monkeypatch.setitem(
        again.model.__dict__, "training_start", Start(begin.ids, begin.pairs, as_encoded=True)
    )
    encoded = train({"all": lines}, num_merges=200, continue_from=again, **settings())
    assert encoded == remade
    new = len(first.merges)
    for column in ("language", "left", "right", "count", "vocab_size"):
        assert encoded.trace[column].slice(new + 1).equals(remade.trace[column].slice(new + 1))
    assert encoded.trace["cost:all"].to_pylist() == [None] * len(encoded.trace) or (
        encoded.trace["cost:all"][-1] == remade.trace["cost:all"][-1]
    )


def test_the_trace_and_the_record_tell_of_old_and_new_merges(tmp_path: Path) -> None:
    text = {"eng": ["abcd abcd", "xyz"], "deu": ["dcba xyza", "abcd"]}
    longer = train(text, dev=text, num_merges=4, continue_from=odd(), progress=False, min_frequency=1)
    said = longer.record["continued_from"]
    assert (said["vocab_size"], said["merges"], len(said["digest"])) == (262, 4, 64)
    assert longer.record["merges"] == 8
    trace = longer.trace.to_pylist()
    assert len(trace) == 1 + 8
    assert [row["cost:eng"] for row in trace[:4]] == [
        None
    ] * 4  # nothing is known of the time before the start
    old = odd()
    assert trace[4]["cost:eng"] == old.count(text["eng"]).sum() / 2
    assert trace[8]["cost:eng"] == longer.count(text["eng"]).sum() / 2
    assert [row["vocab_size"] for row in trace] == [262] * 5 + [263, 264, 265, 266]
    longer.save(tmp_path / "out")
    assert Tokenizer.load(tmp_path / "out") == longer
    assert Tokenizer.load(tmp_path / "out").trace.equals(longer.trace)


def test_what_was_continued_can_be_continued() -> None:
    text = {"eng": ["abcdabcd abcdx", "xyzzy xyza abcd abc"]}
    whole = train(text, num_merges=6, continue_from=odd(), **settings())
    first = train(text, num_merges=3, continue_from=odd(), **settings())
    assert train(text, num_merges=3, continue_from=first, **settings()) == whole


def test_a_continued_run_that_was_killed_goes_on(tmp_path: Path) -> None:
    text = {"eng": ["abcdabcd abcdx", "xyzzy xyza abcd abc"], "deu": ["ab ab", "xx"]}
    dev = {"eng": ["abc", "abcd"], "deu": ["never to be learned from", "what it is served for"]}
    options = {"method": Parity(), "dev": dev, "min_frequency": 1, "progress": False, "num_merges": 8}
    with pytest.warns(PairityWarning, match="ran out of pairs"):
        whole = train(text, continue_from=odd(), **options)
    path = tmp_path / "c.parquet"
    with interrupted_after(5):
        train(text, continue_from=odd(), checkpoint=path, **options)
    with pytest.raises(PairityError, match="belongs to a run with other settings"):
        train(text, continue_from=odd(False), checkpoint=path, resume=True, **options)
    with pytest.warns(PairityWarning, match="ran out of pairs"):
        resumed = train(text, continue_from=odd(), checkpoint=path, resume=True, **options)
    assert resumed == whole
    assert resumed.record["exhausted"] == whole.record["exhausted"]
    assert resumed.trace.equals(whole.trace)


def test_tokens_that_the_engine_cannot_number_are_refused() -> None:
    model = odd().model
    columns = (np.zeros(1, np.uint8), np.array([0, 1]), np.ones(1, np.uint64))
    for ids in (list(range(256)), [*model.training_start.ids, 261], [*model.training_start.ids[:-1], 10**6]):
        with pytest.raises(ValueError, match=r"cannot be number|has no number|ids"):
            _core.train([(columns, None)], merges=1, start=(model.encoder, np.array(ids[::-1], np.uint32)))


def test_what_is_no_byte_level_bpe_is_not_continued(tmp_path: Path) -> None:
    def continued(spec: Path) -> None:
        train({"eng": ["abc"]}, num_merges=1, continue_from=spec, **settings())

    wordpiece().save(str(tmp_path / "wordpiece.json"))
    with pytest.raises(
        PairityError, match=r"is WordPiece, not BPE: .* encode, decode, eval and tax can use it"
    ):
        continued(tmp_path / "wordpiece.json")
    unigram().save(str(tmp_path / "unigram.json"))
    with pytest.raises(PairityError, match=r"is Unigram, not BPE"):
        continued(tmp_path / "unigram.json")
    (tmp_path / "m.model").write_bytes(b"\n\x0e\n\x05<unk>\x15\x00\x00")
    with pytest.raises(
        PairityError, match=r"m\.model is a SentencePiece model: .* train one on the same text"
    ):
        continued(tmp_path / "m.model")


def test_ranks_without_special_tokens_are_continued_with_a_word(tmp_path: Path) -> None:
    path = write_ranks(tmp_path / "x.tiktoken")
    with pytest.warns(PairityWarning, match=r"new tokens get the ids from 259 on.*in x\.json"):
        longer = train({"eng": ["abab"]}, num_merges=1, continue_from=f"{path}@gpt2", **settings())
    assert len(longer) == 260
    (tmp_path / "x.json").write_text('{"special_tokens": {"<s>": 300}}')
    longer = train({"eng": ["abab"]}, num_merges=1, continue_from=f"{path}@gpt2", **settings())
    assert (len(longer), longer.special_tokens) == (302, {"<s>": 300})


def test_ranks_in_a_tokenizer_model_are_to_be_copied(tmp_path: Path) -> None:
    """A tokenizer.json beside them would be opened in their place."""
    path = write_ranks(tmp_path / "tokenizer.model")
    with pytest.warns(PairityWarning, match=r"first copy it to ranks\.tiktoken.*ranks\.tiktoken@gpt2\.$"):
        train({"eng": ["abab"]}, num_merges=1, continue_from=f"{path}@gpt2", **settings())
    path.rename(tmp_path / "ranks.tiktoken")
    (tmp_path / "ranks.json").write_text('{"special_tokens": {"<s>": 300}}')
    copied = f"{tmp_path / 'ranks.tiktoken'}@gpt2"
    assert train({"eng": ["abab"]}, num_merges=1, continue_from=copied, **settings()).special_tokens == {
        "<s>": 300
    }


def test_names_that_share_an_id_are_one_token() -> None:
    start = Tokenizer(
        BYTES, np.empty((0, 2)), pattern=odd().pattern, special_tokens={"<a>": 256, "<b>": 256, "<c>": 257}
    )
    longer = train({"eng": ["abab abab"]}, num_merges=2, continue_from=start, **settings())
    assert longer.trace["vocab_size"].to_pylist() == [258, 259, 260]
    assert longer.vocab_size == 260


def test_holes_in_an_object_of_another_library_stay_free() -> None:
    contents = json.loads(byte_level().to_str())
    vocabulary = contents["model"]["vocab"]
    last = max(vocabulary, key=vocabulary.__getitem__)
    vocabulary[last] += 5
    source = type(byte_level()).from_str(json.dumps(contents))
    assert source.token_to_id(last) == vocabulary[last]
    with pytest.warns(PairityWarning, match=r"the Tokenizer to continue from: 5 ids below .* have no token"):
        longer = train({"eng": ["zqzq zqzq"]}, num_merges=1, continue_from=source, **settings())
    size = vocabulary[last] + 1
    assert (len(longer), longer.vocab_size) == (size + 1, size - 4)
    assert longer.token_of(size) in (b"zq", b"qz")


def test_another_table_has_another_digest() -> None:
    start, other = odd(), odd(whole_pretokens=False)
    assert digest_of_table(start.model) == digest_of_table(odd().model) != digest_of_table(other.model)
    merged = Tokenizer(BYTES | {256: b"ab"}, [(97, 98, 256)], pattern=None)
    unlike = Tokenizer(BYTES | {256: b"ba"}, [(98, 97, 256)], pattern=None)
    assert digest_of_table(merged.model) != digest_of_table(unlike.model)


def test_without_a_goal_all_goals_are_named() -> None:
    with pytest.raises(PairityError, match=r"give add_tokens \(--add-tokens\), vocab_size .* or num_merges"):
        train({"eng": ["abab"]}, continue_from=odd(), **settings())


def test_special_tokens_are_listed_by_id() -> None:
    """So the folder that a run wrote is known again as its result, whatever order the start had them in."""
    start = Tokenizer(BYTES, [], pattern=None, special_tokens={"<b>": 257, "<a>": 256})
    assert make_settings(start, policy=Parity(), add_tokens=5).special_tokens == ("<a>", "<b>")
