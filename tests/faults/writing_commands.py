"""Every command that writes, with an old and a new result of each, and how to tell which of them is there."""

import multiprocessing
import os
import shutil
import sys
import traceback
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any, NoReturn

from crash_points import stop_before, was_stopped, work_watched
from pairity import Counts, PairityError, Scores, Tokenizer, sample
from pairity.cli.program import COMMANDS, main

# Children are forked from a process that has loaded all that commands need and has no thread: a fork of the process
# that runs the tests can hang, since threads that other tests have started, with what they hold, are gone in the child.
CLEAN = multiprocessing.get_context("forkserver")
CLEAN.set_forkserver_preload(
    [*sorted({f"pairity.cli.{family}" for family, _ in COMMANDS.values()}), "jinja2", "markupsafe", "gguf"]
)

LANGUAGES = ("eng_Latn", "tam_Taml")
REFUSED = 3
"""Exit code of a child whose command ended with a sentence."""


@dataclass(frozen=True)
class Writing:
    """A command: the words that write the old result and the new one into `place`."""

    old: list[str]
    new: list[str]
    option: str
    name: str
    read: Callable[[Path], Any]
    """The result at a path, as something that can be compared; PairityError where there is none that is whole."""

    def words(self, folder: Path, version: str = "new", *, force: bool = True) -> list[str]:
        words = self.old if version == "old" else self.new
        return [*words, self.option, str(folder / self.name), *(["--force"] if force else [])]


def call(words: list[str]) -> int:
    """Run a command in a child: 0, REFUSED where it says what is wrong, 1 where it fails in any other way."""
    return end_of(start(run_and_exit, words))


def start(work: Callable[..., object], *arguments: object) -> BaseProcess:
    child = CLEAN.Process(target=work, args=arguments)
    child.start()
    return child


def end_of(child: BaseProcess) -> int:
    child.join()
    assert child.exitcode is not None
    return child.exitcode


def operations(words: list[str], folder: Path) -> int:
    """How many file operations a command takes."""
    marks = folder / "operations"
    assert end_of(start(run_and_mark, words, marks)) == 0
    return marks.stat().st_size


def run_and_mark(words: list[str], marks: Path) -> NoReturn:
    """A byte in `marks` for every file operation."""
    descriptor = os.open(marks, os.O_WRONLY | os.O_CREAT)
    work_watched(lambda: run(words), lambda _: os.write(descriptor, b"!"))


def run_until(words: list[str], number: int) -> bool:
    """Run a command that ends before file operation `number`; whether there was such an operation."""
    return was_stopped(end_of(start(run_and_stop, words, number)))


def run_and_stop(words: list[str], number: int) -> NoReturn:
    stop_before(lambda: run(words), number)


def run_and_exit(words: list[str]) -> NoReturn:
    code = 1
    try:
        run(words)
        code = 0
    except PairityError:
        code = REFUSED
    except BaseException:
        traceback.print_exc(file=sys.__stderr__)
    finally:
        os._exit(code)


def run(words: list[str]) -> None:
    """A command in this process, without what it prints."""
    warnings.simplefilter("ignore")
    sys.stdout = sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 (the child ends with it)
    main(words, standalone_mode=False)


