"""Measure pairity and its peers, in one run on one machine, each in a process of its own.

    python benches/bench.py                              everything (an hour or two; one peer takes 8 GB)
    python benches/bench.py --suite parity classical     some of it; what the record has of others stays
    python benches/bench.py --quick --skip-peers         does it work at all: writes nothing to docs/

The record is docs/results/bench.json; the tables of the pages and docs/speed.svg are made from it.
"""

import argparse
import itertools
import json
import math
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import texts
from machine import installed, machine, stolen
from record import fill_pages, write
from report import print_tables

from pairity.text.pretokenizers import pattern_of

ROOT = Path(__file__).resolve().parents[1]
WORKERS = Path(__file__).with_name("workers.py")
SUITES = ("parity", "classical", "count", "encode", "growth", "policies")
TRAINERS = ("tokenizers", "ffbpe", "rustbpe", "fast-bpe-rs", "bpeasy", "sentencepiece")
LISTS = ("tokenizers", "tokenizers (fast)", "tiktoken", "gigatoken", "fastokens")
ARRAYS = ("tiktoken", "gigatoken", "fastokens")
PEERS = (*TRAINERS, *ARRAYS)
PATTERN = pattern_of("gpt4o")
NOT_THE_SAME_TASK = "merges characters and splits text by its own rules"
REPEAT_BELOW = 120.0  # seconds: what takes longer is steady enough to be run once

Row = dict[str, Any]


