"""Addresses: remote files such as s3://bucket/eng_Latn.txt.gz, opened through the package fsspec.

An address has the methods of a path that this room uses, so finding and reading text need not tell them apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, TypeVar

from pairity.errors import PairityError
from pairity.extras import load_extra

T = TypeVar("T")

MARK = "://"


@dataclass(frozen=True)
class Address:
    url: str

    def __str__(self) -> str:
        return self.url

    def __truediv__(self, name: str) -> Address:
        return Address(f"{self.url.rstrip('/')}/{name}")

    @property
    def name(self) -> str:
        return self.path_of_url.name

    @property
    def suffix(self) -> str:
        return self.path_of_url.suffix

    @property
    def parent(self) -> Address:
        return Address(self.url.rstrip("/").rpartition("/")[0])

    @property
    def path_of_url(self) -> PurePosixPath:
        """The path in https://example.org/eng_Latn.txt?download=true, without the query."""
        path = self.url.rstrip("/").partition(MARK)[2]
        return PurePosixPath(path.partition("?")[0] if self.url.startswith("http") else path)

    def exists(self) -> bool:
        return bool(self.ask(lambda system, path: system.exists(path)))

    def is_dir(self) -> bool:
        return bool(self.ask(lambda system, path: system.isdir(path)))

    def is_file(self) -> bool:
        return bool(self.ask(lambda system, path: system.isfile(path)))

    def is_fifo(self) -> bool:
        return False

    def is_char_device(self) -> bool:
        return False

    def size(self) -> int:
        """In bytes; 0 if the server does not say."""
        return int(self.ask(lambda system, path: system.size(path)) or 0)

    def iterdir(self) -> Iterator[Address]:
        """Without the folder itself, which some filesystems list among its contents."""
        yield from self.ask(
            lambda system, path: [
                Address(system.unstrip_protocol(name))
                for name in system.ls(path, detail=False)
                if name.strip("/") != path.strip("/")
            ]
        )

    def glob(self) -> list[Address]:
        return self.ask(
            lambda system, path: [Address(system.unstrip_protocol(name)) for name in system.glob(path)]
        )

    def open(self) -> Any:
        return Remote(self, self.ask(lambda system, path: system.open(path, "rb")))

    def ask(self, question: Callable[[Any, str], T]) -> T:
        """Query the filesystem of the address. Any failure becomes one sentence that names the address."""
        fsspec = load_extra("fsspec", f"reading {self.url}")
        try:
            return question(*fsspec.core.url_to_fs(self.url))
        except ImportError as error:
            raise PairityError(f"cannot reach {self.url}, because a package is missing: {error}.") from error
        except Exception as error:  # each protocol has exceptions of its own
            raise PairityError(f"cannot reach {self.url}: {error or type(error).__name__}.") from error


class Remote:
    """An open remote file. Its failures become OSErrors, like those of local files."""

    def __init__(self, address: Address, file: Any) -> None:
        self._address = address
        self._file = file

    def read(self, size: int = -1) -> bytes:
        try:
            data: bytes = self._file.read(size)
        except OSError:
            raise
        except Exception as error:
            raise OSError(f"{type(error).__name__}: {error}") from error
        return data

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


Place = Path | Address


def place_of(written: str) -> Place:
    return Address(written) if MARK in written else Path(written).expanduser()
