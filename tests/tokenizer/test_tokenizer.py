"""The tokenizer itself: ids by the definition, text that comes back, its table, its sizes, its folder."""

import copy
import gc
import json
import random
import threading

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import endless
from pairity import _core
from pairity.bpe import special
from pairity.bpe.alphabet import BYTE_ORDER
from pairity.counts.counts import Counts
from pairity.errors import PairityError, PairityWarning
from pairity.files.digests import digest_of
from pairity.text.pretokenizers import pattern_of
from pairity.tokenizer.tokenizer import Tokenizer
from small_tokenizers import (
    KINDS,
    NASTY,
    SAVED,
    SPECIALS,
    naive_ids,
    sample_lines,
    small,
    trained_merges,
    unicode_text,
)

END = "<|endoftext|>"


@pytest.mark.parametrize(("name", "digits"), KINDS)
def test_ids_are_those_of_the_definition(name, digits):
    tok = small(name, digits=digits)
    for text in NASTY + sample_lines()[::9]:
        assert tok.encode(text) == naive_ids(tok, text), text


@given(unicode_text)
@settings(max_examples=200, deadline=None)
def test_random_text_has_the_ids_of_the_definition(text):
    for name in ("gpt4o", "none"):
        tok = small(name)
        ids = tok.encode(text)
        assert ids == naive_ids(tok, text)
        assert ids == tok.encode(text), "from the cache"


def test_long_pretokens_have_the_ids_of_the_definition():
    tok = small("none")
    generator = random.Random(1)
    for length in (127, 128, 129, 500, 1500):
        text = "".join(generator.choice("abthe ан") for _ in range(length))
        assert tok.encode(text) == naive_ids(tok, text)


@pytest.mark.parametrize(("name", "digits"), KINDS)
def test_every_byte_string_comes_back(name, digits):
    tok = small(name, digits=digits, special_tokens=())

    @given(st.binary(max_size=200) | st.text(max_size=50).map(str.encode))
    @settings(max_examples=100, deadline=None)
    def comes_back(data):
        ids = tok.encode(data)
        assert tok.decode_bytes(ids) == data
        assert tok.count([data]).tolist() == [len(ids)]

    comes_back()
    assert tok.decode_bytes(tok.encode(bytes(range(256)) * 3)) == bytes(range(256)) * 3


def test_bytes_that_are_text_have_the_ids_of_the_text():
    tok = small()
    for text in NASTY + sample_lines()[::20]:
        assert tok.encode(text.encode()) == tok.encode(text)


def test_bytes_that_are_not_utf8_are_pretokens_of_their_own():
    tok = small()
    between = [tok.id_of(b"\xff"), tok.id_of(b"\xfe")]
    assert tok.encode(b"the cat\xff\xfe sat") == [*tok.encode("the cat"), *between, *tok.encode(" sat")]


def test_a_megabyte_of_one_letter_does_not_hang():
    tok = small("none")
    ids = tok.encode("e" * 1_000_000)
    assert tok.decode(ids) == "e" * 1_000_000


@endless.needs_timer
@pytest.mark.parametrize("call", ["encode", "encode_batch", "count"])
def test_a_signal_stops_a_long_call(call):
    tok = Tokenizer.from_merges([], pattern=endless.PATTERN)
    given = endless.TEXT if call == "encode" else [endless.TEXT, "x"]
    endless.is_stopped_by_a_signal(getattr(tok, call), given)
    assert tok.decode(tok.encode("still fine")) == "still fine"


def test_special_tokens_are_an_error_until_the_caller_says():
    tok = small()
    text = f"a{END}b"
    with pytest.raises(PairityError, match=r'contains the special token "<\|endoftext\|>" \(at byte 1\)'):
        tok.encode(text)
    assert tok.encode(text, allowed_special="all") == [*tok.encode("a"), tok.id_of(END), *tok.encode("b")]
    assert tok.encode(text, allowed_special={END}) == tok.encode(text, allowed_special="all")
    plain = tok.encode(text, disallowed_special=())
    assert tok.id_of(END) not in plain
    assert tok.decode(plain) == text
    with pytest.raises(PairityError, match="<pad>"):
        tok.encode(f"{END}<pad>", allowed_special={END})
    assert tok.encode(f"{END}<pad>", allowed_special={END}, disallowed_special=())[0] == 0
    assert tok.encode(text.encode(), allowed_special="all") == tok.encode(text, allowed_special="all")
    with pytest.raises(PairityError, match="'<nope>' is not a special token of this tokenizer"):
        tok.encode("x", allowed_special={"<nope>"})
    with pytest.raises(PairityError, match="as a set"):
        tok.encode("x", disallowed_special="<pad>")


