"""Crashes, kills, full disks and readers at the wrong moment: an output is old or new, or reading it says no.

Every fault has a short form, which is part of the ordinary tests, and a long one (`make test-faults`).
"""

import itertools
import random
import subprocess
import time
from collections import Counter
from pathlib import Path

import pytest
from writing_commands import REFUSED, Place, call, operations, run_and_exit, run_until, start

from filesystems import as_ordinary_user, small_disk, without_right_to_write
from pairity import PairityError, Tokenizer
from program import PROGRAM
from small_tokenizers import small

NAMES = (
    "train", "count", "merge", "eval", "report", "inspect", "inspect language",
    "export hf", "export transformers", "export tiktoken", "export merges", "export gguf",
)  # fmt: skip
long = pytest.mark.faults
Tally = dict[str, Counter[str]]


def count(tally: Tally, fault: str, outcome: str) -> None:
    tally.setdefault(fault, Counter())[outcome] += 1


def check_crashes(place: Place, numbers: list[int], tally: Tally) -> None:
    for number in numbers:
        place.reset()
        run_until(place.words, number)
        outcome = place.outcome()
        count(tally, "stopped before a file operation", outcome)
        assert outcome != "wrong", f"stopped before operation {number}"
        assert place.recovers(), f"stopped before operation {number}, and then run again"


@pytest.mark.parametrize("force", [False, True], ids=["fresh", "force"])
@pytest.mark.parametrize("name", NAMES)
def test_a_few_crash_points(commands, tally, tmp_path, name, force):
    place = Place(commands[name], tmp_path, force=force)
    total = operations(place.words, tmp_path)
    assert total > 5, "file operations are no longer seen"
    chance = random.Random(f"{name} {force}")
    check_crashes(place, sorted(chance.sample(range(1, total + 1), 3)), tally)


@long
@pytest.mark.parametrize("force", [False, True], ids=["fresh", "force"])
@pytest.mark.parametrize("name", NAMES)
def test_every_crash_point(commands, tally, tmp_path, name, force):
    place = Place(commands[name], tmp_path, force=force)
    total = operations(place.words, tmp_path)
    check_crashes(place, list(range(1, total + 1)), tally)


def check_kills(commands, tally: Tally, folder: Path, kills: int, seed: int) -> None:
    """Each command in turn, killed at a random moment of the time that it takes."""
    chance = random.Random(seed)
    cases = [(name, force) for name in NAMES for force in (False, True)]
    places, durations = {}, {}
    for number in range(kills):
        case = cases[number % len(cases)]
        if case not in places:
            name, force = case
            inner = folder / f"{name} {force}"
            inner.mkdir()
            places[case] = Place(commands[name], inner, force=force)
            before = time.monotonic()
            assert call(places[case].words) == 0
            durations[case] = time.monotonic() - before
            places[case].reset()
        place = places[case]
        child = start(run_and_exit, place.words)
        time.sleep(chance.random() * durations[case])
        child.kill()
        child.join()
        outcome = place.outcome()
        count(tally, "killed at a random moment", outcome)
        assert outcome != "wrong", case
        if outcome in ("new", "refused"):  # the next kill shall find the place as it was
            assert place.recovers(), case
            place.reset()
    for case, place in places.items():
        assert place.recovers(), case


def test_a_few_random_kills(commands, tally, tmp_path):
    check_kills(commands, tally, tmp_path, 22, seed=1)


@long
def test_many_random_kills(commands, tally, tmp_path):
    check_kills(commands, tally, tmp_path, 330, seed=2)


