"""The checkpoint of a count: a folder with sorted runs, and a journal of the text that they cover.

    {"format": 1, "settings": {...}, "digest": "60303a...",
     "files": [{"language": "eng_Latn", "path": "en.jsonl.zst", "size": 812, "mtime_ns": 17, "ended": false,
                "blocks": [0, 9120]}, ...],
     "runs": [{"language": "eng_Latn", "name": "000000.run", "rows": 5120, "digest": 4711, "size": {...}}, ...]}

A file that has ended is not read again. In other files, the blocks that were counted are skipped; a block is identified
by the number of its first text. Runs in the folder that are not in the journal are useless, and are deleted.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, NoReturn

from pairity.counts.runs import Runs, SortedRun, check_end
from pairity.counts.values import TextSize
from pairity.errors import PairityError
from pairity.files.digests import digest_of
from pairity.files.pace import Pace
from pairity.files.reading import check_format
from pairity.files.writing import write_file
from pairity.text.blocks import Block
from pairity.text.inputs import TextFile, TextInput
from pairity.text.options import TextReading

FORMAT = 1
JOURNAL = "journal.json"
OURS = re.compile(r"journal\.json|\d+\.run|\.(journal\.json|\d+\.run)\.(lock|.*\.unfinished)")
"""Names of the files that a count makes. Other files in the folder are not ours to delete."""

SECONDS = 60.0
"""The least time between two saves. Saving spills all counters, and the more runs there are, the more to merge."""


@dataclass
class FileState:
    """How far a file is counted. `blocks`: the counted blocks, by first text; `known`: those of an earlier run, not yet
    met again in this one."""

    size: int
    mtime_ns: int
    ended: bool = False
    blocks: set[int] = field(default_factory=set)
    known: set[int] = field(default_factory=set)


class CountCheckpoint:
    """`settings`: everything that decides how text becomes counts. `inputs` must be files, to be read again."""

    def __init__(self, runs: Runs, settings: Mapping[str, Any], inputs: Sequence[TextInput]) -> None:
        self.runs = runs
        self._settings = json.loads(json.dumps(settings))
        self._files = {
            (part.language, str(file.path)): state_of(file) for part in inputs for file in part.files
        }
        self._pace = Pace(SECONDS)
        self._given_up = False

    @property
    def journal(self) -> Path:
        return self.runs.folder / JOURNAL

    # What was counted

    def is_counted(self, language: str, block: Block) -> bool:
        """Whether an earlier run has counted the block."""
        file = self._files[language, block.where]
        known = block.first in file.known
        file.known.discard(block.first)
        return known

    def add(self, language: str, block: Block) -> None:
        self._files[language, block.where].blocks.add(block.first)

    def end_file(self, language: str, file: TextFile) -> None:
        state = self._files[language, str(file.path)]
        if state.known:
            raise PairityError(
                f"{file.path} is not the file that was counted before: delete {self.runs.folder} to start over."
            )
        state.ended = True
        state.blocks.clear()

    def remaining(self, inputs: Sequence[TextInput]) -> list[TextInput]:
        """What is still to be read."""
        return [
            replace(
                part,
                files=tuple(
                    file for file in part.files if not self._files[part.language, str(file.path)].ended
                ),
            )
            for part in inputs
        ]

    # On disk

    def give_up(self) -> None:
        """Stop saving: a line is so long that it comes in parts, which cannot be identified by number."""
        self._given_up = True
        self.journal.unlink(missing_ok=True)

    def is_due(self) -> bool:
        return not self._given_up and self._pace.is_due()

    def save(self) -> None:
        """Write the journal; by now, everything counted is in the runs."""
        if self._given_up:
            return
        begun = {place: state for place, state in self._files.items() if state.ended or state.blocks}
        contents = {
            "format": FORMAT,
            "settings": self._settings,
            "files": [
                {
                    "language": language,
                    "path": path,
                    "size": state.size,
                    "mtime_ns": state.mtime_ns,
                    "ended": state.ended,
                    "blocks": sorted(state.blocks),
                }
                for (language, path), state in begun.items()
            ],
            "runs": [asdict(run) for run in self.runs],
        }
        with self._pace.saving():
            write_file(self.journal, json.dumps(contents | {"digest": digest_of(contents)}))

    def load(self) -> bool:
        """Continue from what a killed run has counted; False if there is nothing."""
        folder = self.runs.folder
        try:
            contents = json.loads(self.journal.read_bytes())
            check_format(contents["format"], FORMAT, f"{folder} has")
            if contents["digest"] != digest_of(contents):
                raise ValueError("it does not match its digest")
            runs = [SortedRun(**{**run, "size": TextSize(**run["size"])}) for run in contents["runs"]]
            files = {(file["language"], file["path"]): file for file in contents["files"]}
        except FileNotFoundError:
            return False
        except OSError as error:
            raise PairityError(f"cannot read {self.journal}: {error.strerror or error}.") from error
        except PairityError:
            raise
        except (KeyError, TypeError, AttributeError, ValueError, RecursionError) as error:
            raise PairityError(
                f"{self.journal} is damaged ({error}): delete {folder} to start over."
            ) from error
        if contents["settings"] != self._settings:
            refuse_settings(folder)
        for place, file in files.items():
            self.take_up(place, file)
        for run in runs:
            check_end(folder / run.name, run)
        self.runs.restore(runs)
        remove(folder, but={JOURNAL, *(run.name for run in runs)})
        return True

    def take_up(self, place: tuple[str, str], file: Mapping[str, Any]) -> None:
        language, path = place
        state = self._files.get(place)
        if state is None:
            raise PairityError(
                f"{path} was counted for {language!r} before the run stopped, but is not given now: give "
                f"the same text to resume, or delete {self.runs.folder} to start over."
            )
        if (state.size, state.mtime_ns) != (file["size"], file["mtime_ns"]):
            raise PairityError(
                f"{path} has changed since it was counted: delete {self.runs.folder} to start over."
            )
        state.ended = file["ended"]
        state.blocks, state.known = set(file["blocks"]), set(file["blocks"])


def refuse_settings(folder: Path) -> NoReturn:
    raise PairityError(
        f"{folder} belongs to a run with other settings: use the same settings to resume it, or delete it "
        "to start over."
    )


def can_resume(inputs: Sequence[TextInput], how: TextReading) -> bool:
    """Whether all text can be read again; iterables and pipes cannot. Nor can a run resume that skips texts or drops
    duplicates (the runs do not record which), or that reads blocks of several languages (they have no numbers).
    """
    if how.language_column is not None or how.on_error != "stop" or how.dedup is not None:
        return False
    paths = [(part.language, str(file.path)) for part in inputs for file in part.files]
    return (
        all(part.lines is None and not any(file.once for file in part.files) for part in inputs)
        and len(set(paths)) == len(paths)
        and all(Path(path).exists() for _, path in paths)
    )


def state_of(file: TextFile) -> FileState:
    found = Path(str(file.path)).stat()
    return FileState(found.st_size, found.st_mtime_ns)


def exists(folder: Path) -> bool:
    """Whether there is something to resume from."""
    return (folder / JOURNAL).exists()


def remove(folder: Path, *, but: Collection[str] = ()) -> None:
    """Remove the files of a count from the folder, and the folder itself if it is empty then.

    The journal goes first: if this is interrupted, the rest is worthless without it.
    """
    for name in sorted(names_in(folder), key=lambda name: name != JOURNAL):
        if OURS.fullmatch(name) and name not in but:
            with suppress(OSError):
                (folder / name).unlink()
    with suppress(OSError):
        folder.rmdir()


def names_in(folder: Path) -> list[str]:
    try:
        return [entry.name for entry in folder.iterdir()]
    except OSError:
        return []