def test_the_longest_special_token_is_taken():
    tok = Tokenizer.from_merges([], pattern=None, special_tokens=["<a>", "<a><b>"])
    assert tok.encode("<a><b><a>", allowed_special="all") == [1, 0]
    assert tok.encode("<a><b>", allowed_special={"<a>"}, disallowed_special=())[0] == 0


def test_batches_and_counts_agree_with_single_texts_on_any_number_of_threads():
    tok = small()
    texts = [*NASTY, *sample_lines(), b"\xff\x00"]
    expected = [tok.encode(text) for text in texts]
    for threads in (None, 1, 2, 5):
        assert tok.encode_batch(texts, threads=threads) == expected
        assert tok.count(texts, threads=threads).tolist() == [len(ids) for ids in expected]
    assert tok.encode_batch([]) == []
    assert tok.count([]).tolist() == []
    assert tok.decode_batch(expected) == [tok.decode(ids) for ids in expected]
    with pytest.raises(PairityError, match="endoftext"):
        tok.count(["fine", END])


def test_threads_may_share_a_tokenizer():
    tok = small()
    texts = NASTY + sample_lines()
    expected = tok.encode_batch(texts, threads=1)
    results = []
    workers = [
        threading.Thread(target=lambda: results.append([tok.encode(text) for text in texts]))
        for _ in range(4)
    ]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert results == [expected] * 4


def test_lone_surrogates_are_an_error_or_replaced():
    tok = small()
    with pytest.raises(PairityError, match=r"lone surrogate \(U\+D800 at character 1\)"):
        tok.encode("a\ud800b")
    assert tok.decode(tok.encode("a\ud800b", errors="replace")) == "a\ufffdb"
    assert tok.decode(tok.encode("\ud83d\ude00", errors="replace")) == "😀", "a pair of them is a character"
    assert tok.count(["a\udfff", "b"], errors="replace").tolist() == [len(tok.encode("a\ufffd")), 1]
    with pytest.raises(PairityError, match="errors is 'ignore'"):
        tok.encode("a", errors="ignore")  # type: ignore[arg-type]


def test_what_is_no_text_is_a_type_error():
    tok = small()
    with pytest.raises(TypeError, match="str or bytes, not int"):
        tok.encode(3)  # type: ignore[arg-type]
    with pytest.raises(PairityError, match="a list of texts"):
        tok.count("one text")
    with pytest.raises(PairityError, match="threads"):
        tok.count(["one text"], threads=0)


def test_ids_out_of_range_are_an_error():
    tok = small()
    for wrong in (len(tok), -1, 2**32, 2**70):
        with pytest.raises(PairityError, match=f"id {wrong} is not in the vocabulary, whose ids"):
            tok.decode([1, wrong])


def test_ids_may_come_as_arrays():
    tok = small()
    ids = tok.encode("Hello there")
    assert tok.decode(np.array(ids)) == tok.decode(tuple(ids)) == tok.decode(iter(ids)) == "Hello there"


def test_half_a_character_is_replaced_in_text_and_kept_in_bytes():
    tok = Tokenizer.from_merges([], pattern=None)
    ids = tok.encode("é")[:1]
    assert tok.decode(ids) == "\ufffd"
    assert tok.decode_bytes(ids) == b"\xc3"
    with pytest.raises(UnicodeDecodeError):
        tok.decode(ids, errors="strict")


def test_offsets_say_where_tokens_are():
    tok = small()
    text = f"Grüße 😀 {END} мир"
    ids, offsets = tok.encode_with_offsets(text, allowed_special="all")
    assert ids == tok.encode(text, allowed_special="all")
    for token_id, (start, end) in zip(ids, offsets, strict=True):
        assert tok.token_of(token_id) in text[start:end].encode()
    assert (text.index(END), text.index(END) + len(END)) in offsets
    _, offsets = tok.encode_with_offsets(text.encode(), allowed_special="all")
    assert [text.encode()[start:end] for start, end in offsets] == [tok.token_of(i) for i in ids]
    assert tok.encode_with_offsets("") == ([], [])


