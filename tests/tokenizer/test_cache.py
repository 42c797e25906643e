"""What the encoder remembers changes nothing but the time, however little of it there is room for."""

import threading

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from pairity import _core
from small_tokenizers import NASTY, naive_ids, sample_lines, small, unicode_text

TOK = small("gpt4o")


def encoder(cache_slots: int) -> _core.Encoder:
    model = TOK.model
    merges = np.ascontiguousarray(model.merges).reshape(-1).data
    return _core.Encoder(
        model.cut.pattern, *model.buffers(), merges, model.special_ids, cache_slots=cache_slots
    )


FULL_AT_ONCE, SOON_FULL, NEVER_FULL = encoder(0), encoder(64), encoder(1 << 16)

long_words = st.builds(
    lambda word, times: word * times, st.sampled_from(["a", "ab", "語", "ไทย", "-"]), st.integers(1, 700)
)
texts = st.lists(
    unicode_text | st.binary(max_size=80) | long_words | st.sampled_from(NASTY), max_size=12
).map(tuple)


@given(texts=texts, threads=st.integers(1, 3))
@settings(max_examples=60, deadline=None)
def test_a_cache_of_any_size_gives_the_same_ids(texts, threads):
    expected = [encoder(0).encode(text) for text in texts]
    for one in (FULL_AT_ONCE, SOON_FULL, NEVER_FULL):
        for _ in range(2):  # the second time, what fits is known
            assert one.encode_batch(texts, threads=threads) == expected
        ids, offsets = one.encode_flat(texts, threads=threads)
        assert np.frombuffer(ids, np.uint32).tolist() == [i for row in expected for i in row]
        counts = np.diff(np.frombuffer(offsets, np.int64)).tolist()
        assert counts == list(map(len, expected))
        assert np.frombuffer(one.count(texts, threads=threads), np.int64).tolist() == counts


def test_words_that_are_known_keep_the_ids_of_the_definition():
    lines = sample_lines()[::20]
    expected = [naive_ids(TOK, line) for line in lines]
    for one in (FULL_AT_ONCE, SOON_FULL, NEVER_FULL):
        for _ in range(2):
            assert one.encode_batch(tuple(lines)) == expected


def test_threads_of_a_program_do_not_disturb_each_other():
    lines = sample_lines()[::5]
    expected = TOK.encode_batch(lines, threads=1)
    shared = encoder(64)
    results: list[object] = []

    def work(part: int) -> None:
        for _ in range(3):
            results.append(shared.encode_batch(tuple(lines[part:]), threads=2) == expected[part:])

    threads = [threading.Thread(target=work, args=(part,)) for part in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 12


def test_flat_ids_outlive_the_tokenizer_and_cannot_be_written():
    ids, _ = small("gpt2").encode_flat(["to be or not to be"])
    kept = ids[1:]
    assert not kept.flags.writeable
    assert kept.tolist() == small("gpt2").encode("to be or not to be")[1:]
