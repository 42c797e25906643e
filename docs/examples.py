"""Run the examples of the pages, and write what they print into the pages.

Every block of `sh` and `python` runs, in the order of the page, in a folder that has what the tutorial made. A
comment in the line before a block says what is different about it:

    <!-- not run: REASON -->    it cannot run in a test
    <!-- needs: MODULE -->      it is left out where the module is not installed
    <!-- fresh -->              it starts in a new folder; `fresh; needs: MODULE` is both
    <!-- output -->             (of a `text` block) what the block before it prints; a line of `...` stands for any

    python docs/examples.py             run the examples of all pages; write the outputs that changed
    python docs/examples.py PAGE ...    the same for some (the tutorial runs first in any case)

The tests run them too, and fail where a page shows other output.
"""

import contextlib
import importlib.util
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
import warnings
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
TUTORIAL = ROOT / "docs" / "tutorial.md"
MADE_BY_THE_TUTORIAL = ("train", "dev", "devtest", "tokenizer")
"""What the examples of the other pages start with."""

GENERATED = ("docs/reference/commands.md", "docs/reference/python.md", "docs/metrics.md")
"""Pages that scripts write. Their blocks are signatures and help; other tests hold them to the code."""

PAGES = [
    page
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
    if page.relative_to(ROOT).as_posix() not in GENERATED
]

BLOCK = re.compile(
    r"(?:^<!-- (?P<mark>[^\n]*) -->\n)?^```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.MULTILINE | re.DOTALL
)


@dataclass(frozen=True)
class Block:
    """One block of a page."""

    page: str
    line: int
    kind: str
    text: str
    mark: str

    @property
    def place(self) -> str:
        return f"{self.page}:{self.line}"

    @property
    def runs(self) -> bool:
        return self.kind in ("sh", "python") and not self.mark.startswith("not run: ")

    @property
    def missing(self) -> list[str]:
        """Modules that it needs and that are not installed."""
        return [module for module in self.needs if importlib.util.find_spec(module) is None]

    @property
    def needs(self) -> list[str]:
        _, found, modules = self.mark.partition("needs: ")
        return modules.split(", ") if found else []


def blocks_of(page: Path) -> list[Block]:
    text = page.read_text(encoding="utf-8")
    return [
        Block(
            page.relative_to(ROOT).as_posix(),
            text.count("\n", 0, found.start("kind")) + 1,
            found["kind"],
            found["text"],
            found["mark"] or "",
        )
        for found in BLOCK.finditer(text)
    ]


@dataclass
class Runner:
    """Runs blocks in one folder; the names that Python blocks make live on."""

    folder: Path
    program: Path
    """The folder that holds the program `pairity`."""
    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "__main__"})

    def run(self, block: Block) -> str:
        """What the block writes to standard output; an error where it fails."""
        return self.shell(block) if block.kind == "sh" else self.python(block)

    def shell(self, block: Block) -> str:
        path = os.pathsep.join([str(self.program), str(Path(sys.executable).parent), os.environ["PATH"]])
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", block.text],
            cwd=self.folder,
            env={**os.environ, "PATH": path, "COLUMNS": "110", "NO_COLOR": "1"},
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        assert done.returncode == 0, f"{block.place} failed:\n{block.text}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def python(self, block: Block) -> str:
        printed = io.StringIO()
        code = compile("\n" * block.line + block.text, block.page, "exec")
        with contextlib.chdir(self.folder), contextlib.redirect_stdout(printed), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(code, self.names)
        return printed.getvalue()


def run_page(
    page: Path, folder: Path, program: Path, *, start: Path | None, without: tuple[str, ...] = ()
) -> list[tuple[Block, str]]:
    """Run the examples of a page; the blocks of output, each with what was really printed.

    `start` is the folder of the tutorial; None begins with nothing. Blocks that need one of `without` are left out.
    """
    runner = Runner(begin(folder, start), program)
    printed: str | None = None
    outputs = []
    for number, block in enumerate(blocks_of(page)):
        if block.mark.startswith("fresh"):
            runner = Runner(begin(folder / str(number), start), program)
        if block.mark == "output" and printed is not None:
            outputs.append((block, printed))
        elif block.runs:
            printed = None if block.missing or {*block.needs} & {*without} else runner.run(block)
    return outputs


def begin(folder: Path, start: Path | None) -> Path:
    folder.mkdir(exist_ok=True)
    if start is not None:
        for name in MADE_BY_THE_TUTORIAL:
            shutil.copytree(start / name, folder / name)
    return folder


def install_program(folder: Path) -> Path:
    """A program `pairity` that runs this checkout with this Python, whatever is installed."""
    script = folder / "pairity"
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -c "from pairity.cli import run; run()" "$@"\n')
    script.chmod(0o755)
    return folder


def same_output(expected: str, printed: str) -> bool:
    """Whether the page shows what was printed, but for spaces at the ends of lines."""
    pattern = "".join(
        r"(?:.*\n)*?" if line.strip() == "..." else re.escape(line.rstrip()) + r"[ ]*\n"
        for line in expected.rstrip().splitlines()
    )
    return re.fullmatch(r"\s*?" + pattern + r"\s*", printed + "\n") is not None


def fill(page: Path, outputs: list[tuple[Block, str]]) -> None:
    """Write the outputs that changed into the page."""
    text = page.read_text(encoding="utf-8")
    for block, printed in outputs:
        if not same_output(block.text, printed):
            tidy = "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())
            at = text.index(f"<!-- output -->\n```text\n{block.text}```")
            text = text[:at] + f"<!-- output -->\n```text\n{tidy}```" + text[at:].split("```", 2)[2]
            print(f"{block.place}: output written")
    page.write_text(text, encoding="utf-8")


def main(names: list[str]) -> int:
    chosen = [Path(name).resolve() for name in names] or PAGES
    with tempfile.TemporaryDirectory() as place:
        program, start = Path(place, "program"), Path(place, "tutorial")
        program.mkdir()
        install_program(program)
        fill(TUTORIAL, run_page(TUTORIAL, start, program, start=None))
        for number, page in enumerate(one for one in chosen if one != TUTORIAL):
            fill(page, run_page(page, Path(place, str(number)), program, start=start))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
