"""The folder of an experiment: its contents, and which of them are finished.

    experiment.toml  table.parquet  table.csv  report.html
    tokenizers/NAME/     scores/TEXT/     figures/     notes/     cache/

A result is finished if its note in notes/ has the key of all its inputs (settings, digests of the text, version of
pairity), and every file still has the digest in the note. Names do not matter.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pairity.errors import PairityError
from pairity.experiments.data import file_digest
from pairity.files.digests import digest_of
from pairity.files.leftovers import UNFINISHED, short
from pairity.files.places import refuse_others
from pairity.files.writing import write_file, write_folder
from pairity.formats.json_files import as_json

EXPERIMENT = "experiment.toml"
CURVE = "curve.json"
OWNER = "pairity.json"
"""Its presence in notes/ shows that pairity made the folder, so its contents may be replaced."""
UNSAFE = re.compile(r"[^\w.,=@+-]+")


def key_of(recipe: Mapping[str, Any]) -> str:
    """A key that is equal for equal inputs: settings, text and version of pairity."""
    plain = json.loads(json.dumps(recipe, default=str))
    return digest_of({"pairity": version("pairity"), "recipe": plain})


def file_name(name: str) -> str:
    """A name as the name of a folder, without the characters that those must not contain."""
    return short(UNSAFE.sub("-", name.strip()).strip(".-") or "tokenizer")


@dataclass(frozen=True)
class Folder:
    path: Path

    @cached_property
    def cache(self) -> Path:
        return self.path / "cache"

    @cached_property
    def notes(self) -> Path:
        return self.path / "notes"

    def tokenizer(self, name: str) -> Path:
        return self.path / "tokenizers" / file_name(name)

    def scores(self, name: str) -> Path:
        return self.path / "scores" / file_name(name)

    def check(self, experiment: str) -> None:
        """Refuse a folder with other contents: an experiment writes many files, and might overwrite them."""
        if not self.path.exists():
            return
        file = self.path / EXPERIMENT
        if (self.notes / OWNER).exists():
            if (
                file.exists()
                and not self.finished(file, EXPERIMENT)
                and file.read_bytes() != experiment.encode()
            ):
                raise PairityError(
                    f"{file} was changed after it was written, and would be overwritten: move it out of "
                    f"{self.path} and run it from there."
                )
            return
        if not self.path.is_dir():
            raise PairityError(f"{self.path} is a file, but the results need a folder. Choose another name.")
        refuse_others(
            self.path,
            "results of this command",
            "choose a new folder, or the folder of the same run to complete it.",
        )

    def refuse_other(self, name: str, what: str) -> None:
        """Refuse a folder with results of the other command, recognised by a file."""
        if (self.path / name).exists():
            raise PairityError(f"{self.path} has the results of {what}: choose another folder.")

    def claim(self) -> None:
        """Mark the folder as made by pairity, before anything else is written."""
        if not (self.notes / OWNER).exists():
            write_file(self.notes / OWNER, as_json({"what": "notes of an experiment", "format": 1}))

    @contextmanager
    def gone_if_refused(self) -> Iterator[None]:
        """If an error comes before the first result, remove the folder that this run made for it."""
        there = self.path.exists()
        try:
            yield
        except PairityError:
            files = {one for one in self.path.rglob("*") if not one.is_dir()}
            if not there and files <= {self.notes / OWNER}:
                shutil.rmtree(self.path, ignore_errors=True)
            raise

    def tidy(self) -> None:
        """Remove what a killed run left. The folder must be locked, so that nobody else is writing."""
        for entry in list(self.path.rglob(".*")):
            if entry.name.endswith(UNFINISHED):
                shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() else entry.unlink(missing_ok=True)
            elif entry.name.endswith(".lock"):
                entry.unlink(missing_ok=True)

    def finished(self, manifest: Path, key: str) -> dict[str, Any] | None:
        """The note of the result with this manifest, if it has the same inputs and is unchanged."""
        try:
            note: dict[str, Any] = json.loads(self.note_of(manifest).read_bytes())
            files: dict[str, str] = note["files"]
            same = note["key"] == key and all(
                file_digest(self.path / name) == digest for name, digest in files.items()
            )
            return note if same else None
        except (OSError, ValueError, KeyError, TypeError, AttributeError, PairityError):
            return None

    def noted_files(self, manifest: Path) -> list[Path]:
        """The files that were written with the manifest, from any inputs."""
        try:
            return [self.path / name for name in json.loads(self.note_of(manifest).read_bytes())["files"]]
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def finish(self, manifest: Path, key: str, more: Iterable[Path] = (), **said: Any) -> dict[str, Any]:
        """Note that a result is finished: the folder of the manifest (or only the manifest) and `more` files."""
        beside = [] if self.is_alone(manifest) else sorted(manifest.parent.iterdir())
        files = {manifest, *(file for file in beside if file.is_file())}
        digests = {str(file.relative_to(self.path)): file_digest(file) for file in sorted({*files, *more})}
        note = {"key": key, "files": digests, **said}
        write_file(self.note_of(manifest), as_json(note))
        return note

    def is_alone(self, manifest: Path) -> bool:
        return manifest.parent in (self.path, self.cache)

    def note_of(self, manifest: Path) -> Path:
        """tokenizers/NAME/pairity.json -> notes/tokenizers/NAME.json, report.html -> notes/report.html.json"""
        alone = self.is_alone(manifest)
        inside = Path(manifest.name) if alone else manifest.relative_to(self.path).parent
        return self.notes / inside.with_name(f"{inside.name}.json")

    def noted_in(self, folder: str) -> Iterator[Path]:
        """tokenizers/NAME for every note of a tokenizer, whether the tokenizer still exists or not."""
        for note in sorted((self.notes / folder).glob("*.json")):
            yield self.path / folder / note.name.removesuffix(".json")

    def reused(self, manifest: Path, key: str) -> dict[str, Any] | None:
        """Copy a tokenizer with the same inputs and another name; returns its note, or None if there is none."""
        for other in self.noted_in("tokenizers"):
            if note := self.finished(other / manifest.name, key):
                names = [Path(name).name for name in note["files"]]
                write_folder(manifest.parent, {name: (other / name).read_bytes() for name in names})
                return note
        return None

    def gone(self, kept: Iterable[Path]) -> list[str]:
        """tokenizers/NAME and scores/TEXT that do not belong to this experiment."""
        there = [place for folder in ("tokenizers", "scores") for place in self.noted_in(folder)]
        wanted = set(kept)
        return [str(one.relative_to(self.path)) for one in there if one not in wanted and one.exists()]
