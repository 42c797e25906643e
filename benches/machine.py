"""The machine that was measured on, as a reader must know it to judge the numbers."""

import contextlib
import importlib.metadata
import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any


def machine() -> dict[str, Any]:
    """What a reader must know to judge the numbers."""
    model = platform.processor() or platform.machine()
    with contextlib.suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                model = line.partition(":")[2].strip()
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": model,
        "cores": cores,
        "memory_gb": round(memory / 2**30, 1),
        "os": f"{platform.system()} {platform.release().partition('-')[0]} {platform.machine()}",
        "python": platform.python_version(),
    }


def stolen() -> tuple[int, int]:
    """Processor time so far that other guests of the same host took, and all of it (Linux)."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        times = [int(time) for time in Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
        return times[7], sum(times)
    return 0, 0


def installed(peers: Iterable[str]) -> dict[str, str]:
    """Program -> version, of those that are here."""
    found = {}
    for program in ("pairity", *peers):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            found[program] = importlib.metadata.version(program)
    return found
