"""The folder of an experiment: what is in it, and what of it is finished.

    experiment.toml  table.parquet  table.csv  report.html
    tokenizers/NAME/     scores/TEXT/     figures/     notes/     cache/

Something is finished if the note of it in notes/ has the key of all that it is made from (settings, digests of the
text, version of pairity), and it is still what was written: every file has the digest in the note. Names decide
nothing.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pairity.errors import PairityError
from pairity.experiments.data import file_digest
from pairity.files.digests import digest_of
from pairity.files.leftovers import UNFINISHED, short
from pairity.files.writing import write_file, write_folder
from pairity.formats.json_files import as_json

EXPERIMENT = "experiment.toml"
CURVE = "curve.json"
OWNER = "pairity.json"
"""In notes/: the folder is one that pairity made, and the rest of it may be replaced."""
UNSAFE = re.compile(r"[^\w.,=@+-]+")


def key_of(recipe: Mapping[str, Any]) -> str:
    """Equal for what is made from the same: settings, text, and a version of pairity."""
    plain = json.loads(json.dumps(recipe, default=str))
    return digest_of({"pairity": version("pairity"), "recipe": plain})


def file_name(name: str) -> str:
    """A name as that of a folder: free text has characters that these must not have."""
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
        """Refuse a folder with something else in it: an experiment has many names to write to, this one among them."""
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
        if found := [entry.name for entry in self.path.iterdir() if not entry.name.startswith(".")]:
            raise PairityError(
                f"{self.path} contains other files ({found[0]}) and no results of this command: choose a new "
                "folder, or the folder of the same run to complete it."
            )

    def refuse_other(self, name: str, what: str) -> None:
        """Refuse a folder that has the results of the other command, known by a file."""
        if (self.path / name).exists():
            raise PairityError(f"{self.path} has the results of {what}: choose another folder.")

    def claim(self) -> None:
        """Mark the folder as one that pairity made, before anything is written there."""
        if not (self.notes / OWNER).exists():
            write_file(self.notes / OWNER, as_json({"what": "notes of an experiment", "format": 1}))

    def tidy(self) -> None:
        """Remove what a killed run left in it; call it with the folder locked, so that nobody else writes there."""
        for entry in list(self.path.rglob(".*")):
            if entry.name.endswith(UNFINISHED):
                shutil.rmtree(entry, ignore_errors=True) if entry.is_dir() else entry.unlink(missing_ok=True)
            elif entry.name.endswith(".lock"):
                entry.unlink(missing_ok=True)

    def finished(self, manifest: Path, key: str) -> dict[str, Any] | None:
        """The note of what the manifest belongs to, if that was made from the same and is as it was written."""
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
        """The files that were written with the manifest, whatever they were made from."""
        try:
            return [self.path / name for name in json.loads(self.note_of(manifest).read_bytes())["files"]]
        except (OSError, ValueError, KeyError, TypeError):
            return []

    def finish(self, manifest: Path, key: str, more: Iterable[Path] = (), **said: Any) -> dict[str, Any]:
        """Note that this is finished, after it was written: the folder of the manifest, or it alone, and `more`."""
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
        """tokenizers/NAME for every note of a tokenizer, whether it is still there or not."""
        for note in sorted((self.notes / folder).glob("*.json")):
            yield self.path / folder / note.name.removesuffix(".json")

    def reused(self, manifest: Path, key: str) -> dict[str, Any] | None:
        """Copy a tokenizer that was made from the same under another name; its note, or None where there is none."""
        for other in self.noted_in("tokenizers"):
            if note := self.finished(other / manifest.name, key):
                names = [Path(name).name for name in note["files"]]
                write_folder(manifest.parent, {name: (other / name).read_bytes() for name in names})
                return note
        return None

    def gone(self, kept: Iterable[Path]) -> list[str]:
        """tokenizers/NAME and scores/TEXT that belong to nothing that is asked for now."""
        there = [place for folder in ("tokenizers", "scores") for place in self.noted_in(folder)]
        wanted = set(kept)
        return [str(one.relative_to(self.path)) for one in there if one not in wanted and one.exists()]
