"""The file of an experiment: from TOML to an `Experiment`, and back.

Paths in a file are relative to the folder of the file.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pairity.errors import PairityError
from pairity.experiments.experiment import Experiment, as_list, name_and_place, nearest
from pairity.formats.toml_files import read_toml
from pairity.text.sources import at_commas

SENTENCEPIECE = "sentencepiece:"
TABLES = ("languages", "judge", "evaluation", "grid")
TOP = ("title", "train", "dev", "text_column", "seed", "chart", *TABLES, "run")


def read(path: str | os.PathLike[str]) -> Experiment:
    """Read an experiment from a TOML file."""
    file = Path(path)
    contents = read_toml(file)
    for key, value in contents.items():
        if key not in TOP:
            raise PairityError(
                f"{file}: there is no key {key!r}.{nearest(key, TOP)} Known keys: {', '.join(TOP)}."
            )
        kind, what = (
            (dict, f"a table, [{key}]")
            if key in TABLES
            else (list, "a list of tables, [[run]]")
            if key == "run"
            else (int, "a whole number")
            if key == "seed"
            else ((str, list), "text, or a list of texts")
            if key in ("train", "dev")
            else (str, "text")
        )
        if not isinstance(value, kind) or isinstance(value, bool):
            raise PairityError(f"{file}: {key} is {value!r}: write {what}.")
    for key in ("train", "judge"):
        if key not in contents:
            what = "train = 'train/'" if key == "train" else "[judge] with devtest = 'devtest/'"
            raise PairityError(f"{file}: {key!r} is missing: write {what}.")
    runs = contents.pop("run", [{}])
    if strangers := [run for run in runs if not isinstance(run, dict)]:
        raise PairityError(f"{file}: run has {strangers[0]!r}: write a table for each, [[run]].")
    folder = file.parent
    for key in ("train", "dev"):
        if key in contents:
            contents[key] = [beside(folder, one, f"{file}: {key}") for one in as_list(contents[key])]
    contents["judge"] = {
        name: [beside(folder, one, f"{file}, [judge]: {name}") for one in as_list(source)]
        for name, source in contents["judge"].items()
    }
    morph = contents.get("evaluation", {}).get("morph")
    if morph is not None:
        contents["evaluation"]["morph"] = beside(folder, morph, f"{file}, [evaluation]: morph")
    runs = [run_beside(folder, run) for run in runs]
    return Experiment(**contents, runs=runs, where=str(file))


def beside(folder: Path, source: Any, what: str) -> str:
    """A SOURCE relative to the current folder, including "LANG=PATH"."""
    if not isinstance(source, str) or not source:
        raise PairityError(f"{what} is {source!r}: write a folder, LANG=PATH, or a list of these.")
    language, equals, rest = source.partition("=")
    if equals and "/" not in language:
        paths = [rest] if is_there(folder / rest) else at_commas(rest)
        return f"{language}={','.join(str(folder / Path(path).expanduser()) for path in paths)}"
    return str(folder / Path(source).expanduser())


def is_there(path: Path) -> bool:
    """Whether a path exists; one that is too long does not."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def run_beside(folder: Path, run: Mapping[str, Any]) -> Mapping[str, Any]:
    """A run with its tokenizer relative to the current folder, but named as written in the file."""
    spec = run.get("tokenizer")
    if not isinstance(spec, str) or not spec:
        return run
    name = name_and_place(spec)[0] or spec
    return {"name": name, **run, "tokenizer": tokenizer_beside(folder, spec)}


def tokenizer_beside(folder: Path, spec: str) -> str:
    """A tokenizer relative to the current folder. NAME=, sentencepiece: and @PATTERN stay; tiktoken:NAME is no path."""
    if is_there(folder / spec):
        return str(folder / spec)
    name, place = name_and_place(spec)
    before, after = f"{name}=" if name else "", ""
    if place.startswith(SENTENCEPIECE):
        before, place = f"{before}{SENTENCEPIECE}", place.removeprefix(SENTENCEPIECE)
    if not is_there(folder / place) and "@" in place:
        place, at, pattern = place.partition("@")
        after = f"{at}{pattern}"
    return f"{before}{folder / place}{after}" if place and is_there(folder / place) else spec


def as_toml(experiment: Experiment) -> str:
    """The experiment as a file that means the same in any folder."""
    top = {
        "title": experiment.title,
        "seed": experiment.seed,
        "train": [absolute(one) for one in as_list(experiment.train)],
        "dev": [absolute(one) for one in as_list(experiment.dev)] if experiment.dev else None,
        "text_column": experiment.text_column,
        "chart": experiment.chart,
    }
    morph = experiment.evaluation.get("morph")
    evaluation = {**experiment.evaluation} | ({"morph": absolute(str(morph))} if morph else {})
    tables = {
        "languages": experiment.languages,
        "judge": {
            name: [absolute(one) for one in as_list(source)] for name, source in experiment.judge.items()
        },
        "evaluation": evaluation,
        "grid": experiment.grid,
    }
    parts = [lines_of(top)]
    parts += [f"[{name}]\n{lines_of(table)}" for name, table in tables.items() if table]
    parts += [f"[[run]]\n{lines_of(run_beside(Path.cwd(), run))}" for run in experiment.runs]
    return "\n".join(parts)


def absolute(source: str) -> str:
    return beside(Path.cwd(), str(source), "the experiment")


def lines_of(table: Mapping[str, Any]) -> str:
    return "".join(
        f"{key_of(key)} = {value_of(value)}\n" for key, value in table.items() if value is not None
    )


def key_of(key: str) -> str:
    return key if key.replace("_", "").replace("-", "").isalnum() and key.isascii() else json.dumps(key)


def value_of(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key_of(key)} = {value_of(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(value_of, value)) + "]"
    return json.dumps(value, ensure_ascii=False)  # no setting has a type that TOML writes differently
