"""Names, variants and user patterns; the scanners themselves are proved in Rust."""

import itertools

import numpy as np
import pytest

import endless
from pairity import _core
from pairity.errors import PairityError
from pairity.text.pretokenizers import PRESETS, PROBE, Pretokenization, pattern_of

TEXT = "It's 2024:\r\n\n  ÉTÉ हिन्दी!"


def test_presets_are_the_promised_names():
    assert list(PRESETS) == ["gpt4o", "gpt4", "qwen35", "gpt2", "whitespace", "none"]
    assert PRESETS["none"] is None


@pytest.mark.parametrize(
    ("name", "pieces"),
    [
        ("gpt4o", ["It's", " ", "202", "4", ":\r\n\n", " ", " ÉTÉ", " हिन्दी", "!"]),
        ("gpt4", ["It", "'s", " ", "202", "4", ":\r\n\n", " ", " ÉTÉ", " ह", "िन", "्द", "ी!"]),
        ("qwen35", ["It", "'s", " ", "2", "0", "2", "4", ":\r\n\n", " ", " ÉTÉ", " हिन्दी", "!"]),
        ("gpt2", ["It", "'s", " 2024", ":", "\r\n\n ", " ÉTÉ", " ह", "ि", "न", "्", "द", "ी!"]),
        ("whitespace", ["It's", " 2024:", "\r\n\n ", " ÉTÉ", " हिन्दी!"]),
        ("none", [TEXT]),
    ],
)
def test_presets_cut(name, pieces):
    assert _core.pretokenize(pattern_of(name), TEXT) == pieces


@pytest.mark.parametrize("name", PRESETS)
def test_single_digits_stand_alone(name):
    pieces = _core.pretokenize(pattern_of(name, digits=True), "x2024y 9٣")
    assert [piece for piece in pieces if any(map(str.isnumeric, piece))] == (
        ["2", "0", "2", "4", " 9", "٣"] if name == "gpt2" else ["2", "0", "2", "4", "9", "٣"]
    )
    assert "".join(pieces) == "x2024y 9٣"


@pytest.mark.parametrize("digits", [False, True])
@pytest.mark.parametrize("name", PRESETS)
def test_presets_keep_every_character(name, digits):
    assert "".join(_core.pretokenize(pattern_of(name, digits=digits), PROBE, strict=True)) == PROBE


def test_a_pattern_of_ones_own_is_taken_as_it_is():
    assert pattern_of(r"\S+|\s+") == r"\S+|\s+"


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(
        PairityError, match=r"'gpt5'\. Choose one of gpt4o, gpt4, qwen35, gpt2, whitespace, none"
    ):
        pattern_of("gpt5")


@pytest.mark.parametrize("name", ["gpt4o:word4", "gpt4o:words4:words4", "gpt4o:words4,gpt4", "gpt4o:digits"])
def test_a_name_with_something_odd_behind_it_is_no_pattern(name):
    with pytest.raises(
        PairityError, match=f"unknown pre-tokenizer '{name}'.* such as gpt4o:words4"
    ) as raised:
        pattern_of(name)
    assert ("--single-digits" in str(raised.value)) == ("digits" in name)


def test_a_pretokenization_is_called_by_its_name():
    assert str(Pretokenization.of("gpt4o:words4", digits=True)).startswith(
        "pre-tokenizer gpt4o:digits:words4, "
    )
    assert str(Pretokenization.of("none")).startswith("pre-tokenizer none, ")
    assert str(Pretokenization.of(r"\S+|\s+")).startswith(r"pattern '\S+|\s+', ")
    assert str(Pretokenization.of("[\n\u3000]|.")).startswith(r"pattern '[\n\u3000]|.', ")


def test_an_invalid_pattern_shows_the_place():
    with pytest.raises(PairityError) as caught:
        pattern_of(r"\S+|\p{Nonsense}")
    assert "    \\S+|\\p{Nonsense}\n        ^\n" in str(caught.value)


def test_a_pattern_that_drops_text_shows_what():
    with pytest.raises(PairityError, match=r'does not match ","'):
        pattern_of(r"[\p{L}']+| ")
    with pytest.raises(PairityError, match="drops text"):
        pattern_of(r"(?!)")
    with pytest.raises(PairityError, match="drops text"):
        pattern_of(".+")


def test_an_empty_pattern_is_refused():
    with pytest.raises(PairityError, match="Use 'none'"):
        pattern_of("")


def test_digits_with_a_pattern_of_ones_own_is_refused():
    with pytest.raises(PairityError, match="digits=True is only for the named"):
        pattern_of(r"\S+|\s+", digits=True)


