"""A tokenizer on disk: all of it comes back, and damage is noticed."""

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairity.bpe.alphabet import BYTE_ORDER
from pairity.errors import PairityError, PairityWarning
from pairity.files.digests import digest_of
from pairity.tokenizer.tokenizer import Tokenizer
from small_tokenizers import (
    BYTES,
    END,
    SAVED,
    naive_ids,
    odd_trace,
    small,
)


def test_the_folder_holds_all_and_loads_as_it_was(tmp_path):
    plain = small("gpt4", digits=True, normalize="nfc")
    tok = Tokenizer.from_merges(
        plain.engine_merges(),
        pattern=plain.pattern,
        normalize="nfc",
        special_tokens=list(plain.special_tokens),
        record={"languages": ["eng"], "seconds": np.float64(1.5)},
        trace=odd_trace(plain),
    )
    tok.save(tmp_path / "deep" / "out", eos_token=END)
    files = {file.name for file in (tmp_path / "deep" / "out").iterdir()}
    assert files == SAVED
    assert [file.name for file in (tmp_path / "deep").iterdir()] == ["out"], "nothing temporary is left"
    loaded = Tokenizer.load(tmp_path / "deep" / "out")
    assert loaded == tok
    assert hash(loaded) == hash(tok)
    assert loaded.record == {"languages": ["eng"], "seconds": 1.5}
    assert loaded.trace == tok.trace
    assert Tokenizer.load(tmp_path / "deep" / "out" / "tokenizer.json") == tok
    with pytest.raises(PairityError, match="already holds a tokenizer"):
        plain.save(tmp_path / "deep" / "out")
    plain.save(tmp_path / "deep" / "out", force=True)
    assert Tokenizer.load(tmp_path / "deep" / "out").trace is None, "the old trace is gone"
    assert tok.truncate(500).trace.num_rows == 500 - 259 + 1


def test_saving_into_a_folder_with_other_files_keeps_them(tmp_path):
    (tmp_path / "notes.txt").write_text("mine")
    small().save(tmp_path)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    assert Tokenizer.load(tmp_path) == small()


def test_a_failed_save_leaves_what_was_there(tmp_path):
    small().save(tmp_path / "out")
    broken = Tokenizer.from_merges([], pattern=None, record={"what": object()})
    with pytest.raises(PairityError, match="plain data"):
        broken.save(tmp_path / "out", force=True)
    with pytest.raises(PairityError, match="eos_token '<nope>' is not a special token"):
        small().save(tmp_path / "out", force=True, eos_token="<nope>")
    assert Tokenizer.load(tmp_path / "out") == small()
    (tmp_path / "file").write_text("")
    with pytest.raises(PairityError, match="is a file"):
        small().save(tmp_path / "file")


def test_damaged_folders_are_refused(tmp_path):
    with pytest.raises(PairityError, match=r"no tokenizer at .*nowhere"):
        Tokenizer.load(tmp_path / "nowhere")
    small().save(tmp_path / "out")
    settings_file = tmp_path / "out" / "pairity.json"
    saved = json.loads(settings_file.read_text())
    for change, message in (
        ({"pattern": r"\S+|\s+"}, "do not match its digest"),
        ({"pattern": r"\S+|\s+", "format": 1}, "do not match its digest"),
        ({"format": 99}, "reads up to 2"),
        ({"format": 0}, "do not match its digest"),
        ({"format": True}, "True is not a whole number"),
        ({"format": "2"}, "'2' is not a whole number"),
        ({"format": None}, "None is not a whole number"),
        (resealed(saved, files=["tokenizer.json"]), "damaged: TypeError|damaged: AttributeError"),
        (resealed(saved, files=None), "damaged"),
        (resealed(saved, files={}), "tokenizer.json is not the file that was saved"),
        (resealed(saved, record=[]), r"the record in pairity.json: \[\] is not an object"),
        (resealed(saved, pattern=5), "damaged|different patterns"),
        (resealed(saved, repeats=5), "the repeated merges: 5 is not a list"),
        (resealed(saved, repeats=[5]), "damaged"),
        (resealed(saved, repeats=[[0, 1, 2, 3]]), "damaged|repeats merges"),
    ):
        settings_file.write_text(json.dumps(saved | change))
        with pytest.raises(PairityError, match=message):
            Tokenizer.load(tmp_path / "out")
    settings_file.write_text(json.dumps({"format": 2, "digest": digest_of({"format": 2})}))
    with pytest.raises(PairityError, match="damaged: KeyError 'files'"):
        Tokenizer.load(tmp_path / "out")
    for content in ("{", '{"format": ' + "9" * 5000 + "}", "[" * 100_000):
        settings_file.write_text(content)
        with pytest.raises(PairityError, match="not JSON"):
            Tokenizer.load(tmp_path / "out")
    settings_file.unlink()
    settings_file.mkdir()
    with pytest.raises(PairityError, match=r"cannot read .*pairity\.json: Is a directory"):
        Tokenizer.load(tmp_path / "out")


