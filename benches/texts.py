"""The texts that are measured on: real ones where they are, made-up ones elsewhere.

    texts = real(data, languages=30)     # train/*.txt.gz and flores200/{dev,devtest}/*.txt.gz, FLORES codes
    texts = made_up(languages=3)         # the embedded sample and pseudo-words; the same on every machine

A made-up word is one to six syllables of a script, drawn by Zipf's law, and so is its frequency: pairs are
uneven as in a language, though no more than that is claimed.
"""

import contextlib
import gzip
import itertools
import sysconfig
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from pairity.languages import LANGUAGES_30

# Letters of a script that all take the same number of bytes, so that two words are never the same string.
LETTERS = {
    "Latn": range(0x61, 0x7B),
    "Cyrl": range(0x430, 0x450),
    "Grek": range(0x3B1, 0x3CA),
    "Arab": range(0x621, 0x64B),
    "Hebr": range(0x5D0, 0x5EB),
    "Deva": range(0x905, 0x93A),
    "Beng": range(0x995, 0x9A9),
    "Taml": range(0xBAE, 0xBBA),
    "Telu": range(0xC15, 0xC29),
    "Thai": range(0xE01, 0xE2F),
    "Geor": range(0x10D0, 0x10F1),
    "Hang": range(0xAC00, 0xAE00),
    "Jpan": range(0x3042, 0x3094),
    "Hans": range(0x4E00, 0x5200),
}
SYLLABLES = 300
MOST_SYLLABLES = 6


@dataclass(frozen=True)
class Texts:
    """Language -> file, for each part. `what` says in a sentence what they are."""

    train: dict[str, Path]
    dev: dict[str, Path]
    test: dict[str, Path]
    what: str

    def widest(self) -> tuple[dict[str, Path], dict[str, Path]]:
        """All languages that there are, to train on and to steer by: as some have only dev text to learn from, test
        text steers."""
        train, dev, test = (
            {
                path.name.partition(".")[0]: path
                for path in sorted(next(iter(files.values())).parent.iterdir())
            }
            for files in (self.train, self.dev, self.test)
        )
        return {name: train.get(name, dev[name]) for name in test}, test

    def plain(self, folder: Path) -> dict[str, Path]:
        """Copies of the training text without compression, for trainers that read plain text."""
        folder.mkdir(parents=True, exist_ok=True)
        copies = {}
        for language, path in self.train.items():
            copies[language] = folder / f"{language}.txt"
            copies[language].write_bytes(gzip.decompress(path.read_bytes()))
        return copies

    def to_encode(self, most_bytes: int) -> dict[str, list[str]]:
        """What encoders are measured on: the lines of the test text, and documents of one language and of code."""
        english = min(self.train, key=lambda name: not name.startswith("eng_"))
        return {
            "many languages": list(itertools.chain.from_iterable(map(_lines, self.test.values()))),
            "English": list(up_to(most_bytes, documents(_lines(self.train[english])))),
            "Python code": list(up_to(most_bytes, source_code())),
        }


def documents(lines: list[str], length: int = 50) -> Iterator[str]:
    """Several lines each."""
    return ("\n".join(lines[start : start + length]) for start in range(0, len(lines), length))


def source_code() -> Iterator[str]:
    """The files of Python's own library: the same for all who have this version."""
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" not in path.parts:
            with contextlib.suppress(UnicodeDecodeError):  # some are there to test other encodings
                yield path.read_bytes().decode()


def up_to(most_bytes: int, texts: Iterator[str]) -> Iterator[str]:
    """As many of the first texts as have so many bytes together, and one at least."""
    size = 0
    for text in texts:
        yield text
        size += len(text.encode())
        if size >= most_bytes:
            return


def _lines(path: Path) -> list[str]:
    return gzip.decompress(path.read_bytes()).decode().split("\n")[:-1]


def real(data: Path, languages: int, lines: int | None, folder: Path) -> Texts:
    """The paper's languages from `data`; with `lines`, only so many lines of each."""
    names = LANGUAGES_30[:languages]
    parts = {
        "train": data / "train",
        "dev": data / "flores200" / "dev",
        "test": data / "flores200" / "devtest",
    }
    missing = [path / f"{name}.txt.gz" for path in parts.values() for name in names]
    missing = [path for path in missing if not path.exists()]
    if missing:
        raise SystemExit(
            f"no such file: {missing[0]}. Give the folder with --data, or measure with --made-up."
        )
    files = {part: {name: path / f"{name}.txt.gz" for name in names} for part, path in parts.items()}
    if lines is not None:
        for part, paths in files.items():
            files[part] = {
                name: _head(path, lines, folder / part / path.name) for name, path in paths.items()
            }
    size = sum(path.stat().st_size for path in files["train"].values()) / 1e6
    cut = "" if lines is None else f", the first {lines:,} lines of each"
    what = f"real text in {len(names)} languages{cut} ({size:,.1f} MB of .txt.gz), steered by FLORES-200 dev"
    return Texts(**files, what=what)


