"""The table of model scores: read as anyone may write it, and refused with the place of what is wrong."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pairity
from pairity.lm.model_scores import ModelScore, read_model_scores

HEAD = "tokenizer,language,measure,value"


def written(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_the_same_scores_from_every_kind_of_file(tmp_path):
    rows = [
        {"tokenizer": "a", "language": "tam_Taml", "measure": "bits_per_byte", "value": 0.9},
        {"tokenizer": 'b, "new"', "language": None, "measure": "chrF", "value": 41.0},
    ]
    text = f'\ufeff{HEAD}\r\na,tam_Taml,bits_per_byte,0.9\r\n\r\n"b, ""new""",,chrF,41\r\n'
    files = [
        written(tmp_path / "m.csv", text),
        written(
            tmp_path / "m.tsv",
            HEAD.replace(",", "\t") + '\na\ttam_Taml\tbits_per_byte\t0.9\nb, "new"\t\tchrF\t41\n',
        ),
        tmp_path / "m.parquet",
    ]
    pq.write_table(pa.Table.from_pylist(rows), files[2])
    for file in files:
        assert read_model_scores(file) == [
            ModelScore("a", "tam_Taml", "bits_per_byte", "", 0.9, None, None, None),
            ModelScore('b, "new"', "", "chrF", "", 41.0, None, None, None),
        ], file.name