@dataclass
class Bench:
    """A run: what was asked, the texts, and what was measured so far, by case and program."""

    options: argparse.Namespace
    folder: Path
    texts: texts.Texts
    machine: dict[str, Any]
    versions: dict[str, str]
    earlier: dict[str, Any]
    runs: dict[str, list[Row]] = field(default_factory=dict)
    rows: dict[str, Row] = field(default_factory=dict)

    def prepare(self, job: str, **details: Any) -> dict[str, str]:
        """Make counts that are measured on, unmeasured; the job's details to read them."""
        name = "-".join([job, *(str(value) for value in details.values() if isinstance(value, int))])
        made = {"counts": f"{self.folder / name}.parquet", "dev_counts": f"{self.folder / name}-dev.parquet"}
        if not Path(made["dev_counts"]).exists():
            saved = {"save": made["counts"], "save_dev": made["dev_counts"]}
            self.work({"job": job, "program": "pairity", "threads": self.options.threads} | saved | details)
        return made

    def counts(self) -> dict[str, str]:
        return self.prepare("count", train=paths(self.texts.train), dev=paths(self.texts.dev))

    def measure(self, case: str, job: str, program: str = "pairity", label: str = "", **details: Any) -> Row:
        """Run a job and keep its row. Rows with the same `case` are compared with each other."""
        details.setdefault("threads", self.options.threads)
        row: Row = {"case": case, "program": label or program, "threads": details["threads"]}
        row |= {name: details[name] for name in ("method", "merges") if name in details}
        peer = program != "pairity"
        if peer and self.options.skip_peers:
            return row
        module = program.partition(" ")[0]
        if peer and module not in self.versions:
            return row
        show = f"{case}: {row['program']}"
        if peer and (known := self.reused(row)):
            say(f"{show}: {known['wall']:.2f} s (from an earlier run)")
            # What it gave then was compared with the pairity of then, which says nothing of this one.
            return self.keep(known | {"reused": True, "same": "not compared again"})
        runs = self.runs.setdefault(show, [])
        if sum(run["wall"] for run in runs) > REPEAT_BELOW:
            return self.rows[show]
        tokens = self.folder / "run.tokens"
        tokens.unlink(missing_ok=True)
        asked = {"job": job, "program": program, "tokens": str(tokens), "folder": str(self.folder)}
        try:
            run = self.work(asked | details)
        except WorkError as error:
            say(f"{show}: {error}")
            runs.append({"wall": math.inf})  # it is not tried again
            return self.keep(row | {"failed": str(error)})
        say(f"{show}: {run['wall']:.2f} s, {run['user']:.2f} s user, {run['memory'] / 1e6:,.0f} MB")
        runs.append(run)
        walls = [run["wall"] for run in runs]
        row |= runs[walls.index(statistics.median_low(walls))] | {"runs": walls}
        if tokens.exists():
            row["same"] = self.compare(case, details, row, tokens)
        return self.keep(row)

    def keep(self, row: Row) -> Row:
        self.rows[f"{row['case']}: {row['program']}"] = row
        return row

    def compare(self, case: str, details: dict[str, Any], row: Row, tokens: Path) -> str | None:
        """What a peer gave against ours: in order for parity and ids, as a set for classical BPE."""
        ours = self.folder / f"{case}.tokens"
        if row["program"] == "pairity":
            shutil.copy(tokens, ours)
            return None
        if not ours.exists():
            return None
        one, other = ours.read_text().split("\n"), tokens.read_text().split("\n")
        if details.get("method") == "classical":
            # Each trainer orders equal counts in its own way, and a tie may change what comes after it.
            return f"{len(set(one) & set(other)):,} of {len(one):,} tokens"
        same = sum(a == b for a, b in zip(one, other, strict=False))
        return f"{same:,} of {len(one):,} {'merges' if 'method' in details else 'texts'}"

    def reused(self, row: Row) -> Row | None:
        """The same peer on the same texts and machine, from the record given with --reuse."""
        for suite in self.earlier.get("suites", {}).values():
            program = row["program"].partition(" ")[0]
            like_now = (
                suite["machine"] == self.machine
                and suite["texts"] == self.texts.what
                and suite["versions"].get(program) == self.versions.get(program)
            )
            for known in suite["rows"] if like_now else ():
                if "wall" in known and all(known.get(name) == value for name, value in row.items()):
                    return dict(known)
        return None

    def work(self, job: dict[str, Any]) -> Row:
        answer = self.folder / "answer.json"
        answer.unlink(missing_ok=True)
        environment = os.environ | {
            "RAYON_NUM_THREADS": str(job["threads"]),
            "TOKENIZERS_PARALLELISM": "true",
        }
        try:
            ended = subprocess.run(
                [sys.executable, "-W", "ignore", str(WORKERS)],
                input=json.dumps(job | {"answer": str(answer), "pattern": PATTERN}),
                text=True,
                capture_output=True,
                timeout=self.options.timeout,
                env=environment,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise WorkError(f"not done after {self.options.timeout:,} s") from None
        if ended.returncode or not answer.exists():
            last = ended.stderr.strip().rsplit("\n", 1)[-1] or f"exit code {ended.returncode}"
            raise WorkError(f"failed: {last[:200]}")
        return dict(json.loads(answer.read_text()))


class WorkError(RuntimeError):
    """A worker that gave no answer, and why."""


def parity(bench: Bench) -> None:
    """Parity-aware training: from compressed text, and the merge loop alone."""
    o = bench.options
    files: dict[str, Any] = {"train": paths(bench.texts.train), "dev": paths(bench.texts.dev)}
    files["method"] = "parity"
    peer: Row = {}
    for merges in sorted({o.merges, o.peer_merges}):
        case = f"parity, {merges:,} merges, from .txt.gz"
        bench.measure(case, "train", merges=merges, **files)
        if merges == o.peer_merges:
            peer = bench.measure(case, "train", "tokenizers", merges=merges, **files)
    one: Row = {}
    if "wall" in peer:
        one = bench.measure("parity, 1 merge, from .txt.gz", "train", "tokenizers", merges=1, **files)
    counts = bench.counts()
    for merges in sorted({o.merges, o.peer_merges, 4 * o.merges}):
        case = f"parity, {merges:,} merges, from counts"
        bench.measure(case, "merge", merges=merges, method="parity", **counts)
        if merges >= o.peer_merges and "wall" in one:
            row = loop_alone(case, peer, one)
            if merges > o.peer_merges:
                row["program"] += f", its first {o.peer_merges:,} merges"
            bench.keep(row)
        label = "pairity, classical"
        bench.measure(case, "merge", label=label, merges=merges, method="classical", **counts)


def loop_alone(case: str, whole: Row, one: Row) -> Row:
    """The merge loop of a trainer that takes no counts: its run less its run of one merge.

    The peak of memory is that of its reading, so none is given; nor are seconds that noise made negative.
    """
    row = {
        name: whole[name] for name in ("program", "threads", "method", "merges", "reused") if name in whole
    }
    loop = {name: whole[name] - one[name] for name in ("wall", "user")}
    if loop["wall"] <= 0 or loop["user"] <= 0:
        return row | {"case": case, "failed": "too short to tell from its run of 1 merge"}
    return row | loop | {"case": case, "derived": "its run minus its run of 1 merge"}


def classical(bench: Bench) -> None:
    """Classical training from plain text, and the merge loop alone where a peer has one."""
    train = paths(bench.texts.plain(bench.folder / "plain"))
    for merges in (bench.options.merges, 4 * bench.options.merges):
        case = f"classical, {merges:,} merges, from plain text"
        for program in ("pairity", *TRAINERS):
            row = bench.measure(case, "train", program, merges=merges, method="classical", train=train)
            if program == "sentencepiece" and "wall" in row:
                row["same"] = NOT_THE_SAME_TASK
        case = f"classical, {merges:,} merges, from counts"
        bench.measure(case, "merge", merges=merges, method="classical", **bench.counts())
        bench.measure(case, "merge", "ffbpe", merges=merges, method="classical", train=train)


def count(bench: Bench) -> None:
    """Counting pre-tokens, by threads."""
    plain = paths(bench.texts.plain(bench.folder / "plain"))
    for threads in sorted({1, bench.options.threads}):
        case = f"count plain text, {threads} thread{'s' * (threads > 1)}"
        ours = bench.measure(case, "count", threads=threads, train=plain)
        other = bench.measure(case, "count", "ffbpe", threads=threads, train=plain)
        if "wall" in other and "wall" in ours:
            same = all(other[name] == ours[name] for name in ("words", "pretokens"))
            other["same"] = "same counts" if same else f"{other['words']:,} words, ours {ours['words']:,}"
        case = f"count .txt.gz, {threads} thread{'s' * (threads > 1)}"
        bench.measure(case, "count", threads=threads, train=paths(bench.texts.train))


def encode(bench: Bench) -> None:
    """Encoding three kinds of text with one tokenizer in several programs, to lists and to arrays."""
    o = bench.options
    merges = 4 * o.merges
    tokenizer = bench.folder / "tokenizer"
    files = {"train": paths(bench.texts.train), "dev": paths(bench.texts.dev)}
    training = {"job": "train", "program": "pairity", "method": "parity", "merges": merges} | files
    if not tokenizer.exists():
        bench.work(training | {"threads": o.threads, "save": str(tokenizer)})
    kinds = bench.texts.to_encode(most_bytes=100_000 if o.quick else 8_000_000)
    for kind, found in list(kinds.items())[: 1 if o.quick else None]:
        test = bench.folder / f"{kind}.json"
        test.write_text(json.dumps(found), encoding="utf-8")
        for form, peers in (("lists", LISTS), ("arrays", ARRAYS)):
            for threads in sorted({1, o.threads}):
                case = f"encode {kind} to {form}, {threads} thread{'s' * (threads > 1)}"
                job = {"test": str(test), "tokenizer": str(tokenizer), "threads": threads}
                for program in ("pairity", *peers):
                    bench.measure(case, f"encode to {form}", program, **job)


def growth(bench: Bench) -> None:
    """How the parity merge loop grows with words, languages, merges and threads."""
    o = bench.options

    def grow(what: str, value: int, **details: Any) -> None:
        job = {"merges": o.merges, "method": "parity"} | details
        row = bench.measure(f"growth with {what}: {value:,}", "merge", **job)
        row["grows"], row["value"] = what, value

    for times in (1, 2, 4, 8):
        made = bench.prepare("make_words", words=o.words * times // 8, languages=min(30, 4 * o.languages))
        grow("distinct words", o.words * times // 8, merges=4 * o.merges, **made)
    files = {"train": paths(bench.texts.train), "dev": paths(bench.texts.dev)}
    for languages in (2, 4) if o.quick else (10, 30, 60, 200):
        grow("languages", languages, **bench.prepare("cut", languages=languages, **files))
    for merges in (o.merges * times // 4 for times in (1, 2, 4, 8, 16, 32)):
        grow("merges", merges, **bench.counts() | {"merges": merges})
    for threads in sorted({1, o.threads}):
        grow("threads", threads, **bench.counts() | {"threads": threads})


def policies(bench: Bench) -> None:
    """What the policies beyond the paper cost: the same merge loop, beside that of parity, on one thread and on all."""
    variants: dict[str, dict[str, Any]] = {"": {}}
    variants |= {f"joint {share}": {"joint": share} for share in (0.7, 0.5)}
    variants |= {f"fair {beta:g}": {"method": "fair", "beta": beta} for beta in (16.0, 64.0, 150.0)}
    chosen = {"the paper's": (bench.texts.train, bench.texts.dev), "all": bench.texts.widest()}
    merges, threads = bench.options.merges, sorted({1, bench.options.threads})
    for which, (train, dev) in chosen.items():
        counts = bench.prepare("count", train=paths(train), dev=paths(dev), languages=len(train))
        for number, times, (name, setting) in itertools.product(threads, (1, 4), variants.items()):
            job = {"merges": times * merges, "method": "parity", "min_frequency": 2, "threads": number}
            case = f"{which} {len(train)} languages, {job['merges']:,} merges, {number} thread{'s' * (number > 1)}"
            bench.measure(case, "merge", label=f"pairity, {name}" if name else "", **job | counts | setting)


def paths(files: dict[str, Path]) -> dict[str, str]:
    return {language: str(path) for language, path in files.items()}


def say(message: str) -> None:
    print(message, file=sys.stderr, flush=True)


def command(options: argparse.Namespace, default: argparse.Namespace) -> str:
    """The command to run again, without the paths of this machine."""
    parts = ["python benches/bench.py"]
    for name, value in vars(options).items():
        if name in ("data", "root", "reuse", "timeout") or value == getattr(default, name):
            continue
        words = " ".join(value) if isinstance(value, list) else value
        parts.append(f"--{name.replace('_', '-')}" + ("" if value is True else f" {words}"))
    return " ".join(parts)


def parse(arguments: list[str] | None) -> tuple[argparse.Namespace, str]:
    parser = argparse.ArgumentParser(description="Measure pairity and its peers in one run.")
    parser.add_argument("--suite", nargs="+", choices=SUITES, default=list(SUITES), help="what to measure")
    parser.add_argument("--quick", action="store_true", help="tiny texts; writes to target/bench, not docs/")
    parser.add_argument("--languages", type=int, help="how many of the paper's 30 (quick: 3)")
    parser.add_argument("--lines", type=int, help="only so many lines of each language (quick: 1000)")
    parser.add_argument("--merges", type=int, help="32000, and 4 times that for the large runs (quick: 300)")
    parser.add_argument("--peer-merges", type=int, help="for ParityBpeTrainer (default: as --merges)")
    parser.add_argument("--words", type=int, help="distinct words of the largest growth run (10 million)")
    parser.add_argument("--threads", type=int, default=machine()["cores"], help="default: all cores")
    parser.add_argument("--repeat", type=int, default=1, help="runs of each job; the middle one counts")
    parser.add_argument("--skip-peers", action="store_true", help="measure pairity alone")
    parser.add_argument(
        "--reuse", type=Path, metavar="FILE", help="take peers from an earlier bench.json if it fits"
    )
    parser.add_argument("--timeout", type=int, default=7200, help="seconds for one job")
    parser.add_argument("--data", type=Path, help="folder with train/ and flores200/ (../shared/data)")
    parser.add_argument(
        "--made-up", action="store_true", help="the embedded sample and made-up words as text"
    )
    parser.add_argument("--root", type=Path, help="where docs/ is written (default: this checkout)")
    options = parser.parse_args(arguments)
    if options.repeat < 1:
        parser.error(f"--repeat must be at least 1, not {options.repeat}")
    made_by = command(options, parser.parse_args([]))
    for name, usual, quick in (
        ("languages", 30, 3),
        ("lines", None, 1000),
        ("merges", 32_000, 300),
        ("words", 10_000_000, 16_000),
    ):
        if getattr(options, name) is None:
            setattr(options, name, quick if options.quick else usual)
    options.peer_merges = options.peer_merges or options.merges
    options.root = options.root or (ROOT / "target" / "bench" if options.quick else ROOT)
    return options, made_by


def choose_texts(options: argparse.Namespace, folder: Path) -> texts.Texts:
    data = options.data or ROOT.parent / "shared" / "data"
    if options.made_up or (options.data is None and not data.exists()):
        return texts.made_up(options.languages, options.lines or 200_000, folder / "made-up")
    return texts.real(data, options.languages, options.lines, folder / "real")


def main(arguments: list[str] | None = None) -> int:
    options, made_by = parse(arguments)
    here, versions = machine(), installed(PEERS)
    record_file = options.root / "docs" / "results" / "bench.json"
    record: dict[str, Any] = json.loads(record_file.read_text()) if record_file.exists() else {}
    record.setdefault("suites", {})
    earlier = json.loads(options.reuse.read_text()) if options.reuse else {}
    skipped = [] if options.skip_peers else [peer for peer in PEERS if peer not in versions]
    for peer in skipped:
        say(f"{peer} is not installed and is left out: pip install {peer}")
    with tempfile.TemporaryDirectory(prefix="pairity-bench-") as temporary:
        folder = Path(temporary)
        chosen = choose_texts(options, folder)
        say(f"{here['cpu']}, {here['cores']} cores, {here['memory_gb']} GB, {here['os']}; {chosen.what}")
        for suite in options.suite:
            bench = Bench(options, folder, chosen, here, versions, earlier)
            load, before = os.getloadavg()[0], stolen()
            # Round after round, so that a slow minute of the machine does not fall on one program alone.
            for _ in range(options.repeat):
                globals()[suite](bench)
            taken, passed = (now - then for now, then in zip(stolen(), before, strict=True))
            record["suites"][suite] = {
                "made_by": made_by,
                "machine": here,
                "date": time.strftime("%Y-%m-%d"),
                "load_before": round(load, 2),
                "stolen": round(taken / max(passed, 1), 3),
                "texts": chosen.what,
                "versions": versions,
                "skipped": skipped,
                "rows": list(bench.rows.values()),
            }
            # After each suite, so that a later one that fails does not lose this one.
            write(record, options.root)
    fill_pages(options.root)
    print_tables(record, options.suite)
    say(f"written: {record_file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
