"""The counts file: it comes back as it was, is the same for the same input, and damage is noticed."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings

from pairity import _core
from pairity.counts.counting import count
from pairity.counts.counts import Counts
from pairity.counts.values import LanguageCounts
from pairity.errors import PairityError
from pairity.text.pretokenizers import Pretokenization, pattern_of
from small_counts import DICTS, LINES, as_dict


@pytest.mark.parametrize("options", [{}, {"pretokenizer": "none", "split": "dev", "count_words": True}])
def test_a_saved_file_comes_back(tmp_path: Path, options: dict[str, Any]) -> None:
    counts = count(LINES, **options)
    path = tmp_path / "new" / "counts.parquet"
    counts.save(path)
    loaded = Counts.load(path)
    assert loaded == counts
    assert list(loaded) == list(counts)
    assert (loaded.split, loaded.pretokenization) == (counts.split, counts.pretokenization)
    assert [loaded[language].digest() for language in loaded] == [
        counts[language].digest() for language in counts
    ]
    assert list(path.parent.iterdir()) == [path]


@settings(max_examples=60, deadline=None)
@given(data=DICTS)
def test_any_counts_come_back(
    tmp_path_factory: pytest.TempPathFactory, data: dict[str, dict[bytes, int]]
) -> None:
    path = tmp_path_factory.mktemp("counts") / "counts.parquet"
    counts = Counts.from_dicts(data)
    counts.save(path)
    loaded = Counts.load(path)
    assert {language: as_dict(loaded[language]) for language in loaded} == data
    assert loaded == counts


def test_the_file_is_what_the_documentation_says(tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    count(LINES, split="dev", count_words=True).save(path)
    file = pq.ParquetFile(path)
    fields = [(field.name, field.type, field.nullable) for field in file.schema_arrow]
    assert fields == [
        ("language", pa.string(), False),
        ("pretoken", pa.binary(), False),
        ("count", pa.int64(), False),
    ]
    assert file.metadata.row_group(0).column(1).compression == "ZSTD"
    metadata = json.loads(file.schema_arrow.metadata[b"pairity"])
    assert metadata["format"] == 1
    assert metadata["split"] == "dev"
    assert metadata["pretokenization"] == {
        "hash": Pretokenization.of("gpt4o").hash,
        "pattern": pattern_of("gpt4o"),
        "normalize": None,
        "unicode": _core.UNICODE_VERSION,
    }
    assert metadata["languages"]["tha_Thai"] == {
        "documents": 2,
        "lines": 2,
        "bytes": len("".join(LINES["tha_Thai"]).encode()),
        "chars": len("".join(LINES["tha_Thai"])),
        "words": metadata["languages"]["tha_Thai"]["words"],
        "replaced": 0,
    }
    rows = file.read().to_pylist()
    assert [row["pretoken"] for row in rows if row["language"] == "eng_Latn"] == sorted(
        row["pretoken"] for row in rows if row["language"] == "eng_Latn"
    )


def test_the_same_input_gives_the_same_bytes(tmp_path: Path) -> None:
    count(LINES, threads=1).save(tmp_path / "a.parquet")
    count(LINES, threads=3).save(tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()


def test_row_groups_do_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counts = count(LINES)
    for limit in ("ROW_GROUP_ROWS", "ROW_GROUP_BYTES"):
        monkeypatch.setattr(f"pairity.counts.parquet.{limit}", 3)
        counts.save(tmp_path / "counts.parquet")
        assert pq.ParquetFile(tmp_path / "counts.parquet").num_row_groups > 3
        assert Counts.load(tmp_path / "counts.parquet") == counts


def test_a_failed_save_leaves_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    counts = count(LINES)
    counts.save(path)
    too_many = LanguageCounts(pa.array([b"a"], pa.large_binary()), np.array([2**63], np.uint64), 1, 1, 1)
    with pytest.raises(PairityError, match=r"'eng_Latn' add up to more than 2\*\*63"):
        Counts({"eng_Latn": too_many}, counts.pretokenization).save(path)
    assert Counts.load(path) == counts
    assert list(tmp_path.iterdir()) == [path]


def test_the_name_must_say_parquet(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "counts"):
        with pytest.raises(PairityError, match=r"counts\.parquet instead of"):
            count(LINES).save(path)


def test_a_changed_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    count(LINES).save(path)
    table = pq.read_table(path)
    pq.write_table(table.filter(pa.compute.not_equal(table["language"], "tel_Telu")), path)
    with pytest.raises(PairityError, match=r"counts\.parquet was changed .* tel_Telu"):
        Counts.load(path)
    metadata = json.loads(table.schema.metadata[b"pairity"])
    for change, said in (
        ({"format": 99}, "format 99"),
        ({"languages": None}, "metadata is broken"),
        ({"split": "test"}, "split must be"),
        (
            {"languages": {name: size | {"bytes": None} for name, size in metadata["languages"].items()}},
            "metadata is broken.*bytes of",
        ),
        (
            {
                "languages": {
                    name: size | {"chars": size["chars"] + 1} for name, size in metadata["languages"].items()
                }
            },
            "metadata is broken.*does not match its digest",
        ),
        ({"pretokenization": metadata["pretokenization"] | {"pattern": "x"}}, "the hash is not that of"),
    ):
        pq.write_table(table.replace_schema_metadata({"pairity": json.dumps(metadata | change)}), path)
        with pytest.raises(PairityError, match=said):
            Counts.load(path)
    for changed in (
        table.set_column(2, table.schema.field(2), pa.compute.add(table["count"], 1)),
        table.slice(0, 20),
    ):
        pq.write_table(changed, path)
        with pytest.raises(PairityError, match=r"rows and metadata differ|rows do not match their digests"):
            Counts.load(path)
    pq.write_table(table, path, row_group_size=7)  # the same rows, laid out anew
    assert Counts.load(path) == count(LINES)
    del metadata["digest"]  # as in files made before there were digests
    pq.write_table(table.replace_schema_metadata({"pairity": json.dumps(metadata)}), path)
    assert Counts.load(path) == count(LINES)
    pq.write_table(table.replace_schema_metadata({"pairity": "{"}), path)
    with pytest.raises(PairityError, match="metadata is broken"):
        Counts.load(path)


def test_one_flipped_bit_in_the_rows_is_found(tmp_path: Path) -> None:
    path = tmp_path / "counts.parquet"
    count({"a": [f"word{n}" for n in range(2000)]}).save(path)
    pretokens = pq.ParquetFile(path).metadata.row_group(0).column(1)
    data = bytearray(path.read_bytes())
    data[pretokens.data_page_offset + pretokens.total_compressed_size // 2] ^= 1
    path.write_bytes(data)
    with pytest.raises(PairityError, match=r"counts\.parquet: broken Parquet file"):
        Counts.load(path)


def test_text_is_not_loaded_as_counts(tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.txt").write_text("x")
    with pytest.raises(PairityError, match="does not hold counts"):
        Counts.load(tmp_path)
    with pytest.raises(PairityError, match="no such file"):
        Counts.load(tmp_path / "none.parquet")


@pytest.mark.parametrize(
    "metadata",
    [
        b"{",
        b"[" * 100_000,
        b'{"format": ' + b"9" * 5000 + b"}",
        b"[]",
        b'{"format": "1"}',
        b'{"format": 1, "pretokenization": 3}',
        b'{"format": 1, "pretokenization": {"pattern": 5, "normalize": null, "unicode": "15", "hash": ""}}',
        b"\xff",
    ],
)
def test_broken_metadata_is_named(tmp_path: Path, metadata: bytes) -> None:
    columns = {"language": ["eng"], "pretoken": [b"x"], "count": [1]}
    table = pa.table(columns).replace_schema_metadata({b"pairity": metadata})
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(PairityError, match=r"x\.parquet: its metadata is broken"):
        Counts.load(tmp_path / "x.parquet")
