"""A datatrove step: a counts file per rank, and their sum is what one process counts."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import pairity
from pairity import sample
from pairity.counts.counts import Counts
from pairity.datatrove import CountStep
from pairity.errors import PairityError

LINES = sample.read("dev")


@dataclass
class Document:
    """What the step uses of a document of datatrove."""

    text: str
    id: str = "7"
    metadata: dict[str, Any] = field(default_factory=dict)


def documents() -> list[Document]:
    """All languages of the sample, one after the other and then mixed."""
    found = [
        Document(line, f"{language}/{number}", {"lang": language})
        for language, lines in LINES.items()
        for number, line in enumerate(lines)
    ]
    return found[::2] + found[1::2]


def test_ranks_merged_are_one_process(tmp_path: Path) -> None:
    step = CountStep(tmp_path / "parts", language_key="lang", split="dev", count_words=True)
    given = documents()
    for rank in range(4):
        share = given[rank::3] if rank < 3 else None  # the last rank has nothing to do
        passed = list(step(share, rank, 4))
        assert passed == (share or [])
    parts = sorted((tmp_path / "parts").iterdir())
    assert [path.name for path in parts] == [f"part-0000{rank}.parquet" for rank in range(4)]
    assert dict(Counts.load(parts)) == dict(pairity.count(LINES, split="dev", count_words=True))
    with pytest.raises(PairityError, match="but 2 is missing"):
        Counts.load([parts[0], *parts[2:]])


def test_one_language(tmp_path: Path) -> None:
    step = CountStep(tmp_path, language="eng_Latn", pretokenizer="whitespace")
    list(step([Document(line) for line in LINES["eng_Latn"]]))
    expected = pairity.count({"eng_Latn": LINES["eng_Latn"]}, pretokenizer="whitespace")
    assert dict(Counts.load(tmp_path / "part-00000.parquet")) == dict(expected)


def test_a_document_without_its_language_is_named(tmp_path: Path) -> None:
    step = CountStep(tmp_path / "parts", language_key="lang")
    with pytest.raises(
        PairityError, match="the document '7' has no language: 'lang' of its metadata is None"
    ):
        list(step([Document("to be")]))
    assert not (tmp_path / "parts").exists()


def test_text_that_is_not_unicode(tmp_path: Path) -> None:
    broken = [Document("a\ud800b")]
    with pytest.raises(PairityError, match="a text of 'eng_Latn': not UTF-8"):
        list(CountStep(tmp_path, language="eng_Latn")(broken))
    list(CountStep(tmp_path, language="eng_Latn", errors="replace")(broken))
    assert Counts.load(tmp_path / "part-00000.parquet")["eng_Latn"].replaced


@pytest.mark.parametrize("languages", [{}, {"language": "eng_Latn", "language_key": "lang"}])
def test_the_language_has_to_be_clear(tmp_path: Path, languages: dict[str, str]) -> None:
    with pytest.raises(PairityError, match="give either language_key or language"):
        CountStep(tmp_path, **languages)


def test_with_datatrove_itself(tmp_path: Path) -> None:
    """Its readers, its executor, and its processes."""
    executor = pytest.importorskip("datatrove.executor", reason="datatrove is not installed")
    readers = pytest.importorskip("datatrove.pipeline.readers.jsonl")
    import json

    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for language, lines in LINES.items():
        rows = (json.dumps({"id": str(n), "text": line, "lang": language}) for n, line in enumerate(lines))
        (corpus / f"{language}.jsonl").write_text("".join(f"{row}\n" for row in rows))
    pipeline = [readers.JsonlReader(str(corpus)), CountStep(tmp_path / "parts", language_key="lang")]
    executor.LocalPipelineExecutor(pipeline, tasks=3, workers=2, logging_dir=str(tmp_path / "logs")).run()
    assert dict(Counts.load(tmp_path / "parts")) == dict(pairity.count(LINES))
