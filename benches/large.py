"""How much memory a large training takes: so many made-up words, all in one process, run by hand.

    python benches/large.py                        40 million words of 30 languages, 64,000 merges: 7.6 GB
    python benches/large.py --words 1000000        does it work at all

The words are those of the growth runs of bench.py. They are made in memory, one language at a time, so that the peak is
that of the counts and the training alone and not that of a reader.
"""

import argparse
import resource
import time

import numpy as np
import pyarrow as pa
from machine import machine
from texts import LETTERS, words, zipf_counts

from pairity.counts.counts import Counts
from pairity.counts.values import LanguageCounts
from pairity.training.engine import columns, learn

DEV_WORDS = 2_000


def made_up(language: str, distinct: int, seed: int) -> LanguageCounts:
    data, offsets = words(language, distinct, seed)
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(data)]
    pretokens = pa.LargeBinaryArray.from_buffers(pa.large_binary(), distinct, buffers)
    table = pa.table(
        [pa.repeat(language, distinct), pretokens, zipf_counts(distinct)], ["language", "pretoken", "count"]
    )
    return Counts.from_arrow(table, split="train")[language]


def peak() -> float:
    """Of resident memory so far, in GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the memory of a large training.")
    parser.add_argument("--words", type=int, default=40_000_000, help="distinct (language, word); 40 million")
    parser.add_argument("--languages", type=int, default=30, help="default: 30")
    parser.add_argument("--merges", type=int, default=64_000, help="default: 64000")
    parser.add_argument("--global-merges", type=int, default=0, help="of all languages together (default: 0)")
    parser.add_argument("--threads", type=int, default=machine()["cores"], help="default: all cores")
    options = parser.parse_args()
    scripts = list(LETTERS)
    languages = []
    for number in range(options.languages):
        language = f"l{number:02}_{scripts[number % len(scripts)]}"
        train = columns(made_up(language, options.words // options.languages, number))
        dev = made_up(language, DEV_WORDS, number)
        languages.append((train, (columns(dev), float(dev.pretoken_bytes()), 1.0)))
    size = sum(int(offsets[-1] - offsets[0]) for (_, offsets, _), _ in languages)
    held = sum(np.asarray(column).nbytes for train, _ in languages for column in train)
    print(f"{options.words:,} words of {size / 1e9:.2f} GB, {held / 1e9:.2f} GB with offsets and counts")
    print(f"peak while they were made {peak():.2f} GB", flush=True)
    began, user = time.monotonic(), time.process_time()
    goal = {"merges": options.merges, "global_merges": options.global_merges, "threads": options.threads}
    learned = learn(languages, **goal)
    took, user = time.monotonic() - began, time.process_time() - user
    print(
        f"{len(learned.steps):,} merges in {took:.0f} s ({user:.0f} s of processors): peak {peak():.2f} GB,"
        f" {peak() * 1e9 / options.words:.0f} bytes a word"
    )


if __name__ == "__main__":
    main()
