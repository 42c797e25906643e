"""Damage every kind of file that pairity reads, and see that each is read as before or refused in a sentence.

    python tests/fuzz/mutate.py --seconds 600 --seed 1 --record docs/results/fuzz.json
    python tests/fuzz/mutate.py --seed 4711 --cases 1        one case again

A case is a number: it decides which specimen is damaged, and how. Allowed is an error for the user, or the same
result as without the damage; where nothing protects a file (free text, files of others, a manifest whose digests
were made anew), any result. Another exception, a crash or more than 60 seconds is a failure.
"""

from __future__ import annotations

import argparse
import faulthandler
import json
import random
import shutil
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from specimens import Specimen, reseal, specimens

from pairity.errors import PairityError

HANGS = 60
OUTCOMES = ("the same", "another", "refused", "failed")
ODD: list[Any] = [
    None, True, False, -1, 0, 1, 7.5, float("nan"), 2**31, 2**32, 2**63, 10**30, "", "x", "0", "\ud800", "\0", "a b",
    [], {}, [[]], [None], {"": None}, {"type": "BPE"}, [1, 2], ["a", "b"], "é" * 300,
]  # fmt: skip

Mutation = Callable[[random.Random, bytes], bytes]


def flip_bits(rng: random.Random, data: bytes) -> bytes:
    damaged = bytearray(data)
    for _ in range(rng.choice([1, 1, 1, 2, 8])):
        damaged[rng.randrange(len(data))] ^= 1 << rng.randrange(8)
    return bytes(damaged)


def truncate(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.choice([0, 1, len(data) - 1, rng.randrange(len(data))])]


def piece(rng: random.Random, data: bytes) -> tuple[int, int]:
    start = rng.randrange(len(data))
    return start, min(len(data), start + rng.choice([1, 2, 8, 100, 5000]))


def leave_out(rng: random.Random, data: bytes) -> bytes:
    start, end = piece(rng, data)
    return data[:start] + data[end:]


def repeat(rng: random.Random, data: bytes) -> bytes:
    start, end = piece(rng, data)
    return data[:end] + data[start:end] * rng.choice([1, 1, 50]) + data[end:]


def overwrite(rng: random.Random, data: bytes) -> bytes:
    start, end = piece(rng, data)
    return (
        data[:start] + rng.choice([bytes(end - start), rng.randbytes(end - start), b"[" * 3000]) + data[end:]
    )


def change_digits(rng: random.Random, data: bytes) -> bytes:
    """A number becomes another, or one of 5,000 digits."""
    places = [place for place, byte in enumerate(data[:200_000]) if chr(byte).isdigit()]
    if not places:
        return flip_bits(rng, data)
    place = rng.choice(places)
    return data[:place] + rng.choice([b"0", b"9", b"-3", b"1e9", b"1.5", b"9" * 5000]) + data[place + 1 :]


MUTATIONS: list[Mutation] = [flip_bits, truncate, leave_out, repeat, overwrite, change_digits]


def change_json(rng: random.Random, data: bytes) -> bytes:
    """One value, at any depth, becomes one of another type, goes, or appears under another name."""
    contents = json.loads(data)
    place: Any = contents
    while True:
        keys = list(place) if isinstance(place, dict) else range(len(place))
        if not keys:
            break
        key = rng.choice(keys)
        inner = place[key]
        if isinstance(inner, dict | list) and inner and rng.random() < 0.8:
            place = inner
            continue
        action = rng.random()
        if action < 0.15:
            del place[key]
        elif action < 0.25 and isinstance(place, dict):
            place[rng.choice(["x", "", "\ud800", str(key).upper()])] = place.pop(key)
        elif action < 0.3 and isinstance(place, list):
            place.insert(rng.randrange(len(place) + 1), inner)
        else:
            place[key] = rng.choice(
                [*ODD, rng.choice(list(place.values() if isinstance(place, dict) else place))]
            )
        break
    return json.dumps(contents, ensure_ascii=rng.random() < 0.9).encode("utf-8", "surrogatepass")


