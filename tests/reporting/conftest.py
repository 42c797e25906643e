"""Scores and their page, made once."""

import pytest

from pairity.judging.scores import Scores
from pairity.reporting import report
from report_page import Page
from report_scores import TEXTS, scores, tokenizers


@pytest.fixture(scope="session")
def judged() -> Scores:
    return scores()


@pytest.fixture(scope="session")
def page(judged: Scores, tmp_path_factory: pytest.TempPathFactory) -> Page:
    folder = tmp_path_factory.mktemp("report")
    path = report(judged, folder / "report.html", tokenizers=tokenizers(), sentences=TEXTS, date="1 May 2030")
    assert [file.name for file in folder.iterdir()] == ["report.html"], "temporary files were left"
    return Page(path)
