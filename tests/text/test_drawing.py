"""Drawing lines: exact, and the same whatever the order of files, lines and threads."""

import gzip
import hashlib
import json
import random
from pathlib import Path

import pytest

from pairity import sample
from pairity.counts.counting import count
from pairity.counts.counts import Counts, merge
from pairity.errors import PairityError
from pairity.text.drawing import ALL, Drawn, draw
from pairity.text.inputs import TextInput
from pairity.text.reading import read, read_texts, texts_in
from pairity.text.sampling import Draw
from pairity.text.sources import resolve

TEXTS = {code: sample.read("dev")[code] for code in ("eng_Latn", "tam_Taml", "jpn_Jpan")}
TEXTS["eng_Latn"] = TEXTS["eng_Latn"] + [f"line {number}" for number in range(400)]
DRAWS = (
    Draw(sample=0.3, seed=1),
    Draw(balance="balanced", seed=2),
    Draw(balance="temperature", temperature=3.3, sample=0.9),
    Draw(balance=2000),
    Draw(max_bytes={"*": "4KB", "tam_Taml": "2KB"}, weights={"jpn_Jpan": 0.5}, budget="7KB"),
    Draw(balance="balanced", by="lines", budget="50 lines"),
    Draw(budget="300 lines", max_bytes={"eng_Latn": 500}),
)


