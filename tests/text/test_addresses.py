"""Text elsewhere, through fsspec: found, sized and read like files here, and only when an address is named."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairity.counts.counting import count
from pairity.errors import PairityError
from pairity.text import addresses
from pairity.text.addresses import Address
from pairity.text.reading import read_texts
from pairity.text.sources import resolve
from small_texts import PACK, TEXTS, jsonl, txt

fsspec = pytest.importorskip("fsspec", reason="needs the extra remote")


@pytest.fixture
def memory() -> Iterator[Any]:
    """memory://corpus with a language in each format."""
    system = fsspec.filesystem("memory")
    for packing, pack in PACK.items():
        system.pipe(f"/corpus/t{packing[1:]}.txt{packing}", pack(txt(TEXTS)))
    system.pipe("/corpus/json.jsonl.gz", PACK[".gz"](jsonl(TEXTS)))
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table({"text": TEXTS}), buffer)
    system.pipe("/corpus/rows.parquet", buffer.getvalue().to_pybytes())
    system.pipe("/corpus/_hidden.txt", b"x")
    system.pipe("/parts/en/0.txt", b"one\n")
    system.pipe("/parts/en/1.txt", b"two\n")
    yield system
    system.rm("/corpus", recursive=True)
    system.rm("/parts", recursive=True)


@pytest.mark.usefixtures("memory")
def test_a_folder_elsewhere() -> None:
    found = read_texts("memory://corpus")
    assert sorted(found) == ["json", "rows", "t", "tbz2", "tgz", "txz", "tzst"]
    assert all(texts == TEXTS for texts in found.values())
    counts = count("memory://corpus", threads=3)
    assert counts == count(found)


@pytest.mark.usefixtures("memory")
def test_files_globs_and_folders_of_one_language() -> None:
    for source in ("eng=memory://parts/en", "eng=memory://parts/en/*.txt", "memory://parts"):
        assert list(read_texts(source).values()) == [["one", "two"]]
    assert read_texts({"eng": "memory://parts/en/0.txt"}) == {"eng": ["one"]}
    assert read_texts("memory://corpus/tgz.txt.gz") == {"tgz": TEXTS}


def test_records_that_name_their_languages(memory: Any) -> None:
    records = [{"text": "x", "lang": "a"}, {"text": "y", "lang": "b"}]
    memory.pipe("/parts/all.jsonl", "\n".join(map(json.dumps, records)).encode())
    assert read_texts("memory://parts/all.jsonl", language_column="lang") == {"a": ["x"], "b": ["y"]}


@pytest.mark.usefixtures("memory")
def test_sizes_are_known_to_progress() -> None:
    calls: list[tuple[int, int, str]] = []
    count("memory://parts", progress=lambda *call: calls.append(call))
    assert calls[-1][:2] == (8, 8)


def test_files_here_by_address(tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.txt").write_bytes(txt(TEXTS))
    assert count(f"file://{tmp_path}") == count(tmp_path)
    assert count(f"file://{tmp_path}/eng_Latn.txt") == count(tmp_path)


@pytest.mark.usefixtures("memory")
@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("eng=memory://parts/none.txt", "no such file or folder: memory://parts/none.txt"),
        ("eng=memory://parts/*.txt", r"no file matches memory://parts/\*\.txt"),
        ("eng=nosuch://x/y.txt", "cannot reach nosuch://x/y.txt"),
        ("eng=memory://parts", r"memory:///?parts contains folders \(en\)"),
    ],
)
def test_addresses_that_lead_nowhere(source: str, message: str) -> None:
    with pytest.raises(PairityError, match=message):
        resolve(source)


def test_a_counts_file_elsewhere_is_refused(memory: Any) -> None:
    buffer = pa.BufferOutputStream()
    pq.write_table(pa.table({"language": ["a"], "pretoken": [b"x"], "count": [1]}), buffer)
    memory.pipe("/parts/counts.parquet", buffer.getvalue().to_pybytes())
    with pytest.raises(PairityError, match=r"is a counts file, and those must be local: download it first"):
        resolve("memory://parts/counts.parquet")


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(url: str) -> None:
        raise ImportError("Install s3fs to access S3")

    monkeypatch.setattr(fsspec.core, "url_to_fs", missing)
    with pytest.raises(PairityError, match=r"s3://bucket/x\.txt, because a package is missing: Install s3fs"):
        resolve("eng=s3://bucket/x.txt")
    monkeypatch.setitem(sys.modules, "fsspec", None)
    with pytest.raises(PairityError, match=r"reading s3://.* needs the package fsspec.*pairity\[remote\]"):
        resolve("eng=s3://bucket/x.txt")


def test_what_fails_while_reading_is_one_sentence(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    class Failing:
        def read(self, size: int) -> bytes:
            raise RuntimeError("the other side hung up")

        def close(self) -> None:
            pass

        closed = False

        def seekable(self) -> bool:
            return True

        def tell(self) -> int:
            return 0

    monkeypatch.setattr(addresses.Address, "open", lambda self: addresses.Remote(self, Failing()))
    with pytest.raises(PairityError, match=r"memory://parts/en/0\.txt: broken text file .*hung up"):
        count("eng=memory://parts/en/0.txt")


def test_names_in_addresses() -> None:
    address = Address("https://example.org/data/eng_Latn.txt.gz?download=true&x=a/b.txt")
    assert address.name == "eng_Latn.txt.gz"
    assert address.suffix == ".gz"
    assert str(Address("s3://bucket/a?b.txt").name) == "a?b.txt"


def test_files_here_need_no_fsspec(tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.txt").write_text("one\n")
    program = "import sys; from pairity import count; count(sys.argv[1]); print('fsspec' in sys.modules)"
    run = [sys.executable, "-c", program, str(tmp_path)]
    assert subprocess.run(run, capture_output=True, text=True, check=True).stdout == "False\n"
