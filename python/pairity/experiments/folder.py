"""The folder of an experiment: what is in it, and what of it is finished.

    experiment.toml  table.parquet  table.csv  report.html
    tokenizers/NAME/     scores/TEXT/     figures/     cache/

Something is finished if the note of it in cache/ has the key of all that it is made from (settings, digests of the
text, version of pairity), and it is still what was written: its manifest has the digest in the note. Names decide
nothing.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import Any

from pairity.errors import PairityError
from pairity.experiments.data import file_digest
from pairity.files.digests import digest_of
from pairity.files.leftovers import UNFINISHED, short
from pairity.files.writing import write_file
from pairity.formats.json_files import as_json

EXPERIMENT = "experiment.toml"
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

    def tokenizer(self, name: str) -> Path:
        return self.path / "tokenizers" / file_name(name)

    def scores(self, name: str) -> Path:
        return self.path / "scores" / file_name(name)

    def check(self) -> None:
        """Refuse a folder with something else in it: an experiment has many names to write to."""
        if not self.path.exists() or (self.path / EXPERIMENT).exists():
            return
        if not self.path.is_dir():
            raise PairityError(
                f"{self.path} is a file, but an experiment needs a folder. Choose another name."
            )
        if found := [entry.name for entry in self.path.iterdir() if not entry.name.startswith(".")]:
            raise PairityError(
                f"{self.path} holds something else ({found[0]}) and no {EXPERIMENT}: choose a new folder, or that "
                "of the same experiment to complete it."
            )

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
            same = note["key"] == key and note["digest"] == file_digest(manifest)
        except (OSError, ValueError, KeyError, TypeError, PairityError):
            return None
        return note if same else None

    def finish(self, manifest: Path, key: str, **said: Any) -> dict[str, Any]:
        """Note that this is finished, after it was written."""
        note = {"key": key, "digest": file_digest(manifest), **said}
        write_file(self.note_of(manifest), as_json(note))
        return note

    def note_of(self, manifest: Path) -> Path:
        """tokenizers/NAME/pairity.json -> cache/tokenizers/NAME.json, report.html -> cache/report.html.json"""
        alone = manifest.parent in (self.path, self.cache)
        inside = Path(manifest.name) if alone else manifest.relative_to(self.path).parent
        return self.cache / inside.with_name(f"{inside.name}.json")