def test_seeds_are_averaged_with_an_interval_over_documents_and_seeds(tmp_path):
    head = f"{HEAD},low,high,seed"
    rows = [
        f"a,eng_Latn,bits_per_byte,{1 + seed / 10},{0.9 + seed / 10},{1.1 + seed / 10},{seed}"
        for seed in (1, 2, 3)
    ]
    [one] = read_model_scores(written(tmp_path / "m.csv", "\n".join([head, *rows])))
    assert one.value == pytest.approx(1.2)
    half = (0.1**2 + (4.303 * 0.1 / 3**0.5) ** 2) ** 0.5
    assert (one.low, one.high) == pytest.approx((1.2 - half, 1.2 + half))
    plain = [f"a,eng_Latn,bits_per_byte,{1 + seed / 10},,,{seed}" for seed in (1, 2, 3)]
    for some in (plain, [*plain[:2], rows[2]]):
        [one] = read_model_scores(written(tmp_path / "m.csv", "\n".join([head, *some])))
        assert one.value == pytest.approx(1.2)
        assert (one.low, one.high) == (None, None), "nobody knows how far documents move it"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "m.csv has no column 'tokenizer'; it has: none"),
        ("tokenizer,language,metric,value\n", "no column 'measure'; it has: tokenizer, language, metric, value"),
        (f"{HEAD},lo\n", "a column 'lo', which model scores do not have"),
        (f"{HEAD},value\n", "2 columns 'value'"),
        (f"{HEAD}\n", "m.csv has no rows"),
        (f"{HEAD}\na,eng_Latn,x\n", "m.csv, row 2 has 3 cells, but the first row has 4"),
        (f"{HEAD}\na,eng_Latn,x,1\na,deu_Latn,x,1.2%\n", "m.csv, row 3, column 'value' is '1.2%': give a number"),
        (f"{HEAD}\na,eng_Latn,x,nan\n", "row 2, column 'value' is 'nan'"),
        (f"{HEAD}\na,eng_Latn,x,\n", "row 2, column 'value' is empty"),
        (f"{HEAD}\n,eng_Latn,x,1\n", "row 2, column 'tokenizer' is empty"),
        (f"{HEAD}\na,eng/Latn,x,1\n", "row 2, column 'language'"),
        (f"{HEAD},low,high\na,eng_Latn,x,1,0.5,\n", "row 2, column 'high' is empty: an interval has two ends"),
        (f"{HEAD},low,high\na,eng_Latn,x,1,2,0\n", "row 2: 'low' is 2, above 'high', which is 0"),
        (f"{HEAD},low,high\na,eng_Latn,x,5,0.5,1.5\n", "row 2: 'value' is 5, outside its interval from 0.5 to 1.5"),
        (f"{HEAD}\na,eng_Latn,accuracy,55\n", "row 2, column 'value' is 55: an accuracy is between 0 and 1"),
        (
            f"{HEAD},random\na,eng_Latn,accuracy,0.5,-1\n",
            "row 2, column 'random' is -1: an accuracy is between 0 and 1",
        ),
        (f"{HEAD}\na,eng_Latn,x\x01y,1\n", r"row 2, column 'measure' is 'x\x01y', with characters that cannot be"),
        (f"{HEAD}\na,eng_Latn,x\uffff,1\n", r"row 2, column 'measure' is 'x\uffff'"),
        (f"{HEAD},text\na,eng_Latn,x,1,a\x1bb\n", r"row 2, column 'text' is 'a\x1bb'"),
        (f"{HEAD}\na,eng_Latn,x,1_0\n", "row 2, column 'value' is '1_0': give a number"),
        (f"{HEAD}\na,eng_Latn,x,1.7e308\n", "row 2, column 'value' is '1.7e308': give a number"),
        (
            f"{HEAD},benchmarks\na,eng_Latn,accuracy,0.5,XNLI\nb,eng_Latn,accuracy,0.5,\"Belebele, XNLI\"\n",
            "row 3: accuracy in eng_Latn cannot be compared with {path}, row 2: their 'benchmarks' differ",
        ),
        (
            f"{HEAD},random\na,eng_Latn,accuracy,0.5,0.5\nb,eng_Latn,accuracy,0.5,0.25\n",
            "row 3: accuracy in eng_Latn cannot be compared with {path}, row 2: their 'random' differ",
        ),
        (f"{HEAD},seed\na,eng_Latn,x,1,1.5\n", "row 2, column 'seed' is 1.5"),
        (f"{HEAD}\na,eng_Latn,x,1\na,eng_Latn,x,2\n", "row 3: x of 'a' in eng_Latn is already in {path}, row 2"),
        (f'{HEAD}\na,"eng_Latn,x,1\n', "m.csv, row 2 cannot be read"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_by_file_row_and_column(tmp_path, text, message):
    path = written(tmp_path / "m.csv", text)
    with pytest.raises(pairity.PairityError) as error:
        read_model_scores(path)
    assert message.format(path=path) in str(error.value)


def test_files_that_are_no_tables_are_refused(tmp_path):
    (tmp_path / "m.parquet").write_bytes(b"PAR1 not")
    (tmp_path / "m.csv").write_bytes(b"tokenizer,\xff")
    pq.write_table(
        pa.table({"tokenizer": [1], "language": ["a"], "measure": ["b"], "value": [1]}),
        tmp_path / "n.parquet",
    )
    for name, message in {
        "m.parquet": "m.parquet: broken Parquet file",
        "m.csv": "m.csv is not UTF-8, at byte 10",
        "n.parquet": "n.parquet, row 1, column 'tokenizer' is 1: give text",
        "m.xlsx": "choose one of these extensions",
        "none.csv": "there is no",
    }.items():
        with pytest.raises(pairity.PairityError, match=message):
            read_model_scores(tmp_path / name)


def test_what_a_parquet_file_may_hold_besides(tmp_path):
    """Types that Python has no values for, columns of one name, and yes or no for a number."""
    text = pa.array(["a"])
    for value, message in (
        (pa.array([1], pa.timestamp("ns")), "m.parquet: broken Parquet file|give a number"),
        (pa.array([10**15], pa.timestamp("ms")), "m.parquet: broken Parquet file"),
        (pa.array([True]), "row 1, column 'value' is True: give a number"),
    ):
        table = pa.table([text, text, text, value], names=HEAD.split(","))
        pq.write_table(table, tmp_path / "m.parquet")
        with pytest.raises(pairity.PairityError, match=message):
            read_model_scores(tmp_path / "m.parquet")
    pq.write_table(pa.table([text] * 5, names=[*HEAD.split(","), "value"]), tmp_path / "m.parquet")
    with pytest.raises(pairity.PairityError, match="2 columns 'value'"):
        read_model_scores(tmp_path / "m.parquet")


def test_benchmarks_compare_in_any_order_and_an_ending_in_any_case(tmp_path):
    rows = ['a,eng_Latn,accuracy,0.5,"A, B"', 'b,eng_Latn,accuracy,0.5,"B, A"', "c,eng_Latn,accuracy,0.5,"]
    path = written(tmp_path / "M.CSV", "\n".join([f"{HEAD},benchmarks", *rows]))
    assert [one.tokenizer for one in read_model_scores(path)] == ["a", "b", "c"]