def _head(path: Path, lines: int, copy: Path) -> Path:
    copy.parent.mkdir(parents=True, exist_ok=True)
    with gzip.open(path, "rb") as text, gzip.open(copy, "wb") as shorter:
        for line, _ in zip(text, range(lines), strict=False):
            shorter.write(line)
    return copy


def made_up(languages: int, lines: int, folder: Path) -> Texts:
    """The embedded sample, and below it `lines` lines of pseudo-words; fewer for each next language."""
    from pairity import sample

    parts = {part: sample.read(part) for part in ("dev", "test")}
    names = list(parts["dev"])[:languages]
    files: dict[str, dict[str, Path]] = {"train": {}, "dev": {}, "test": {}}
    for number, name in enumerate(names):
        made = sentences(name, max(lines // (1 + number), 20), seed=number)
        text = {"train": parts["dev"][name] + parts["test"][name] + made}
        for part, its_lines in (text | {part: parts[part][name] for part in parts}).items():
            path = folder / part / f"{name}.txt.gz"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(gzip.compress("".join(f"{line}\n" for line in its_lines).encode(), mtime=0))
            files[part][name] = path
    what = f"the embedded sample and made-up words in {len(names)} languages"
    return Texts(**files, what=what)


def sentences(language: str, lines: int, seed: int) -> list[str]:
    """`lines` lines of 12 words."""
    data, offsets = words(language, max(lines, 100), seed)
    cut = [data[start:end].decode() for start, end in itertools.pairwise(offsets.tolist())]
    drawn = np.random.default_rng(seed).zipf(1.3, (lines, 12)) % len(cut)
    return ["".join(cut[word] for word in line).strip() for line in drawn.tolist()]


def words(language: str, distinct: int, seed: int) -> tuple[bytes, npt.NDArray[np.int64]]:
    """So many different words of a script, a space before each: their bytes end to end, and offsets."""
    rng = np.random.default_rng(seed)
    letters = list(LETTERS.get(language[-4:], LETTERS["Latn"]))
    pairs = rng.choice(len(letters) ** 2, min(SYLLABLES, len(letters) ** 2), replace=False)
    syllables = [chr(letters[a]) + chr(letters[b]) for a, b in zip(*divmod(pairs, len(letters)), strict=True)]
    table = np.array([list(syllable.encode()) for syllable in syllables], np.uint8)
    chance = 1 / np.arange(3, len(syllables) + 3)
    # A word is a number whose digits are its syllables, 0 meaning none: so equal words are found fast.
    digit = len(syllables) + 1
    codes = np.empty(0, np.int64)
    while len(codes) < distinct:
        drawn = rng.choice(len(syllables), (distinct, MOST_SYLLABLES), p=chance / chance.sum()) + 1
        lengths = rng.integers(1, MOST_SYLLABLES + 1, distinct)
        drawn[np.arange(MOST_SYLLABLES) >= lengths[:, None]] = 0
        codes = np.unique(np.concatenate([codes, drawn @ digit ** np.arange(MOST_SYLLABLES)]))
    codes = rng.permutation(codes)[:distinct]
    digits = codes[:, None] // digit ** np.arange(MOST_SYLLABLES) % digit
    spelled = table[digits - 1].reshape(distinct, -1)
    kept = np.repeat(digits > 0, table.shape[1], axis=1)
    rows = np.concatenate([np.full((distinct, 1), ord(" "), np.uint8), spelled], axis=1)
    kept = np.concatenate([np.ones((distinct, 1), bool), kept], axis=1)
    return rows[kept].tobytes(), np.concatenate([[0], np.cumsum(kept.sum(axis=1))])


def zipf_counts(distinct: int) -> npt.NDArray[np.uint64]:
    """How often the words of `words` occur in a text in which the rarest are seen once."""
    return np.maximum(1, distinct / 2 / np.arange(1, distinct + 1)).astype(np.uint64)