def check_full_disk(place: Place, tally: Tally, disk: Path, step: int) -> None:
    """Room for `step` KB more each time, until there is enough."""
    for room in range(0, 4096, step):
        subprocess.run(["mount", "-o", "remount,size=32m", str(disk)], check=True)
        place.reset()
        blocks = subprocess.run(["du", "-sk", str(disk)], capture_output=True, check=True, text=True)
        used = int(blocks.stdout.split()[0])
        subprocess.run(["mount", "-o", f"remount,size={used + room + 4}k", str(disk)], check=True)
        code = call(place.words)
        outcome = place.outcome()
        assert code in (0, REFUSED), f"{room} KB: not a sentence"
        count(tally, "disk full", outcome)
        if code == 0:
            assert outcome == "new"
            assert place.leftovers() == []
            return
        assert outcome in ("old", "absent"), f"{room} KB"
        assert [name for name in place.leftovers() if "checkpoint" not in name] == []
    raise AssertionError("no room was enough")


@pytest.mark.parametrize("force", [False, True], ids=["fresh", "force"])
def test_a_full_disk(commands, tally, tmp_path, force):
    for name, step in (("train", 32), ("count", 4)):
        with small_disk(tmp_path / name, "32m") as disk:
            check_full_disk(Place(commands[name], disk, force=force), tally, disk, step)


@long
@pytest.mark.parametrize("force", [False, True], ids=["fresh", "force"])
@pytest.mark.parametrize("name", NAMES)
def test_a_full_disk_of_every_size(commands, tally, tmp_path, name, force):
    with small_disk(tmp_path / "disk", "32m") as disk:
        check_full_disk(Place(commands[name], disk, force=force), tally, disk, 16 if name == "report" else 4)


@long
@pytest.mark.parametrize("name", NAMES)
def test_rights(commands, tally, tmp_path, name):
    """A closed folder is refused; a folder that is open can be written, though what it lies in is closed."""
    program = [*as_ordinary_user(), *PROGRAM]
    place = Place(commands[name], tmp_path, force=False)
    inner = place.folder / "open"
    inner.mkdir()
    with without_right_to_write(place.folder):
        refused = subprocess.run([*program, *place.words], capture_output=True, text=True, check=False)
        assert refused.returncode == 1
        assert refused.stderr.startswith("error: ")
        assert "Permission denied" in refused.stderr
        count(tally, "no write permission", place.outcome())
        for force in (False, True):
            words = place.command.words(inner, force=force)
            done = subprocess.run([*program, *words], capture_output=True, text=True, check=False)
            assert done.returncode == 0, done.stderr
            found = place.command.read(inner / place.command.name)
            count(tally, "no write permission", "new" if found == place.versions["new"] else "wrong")
            assert found == place.versions["new"]
        assert place.leftovers() == []


def two_versions() -> list[Tokenizer]:
    return [small("gpt2", merges=300), small("gpt4o", merges=500)]


def save_without_end(folder: Path) -> None:
    for version in itertools.cycle(two_versions()):
        version.save(folder, force=True)


def check_readers(folder: Path, tally: Tally, loads: int, *, stranger: bool) -> None:
    """Load while another process replaces the tokenizer without a pause."""
    versions = two_versions()
    versions[0].save(folder)
    if stranger:  # then the folder cannot be exchanged as a whole
        (folder / "model.safetensors").write_bytes(b"weights")
    writer = start(save_without_end, folder)
    fault = "read while replaced, " + ("file by file" if stranger else "as a whole")
    seen = set()
    try:
        for _ in range(loads):
            try:
                found = Tokenizer.load(folder)
            except PairityError as error:
                count(tally, fault, "refused")
                raise AssertionError("a reader between two versions") from error
            seen.add(versions.index(found))
            count(tally, fault, "new")
        while len(seen) < 2:  # a machine may be slow to save
            seen.add(versions.index(Tokenizer.load(folder)))
    finally:
        writer.kill()
        writer.join()


@pytest.mark.parametrize("stranger", [False, True], ids=["exchanged whole", "file by file"])
def test_readers_see_old_or_new(tally, tmp_path, stranger):
    check_readers(tmp_path / "tok", tally, 200, stranger=stranger)


@long
@pytest.mark.parametrize("stranger", [False, True], ids=["exchanged whole", "file by file"])
def test_many_readers_see_old_or_new(tally, tmp_path, stranger):
    check_readers(tmp_path / "tok", tally, 5000, stranger=stranger)
