"""Sampling: exact, and the same whatever the order of files, lines and threads."""

import gzip
import random
from pathlib import Path

import pytest

from pairity import sample
from pairity.counts.counting import count
from pairity.errors import PairityError
from pairity.text.sampling import ALL, Draw, Drawn, draw, places
from pairity.text.sources import resolve

TEXTS = {code: sample.read("dev")[code] for code in ("eng_Latn", "tam_Taml", "jpn_Jpan")}
TEXTS["eng_Latn"] = TEXTS["eng_Latn"] + [f"line {number}" for number in range(400)]
DRAWS = (
    Draw(sample=0.3, seed=1),
    Draw(balance="balanced", seed=2),
    Draw(balance="temperature", temperature=3.3, sample=0.9),
    Draw(balance=2000),
)


def write(folder: Path, texts: dict[str, list[str]]) -> Path:
    for code, lines in texts.items():
        (folder / f"{code}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def chosen(drawn: Drawn) -> dict[str, list[bytes]]:
    return {code: list(lines) for code, lines in drawn.lines().items()}


@pytest.mark.parametrize("wanted", DRAWS, ids=str)
def test_a_draw_depends_neither_on_order_nor_on_files_nor_on_threads(tmp_path: Path, wanted: Draw) -> None:
    one = draw(resolve(write(tmp_path, TEXTS)), wanted, threads=1)
    others = tmp_path / "others"
    for code, lines in TEXTS.items():
        shuffled = random.Random(3).sample(lines, len(lines))
        (others / code).mkdir(parents=True)
        with gzip.open(others / code / "b.txt.gz", "wt", encoding="utf-8") as file:
            file.writelines(f"{line}\r\n" for line in shuffled[:20])
        (others / code / "a.txt").write_text("\n".join(shuffled[20:]), encoding="utf-8")
    other = draw(resolve(others), wanted, threads=3)
    assert one.given == other.given
    assert {code: sorted(lines) for code, lines in chosen(one).items()} == {
        code: sorted(lines) for code, lines in chosen(other).items()
    }


@pytest.mark.parametrize("wanted", DRAWS, ids=str)
def test_what_is_given_is_what_is_counted(tmp_path: Path, wanted: Draw) -> None:
    drawn = draw(resolve(write(tmp_path, TEXTS)), wanted)
    counts = count(drawn.lines())
    for code, given in drawn.given.items():
        assert (counts[code].lines, counts[code].bytes) == (given.lines, given.bytes)
        assert (given.of_lines, given.of_bytes) == (
            len(TEXTS[code]),
            sum(len(s.encode()) for s in TEXTS[code]),
        )


def test_a_share_takes_the_lines_whose_hash_is_below_it(tmp_path: Path) -> None:
    sources = resolve(write(tmp_path, TEXTS))
    found = {
        share: chosen(draw(sources, Draw(sample=share, seed=7)))["eng_Latn"] for share in (0.2, 0.5, 1.0)
    }
    place = places(7, "eng_Latn")
    lines = [line.encode() for line in TEXTS["eng_Latn"]]
    assert found[0.2] == [line for line in lines if place(line) < 0.2 * ALL]
    assert set(found[0.2]) < set(found[0.5]) < set(found[1.0]) == set(lines)
    assert abs(len(found[0.5]) / len(lines) - 0.5) < 0.1
    assert found[0.5] != chosen(draw(sources, Draw(sample=0.5, seed=8)))["eng_Latn"]


def test_balanced_languages_have_the_bytes_of_the_smallest_but_for_a_line(tmp_path: Path) -> None:
    drawn = draw(resolve(write(tmp_path, TEXTS)), Draw(balance="balanced"))
    least = min(given.of_bytes for given in drawn.given.values())
    for code, given in drawn.given.items():
        order = sorted((line.encode() for line in TEXTS[code]), key=places(0, code))
        assert given.bytes <= least
        assert given.lines == len(order) or given.bytes + len(order[given.lines]) > least
        assert sorted(chosen(drawn)[code]) == sorted(order[: given.lines])


def test_a_temperature_gives_every_language_its_share_of_the_words(tmp_path: Path) -> None:
    texts = {"a": [f"w{n} x y z" for n in range(1000)], "b": [f"v{n} x y z" for n in range(10)]}
    drawn = draw(resolve(write(tmp_path, texts)), Draw(balance="temperature", temperature=2.0))
    assert drawn.given["b"].lines == 10, "the smallest gives all"
    assert 95 <= drawn.given["a"].lines <= 101, "4000 and 40 words: their square roots are as 10 to 1"
    as_it_is = draw(resolve(tmp_path), Draw(balance="temperature", temperature=1.0))
    assert [given.lines for given in as_it_is.given.values()] == [1000, 10]


def test_equal_lines_are_drawn_together(tmp_path: Path) -> None:
    texts = {"a": ["same line"] * 50 + ["other"], "b": ["short text here"]}
    drawn = draw(resolve(write(tmp_path, texts)), Draw(balance=40))
    assert chosen(drawn)["a"] == [b"other"], "50 equal lines are more than 40 bytes"


@pytest.mark.parametrize(
    ("settings", "match"),
    [
        ({"sample": 0}, "sample is 0: give a share"),
        ({"sample": 1.5}, "sample is 1.5"),
        ({"sample": True}, "sample is True"),
        ({"balance": "even"}, "balance is 'even': choose"),
        ({"balance": 0}, "balance is 0"),
        ({"balance": "temperature"}, "temperature = 3.3"),
        ({"temperature": 3.3}, "but balance is 'natural'"),
        ({"balance": "temperature", "temperature": 0.5}, "at least 1"),
        ({"balance": "temperature", "temperature": float("inf")}, "give a number"),
    ],
)
def test_settings_that_mean_nothing_are_refused(settings: dict, match: str) -> None:
    with pytest.raises(PairityError, match=match):
        Draw(**settings)


def test_what_cannot_be_drawn_is_named(tmp_path: Path) -> None:
    with pytest.raises(PairityError, match=r"nothing of 'a' is drawn by sample = 1e-06"):
        draw(resolve({"a": ["one line"]}), Draw(sample=1e-6))
    with pytest.raises(PairityError, match=r"'a' would give 3 bytes, less than its first line"):
        draw(resolve({"a": ["one line"]}), Draw(balance=3))
    count({"a": ["one line"]}).save(tmp_path / "counts.parquet")
    with pytest.raises(PairityError, match=r"counts.parquet holds counts, of which no lines can be drawn"):
        draw(resolve(tmp_path / "counts.parquet"), Draw(sample=0.5))
