"""Where a command writes: checked before the work, held through all of it, and what an interruption means."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from pairity.cli.notes import say
from pairity.errors import PairityError
from pairity.files.locks import locked
from pairity.files.places import check_file, check_folder


@contextmanager
def held(path: Path, check: Callable[[], None]) -> Iterator[None]:
    """Nobody else writes to the path meanwhile; `check` says whether it may be written."""
    check()
    with locked(path):
        check()  # another run may just have finished
        try:
            yield
        except KeyboardInterrupt as stop:
            stop.add_note("no result was written")
            raise


def refuse_source(output: Path, sources: Iterable[str]) -> None:
    """A folder of text stays one: what is written there would be taken for text, or be in its way, next time."""
    for source in sources:
        place = Path(source.partition("=")[2] or source)
        if place.is_dir() and place.resolve() == output.resolve():
            raise PairityError(f"{output} is where the text is: choose another folder to write to.")


def note_resuming(checkpoint: Path, *, there: bool, resume: bool) -> None:
    """Say whether a run goes on or starts over, where that is not what one might think."""
    if there and not resume:
        say(f"note: {checkpoint} is from an interrupted run; this run starts over (--resume continues it)")
    elif resume and not there:
        say(f"note: there is no {checkpoint} to resume from; this run starts from the beginning")


@contextmanager
def resumable(kept: Callable[[], bool]) -> Iterator[None]:
    """An interruption says how to go on, where something was kept to go on from."""
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
def output_folder(path: Path, names: tuple[str, ...], *, what: str, force: bool) -> Iterator[None]:
    """`names` are the files of which one is enough to see that the folder holds `what` already."""
    with held(path, lambda: check_folder(path, names, what=what, force=force)):
        yield