def make(folder: Path) -> dict[str, Writing]:
    """The commands, with what they read made in `folder`."""
    texts = {}
    for split in ("dev", "test"):
        texts[split] = folder / split
        texts[split].mkdir()
        for language in LANGUAGES:
            lines = sample.read(split)[language][:20]
            (texts[split] / f"{language}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
    dev, test = str(texts["dev"]), str(texts["test"])
    training = ["train", "--train", dev, "--dev", dev, "--threads", "1", "--num-merges"]
    evaluation = ["--data", test, "--metric", "cost,gini", "--resamples", "0"]
    made = {
        "old": [*training, "40", "--special-token", "<old>", "-o"],
        "new": [*training, "60", "--special-token", "<new>", "-o"],
        "old-longer": [*training, "5", "--continue", f"{folder}/old", "-o"],
        "new-longer": [*training, "5", "--continue", f"{folder}/new", "-o"],
        "old.parquet": ["count", dev, "-o"],
        "new.parquet": ["count", test, "-o"],
        "old-scores": ["eval", f"one={folder}/old", *evaluation, "-o"],
        "new-scores": ["eval", f"one={folder}/new", *evaluation, "-o"],
    }
    for name, words in made.items():
        assert call([*words, str(folder / name)]) == 0, words

    def of_both(words: list[str], option: str, name: str, read: Callable[[Path], Any]) -> Writing:
        """`OLD` in a word stands for the version."""
        old, new = ([word.replace("OLD", str(folder / one)) for word in words] for one in ("old", "new"))
        return Writing(old, new, option, name, read)

    commands = {
        "train": Writing(made["old"][:-1], made["new"][:-1], "-o", "out", Tokenizer.load),
        "count": Writing(made["old.parquet"][:-1], made["new.parquet"][:-1], "-o", "out.parquet", counts),
        "merge": of_both(["merge", "OLD.parquet"], "-o", "out.parquet", counts),
        "eval": of_both(["eval", "one=OLD", *evaluation], "-o", "out", scores),
        "report": of_both(["report", "OLD-scores"], "-o", "out.html", whole_page),
        "inspect": of_both(["inspect", "OLD"], "--tokens", "out.csv", Path.read_bytes),
        "inspect language": of_both(
            ["inspect", "OLD", "--language", "tam_Taml"], "--table", "out.csv", Path.read_bytes
        ),
        "embed": of_both(["embed", "OLD", "OLD-longer"], "-o", "out.json", Path.read_bytes),
    }
    for to, name, read in (
        ("hf", "out.json", Tokenizer.from_huggingface),
        ("transformers", "out", exported_folder),
        ("tiktoken", "out.tiktoken", Tokenizer.from_tiktoken),
        ("merges", "out", exported_folder),
        ("gguf", "out.gguf", Path.read_bytes),
    ):
        commands[f"export {to}"] = of_both(["export", "OLD", "--to", to], "-o", name, read)
    return commands


def counts(path: Path) -> Any:
    return dict(Counts.load(path))


def scores(path: Path) -> Any:
    found = Scores.load(path)
    return found.table.to_pylist(), found.meta


def whole_page(path: Path) -> bytes:
    page = path.read_bytes()
    assert page.rstrip().endswith(b"</html>")
    return page


def exported_folder(path: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in path.iterdir() if not file.name.startswith(".")}


class Place:
    """A folder for the output of one command, which can be put back to what it was before."""

    def __init__(self, command: Writing, folder: Path, *, force: bool) -> None:
        self.command, self.folder, self.force = command, folder / "place", force
        self.versions = {}
        for version in ("old", "new"):
            (folder / version).mkdir()
            assert call(command.words(folder / version, version)) == 0
            self.versions[version] = command.read(folder / version / command.name)
        self.source = folder / "old"
        self.reset()

    def reset(self) -> None:
        if self.folder.exists():
            shutil.rmtree(self.folder)
        if self.force:
            shutil.copytree(self.source, self.folder)
        else:
            self.folder.mkdir()

    @property
    def words(self) -> list[str]:
        return self.command.words(self.folder, force=self.force)

    def outcome(self) -> str:
        """ "absent", "old", "new", "refused", or "wrong" """
        path = self.folder / self.command.name
        if not path.exists():
            return "wrong" if self.force else "absent"
        try:
            found = self.command.read(path)
        except PairityError:
            return "refused"
        allowed = ("old", "new") if self.force else ("new",)
        return next((version for version in allowed if found == self.versions[version]), "wrong")

    def leftovers(self) -> list[str]:
        """What only an unfinished run has."""
        found = [path.relative_to(self.folder) for path in self.folder.rglob("*")]
        return [str(path) for path in found if path.name.startswith(".") or "checkpoint" in path.name]

    def recovers(self) -> bool:
        """Whether a later run writes the new result and leaves nothing else."""
        return (
            call(self.command.words(self.folder)) == 0
            and self.command.read(self.folder / self.command.name) == self.versions["new"]
            and self.leftovers() == []
        )
