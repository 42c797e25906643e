"""Where the system gives fewer threads than asked for, results are the same, and nobody waits for the missing ones."""

import os
import subprocess
import sys

import pytest

GIB = 1 << 30

SCRIPT = """
import os, resource, sys
import pairity

TRAIN = {f"language {i}": ["the cat sat on the mat", "a hat on the cat"] * (i + 1) for i in range(8)}
DEV = {language: lines[:2] for language, lines in TRAIN.items()}
LINES = ["the cat " * 10_000] * 30

def run(threads):
    tok = pairity.train(TRAIN, dev=DEV, num_merges=20, threads=threads, progress=False)
    return tok, tok.encode_batch(LINES, threads=threads)

expected = run(1)
with open("/proc/self/statm") as sizes:
    taken = int(sizes.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
# Room for the stacks of three threads.
resource.setrlimit(resource.RLIMIT_AS, (taken + 7 * 2**29, resource.RLIM_INFINITY))
assert run(8) == expected
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limit of memory is read and set as Linux has it")
def test_work_is_done_on_the_threads_that_there_are():
    environment = os.environ | {"RUST_MIN_STACK": str(GIB)}
    command = [sys.executable, "-c", SCRIPT]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=100, check=False)
    assert ended.returncode == 0, ended.stderr