def test_nfc_is_applied_before_encoding():
    tok = small(normalize="nfc")
    assert tok.encode("e\u0301te\u0301") == tok.encode("été")
    assert tok.decode(tok.encode("e\u0301")) == "é"
    assert tok.encode(b"e\xcc\x81\xff") == tok.encode("é".encode() + b"\xff")
    assert small().encode("e\u0301") != small().encode("é")


def test_the_vocabulary_both_ways():
    tok = small()
    assert tok.special_tokens == {END: 0, "<pad>": 1, "<|user|>": 2}
    assert tok.token_of(3) == b"!"
    assert tok.id_of("!") == tok.id_of(b"!") == 3
    assert tok.id_of(END) == 0
    assert all(tok.tokens[i] == token for token, i in tok.vocabulary.items())
    assert tok.vocab_size == len(tok) == len(tok.tokens) == 3 + 256 + len(tok.merges)
    with pytest.raises(PairityError, match="not a token"):
        tok.id_of("xyzxyz")
    with pytest.raises(PairityError, match="not in the vocabulary"):
        tok.token_of(10**6)


def test_every_learned_token_is_made_by_its_merge():
    tok = small()
    assert tok.unmerged() == []
    origins = tok.origins()
    for left, right, new in tok.merges.tolist():
        assert tuple(origins[new]) == (left, right)


def test_a_merge_of_a_known_string_reuses_its_id():
    # b+c, a+bc, a+b, ab+c: the last makes abc again.
    a, b, c = (i - 33 for i in b"abc")
    tok = Tokenizer.from_merges([(b, c), (a, 256), (a, b), (258, c)], pattern=None)
    assert tok.vocab_size == 256 + 3
    assert tok.merges[3].tolist() == [258, c, 257]
    assert tok.encode("abc") == [257]
    assert tok.engine_merges().tolist() == [[b, c], [a, 256], [a, b], [258, c]]


@pytest.mark.parametrize("vocab_size", [259, 260, 700, 1758])
def test_truncation_is_what_training_would_have_given(vocab_size):
    tok = small()
    small_one = tok.truncate(vocab_size)
    fewer = Tokenizer.from_merges(
        trained_merges(tok.pattern, vocab_size - 259),
        pattern=tok.pattern,
        special_tokens=list(tok.special_tokens),
    )
    assert small_one == fewer
    assert small_one.vocab_size == vocab_size
    assert small_one.tokens == tok.tokens[:vocab_size]
    assert small_one.record == {"truncated_from": tok.vocab_size}


def test_truncation_refuses_what_it_cannot_keep():
    with pytest.raises(PairityError, match=r"between 259 .* and 1759, not 258"):
        small().truncate(258)
    with pytest.raises(PairityError, match="not 1760"):
        small().truncate(1760)
    tokens = {i: bytes([i]) for i in range(256)} | {256: b"ab"}
    late = Tokenizer(tokens, [(97, 98, 256)], pattern=None, special_tokens={"<s>": 257})
    with pytest.raises(PairityError, match="'<s>' has id 257"):
        late.truncate(257)


def test_engine_merges_are_what_the_trainer_gave():
    pairs = trained_merges(pattern_of("gpt4o"), 1500)
    assert np.array_equal(small().engine_merges(), pairs)
    tokens = {i: bytes([i]) for i in range(256)} | {256: b"ab", 257: b"abc"}
    with pytest.raises(PairityError, match="no merge makes the token b'ab'"):
        Tokenizer(tokens, [], pattern=None).engine_merges()
    with pytest.raises(PairityError, match=r"merge 0 uses b'ab', which no earlier merge makes"):
        Tokenizer(tokens, [(256, 99, 257), (97, 98, 256)], pattern=None).engine_merges()


def _trace(tok):
    rows = len(tok.merges) + 1
    language = [None, *("eng" if i % 2 else None for i in range(1, rows))]
    return pa.table({"step": range(rows), "language": language, "count": [None, *range(1, rows)]})