def resealed(saved: dict, **changes: object) -> dict:
    """A manifest that somebody changed, and its digest with it."""
    return saved | changes | {"digest": digest_of(saved | changes)}


def test_a_folder_of_the_first_format_has_no_digests(tmp_path):
    small().save(tmp_path / "out")
    settings_file = tmp_path / "out" / "pairity.json"
    saved = json.loads(settings_file.read_text())
    first = {name: value for name, value in saved.items() if name not in ("digest", "files")} | {"format": 1}
    for change, message in (
        ({"pattern": r"\S+|\s+"}, "different patterns"),
        ({"record": None}, "None is not an object"),
        ({"pattern": 5}, "damaged|different patterns"),
    ):
        settings_file.write_text(json.dumps(first | change))
        with pytest.raises(PairityError, match=message):
            Tokenizer.load(tmp_path / "out")
    settings_file.write_text(json.dumps(first))
    assert Tokenizer.load(tmp_path / "out") == small()
    rows = len(small().merges) + 1
    for trace, message in (
        (pa.table({"language": range(rows)}), "the column 'language' of the trace is int64, not string"),
        (pa.table({"x": [2]}), "the trace has 1 rows"),
        (pa.table([pa.nulls(rows, pa.int64())] * 2, ["step", "step"]), r"trace\.parquet is damaged"),
    ):
        pq.write_table(trace, tmp_path / "out" / "trace.parquet")
        with pytest.raises(PairityError, match=message):
            Tokenizer.load(tmp_path / "out")
    (tmp_path / "out" / "trace.parquet").write_bytes(b"PAR1")
    with pytest.raises(PairityError, match=r"trace\.parquet is damaged"):
        Tokenizer.load(tmp_path / "out")
    (tmp_path / "out" / "tokenizer.json").unlink()
    with pytest.raises(PairityError, match=r"there is no .*tokenizer\.json"):
        Tokenizer.load(tmp_path / "out")


def test_a_pair_that_was_merged_twice_survives_saving(tmp_path):
    h, e = (BYTE_ORDER.index(byte) for byte in b"he")
    pairs = [(h, e), (e, h), (h, e), (257, e), (e, h)]
    trace = pa.table({"step": range(6), "language": pa.array([None, *"abcde"])})
    tok = Tokenizer.from_merges(pairs, pattern=None, special_tokens=["<s>"], trace=trace, record={"a": 1})
    assert tok.model.repeats() == [2, 4]
    tok.save(tmp_path / "out")
    loaded = Tokenizer.load(tmp_path / "out")
    assert loaded == tok
    assert (loaded.trace, loaded.record) == (tok.trace, tok.record)
    assert (loaded.engine_merges() == np.array(pairs)).all()
    once = Tokenizer.from_merges([(h, e), (e, h), (257, e)], pattern=None, special_tokens=["<s>"])
    for text in ("ehe", "heheh", "eheheh", "hehe"):
        assert loaded.encode(text) == once.encode(text) == naive_ids(once, text)
        assert loaded.to_huggingface().encode(text).ids == once.encode(text)


def test_several_names_for_one_special_id(tmp_path):
    names = {"<a>": 256, "<first>": 257, "<second>": 257}
    tok = Tokenizer(BYTES, [], pattern=None, special_tokens=names)
    assert (tok.vocab_size, len(tok)) == (258, 258)
    with pytest.warns(PairityWarning, match="plain text there: <second>"):
        tok.save(tmp_path / "out")
    with pytest.warns(PairityWarning, match="an id has one name"):
        theirs = tok.to_huggingface()
    for found in (tok, Tokenizer.load(tmp_path / "out"), Tokenizer.from_huggingface(tmp_path / "out")):
        assert found.encode("<second>x<first>", allowed_special="all") == [257, 120, 257]
        assert found.decode([257, 256]) == "<first><a>"
        assert dict(found.special_tokens) == names
    assert theirs.encode("x<first><a>").ids == [120, 257, 256]
    assert theirs.decode([257], skip_special_tokens=False) == "<first>"
    with pytest.raises(PairityError, match="'<b>' is '7', not a whole number"):
        Tokenizer(BYTES, [], pattern=None, special_tokens={"<b>": "7"})
