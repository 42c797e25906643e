"""Tables are read without Arrow's threads."""

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pairity
from pairity.files.tables import parquet_table

THREADS = """
import os, sys
import pyarrow.parquet
from pairity.files.tables import parquet_table

data = open(sys.argv[1], "rb").read()
before = len(os.listdir("/proc/self/task"))
parquet_table(data)
assert len(os.listdir("/proc/self/task")) == before
"""


def test_a_table_comes_back_as_it_was_written(tmp_path):
    table = pa.table({"a": [1, None], "b": [b"x", b""]}).replace_schema_metadata({"by": "us"})
    pq.write_table(table, tmp_path / "t.parquet")
    found = parquet_table((tmp_path / "t.parquet").read_bytes())
    assert found.equals(table, check_metadata=True)


@pytest.mark.skipif(sys.platform != "linux", reason="threads are counted in /proc")
def test_reading_starts_no_threads(tmp_path):
    path = tmp_path / "t.parquet"
    pq.write_table(pa.table({"a": range(1000), "b": range(1000)}), path, row_group_size=100)
    done = subprocess.run([sys.executable, "-c", THREADS, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_columns_of_one_name_are_refused(tmp_path):
    pq.write_table(pa.table([[1], [2]], ["a", "a"]), tmp_path / "t.parquet")
    with pytest.raises(pa.ArrowInvalid, match="several columns have one name: a, a"):
        parquet_table((tmp_path / "t.parquet").read_bytes())


def test_no_module_reads_a_table_with_arrows_threads():
    package = Path(pairity.__file__).parent
    assert [path.name for path in package.rglob("*.py") if "pq.read_table(" in path.read_text("utf-8")] == []
