"""The output of a command: checked before the work, locked during it, and what an interruption means for it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pairity.cli.notes import say
from pairity.errors import PairityError
from pairity.files.locks import locked
from pairity.files.places import check_file, check_folder
from pairity.text.sources import at_commas


@contextmanager
def held(path: Path, check: Callable[[], None]) -> Iterator[None]:
    """Lock the path against other writers; `check` raises if it must not be written."""
    check()
    with locked(path):
        check()  # again: another run may have finished meanwhile
        try:
            yield
        except KeyboardInterrupt as stop:
            stop.add_note("no result was written")
            raise


def refuse_source(output: Path, sources: Iterable[str]) -> None:
    """Refuse to write into a folder of text: the next run would read the output as text, or stumble over it."""
    for source in sources:
        paths = at_commas(source.partition("=")[2] or source)
        if any(path.is_dir() and path.resolve() == output.resolve() for path in map(Path, paths)):
            raise PairityError(f"{output} is where the text is: choose another folder to write to.")


def note_resuming(checkpoint: Path, *, there: bool, resume: bool) -> None:
    """Say whether a run continues or starts over, if that may surprise the user."""
    if there and not resume:
        say(f"note: {checkpoint} is from an interrupted run; this run starts over (--resume continues it)")
    elif resume and not there:
        say(f"note: there is no {checkpoint} to resume from; this run starts from the beginning")


@contextmanager
def resumable(kept: Callable[[], bool]) -> Iterator[None]:
    """On an interruption, say how to resume, if there is something to resume from."""
    try:
        yield
    except KeyboardInterrupt as stop:
        if kept():
            stop.add_note("--resume continues")
        raise


@contextmanager
def output_file(path: Path, *, force: bool) -> Iterator[None]:
    with held(path, lambda: check_file(path, force=force)):
        yield


@contextmanager
def output_folder(
    path: Path, names: tuple[str, ...], *, what: str, force: bool, alone: bool = False
) -> Iterator[None]:
    """`names`: files that show that the folder has `what` already; one of them is enough."""
    with held(path, lambda: check_folder(path, names, what=what, force=force, alone=alone)):
        yield