def write(folder: Path, texts: dict[str, list[str]]) -> Path:
    for code, lines in texts.items():
        (folder / f"{code}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return folder


def chosen(sources: object, drawn: Drawn) -> dict[str, list[bytes]]:
    found: dict[str, list[bytes]] = {code: [] for code in drawn.given}
    inputs = [part for part in resolve(sources).inputs if isinstance(part, TextInput)]

    def keep(code: str, block: object) -> None:
        kept = drawn.sift(code, block)
        found[code] += texts_in(kept) if kept.lines != b"" else []

    read(inputs, keep, threads=1)
    return found


def place(seed: int, language: str, line: str) -> int:
    """The definition, in the words of the standard library."""
    text = f"{seed}\0{language}\0{line}".encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big")


@pytest.mark.parametrize("wanted", DRAWS, ids=str)
def test_a_draw_depends_neither_on_order_nor_on_files_nor_on_threads(tmp_path: Path, wanted: Draw) -> None:
    one = draw(resolve(write(tmp_path, TEXTS)), wanted, threads=1)
    others = tmp_path / "others"
    for code, lines in reversed(TEXTS.items()):
        shuffled = random.Random(3).sample(lines, len(lines))
        (others / code).mkdir(parents=True)
        with gzip.open(others / code / "b.txt.gz", "wt", encoding="utf-8") as file:
            file.writelines(f"{line}\r\n" for line in shuffled[:20])
        with (others / code / "a.jsonl").open("w", encoding="utf-8") as file:
            file.writelines(json.dumps({"text": line}) + "\n" for line in shuffled[20:70])
        (others / code / "c.txt").write_text("\n".join(shuffled[70:]), encoding="utf-8")
    other = draw(resolve(others), wanted, threads=3)
    listed = draw(resolve(TEXTS), wanted)
    assert one.given == other.given == listed.given
    first = chosen({code: str(tmp_path / f"{code}.txt") for code in TEXTS}, one)
    assert {code: sorted(lines) for code, lines in first.items()} == {
        code: sorted(lines) for code, lines in chosen(others, other).items()
    }


@pytest.mark.parametrize("wanted", DRAWS, ids=str)
def test_what_is_given_is_what_is_counted(tmp_path: Path, wanted: Draw) -> None:
    counts = count(write(tmp_path, TEXTS), draw=wanted)
    assert counts.drawn is not None
    for code, given in counts.drawn.given.items():
        assert (counts[code].lines, counts[code].bytes) == (given.lines, given.bytes)
        assert (given.of_lines, given.of_bytes) == (
            len(TEXTS[code]),
            sum(len(s.encode()) for s in TEXTS[code]),
        )


def test_a_share_takes_the_lines_whose_place_is_below_it(tmp_path: Path) -> None:
    sources = resolve(write(tmp_path, TEXTS))
    found = {
        share: chosen(sources, draw(sources, Draw(sample=share, seed=7)))["eng_Latn"]
        for share in (0.2, 0.5, 1.0)
    }
    lines = TEXTS["eng_Latn"]
    assert found[0.2] == [line.encode() for line in lines if place(7, "eng_Latn", line) < 0.2 * ALL]
    assert set(found[0.2]) < set(found[0.5]) < set(found[1.0]) == {line.encode() for line in lines}
    assert abs(len(found[0.5]) / len(lines) - 0.5) < 0.1
    assert found[0.5] != chosen(sources, draw(sources, Draw(sample=0.5, seed=8)))["eng_Latn"]


@pytest.mark.parametrize("most", [1000, 2001, 5003, 12_345])
def test_the_limit_is_met_but_for_a_line(tmp_path: Path, most: int) -> None:
    sources = resolve(write(tmp_path, TEXTS))
    drawn = draw(sources, Draw(max_bytes=most))
    for code, given in drawn.given.items():
        order = sorted(TEXTS[code], key=lambda line, code=code: place(0, code, line))
        assert given.bytes <= most
        assert given.lines == len(order) or given.bytes + len(order[given.lines].encode()) > most
        assert sorted(chosen(sources, drawn)[code]) == sorted(line.encode() for line in order[: given.lines])


def test_the_limit_is_met_within_one_bucket_of_many_lines() -> None:
    """4096 buckets are few for these lines: hundreds share the one in which the goal is reached."""
    lines = [f"{number}" for number in range(200_000)]
    drawn = draw(resolve({"a": lines}), Draw(budget="54321 lines"))
    assert drawn.given["a"].lines == 54_321
    order = sorted(lines, key=lambda line: place(0, "a", line))
    assert drawn.below["a"] == place(0, "a", order[54_321])


def test_equal_lines_are_drawn_together(tmp_path: Path) -> None:
    texts = {"a": ["same line"] * 50 + ["other"], "b": ["short text here"]}
    sources = resolve(write(tmp_path, texts))
    drawn = draw(sources, Draw(balance=40))
    assert chosen(sources, drawn)["a"] == [b"other"], "50 equal lines are more than 40 bytes"


def test_an_error_names_the_line_of_the_file(tmp_path: Path) -> None:
    lines = [f"line {number}".encode() for number in range(100)]
    lines[60] = b"broken \xff"
    (tmp_path / "a.txt").write_bytes(b"\n".join(lines))
    with pytest.raises(PairityError, match=r"a\.txt, line 61: not UTF-8"):
        count(tmp_path, draw=Draw(sample=0.99))


def test_what_cannot_be_drawn_is_named(tmp_path: Path) -> None:
    with pytest.raises(PairityError, match=r"sample = 1e-06 takes nothing from 'a'"):
        draw(resolve({"a": ["one line"]}), Draw(sample=1e-6))
    with pytest.raises(PairityError, match=r"the share of 'a' would be 3 bytes, less than its first line"):
        draw(resolve({"a": ["one line"]}), Draw(balance=3))
    with pytest.raises(PairityError, match=r"the share of 'a' would be 3 bytes, less than its first line"):
        count({"a": ["one line"]}, draw=Draw(budget=3))
    with pytest.raises(PairityError, match=r"weight is given for 'b'"):
        count({"a": ["one line"]}, draw=Draw(weights={"b": 3}))
    with pytest.raises(PairityError, match=r"can be read only once"):
        count({"a": iter(["one line"])}, draw=Draw(budget=3))
    count({"a": ["one line"]}).save(tmp_path / "counts.parquet")
    with pytest.raises(PairityError, match=r"counts.parquet holds counts, and lines cannot be sampled"):
        count(tmp_path / "counts.parquet", draw=Draw(sample=0.5))


def test_a_budget_beyond_the_text_takes_all_and_says_so() -> None:
    counts = count({"a": ["one line"], "b": ["two"]}, draw=Draw(budget="1GB"))
    assert counts.notes == (
        "the budget is 1GB, which is at least as much as there is: all of the text is taken",
    )
    assert [one.lines for one in counts.values()] == [1, 1]


def test_what_was_drawn_is_kept_with_the_counts_and_added_up(tmp_path: Path) -> None:
    drawn = count(write(tmp_path, TEXTS), draw=Draw(budget="5KB", seed=3))
    drawn.save(tmp_path / "drawn.parquet")
    read_back = Counts.load(tmp_path / "drawn.parquet")
    assert drawn.drawn is not None
    assert read_back.drawn == drawn.drawn
    assert drawn.drawn.settings[0]["budget"] == "5KB"
    both = merge([read_back, count({"eng_Latn": ["to be"]})])
    assert both.drawn is not None
    one, more = drawn.drawn.given["eng_Latn"], both.drawn.given["eng_Latn"]
    assert (more.lines, more.bytes, more.of_lines) == (one.lines + 1, one.bytes + 5, one.of_lines + 1)
    assert merge([count({"a": ["x"]}), count({"a": ["x"]})]).drawn is None


def test_languages_are_chosen_by_code_or_by_set(tmp_path: Path) -> None:
    texts = TEXTS | {"xyz_Latn": ["not in the paper"]}
    counts = count(write(tmp_path, texts), choose=["paper-30"])
    assert list(counts) == ["eng_Latn", "jpn_Jpan", "tam_Taml"]
    assert counts.left_out == ("xyz_Latn",)
    assert counts.notes[0].startswith("paper-30 is used without deu_Latn")
    assert list(count(tmp_path, choose=["xyz_Latn", "tam_Taml"])) == ["tam_Taml", "xyz_Latn"]
    count(tmp_path).save(tmp_path / "all.parquet")
    assert list(count(tmp_path / "all.parquet", choose=["tam_Taml"])) == ["tam_Taml"]
    with pytest.raises(PairityError, match=r"no language 'tam'. Did you mean tam_Taml\?"):
        count(TEXTS, choose=["tam"])
    with pytest.raises(PairityError, match=r"none of the languages of paper-60"):
        count({"xyz_Latn": ["to be"]}, choose=["paper-60"])


def test_one_name_needs_no_list() -> None:
    assert list(count(TEXTS, choose="paper-30")) == list(count(TEXTS, choose=["paper-30"]))
    assert list(count(TEXTS, choose="tam_Taml")) == ["tam_Taml"]
    assert list(count({"eng_Latn": ["a"]}, languages="eng_Latn")) == ["eng_Latn"]
    assert list(read_texts({"eng_Latn": ["a"]}, languages="eng_Latn")) == ["eng_Latn"]