def counted(counter):
    data, offsets, counts, totals = counter.finish()
    ends = np.frombuffer(offsets, "<i8")
    words = [data[start:end].decode() for start, end in itertools.pairwise(ends)]
    return dict(zip(words, np.frombuffer(counts, "<u8").tolist(), strict=True)), totals


def test_counter_counts_lines_and_texts():
    lines = _core.Counter(PRESETS["gpt4o"], count_words=True)
    lines.add_lines("a b\r\né b".encode())
    texts = _core.Counter(PRESETS["gpt4o"], count_words=True)
    texts.add_texts(b"a b", np.array([0, 1, 3], dtype=np.int64))
    lines.merge(texts)
    words, totals = counted(lines)
    assert words == {" b": 3, "a": 2, "é": 1}
    assert list(words) == [" b", "a", "é"]
    assert totals == {"lines": 4, "bytes": 10, "chars": 9, "words": 6, "replaced": 0}
    with pytest.raises(ValueError, match="finished"):
        texts.add_lines(b"a")


def test_counter_locates_text_that_is_not_utf8_in_large_blocks():
    block = b"good line\n" * 100_000 + b"ab\xff\n" + b"good\n"
    with pytest.raises(_core.NotUtf8Error) as caught:
        _core.Counter(None).add_lines(block)
    assert (caught.value.line, caught.value.column) == (100_000, 2)
    offsets = np.array([*range(0, 1_000_001, 10), len(block)], dtype=np.int64)
    with pytest.raises(_core.NotUtf8Error) as caught:
        _core.Counter(None).add_texts(block, offsets)
    assert (caught.value.line, caught.value.column) == (100_000, 2)
    replacing = _core.Counter(None, replace_invalid=True)
    replacing.add_lines(block)
    words, totals = counted(replacing)
    assert words == {"ab\ufffd": 1, "good": 1, "good line": 100_000}
    assert totals["replaced"] == 1


def test_counter_does_not_depend_on_how_the_text_is_cut_into_blocks():
    lines = [f"{PROBE.splitlines()[0]} {number % 97}\n".encode() for number in range(20_000)]
    whole, parts = (_core.Counter(PRESETS["gpt4o"], nfc=True) for _ in range(2))
    whole.add_lines(b"".join(lines))
    for line in lines:
        parts.add_lines(line)
    assert whole.finish() == parts.finish()


def test_counter_refuses_offsets_that_do_not_fit():
    with pytest.raises(ValueError, match="offsets must rise"):
        _core.Counter(None).add_texts(b"abc", np.array([0, 9], dtype=np.int64))
    with pytest.raises(ValueError, match="int64"):
        _core.Counter(None).add_texts(b"abc", np.array([1], dtype=np.int32))


def test_a_pattern_that_drops_text_is_an_error_while_counting():
    with pytest.raises(ValueError, match='does not match "x"'):
        _core.Counter("[^x]+").add_lines(b"abxc")


@endless.needs_timer
def test_a_signal_stops_cutting_within_one_text():
    endless.is_stopped_by_a_signal(_core.pretokenize, endless.PATTERN, endless.TEXT)
    endless.is_stopped_by_a_signal(_core.pretokenize, endless.PATTERN, endless.TEXT, strict=True)


@endless.needs_timer
def test_a_signal_stops_counting_within_one_text_and_ends_the_counter():
    data = endless.TEXT.encode()
    for add, given in (("add_lines", [data]), ("add_texts", [data, np.array([0, len(data)], np.int64)])):
        counter = _core.Counter(endless.PATTERN)
        endless.is_stopped_by_a_signal(getattr(counter, add), *given)
        with pytest.raises(ValueError, match="a signal ended it: make a new one"):
            counter.add_lines(b"more")
        with pytest.raises(ValueError, match="make a new one"):
            counter.finish()


def test_an_error_ends_the_counter():
    counter = _core.Counter(None)
    with pytest.raises(_core.NotUtf8Error):
        counter.add_lines(b"good\n\xff\n")
    with pytest.raises(ValueError, match="make a new one"):
        counter.finish()


@pytest.mark.parametrize("further", [{"digits": True}, {"normalize": "nfc"}])
def test_a_pretokenization_is_not_changed_by_further_settings(further):
    made = Pretokenization.of("gpt4")
    assert Pretokenization.of(made) is made
    with pytest.raises(PairityError, match="leave out digits and normalize"):
        Pretokenization.of(made, **further)
