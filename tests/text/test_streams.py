"""Text from pipes, and files that cannot be read or are not what their name says."""

import gzip
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from pairity.counts.counting import count
from pairity.errors import PairityError
from pairity.text import blocks
from pairity.text.reading import read_texts
from pairity.text.sources import resolve

LINES = ["The first line.", "Zweite Zeile: äöü", "", "last, without a line end"]
TEXT = "\n".join(LINES).encode()


def pipe(path: Path, data: bytes) -> Path:
    """A named pipe into which another thread writes."""
    os.mkfifo(path)
    threading.Thread(target=lambda: path.write_bytes(data), daemon=True).start()
    return path


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("eng_Latn.txt", TEXT),
        ("eng_Latn.txt.gz", gzip.compress(TEXT, mtime=0)),
        ("eng_Latn.jsonl", b"\n".join(json.dumps({"text": line}).encode() for line in LINES)),
    ],
    ids=["txt", "gzip", "jsonl"],
)
def test_a_pipe_is_read_like_a_file(tmp_path: Path, name: str, data: bytes) -> None:
    assert read_texts(pipe(tmp_path / name, data)) == {"eng_Latn": LINES}


def test_a_pipe_is_counted_like_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "BLOCK_BYTES", 1 << 12)
    text = "".join(f"line {number} of many\n" for number in range(5000)).encode()
    counts = count(f"eng_Latn={pipe(tmp_path / 'x.txt', text)}", threads=2)
    (tmp_path / "eng_Latn.txt").write_bytes(text)
    assert counts == count(tmp_path / "eng_Latn.txt")


def test_parquet_from_a_pipe_is_refused(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "eng_Latn.parquet")
    with pytest.raises(PairityError, match="is a pipe, and Parquet cannot be read from a pipe"):
        resolve(tmp_path)


@pytest.mark.parametrize("command", ["cat text.txt | {}", "{} < text.txt", "{} < <(cat text.txt)"])
def test_standard_input_is_a_source(tmp_path: Path, command: str) -> None:
    (tmp_path / "text.txt").write_bytes(TEXT)
    program = "from pairity.text.reading import read_texts; print(read_texts('eng_Latn=/dev/stdin'))"
    line = command.format(f'{sys.executable} -c "{program}"')
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str({"eng_Latn": LINES})


def run_with(source: str, stdin: str) -> subprocess.CompletedProcess[str]:
    """Counts of one source, and what progress said last, in a shell with this standard input."""
    program = (
        "import sys; from pairity import count; said = []; "
        "c = count(sys.argv[1:], progress=lambda *news: said.append(news)); "
        "print(c.summary(), said[-1][:2])"
    )
    line = f"{sys.executable} -c '{program}' {source} {stdin}"
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("source", "name", "data"),
    [
        ("eng_Latn=-", "text.txt", TEXT),
        ("eng_Latn=-.txt.gz", "text.txt.gz", gzip.compress(TEXT, mtime=0)),
        ("eng_Latn=-.jsonl", "a.jsonl", b"".join(json.dumps({"text": x}).encode() + b"\n" for x in LINES)),
        ("eng_Latn=-.tsv", "a.tsv", b"text\none\ntwo\n"),
        ("eng_Latn=-.words.tsv", "a.words.tsv", b"one\t3\n"),
    ],
)
@pytest.mark.parametrize("stdin", ["< {}", "< <(cat {})"])
def test_a_dash_is_standard_input(tmp_path: Path, source: str, name: str, data: bytes, stdin: str) -> None:
    (tmp_path / name).write_bytes(data)
    done = run_with(source, stdin.format(tmp_path / name))
    # Its size is not known, so progress tells what was read, and of how much it does not say.
    expected = count(f"eng_Latn={tmp_path / name}").summary()
    assert done.stdout.strip() == f"{expected} {(len(data), 0)}"


@pytest.mark.parametrize(
    ("source", "stdin", "message"),
    [
        ("eng_Latn=-", "<&-", "standard input, which is closed"),
        ("eng_Latn=- deu_Latn=-", "< /dev/null", "can be read only once (eng_Latn=-, deu_Latn=-)"),
        ("eng_Latn=- deu_Latn=/dev/stdin", "< <(echo x)", "can be read only once"),
        ("eng_Latn=-.docx", "< /dev/null", "names a format that cannot be read"),
        ("eng_Latn=-.parquet", "< /dev/null", "Parquet cannot be read from a pipe"),
        ("eng_Latn=-", "< /dev/null", "no text for"),
        ("-", "< /dev/null", "write LANG=-"),
    ],
)
def test_standard_input_that_cannot_be_read(source: str, stdin: str, message: str) -> None:
    done = run_with(source, stdin)
    assert "PairityError" in done.stderr
    assert message in done.stderr


def test_a_process_substitution_is_a_source(tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_bytes(TEXT)
    program = "import sys; from pairity.text.reading import read_texts; print(read_texts(sys.argv[1:]))"
    line = f'{sys.executable} -c "{program}" eng_Latn=<(cat text.txt) deu_Latn=<(cat text.txt)'
    done = subprocess.run(["bash", "-c", line], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == str({"eng_Latn": LINES, "deu_Latn": LINES})


def test_a_stream_needs_the_name_of_its_language() -> None:
    with pytest.raises(PairityError, match=r"write LANG=/dev/stdin"):
        resolve("/dev/stdin")


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_utf_16_without_a_mark_is_refused(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "eng_Latn.txt").write_bytes("Plain English text.\n".encode(encoding))
    with pytest.raises(PairityError, match="looks like UTF-16"):
        count(tmp_path)
    (tmp_path / "eng_Latn.txt").write_bytes(b"a few NUL bytes \0\0\0 are text\n")
    assert count(tmp_path)["eng_Latn"].lines == 1


def test_what_may_not_be_read_is_not_called_broken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "eng_Latn.txt").write_bytes(TEXT)

    def denied(path: str) -> None:
        raise PermissionError(13, f"Failed to open local file {path}")

    monkeypatch.setattr(blocks.pa, "OSFile", denied)
    with pytest.raises(PairityError, match=r"cannot read .*eng_Latn\.txt: Permission denied\.$"):
        count(tmp_path)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_may_not_be_read(tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0)
    with pytest.raises(PairityError, match=r"cannot read .*closed: Permission denied"):
        resolve(tmp_path / "closed")


def test_a_name_that_is_too_long() -> None:
    with pytest.raises(PairityError, match="File name too long"):
        resolve("x" * 5000)


def test_two_columns_of_one_name_are_refused(tmp_path: Path) -> None:
    table = pa.table([pa.array(["a"]), pa.array(["b"])], ["text", "text"])
    pq.write_table(table, tmp_path / "eng_Latn.parquet")
    with pytest.raises(PairityError, match="there are 2 columns 'text'"):
        count(tmp_path)


@pytest.mark.parametrize("number", [b"9" * 5000, b"[" * 100_000])
def test_json_that_python_cannot_read(tmp_path: Path, number: bytes) -> None:
    path = tmp_path / "eng_Latn.jsonl"
    path.write_bytes(b'{"text": "a"}\n\n{"text": ' + number + b"}\n")
    with pytest.raises(PairityError, match=r"eng_Latn\.jsonl, line 3"):
        count(path)
    path.write_bytes(b'{"text": "a", "deep": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n")
    assert count(path)["eng_Latn"].lines == 1
