"""Counting with spills and merging, killed at random moments: a result is whole, and the next run mends the rest.

The short form is part of the ordinary tests, the long one of `make test-faults`.
"""

import random
import time
from collections import Counter
from pathlib import Path

import pytest
from writing_commands import call, run_and_exit, start

from spilling_text import LIMIT, write_text

Tally = dict[str, Counter[str]]


@pytest.fixture(scope="module")
def text(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_text(tmp_path_factory.mktemp("spilling") / "text")


@pytest.fixture(scope="module")
def expected(text: Path) -> bytes:
    """What an undisturbed count without a limit gives; beside it, each language by itself."""
    assert call(["count", str(text), "-o", str(text.parent / "all.parquet")]) == 0
    for entry in text.iterdir():
        name = entry.name.partition(".")[0]
        assert call(["count", f"{name}={entry}", "-o", str(text.parent / f"part-{name}.parquet")]) == 0
    return (text.parent / "all.parquet").read_bytes()


def check_kills(words: list[str], expected: bytes, folder: Path, tally: Tally, kills: int, seed: int) -> None:
    """Kill a command again and again; a result that is there is the right one. At the end it may finish."""
    chance = random.Random(seed)
    output = folder / "out.parquet"
    words = [*words, "-o", str(output)]
    begun = time.monotonic()
    assert call(words) == 0
    duration = time.monotonic() - begun
    assert output.read_bytes() == expected
    output.unlink()
    for _ in range(kills):
        resume = words[0] == "count" and chance.random() < 0.8
        child = start(run_and_exit, [*words, "--resume"] if resume else words)
        time.sleep(chance.random() * duration)
        child.kill()
        child.join()
        whole = output.exists()
        tally.setdefault(f"{words[0]} with runs on disk, killed", Counter())[
            "new" if whole else "absent"
        ] += 1
        if whole:
            assert output.read_bytes() == expected
            output.unlink()
    assert call([*words, "--resume"] if words[0] == "count" else words) == 0
    assert output.read_bytes() == expected
    assert list(folder.iterdir()) == [output], "something is left"


def merging(text: Path) -> list[str]:
    return ["merge", *map(str, sorted(text.parent.glob("part-*.parquet")))]


def test_a_few_kills_of_counting(text: Path, expected: bytes, tmp_path: Path, tally: Tally) -> None:
    check_kills(["count", str(text), *LIMIT], expected, tmp_path, tally, 5, seed=1)


def test_a_few_kills_of_merging(text: Path, expected: bytes, tmp_path: Path, tally: Tally) -> None:
    check_kills(merging(text), expected, tmp_path, tally, 5, seed=2)


@pytest.mark.faults
def test_many_kills_of_counting(text: Path, expected: bytes, tmp_path: Path, tally: Tally) -> None:
    check_kills(["count", str(text), *LIMIT], expected, tmp_path, tally, 100, seed=3)


@pytest.mark.faults
def test_many_kills_of_merging(text: Path, expected: bytes, tmp_path: Path, tally: Tally) -> None:
    check_kills(merging(text), expected, tmp_path, tally, 100, seed=4)
