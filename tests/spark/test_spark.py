"""Counting on Spark gives the counts file of one process, byte for byte, and survives the loss of a worker."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import pairity
import pairity.spark
from pairity import sample
from pairity.counts.shards import deal
from pairity.errors import PairityError
from pairity.text.inputs import TextFile, TextInput
from pairity.text.options import TextReading
from pairity.text.pretokenizers import Pretokenization
from pairity.text.sources import resolve
from program import PROGRAM
from program import pairity as run
from spark_here import needs_spark

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore"),  # PySpark's own: of pandas, of sockets that it closes late
]

LINES = sample.read("dev")


@pytest.fixture(scope="module")
def session() -> Iterator[Any]:
    from pyspark.sql import SparkSession

    with pairity.spark.start("local[2,4]") as context:
        yield SparkSession(context)


def same_file(counts: pairity.Counts, expected: pairity.Counts, folder: Path) -> None:
    counts.save(folder / "spark.parquet")
    expected.save(folder / "one.parquet")
    assert (folder / "spark.parquet").read_bytes() == (folder / "one.parquet").read_bytes()


# Texts of a DataFrame


@needs_spark
def test_texts_of_a_data_frame(session: Any, tmp_path: Path) -> None:
    rows = [(language, line) for language, lines in LINES.items() for line in lines]
    df = session.createDataFrame(rows[::2] + rows[1::2], ["lang", "content"]).repartition(5)
    settings = {"pretokenizer": "gpt2", "digits": True, "split": "dev", "count_words": True}
    counts = pairity.spark.count(df, text_column="content", language_column="lang", **settings)
    same_file(counts, pairity.count(LINES, **settings), tmp_path)


@needs_spark
def test_a_data_frame_of_one_language(session: Any, tmp_path: Path) -> None:
    df = session.createDataFrame([(line,) for line in LINES["tam_Taml"]], ["text"])
    counts = pairity.spark.count(df, language="tam_Taml")
    same_file(counts, pairity.count({"tam_Taml": LINES["tam_Taml"]}), tmp_path)


@needs_spark
def test_rows_that_cannot_be_counted(session: Any) -> None:
    df = session.createDataFrame([("eng_Latn", "to be"), ("eng_Latn", None)], "lang string, text string")
    with pytest.raises(PairityError, match=r"^a row of the DataFrame has no text: it is null\."):
        pairity.spark.count(df, language_column="lang")
    with pytest.raises(PairityError, match="no column 'language'; there are: lang, text"):
        pairity.spark.count(df, language_column="language")
    with pytest.raises(PairityError, match="give either language_column or language"):
        pairity.spark.count(df)


# Files


@needs_spark
def test_files_of_every_kind(session: Any, tmp_path: Path) -> None:
    corpus = tmp_path / "corpus"
    (corpus / "eng_Latn").mkdir(parents=True)
    for number in range(5):
        (corpus / "eng_Latn" / f"{number}.txt").write_text("\n".join(LINES["eng_Latn"][number::5]))
    (corpus / "eng_Latn" / "blank.txt").write_text("\n\n")
    (corpus / "deu_Latn.jsonl").write_text('{"text": "Sein oder\\nNichtsein"}\n')
    (corpus / "tam_Taml.csv").write_text('id,text\n1,"இருப்பதா, இல்லையா"\n')
    on_spark = pairity.count(corpus, engine=pairity.spark.on(session))
    same_file(on_spark, pairity.count(corpus), tmp_path)
    mixed = [f"eng_Latn={corpus}/eng_Latn", pairity.Counts.from_dicts({"swe_Latn": {"att": 2}})]
    same_file(pairity.count(mixed, engine=pairity.spark.on(session)), pairity.count(mixed), tmp_path)


@needs_spark
def test_shards_on_spark(session: Any, tmp_path: Path) -> None:
    """Also one that has no file."""
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    (corpus / "eng_Latn.txt").write_text("to be\n")
    for number in (1, 2):
        part = pairity.count(corpus, shard=(number, 2), engine=pairity.spark.on(session))
        same_file(part, pairity.count(corpus, shard=(number, 2)), tmp_path)


@needs_spark
def test_real_text(session: Any, shared: Path, tmp_path: Path) -> None:
    sources = [str(path) for path in sorted((shared / "data" / "train").glob("*.txt.gz"))[:30]]
    same_file(pairity.count(sources, engine=pairity.spark.on(session)), pairity.count(sources), tmp_path)


@needs_spark
def test_a_mistake_in_a_file_is_one_sentence(session: Any, tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.txt").write_bytes(b"to be\nor n\xff\n")
    with pytest.raises(PairityError, match=r"^/.*eng_Latn.txt, line 2: not UTF-8 \(byte 5\)"):
        pairity.count(tmp_path, engine=pairity.spark.on(session))
    counts = pairity.count(tmp_path, errors="replace", engine=pairity.spark.on(session))
    assert counts["eng_Latn"].replaced == 1


@needs_spark
def test_what_is_skipped_is_told_as_by_one_process(session: Any, tmp_path: Path) -> None:
    """Of a language that one task counts, of one that several do, and of records that name no language."""
    corpus = tmp_path / "corpus"
    for name, number in (("eng_Latn", 9), ("deu_Latn", 1)):
        (corpus / name).mkdir(parents=True)
        for part in range(number):
            (corpus / name / f"{part}.txt").write_bytes(b"to be\nor n\xff\n" * (part + 1))
    on_spark = pairity.count(corpus, on_error="skip", engine=pairity.spark.on(session))
    alone = pairity.count(corpus, on_error="skip")
    assert on_spark.notes == alone.notes
    assert len(alone.notes) == 10
    same_file(on_spark, alone, tmp_path)
    (tmp_path / "mixed.jsonl").write_text(
        '{"lang": "eng_Latn", "text": "to be"}\n{"lang": null, "text": "or"}\n'
    )
    how = {"language_column": "lang", "on_error": "skip"}
    on_spark = pairity.count(tmp_path / "mixed.jsonl", **how, engine=pairity.spark.on(session))
    assert on_spark.notes == pairity.count(tmp_path / "mixed.jsonl", **how).notes != ()


def records_and_a_language(folder: Path, language: str) -> list[str]:
    """Records of this language, and English as a SOURCE of its own."""
    (folder / "eng_Latn.txt").write_text("to be\n")
    (folder / "mixed.jsonl").write_text(f'{{"lang": "{language}", "text": "or"}}\n')
    return [f"eng_Latn={folder}/eng_Latn.txt", f"{folder}/mixed.jsonl"]


@needs_spark
def test_records_beside_a_language_of_its_own(session: Any, tmp_path: Path) -> None:
    engine = pairity.spark.on(session)
    with pytest.raises(PairityError, match="line 1: the language 'eng_Latn' is given twice: by this record"):
        pairity.count(records_and_a_language(tmp_path, "eng_Latn"), language_column="lang", engine=engine)
    sources = records_and_a_language(tmp_path, "deu_Latn")
    on_spark = pairity.count(sources, language_column="lang", engine=engine)
    same_file(on_spark, pairity.count(sources, language_column="lang"), tmp_path)


@needs_spark
def test_what_is_no_file_is_refused(session: Any) -> None:
    with pytest.raises(PairityError, match="is not a file"):
        pairity.count({"eng_Latn": ["to be"]}, engine=pairity.spark.on(session))
    with pytest.raises(PairityError, match="threads is 2: leave it out"):
        pairity.count({"eng_Latn": ["to be"]}, engine=pairity.spark.on(session), threads=2)


# Pieces


def test_only_languages_in_several_hands_have_to_be_added_up() -> None:
    def part(language: str, *names: str) -> TextInput:
        files = tuple(TextFile(Path(name), "txt", None, 1) for name in names)
        return TextInput(language, "here", named=True, files=files)

    hands = [
        [part("eng_Latn", "a"), part("deu_Latn", "b", "c"), part("", "d")],
        [part("eng_Latn", "e"), part("deu_Latn"), part("")],
    ]
    whole, shared = pairity.spark.in_two(hands)
    assert [[one.language for one in share] for share in whole] == [["deu_Latn"]]
    assert [[one.language for one in share] for share in shared] == [
        ["eng_Latn", "", "deu_Latn"],
        ["eng_Latn"],
    ]
    assert not shared[0][2].files, "only its name, for the records"


def test_a_task_refuses_records_of_a_language_that_another_task_has(tmp_path: Path) -> None:
    sources = records_and_a_language(tmp_path, "eng_Latn")
    inputs = [part for part in resolve(sources, language_column="lang").inputs if isinstance(part, TextInput)]
    [alone], [records] = pairity.spark.in_two(deal(inputs, 2))
    cut, how = Pretokenization.of("gpt4o", False, None), TextReading(language_column="lang")
    assert [name for name, _ in pairity.spark.count_share(alone, cut, how, False)] == ["eng_Latn"]
    with pytest.raises(PairityError, match="'eng_Latn' is given twice: by this record, and by its"):
        list(pairity.spark.count_share(records, cut, how, False))
    records_and_a_language(tmp_path, "deu_Latn")
    assert [name for name, _ in pairity.spark.count_share(records, cut, how, False)] == ["deu_Latn"]


def test_counts_come_back_from_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pairity.spark, "PIECE_ROWS", 100)
    counts = pairity.count(LINES, count_words=True)
    pieces = list(pairity.spark.in_pieces(counts))
    assert len(pieces) > 2 * len(counts)
    for language in counts:
        mine = [piece for name, piece in pieces if name == language]
        [*whole] = pairity.spark.add_pieces((language, mine[::-1]))
        back = [pairity.spark.from_bytes(piece) for _, piece in whole]
        assert pairity.spark.sum_language(language, back) == counts[language]


# The command


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    folder = tmp_path / "corpus"
    folder.mkdir()
    for language in ("eng_Latn", "tam_Taml"):
        (folder / f"{language}.txt").write_text("\n".join(LINES[language] * 400) + "\n")
    return folder


def workers_of(session: int) -> list[int]:
    """Processes that run tasks: Spark has a process that starts them, and their command is the same."""
    daemons: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
        except (OSError, ValueError):
            continue
        if entry.name.isdigit() and b"pyspark.daemon" in words and int(fields[3]) == session:
            daemons[int(entry.name)] = int(fields[1])
    return [process for process, parent in daemons.items() if parent in daemons]


def count_and_kill_a_worker(corpus: Path, master: str, output: Path) -> tuple[int, str]:
    """The exit code and standard error of `pairity count` whose first worker was killed."""
    words = ["count", corpus, "--engine", "spark", "--master", master, "-o", output]
    with subprocess.Popen(
        [*PROGRAM, *map(str, words)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    ) as program:
        killed = False
        while program.poll() is None and not killed:
            for worker in workers_of(program.pid)[:1]:
                os.kill(worker, signal.SIGKILL)
                killed = True
            time.sleep(0.05)
        assert killed
        assert program.stderr is not None
        said = program.stderr.read()
        return program.wait(), said


@needs_spark
@pytest.mark.skipif(sys.platform != "linux", reason="workers are found in /proc")
def test_a_killed_worker_costs_nothing_but_time(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "counts.parquet"
    code, said = count_and_kill_a_worker(corpus, "local[2]", output)
    assert code == 1
    assert "error: Spark gave up" in said  # and why, which depends on what the worker was doing
    assert not output.exists()
    code, said = count_and_kill_a_worker(corpus, "local[2,4]", output)
    assert code == 0, said
    pairity.count(corpus).save(tmp_path / "one.parquet")
    assert output.read_bytes() == (tmp_path / "one.parquet").read_bytes()


@needs_spark
def test_a_master_that_is_none(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "counts.parquet"
    done = run("count", corpus, "--engine", "spark", "--master", "lokal[2]", "-o", output)
    assert done.returncode == 1
    assert "Spark did not start with master 'lokal[2]'" in done.stderr
    assert "Traceback" not in done.stderr


@needs_spark
def test_a_master_that_cannot_be_reached(corpus: Path, tmp_path: Path) -> None:
    output = tmp_path / "counts.parquet"
    done = run("count", corpus, "--engine", "spark", "--master", "spark://127.0.0.1:1", "-o", output)
    assert done.returncode == 1
    assert done.stderr.startswith("error: the Spark master spark://127.0.0.1:1 cannot be reached (")
    assert not output.exists()


@needs_spark
def test_without_java(corpus: Path, tmp_path: Path) -> None:
    env = {**os.environ, "PATH": str(tmp_path), "JAVA_HOME": ""}
    done = run("count", corpus, "--engine", "spark", "-o", tmp_path / "counts.parquet", env=env)
    assert done.returncode == 1
    assert done.stderr.startswith(
        "error: Spark needs Java 17 or newer, which is neither on the PATH nor in JAVA_HOME"
    )
