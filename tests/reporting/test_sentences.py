"""Sentences cut into tokens."""

from hypothesis import given
from hypothesis import strategies as st

from pairity.judging.scores import Scores
from pairity.reporting.sentences import cut, read_sentences, show_tokens
from report_page import Page
from report_scores import TEXTS


def test_tokens_are_text_and_parts_of_characters_are_bytes() -> None:
    assert show_tokens([5, 6], [b"Hel", b"lo"]) == [(5, "Hel"), (6, "lo")]
    assert show_tokens([1, 2], [b"a" + b"\xc3", b"\xa4b"]) == [
        (1, ["a", ("C3", "ä")]),
        (2, [("A4", "ä"), "b"]),
    ]
    assert show_tokens([9, 8, 7], [b"\xf0\x9f", b"\x98", b"\x80"]) == [
        (9, [("F0 9F", "😀")]),
        (8, [("98", "😀")]),
        (7, [("80", "😀")]),
    ]
    assert show_tokens([3], [b"\xff\x80"]) == [(3, [("FF", ""), ("80", "")])]
    assert show_tokens([1, 2], [None, b"x"]) == [(1, [("no text", "")]), (2, "x")]


@given(st.text(max_size=40), st.integers(1, 7))
def test_nothing_of_a_sentence_is_lost(text: str, size: int) -> None:
    raw = text.encode()
    pieces = [raw[at : at + size] for at in range(0, len(raw), size)]
    back = b""
    for _, parts in show_tokens(list(range(len(pieces))), pieces):
        for part in [parts] if isinstance(parts, str) else parts:
            back += part.encode() if isinstance(part, str) else bytes.fromhex(part[0])
    assert back == raw


def test_the_viewer_counts_what_the_scores_count(page: Page, judged: Scores) -> None:
    viewer = page.data["viewer"]
    assert {one["code"]: one["rtl"] for one in viewer["languages"]} == {
        code: code == "heb_Hebr" for code in TEXTS
    }
    assert viewer["first"][0] == "eng_Latn"
    assert "heb_Hebr" in viewer["first"]
    for code, lines in viewer["cuts"].items():
        for index, cuts in enumerate(lines):
            for name, tokens in cuts.items():
                assert len(tokens) == judged.lengths[name][code][index]


def test_a_tokenizer_that_fails_on_a_sentence_says_so() -> None:
    class Failing:
        def encode_lines(self, lines: list[str]) -> None:
            raise RuntimeError("no such byte")

    assert cut(Failing(), "x") == "RuntimeError: no such byte"  # type: ignore[arg-type]


def test_sentences_may_be_one_each_and_are_limited() -> None:
    assert read_sentences({"eng_Latn": "one"}) == {"eng_Latn": ["one"]}
    assert len(read_sentences({"eng_Latn": ["x"] * 50})["eng_Latn"]) == 6
    many = read_sentences({f"l{index}_Latn": ["x"] * 6 for index in range(200)}, tokenizers=8)
    assert {len(lines) for lines in many.values()} == {1}
