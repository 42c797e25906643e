"""Tables as text: what a spreadsheet or a database writes is read, and what cannot be right is refused."""

import bz2
import csv
import io
from pathlib import Path

import pytest

from pairity.errors import PairityError
from pairity.text import delimited
from pairity.text.reading import read_texts
from small_texts import PACK, TEXTS

HARD = ["a, b", 'she said "hi"', "two\nlines", "tab\there", "'quote'", " space ", "", "中文, ไทย", "\r\nends"]


def as_csv(rows: list[list[str]], **options: str) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, **options).writerows(rows)  # type: ignore[arg-type]
    return out.getvalue().encode()


def read(folder: Path, name: str, data: bytes, **options: str) -> list[str]:
    path = folder / name
    path.write_bytes(data)
    return read_texts(f"eng_Latn={path}", **options)["eng_Latn"]


@pytest.mark.parametrize("packing", PACK)
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_what_python_writes_is_read(tmp_path: Path, packing: str, line_end: str) -> None:
    texts = TEXTS + HARD
    rows = [["id", "text", "source"], *([str(n), text, "x"] for n, text in enumerate(texts))]
    data = PACK[packing](as_csv(rows, lineterminator=line_end))
    assert read(tmp_path, f"t.csv{packing}", data) == texts


def test_tabs_and_nothing_quoted(tmp_path: Path) -> None:
    texts = ['"a', 'b"', "c, d", "", "'"]
    lines = ["lang\ttext", *(f"eng\t{text}" for text in texts)]
    assert read(tmp_path, "t.tsv", "\n".join(lines).encode()) == texts
    assert read(tmp_path, "n.tsv", "\n".join(lines[1:]).encode(), text_column="2") == texts


def test_blocks_are_cut_between_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = [f"{n} {'x' * (n % 50)}\n," for n in range(500)]
    data = as_csv([["text"], *([text] for text in texts)])
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 200)
    assert read(tmp_path, "t.csv", data) == texts
    monkeypatch.setattr(delimited, "BLOCK_BYTES", 1 << 20)
    with pytest.raises(PairityError, match=r"t\.csv: a row is longer than 1 MB"):
        read(tmp_path, "t.csv", as_csv([["text"], ["a"], ["b" * (1 << 21)]]))


@pytest.mark.parametrize(
    ("name", "data", "column", "message"),
    [
        ("t.csv", b"id,words\n1,a\n", "text", r"t\.csv: no column 'text'; there are: id, words"),
        ("t.tsv", b"id\twords\n1\ta\n", "text", r"no column 'text'; there are: id, words"),
        ("t.tsv", b"a\tb\n", "3", "no column '3'; there are: a, b"),
        ("t.tsv", b"a\tb\n", "0", "no column '0'"),
        ("t.csv", b"id\rwords\n1,a\n", "text", "no column 'text'; there are: id"),
        ("t.csv", b"text,text\n1,2\n", "text", "there are 2 columns 'text'"),
        (
            "t.csv",
            b"id,text\n1,a\n2,b,c\n",
            "text",
            "near row 1: broken csv file .*Expected 2 columns, got 3",
        ),
        ("t.csv", b'text\n"a\nb\nc\n', "text", "the number of quotation marks is odd"),
        ("t.csv", b"", "text", "broken csv file"),
        ("t.csv", b"text\n", "text", "no text for 'eng_Latn'"),
        ("t.csv", b"text\nabc\n\xff\n", "text", r"t\.csv, row 2: not UTF-8"),
        ("t.csv.bz2", bz2.compress(b"id,text\n1,2,3\n"), "text", "broken csv file"),
        ("t.csv.gz", b"text\nabc\n", "text", "broken gzip file"),
        ("t.csv.xz", b"text\nabc\n", "text", "broken xz file"),
        ("t.tsv.bz2", b"", "text", "broken bz2 file"),
    ],
)
def test_bad_tables_are_refused(tmp_path: Path, name: str, data: bytes, column: str, message: str) -> None:
    with pytest.raises(PairityError, match=message):
        read(tmp_path, name, data, text_column=column)


def test_truncated_files_are_found(tmp_path: Path) -> None:
    for ending in (".xz", ".bz2"):
        whole = PACK[ending](as_csv([["text"], *([f"{n * n}"] for n in range(5000))]))
        with pytest.raises(PairityError, match="broken"):
            read(tmp_path, f"t.csv{ending}", whole[: len(whole) // 2])


def test_a_missing_column_is_found_before_a_thread_reads_ahead() -> None:
    """If Python ended while that thread reads, it would abort the process."""

    class Counted(io.BytesIO):
        reads = 0

        def read(self, size: int | None = -1) -> bytes:
            self.reads += 1
            return super().read(size)

    for kind, comma in (("csv", b","), ("tsv", b"\t")):
        stream = Counted(b"text,b\n".replace(b",", comma) + b"1,2\n".replace(b",", comma) * 9_000_000)
        with pytest.raises(PairityError, match="no column 'other'; there are: text, b"):
            next(delimited.batches(stream, kind, ["other"], "x", None))  # type: ignore[arg-type]
        assert stream.reads == 1


@pytest.mark.parametrize("data", [b"\ntext,b\nabc,1\n", b'"b\n",text\n1,abc\n', b'"text"\nabc\n'])
def test_a_header_is_what_arrow_takes_for_it(tmp_path: Path, data: bytes) -> None:
    assert read(tmp_path, "t.csv", data) == ["abc"]
