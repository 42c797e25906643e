"""The tokenizer itself: ids by the definition, text that comes back, its table, its sizes, its folder."""

import copy
import gc
import random
import threading
import unicodedata

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import endless
from pairity.bpe import special
from pairity.counts.counts import Counts
from pairity.errors import PairityError
from pairity.text.pretokenizers import pattern_of
from pairity.tokenizer.tokenizer import Tokenizer
from small_tokenizers import (
    BYTES,
    END,
    KINDS,
    NASTY,
    SPECIALS,
    naive_ids,
    odd_trace,
    sample_lines,
    small,
    trained_merges,
    unicode_text,
)


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


@pytest.mark.parametrize("threads", [1, 3])
def test_flat_ids_are_those_of_single_texts(threads):
    tok = small("gpt4o", special_tokens=SPECIALS)
    texts = [*NASTY, "", b"\xff bytes", *sample_lines()[:70]]
    ids, offsets = tok.encode_flat(texts, disallowed_special=(), threads=threads)
    assert ids.dtype == np.uint32
    assert offsets.dtype == np.int64
    rows = [part.tolist() for part in np.split(ids, offsets[1:-1])]
    assert rows == [tok.encode(text, disallowed_special=()) for text in texts]
    nothing, only = tok.encode_flat([], threads=threads)
    assert (len(nothing), only.tolist()) == (0, [0])


def test_flat_ids_have_the_rules_of_encode():
    tok = small("gpt4o", special_tokens=SPECIALS)
    with pytest.raises(PairityError, match="endoftext"):
        tok.encode_flat([END])
    assert tok.encode_flat([END], allowed_special="all")[0].tolist() == [tok.special_tokens[END]]
    with pytest.raises(PairityError, match="lone surrogate"):
        tok.encode_flat(["\ud800"])
    assert tok.encode_flat(["\ud800"], errors="replace")[0].tolist() == tok.encode("\ufffd")
    with pytest.raises(PairityError, match="give a list"):
        tok.encode_flat("text")


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
    tokens = {byte: bytes([byte]) for byte in range(256)}
    shared = Tokenizer(tokens, [], pattern=None, special_tokens={"<a>": 256, "<longer>": 256})
    assert shared.encode_with_offsets("<a>", disallowed_special=())[1] == [(0, 1), (1, 2), (2, 3)]
    with pytest.raises(PairityError, match="'<a>', '<longer>' share one id"):
        shared.encode_with_offsets("<longer>hi", allowed_special="all")


def test_pretokens_are_those_of_the_normalised_text():
    tok = small("gpt2", normalize="nfc")
    decomposed = unicodedata.normalize("NFD", "déjà été")
    assert tok.pretokenize(decomposed) == tok.pretokenize("déjà été") == ["déjà", " été"]
    assert len(small("gpt2").pretokenize(decomposed)) > 2


def test_a_token_that_no_merge_makes_does_not_keep_a_table_from_being_cut():
    tokens = {byte: bytes([byte]) for byte in range(256)} | {256: b"xyz", 257: b"ab", 258: b"abc"}
    tok = Tokenizer(tokens, [(97, 98, 257), (257, 99, 258)], pattern=None, whole_pretokens=True)
    assert tok.truncate(258).tokens == tok.tokens[:258]


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
        trace=odd_trace(plain),
    )
    copied = copy.deepcopy(tok)
    assert copied == tok
    assert (copied.record, copied.trace) == (tok.record, tok.trace)
    assert copied.encode("Hello, мир") == tok.encode("Hello, мир")


def test_the_garbage_collector_is_left_as_it_was():
    tok = small("gpt4o")
    try:
        for switch, on in ((gc.disable, False), (gc.enable, True)):
            switch()
            tok.encode_batch(["a b", ""])
            assert gc.isenabled() is on
    finally:
        gc.enable()


def test_lists_of_ids_are_the_callers_own():
    tok = small("gpt4o")
    first, second = tok.encode_batch(["the the", "the the"])
    first.append(first[0] + 1)
    assert second == tok.encode("the the") != first