def test_the_folder_holds_all_and_loads_as_it_was(tmp_path):
    plain = small("gpt4", digits=True, normalize="nfc")
    tok = Tokenizer.from_merges(
        plain.engine_merges(),
        pattern=plain.pattern,
        normalize="nfc",
        special_tokens=list(plain.special_tokens),
        record={"languages": ["eng"], "seconds": np.float64(1.5)},
        trace=_trace(plain),
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
        ({"format": 99}, "Upgrade pairity"),
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


def test_the_table_of_tokens_has_no_rows_for_holes():
    tok = Tokenizer(BYTES | {300: b"ab"}, [(97, 98, 300)], pattern=None, allow_holes=True)
    counts = Counts.from_dicts({"eng_Latn": {"ab": 3, "ba": 2}}, pretokenizer="none")
    table = tok.table(counts)
    found = dict(zip(table["id"].to_pylist(), table["in:eng_Latn"].to_pylist(), strict=True))
    assert (len(found), found[300], found[97], found[99]) == (257, 3, 2, 0)


def test_counted_pretokens_are_not_cut_again():
    """Alone, "bb" has no "a" before it, and the pattern would cut it into two."""
    tok = Tokenizer(BYTES | {256: b"bb"}, [(98, 98, 256)], pattern="(?<=a)bb|(?s:.)")
    assert tok.encode("abb") == [97, 256]
    counts = Counts.from_dicts({"eng_Latn": {"a": 1, "bb": 1}}, pretokenizer="(?<=a)bb|(?s:.)")
    assert tok.table(counts)["in:eng_Latn"].to_pylist()[97:99] == [1, 0]
    assert tok.table(counts)["in:eng_Latn"].to_pylist()[256] == 1


def test_equality_and_repr():
    assert small() != small("gpt4")
    assert small() != small(normalize="nfc")
    assert small() != small(special_tokens=())
    assert small() != "gpt4o"
    assert small(special_tokens=()).__eq__(3) is NotImplemented
    assert repr(small()) == (
        "Tokenizer(vocab_size=1759, merges=1500, pretokenizer='gpt4o', "
        "special_tokens=['<|endoftext|>', '<pad>', '<|user|>'])"
    )
    many = Tokenizer.from_merges([], pattern=None, normalize="nfc", special_tokens=special.reserved(5))
    assert repr(many).endswith(
        "pretokenizer='none', normalize='nfc', special_tokens=['<|reserved_0|>', '<|reserved_1|>', "
        "'<|reserved_2|>' and 2 more])"
    )
    assert small("gpt4o", digits=True).pretokenizer == "gpt4o:digits"


def test_copies_are_equal_and_whole():
    """A copy is made the way worker processes get theirs."""
    plain = small()
    tok = Tokenizer.from_merges(
        plain.engine_merges(),
        pattern=plain.pattern,
        special_tokens=SPECIALS,
        record={"a": 1},
        trace=_trace(plain),
    )
    copied = copy.deepcopy(tok)
    assert copied == tok
    assert (copied.record, copied.trace) == (tok.record, tok.trace)
    assert copied.encode("Hello, мир") == tok.encode("Hello, мир")


def test_the_table_says_where_tokens_come_from():
    plain = small()
    table = plain.table()
    assert table.column_names == ["id", "bytes", "text", "kind", "step", "language", "count"]
    assert table["id"].to_pylist() == list(range(len(plain)))
    assert table["kind"].to_pylist() == ["special"] * 3 + ["byte"] * 256 + ["learned"] * 1500
    assert table["step"].to_pylist()[258:261] == [None, 1, 2]
    assert table["language"].null_count == table.num_rows
    row = table.slice(plain.id_of(b"\xd0"), 1).to_pylist()[0]
    assert (row["bytes"], row["text"]) == (b"\xd0", None), "half a character is no text"

    traced = Tokenizer.from_merges(
        plain.engine_merges(),
        pattern=plain.pattern,
        special_tokens=list(plain.special_tokens),
        trace=_trace(plain),
    )
    assert traced.table()["language"].to_pylist()[259:262] == ["eng", None, "eng"]
    assert traced.table()["count"].to_pylist()[258:262] == [None, 1, 2, 3]
    with pytest.raises(PairityError, match="3 rows for 1500 merges"):
        Tokenizer.from_merges(plain.engine_merges(), pattern=None, trace=pa.table({"step": [0, 1, 2]}))


def test_reserved_tokens_and_padding():
    assert special.reserved(2) == ["<|reserved_0|>", "<|reserved_1|>"]
    assert [special.padding(size, 128) for size in (128, 129, 1000, 1023)] == [0, 127, 24, 1]
    with pytest.raises(PairityError, match="pad_to"):
        special.padding(10, 0)
    with pytest.raises(PairityError, match="reserved"):
        special.reserved(-1)


@pytest.mark.parametrize(
    ("tokens", "message"),
    [
        ([""], "is empty"),
        (["<s>", "<s>"], "'<s>' is given twice"),
        (["\ud800"], "lone surrogate"),
        ([7], "special tokens are text"),
        ("<s>", "come as a list"),
        (["!"], "'!' is also how tokenizer files write"),
    ],
)
def test_bad_special_tokens_are_refused(tokens, message):
    with pytest.raises(PairityError, match=message):
        Tokenizer.from_merges([], pattern=None, special_tokens=tokens)


BYTES = {i: bytes([i]) for i in range(256)}


@pytest.mark.parametrize(
    ("tokens", "merges", "options", "message"),
    [
        (BYTES | {256: b"ab", 257: b"ab"}, [], {}, "tokens 256 and 257 are both b'ab'"),
        (BYTES | {256: b""}, [], {}, "token 256 is empty"),
        (BYTES | {300: b"ab"}, [], {}, "44 ids below 301 name no token, such as 256"),
        (BYTES | {2**31: b"ab"}, [], {"allow_holes": True}, "too many holes"),
        (BYTES | {-1: b"ab"}, [], {}, "ids go from 0"),
        ({i: bytes([i]) for i in range(255)}, [], {}, "lacks 1 of the 256 bytes, such as 0xFF"),
        (BYTES, [], {"special_tokens": {"<s>": 3}}, "id 3 is given to"),
        (BYTES | {256: b"ab"}, [(97, 98, 99)], {}, "merge 0 joins tokens 97 and 98 to token 99"),
        (BYTES | {256: b"ab"}, [(97, 98, 999)], {}, "merge 0"),
        (BYTES, [(1, 2)], {}, "3 columns"),
        (BYTES, [(1.5, 2, 3)], {}, "whole numbers"),
        (BYTES, [(-1, 2, 3)], {}, "out of range"),
        (BYTES, [], {"pattern": "(a"}, "not a valid regular expression"),
        (BYTES, [], {"normalize": "nfkc"}, "normalize is 'nfkc': give 'nfc'"),
    ],
)
def test_bad_tables_are_refused(tokens, merges, options, message):
    with pytest.raises(PairityError, match=message):
        Tokenizer(tokens, merges, **{"pattern": None, **options})


def test_merges_of_unknown_parts_are_refused():
    with pytest.raises(PairityError, match="merge 1 joins ids 257 and 3, but there are only 257 tokens"):
        Tokenizer.from_merges([(1, 2), (257, 3)], pattern=None)


def test_holes_are_allowed_when_said():
    tok = Tokenizer(BYTES | {300: b"ab"}, [(97, 98, 300)], pattern=None, allow_holes=True)
    assert (tok.vocab_size, len(tok)) == (257, 301)
    assert tok.encode("xab") == [120, 300]
    with pytest.raises(PairityError, match="id 256 is not in the vocabulary"):
        tok.decode([256])


def test_the_garbage_collector_is_left_as_it_was():
    tok = small("gpt4o")
    try:
        for switch, on in ((gc.disable, False), (gc.enable, True)):
            switch()
            tok.encode_batch(["a b", ""])
            assert gc.isenabled() is on
    finally:
        gc.enable()


def test_a_special_id_beyond_the_vocabulary_is_refused():
    tok = small("gpt4o")
    beyond = _core.Specials([("<x>", len(tok.tokens))])
    with pytest.raises(ValueError, match="vocabulary ends before"):
        tok._encoder.encode("a<x>", allowed=beyond)


def test_lists_of_ids_are_the_callers_own():
    tok = small("gpt4o")
    first, second = tok.encode_batch(["the the", "the the"])
    first.append(first[0] + 1)
    assert second == tok.encode("the the") != first
