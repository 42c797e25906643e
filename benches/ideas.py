"""What each idea of the engine gives: the core is built without it, and both are timed on the same texts.

    python benches/ideas.py                       all of them (half an hour); fills docs/engine.md
    python benches/ideas.py --only prefetch       those whose name has the word; writes nothing

An idea is taken away by changing a line or two in a copy of the source. Where the source has moved on and a line is no
longer found, this program says so and stops: mend the table below.
"""

import argparse
import gzip
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench import ROOT, say
from machine import machine

from pairity.languages import LANGUAGES_30

STAGES = ("count", "classical", "parity", "encode")
MERGES = 32_000
LINES = 20_000  # of each language: a run of seconds, so that two runs see the machine in the same state


@dataclass(frozen=True)
class Idea:
    name: str
    file: str
    stages: tuple[str, ...]
    """The stages that the idea is for; others are not shown."""
    changes: tuple[tuple[str, str], ...]


IDEAS = (
    Idea(
        "hand-written scanners instead of a regex engine",
        "src/split/mod.rs",
        ("count", "encode"),
        (("KNOWN.iter().position(|(known, _)| *known == pattern)", "None"),),
    ),
    Idea(
        "pre-tokens of ASCII found 64 bytes at a time",
        "src/split/scanner.rs",
        ("count", "encode"),
        (
            (
                "let mut starts = if rules.have_blocks() {",
                "let mut starts = if false && rules.have_blocks() {",
            ),
        ),
    ),
    Idea(
        "a word of ASCII known from one look at 16 bytes",
        "src/split/scanner.rs",
        ("count", "encode"),
        (
            (
                "if let Some(end) = self.simple_word_end(scanner, start) {",
                "if let Some(end) = None.or_else(|| if false { self.simple_word_end(scanner, start) } else { None }) {",
            ),
        ),
    ),
    Idea(
        "ASCII letters scanned eight at a time",
        "src/split/scanner.rs",
        ("count", "encode"),
        (("if byte.is_ascii_lowercase() {\n                at =", "if false {\n                at ="),),
    ),
    Idea(
        "UTF-8 checked many bytes at a time",
        "src/counts/mod.rs",
        ("count",),
        (("simdutf8::compat::from_utf8(bytes)", "std::str::from_utf8(bytes)"),),
    ),
    Idea(
        "pre-tokens wait until their slots of the table have arrived",
        "src/counts/table.rs",
        ("count",),
        (("const AHEAD: usize = 32;", "const AHEAD: usize = 1;"),),
    ),
    Idea(
        "prefetching",
        "src/memory.rs",
        ("count", "classical", "parity", "encode"),
        (
            (
                "pub fn prefetch<T>(item: *const T) {",
                "pub fn prefetch<T>(_: *const T) {}\n#[allow(dead_code)]\nfn unused<T>(item: *const T) {",
            ),
        ),
    ),
    Idea(
        "merges queued until their language is served",
        "src/train/mod.rs",
        ("parity",),
        (
            (
                "self.append(Step { left: pair.left(), right: pair.right(), served, count })?;",
                "self.append(Step { left: pair.left(), right: pair.right(), served, count })?;\n"
                "for i in 0..pool.len() { while pool.learner(i).catch_up(self.log, &mut self.scratch) {} }",
            ),
        ),
    ),
    Idea(
        "one bit per token that a shard has seen",
        "src/shard/mod.rs",
        ("parity",),
        (
            (
                "if !self.seen.contains(left as usize) || !self.seen.contains(right as usize) {",
                "if false {",
            ),
        ),
    ),
    Idea(
        "short lists of boundaries inside the index",
        "src/shard/lists.rs",
        ("classical", "parity"),
        (("self.len as usize > Boundaries::INLINE", "self.len > 0"),),
    ),
    Idea(
        "words with equal counts in alphabetical order",
        "src/shard/layout.rs",
        ("classical", "parity"),
        (("words.sort_by(|a, b|", "words.sort_unstable_by(|a, b|"),),
    ),
    Idea(
        "only frequent pairs in the queue",
        "src/learner.rs",
        ("classical", "parity"),
        (
            (
                "let queued_from = (self.most_of_the_rarer() / 8).max(admission.floor());",
                "let queued_from = self.most_of_the_rarer().min(admission.floor());",
            ),
        ),
    ),
    Idea(
        "pre-tokens seen before come from a cache",
        "src/encode/mod.rs",
        ("encode",),
        (("if cache.get(word, ids) {", "if false && cache.get(word, ids) {"),),
    ),
    Idea(
        "pre-tokens that are tokens are looked up",
        "src/encode/mod.rs",
        ("encode",),
        (
            (
                "if let Some(id) = self.ids_by_bytes.get(word, &self.tokens) {",
                "if let Some(id) = None::<u32> {",
            ),
        ),
    ),
)