def damage(rng: random.Random, specimen: Specimen, folder: Path, *, forge: bool) -> tuple[str, bool]:
    """Damage the copy of a specimen in the folder; what was done, and whether anything may come of it."""
    names = [name for name in specimen.files if specimen.files[name]]
    name = rng.choice(names)
    file = folder / name
    what = rng.random()
    if what < 0.04:
        file.unlink()
        return f"{name} is gone", specimen.is_free(name) or name == specimen.manifest
    if what < 0.06:
        file.unlink()
        file.mkdir()
        return f"{name} is a folder", specimen.is_free(name)
    if what < 0.12 and len(names) > 1:
        other = rng.choice([each for each in names if each != name])
        file.write_bytes(specimen.files[other])
        (folder / other).write_bytes(specimen.files[name])
        return f"{name} and {other} are exchanged", specimen.is_free(name) or specimen.is_free(other)
    mutation = rng.choice(MUTATIONS)
    if file.suffix == ".json" and rng.random() < 0.7:
        mutation = change_json
    file.write_bytes(mutation(rng, specimen.files[name]))
    done = f"{mutation.__name__} of {name}"
    if forge and specimen.manifest is not None and rng.random() < 0.5 and reseal(folder, specimen.manifest):
        return f"{done}, with new digests", True
    return done, specimen.is_free(name)


def run_case(rng: random.Random, specimen: Specimen, folder: Path) -> tuple[str, str]:
    """What was done to the specimen, and the outcome, with the traceback of a failure."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name, data in specimen.files.items():
        (folder / name).write_bytes(data)
    read = rng.choice(list(specimen.readers))
    done, free = damage(rng, specimen, folder, forge=read not in specimen.trusting)
    done = f"{specimen.name}: {done}, read by {read}"
    try:
        with watched():
            found = specimen.readers[read](folder)
    except (PairityError, click.ClickException):
        return done, "refused"
    except BaseException as error:
        if isinstance(error, KeyboardInterrupt):
            raise
        return done, f"failed\n{traceback.format_exc()}"
    if found == specimen.expected[read]:
        return done, "the same"
    return done, "another" if free else "failed\nread as something else without a word"


@contextmanager
def watched() -> Iterator[None]:
    """What hangs, in whatever library, ends the program and shows where it was."""
    faulthandler.dump_traceback_later(HANGS, exit=True)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        faulthandler.cancel_dump_traceback_later()


def run(
    first: int,
    *,
    seconds: float,
    cases: int | None,
    folder: Path,
    say: Callable[[str], None],
    without: Collection[str] = (),
) -> Counter[tuple[str, str]]:
    """(specimen, outcome) -> how often. Failures are shown as they come; `without` names specimens to pass over."""
    known = specimens(folder / "specimens")
    (folder / "case").mkdir()
    counted: Counter[tuple[str, str]] = Counter()
    number, end = first, time.monotonic() + seconds
    while (time.monotonic() < end) if cases is None else (number < first + cases):
        rng = random.Random(number)
        specimen = rng.choice(known)
        if specimen.name not in without:
            (folder / "number").write_text(str(number))  # for a crash, which leaves nothing else
            done, outcome = run_case(rng, specimen, folder / "case" / "it")
            if outcome.startswith("failed"):
                say(f"--seed {number} --cases 1: {done}: {outcome}")
            counted[specimen.name, outcome.partition("\n")[0]] += 1
        number += 1
    return counted


def record(counted: Counter[tuple[str, str]], made_by: str) -> dict[str, Any]:
    """In the shape of docs/results: one row per kind of file."""
    names = sorted({name for name, _ in counted})
    rows = [[name, *(counted[name, outcome] for outcome in OUTCOMES)] for name in names]
    totals = ["all", *(sum(row[place] for row in rows) for place in range(1, 1 + len(OUTCOMES)))]
    titles = ("read as before", "read as something else, where nothing protects it", "refused", "failed")
    return {
        "made_by": made_by,
        "columns": [{"name": "file"}, *({"name": title, "format": ",d"} for title in titles)],
        "rows": [*rows, totals],
    }


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1, help="the number of the first case")
    parser.add_argument("--cases", type=int, help="so many cases, instead of --seconds")
    parser.add_argument("--without", nargs="*", default=[], help="kinds of files to pass over")
    parser.add_argument("--record", type=Path, help="write the counts here")
    options = parser.parse_args()
    faulthandler.enable()
    with tempfile.TemporaryDirectory() as folder:
        print(f"the number of the case at work is in {folder}/number", file=sys.stderr)
        counted = run(
            options.seed,
            seconds=options.seconds,
            cases=options.cases,
            folder=Path(folder),
            say=print,
            without=options.without,
        )
    made_by = f"python tests/fuzz/mutate.py --seconds {options.seconds:.0f} --seed {options.seed}"
    if options.without:
        made_by += f" --without {' '.join(options.without)}"
    found = record(counted, made_by)
    for row in found["rows"]:
        print(
            f"{row[0]:<20}", *(f"{number:>8,} {name}" for number, name in zip(row[1:], OUTCOMES, strict=True))
        )
    if options.record:
        options.record.write_text(json.dumps(found, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    return 1 if found["rows"][-1][-1] else 0


if __name__ == "__main__":
    sys.exit(main())
