"""What the tests of faults share: the commands, and the counts of what happened."""

import json
import os
import platform
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from writing_commands import Writing, make

COLUMNS = ("old or new, complete", "refused, with the reason", "nothing there yet", "wrong")
COLUMN_OF = {"old": 0, "new": 0, "refused": 1, "absent": 2, "wrong": 3}


@pytest.fixture(scope="session")
def commands(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Writing]:
    return make(tmp_path_factory.mktemp("commands"))


@pytest.fixture(scope="session")
def tally(request: pytest.FixtureRequest) -> Iterator[dict[str, Counter[str]]]:
    """Fault -> outcome -> how often. The long form writes them down where FAULTS_RECORD says, if no test failed."""
    counted: dict[str, Counter[str]] = {}
    yield counted
    if (path := os.environ.get("FAULTS_RECORD")) and not request.session.testsfailed:
        Path(path).write_text(
            json.dumps(record(counted), indent=1, ensure_ascii=False) + "\n", encoding="utf-8"
        )


def record(counted: dict[str, Counter[str]]) -> dict[str, object]:
    """One row for each kind of fault, in the shape of docs/results/README.md."""
    rows = []
    for fault, outcomes in counted.items():
        cells = [0] * len(COLUMNS)
        for outcome, number in outcomes.items():
            cells[COLUMN_OF[outcome]] += number
        rows.append([fault, sum(cells), *cells])
    columns = [{"name": "fault"}, *({"name": name, "format": ",d"} for name in ("times", *COLUMNS))]
    return {
        "made_by": "make test-faults RECORD=docs/results/faults.json",
        "columns": columns,
        "rows": rows,
        "note": (
            "What a later reader of the output finds, over all commands that write, with no earlier "
            f"result and over an older result (--force). On {platform.system()}, with Python "
            f"{platform.python_version()}."
        ),
    }