def build(idea: Idea | None, folder: Path) -> Path:
    """The program of guard.rs without the idea, from a copy of the source."""
    source = folder / "source"
    shutil.rmtree(source, ignore_errors=True)
    for name in ("src", "benches"):
        shutil.copytree(ROOT / name, source / name)
    for name in ("Cargo.toml", "Cargo.lock"):
        shutil.copy(ROOT / name, source / name)
    if idea:
        path = source / idea.file
        text = path.read_text()
        for old, new in idea.changes:
            if text.count(old) != 1:
                raise SystemExit(
                    f"{idea.file} has {text.count(old)} times, not once: {old}\nMend IDEAS in {__file__}."
                )
            text = text.replace(old, new)
        path.write_text(text)
    target = ROOT / "target" / "ideas"
    environment = os.environ | {"CARGO_TARGET_DIR": str(target), "RUSTFLAGS": "--cap-lints warn"}
    command = ["cargo", "build", "--release", "--quiet", "--example", "guard"]
    ended = subprocess.run(
        command, cwd=source, env=environment, stderr=subprocess.PIPE, text=True, check=False
    )
    if ended.returncode:
        raise SystemExit(f"without '{idea.name if idea else ''}' it does not build:\n{ended.stderr}")
    binary = folder / f"without-{IDEAS.index(idea) if idea else 'nothing'}"
    shutil.copy(target / "release" / "examples" / "guard", binary)
    return binary


def seconds(binary: Path, last: str, texts: dict[str, Path]) -> dict[str, float]:
    """What each stage takes, up to the last one asked for."""
    command = [str(binary), last, *(str(texts[part]) for part in ("train", "dev", "test")), str(MERGES)]
    said = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True).stdout
    return {stage: float(taken) for stage, taken in map(str.split, said.splitlines())}


def plain_texts(data: Path, folder: Path) -> dict[str, Path]:
    parts = {"train": "train", "dev": "flores200/dev", "test": "flores200/devtest"}
    for part, place in parts.items():
        (folder / part).mkdir(parents=True)
        for language in LANGUAGES_30:
            lines = gzip.decompress((data / place / f"{language}.txt.gz").read_bytes()).split(b"\n")
            (folder / part / language).write_bytes(b"\n".join(lines[:LINES]))
    return {part: folder / part for part in parts}


def table(ratios: dict[str, dict[str, list[float]]], rounds: int) -> dict[str, object]:
    """A row for each idea: seconds without it over seconds with all."""
    rows = [
        [name, *(statistics.median(found[stage]) if stage in found else None for stage in STAGES)]
        for name, found in ratios.items()
    ]
    here = machine()
    return {
        "made_by": "python benches/ideas.py",
        "note": "Seconds without the idea over seconds with all of them, run one right after the other; median of "
        f"{rounds} such ratios; one thread, 30 languages, up to {LINES:,} lines each, {MERGES:,} merges; "
        f"{here['cpu']}, {here['os']}.",
        "columns": [{"name": "idea"}, *({"name": stage, "format": ".2f"} for stage in STAGES)],
        "rows": rows,
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure what each idea of the engine gives.")
    parser.add_argument("--only", default="", metavar="WORD", help="ideas whose name has this word")
    parser.add_argument("--rounds", type=int, default=9, help="runs of each; the middle counts (default: 9)")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="as for bench.py")
    options = parser.parse_args(arguments)
    chosen = [idea for idea in IDEAS if options.only in idea.name]
    if not options.data.exists():
        print(f"no texts at {options.data}: give their folder with --data.", file=sys.stderr)
        return 1
    with tempfile.TemporaryDirectory(prefix="pairity-ideas-") as temporary:
        folder = Path(temporary)
        texts = plain_texts(options.data, folder / "texts")
        whole = build(None, folder)
        binaries = {idea: build(idea, folder) for idea in chosen}
        ratios: dict[str, dict[str, list[float]]] = {
            idea.name: {stage: [] for stage in idea.stages} for idea in chosen
        }
        for number in range(options.rounds):
            for idea, binary in binaries.items():
                # One right after the other, and by turns the first: a machine that is shared has slow minutes.
                pair = (whole, binary) if number % 2 else (binary, whole)
                times = {program: seconds(program, idea.stages[-1], texts) for program in pair}
                for stage in idea.stages:
                    ratios[idea.name][stage].append(times[binary][stage] / times[whole][stage])
                say(f"without {idea.name}: {ratios[idea.name]}")
    if not options.only:
        text = json.dumps(table(ratios, options.rounds), indent=1, ensure_ascii=False) + "\n"
        (ROOT / "docs" / "results" / "ideas.json").write_text(text, encoding="utf-8")
        subprocess.run([sys.executable, str(ROOT / "docs" / "tables.py")], check=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
