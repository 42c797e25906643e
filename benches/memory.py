"""Counting under a memory limit against counting without: the same bytes, how much slower, how much smaller.

    python benches/memory.py --data ../shared/data/train                     2 GB of text, --memory 512MB
    python benches/memory.py --data ../shared/data/train --size 200MB --memory 64MB

The text is the given one again and again. The words of each line get an ending, 50 of them in turn and others each
time, so that the number of distinct words grows with the text, and much faster than in any real one.
"""

import argparse
import gzip
import itertools
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from machine import machine

from pairity.sizes import parse_size, show_size

COUNT = "import sys; from pairity.cli import run; run()"


def main() -> None:
    options = parsed()
    with tempfile.TemporaryDirectory(dir=options.folder) as made:
        folder = Path(made)
        size = write_text(options.data, folder / "text", options.size)
        print(f"{show_size(size)} of text, --memory {show_size(options.memory)}, {options.threads} threads")
        plain = measured(folder, "plain", options.threads)
        limited = measured(folder, "limited", options.threads, "--memory", str(options.memory))
        same = (folder / "plain.parquet").read_bytes() == (folder / "limited.parquet").read_bytes()
    record = {
        "text_bytes": size,
        "memory": options.memory,
        "threads": options.threads,
        "plain": plain,
        "limited": limited,
        "speed": plain["wall"] / limited["wall"],
        "speed_by_processor_time": plain["processor"] / limited["processor"],
        "same_bytes": same,
        "machine": machine(),
    }
    print(json.dumps(record, indent=1))
    if options.output:
        options.output.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    if not same:
        sys.exit("the counts differ")


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="a folder with LANG.txt.gz files")
    parser.add_argument("--size", type=parse_size, default=2_000_000_000)
    parser.add_argument("--memory", type=parse_size, default=512_000_000)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument(
        "--folder", type=Path, help="where the text is written; it needs three times its size"
    )
    parser.add_argument("-o", "--output", type=Path, help="a file for the record")
    return parser.parse_args()


def write_text(data: Path, folder: Path, size: int) -> int:
    """A file per language; returns how many bytes they have together."""
    folder.mkdir()
    written = 0
    for copy in itertools.count():
        for path in sorted(data.glob("*.txt.gz")):
            endings = itertools.cycle(
                f"{letters(number)} ".encode() for number in range(50 * copy, 50 * copy + 50)
            )
            lines = gzip.decompress(path.read_bytes()).splitlines(keepends=True)
            with (folder / path.name.removesuffix(".gz")).open("ab") as file:
                for line, ending in zip(lines, endings, strict=False):
                    written += file.write(line.replace(b" ", ending))
            if written >= size:
                return written
    raise AssertionError("there is no end to endings")


def letters(number: int) -> str:
    """0 -> "", 1 -> "q", 9 -> "qq": endings that no two numbers share."""
    found = ""
    while number:
        number, letter = divmod(number - 1, 8)
        found += "qxzjkvwy"[letter]
    return found


def measured(folder: Path, name: str, threads: int, *options: str) -> dict[str, Any]:
    """Seconds, processor seconds and most memory of a count in a process of its own."""
    command = ["count", str(folder / "text"), "--threads", str(threads), *options]
    begun = time.monotonic()
    child = os.spawnv(
        os.P_NOWAIT,
        sys.executable,
        [sys.executable, "-c", COUNT, *command, "-o", str(folder / f"{name}.parquet")],
    )
    _, status, used = os.wait4(child, 0)
    if status:
        sys.exit(f"counting failed: {name}")
    return {
        "wall": time.monotonic() - begun,
        "processor": used.ru_utime + used.ru_stime,
        "memory": used.ru_maxrss * 1024,
    }


if __name__ == "__main__":
    main()
