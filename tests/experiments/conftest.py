"""Small text in a few languages, and the file of an experiment on it."""

from pathlib import Path
from typing import Any

import pytest

from pairity import Tokenizer, sample, train

CODES = ("eng_Latn", "jpn_Jpan", "tam_Taml")

FILE = """
title = "A try"
train = "train"
dev = "dev"

[judge]
home = "test"
away = "away"

[evaluation]
resamples = 0

[grid]
vocab_size = [300, 340]

[[run]]
method = "classical"

[[run]]
method = "parity"
window = [50, 100]

[[run]]
name = "hybrid"
global_merges = 0.5
"""


def write(folder: Path, texts: dict[str, list[str]]) -> None:
    folder.mkdir(parents=True)
    for code, lines in texts.items():
        (folder / f"{code}.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def lay_out(folder: Path) -> Path:
    """train/, dev/, test/ and away/ in three languages, and grid.toml."""
    dev, test = sample.read("dev"), sample.read("test")
    write(folder / "train", {code: dev[code] for code in CODES})
    write(folder / "dev", {code: test[code][:10] for code in (*CODES, "deu_Latn")})
    write(folder / "test", {code: test[code][10:] for code in CODES})
    write(folder / "away", {code: test[code][12:] for code in CODES[:2]})
    (folder / "grid.toml").write_text(FILE, encoding="utf-8")
    return folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    return lay_out(tmp_path)


@pytest.fixture(scope="module")
def lasting_project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same, for all tests of a module."""
    return lay_out(tmp_path_factory.mktemp("experiment"))


@pytest.fixture
def trained(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What was trained: the method and the size of each call."""
    calls: list[str] = []

    def counting(*args: Any, **settings: Any) -> Tokenizer:
        calls.append(f"{settings['method'].describe()['name']} {settings['vocab_size']}")
        return train(*args, **settings)

    monkeypatch.setattr("pairity.experiments.making.train", counting)
    return calls
