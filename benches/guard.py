"""Say when the core needs over 2% more instructions than recorded, for counting, training and encoding.

    python benches/guard.py            compare with benches/guard.json; exit 1 where a stage has grown
    python benches/guard.py --update   record the numbers of now

Instructions, unlike seconds, are the same on a busy machine. valgrind counts them, in fixed small runs of
benches/guard.rs on the embedded sample.

iai-callgrind does much of this, but it needs its own runner installed in the same version, and it compares with
an earlier run in target/ and not with numbers that are committed. benches/ideas.py needs guard.rs in any case.
"""

import argparse
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
RECORD = Path(__file__).with_name("guard.json")
PROFILES = ROOT / "target" / "guard"
STAGES = ("read", "count", "classical", "parity", "encode")
ALLOWED = 1.02


def compiler() -> str:
    return subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip()


def build() -> Path:
    subprocess.run(["cargo", "build", "--release", "--quiet", "--example", "guard"], cwd=ROOT, check=True)
    return ROOT / "target" / "release" / "examples" / "guard"


def instructions(binary: Path, stage: str) -> int:
    """Of a run of all stages up to this one."""
    profile = PROFILES / f"{stage}.out"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", str(binary), stage]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", ended.stderr)
    if ended.returncode or found is None:
        raise SystemExit(f"valgrind could not run stage '{stage}':\n{ended.stderr}")
    return int(found[1])


def compare(now: dict[str, int], before: dict[str, int]) -> list[str]:
    """Print each stage; the stages that have grown too much.

    >>> compare({"count": 110}, {"count": 100})  # prints: count  110 instructions, +10.0%
    ['count']
    """
    grown = []
    for stage, number in now.items():
        if stage not in before:
            print(f"{stage:10} {number:>15,} instructions, not recorded yet")
            continue
        ratio = number / before[stage]
        print(f"{stage:10} {number:>15,} instructions, {ratio - 1:+.1%}")
        if ratio > ALLOWED:
            grown.append(stage)
    return grown


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(
        description="Compare the instructions of fixed runs with those recorded."
    )
    parser.add_argument("--update", action="store_true", help="record the numbers of now")
    options = parser.parse_args(arguments)
    if shutil.which("valgrind") is None:
        print("valgrind is missing: apt-get install valgrind (or dnf, pacman, zypper).", file=sys.stderr)
        return 1
    PROFILES.mkdir(parents=True, exist_ok=True)
    binary = build()
    totals = [instructions(binary, stage) for stage in STAGES]
    now = {stage: totals[i + 1] - totals[i] for i, stage in enumerate(STAGES[1:])}
    record: dict[str, Any] = {"compiler": compiler(), "instructions": {}}
    if RECORD.exists():
        record = json.loads(RECORD.read_text())
    grown = compare(now, record["instructions"])
    if options.update:
        RECORD.write_text(json.dumps({"compiler": compiler(), "instructions": now}, indent=1) + "\n")
        print(f"recorded in {RECORD.relative_to(ROOT)}")
        return 0
    if record["compiler"] != compiler():
        print(f"recorded with {record['compiler']}, and this is {compiler()}: the compiler may differ.")
    if not record["instructions"]:
        print("nothing is recorded: python benches/guard.py --update", file=sys.stderr)
        return 1
    if grown:
        print(
            f"over {ALLOWED - 1:.0%} more in: {', '.join(grown)}. See where with callgrind_annotate "
            f"{PROFILES.relative_to(ROOT)}/{grown[0]}.out; if it is worth it, record it with --update.",
            file=sys.stderr,
        )
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
