"""What GitHub runs: actions pinned to commits, targets that exist, and no secrets."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_there_are_workflows() -> None:
    assert [path.name for path in WORKFLOWS] == ["ci.yml", "release.yml"]


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_actions_are_pinned_and_targets_exist(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    actions = re.findall(r"uses: (.+)$", text, re.MULTILINE)
    assert actions
    for action in actions:
        assert re.fullmatch(r"[\w-]+/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+", action), action
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    targets = set(re.findall(r"^([a-z-]+):.*## ", makefile, re.MULTILINE))
    called = set(
        re.findall(
            r"\bmake ([a-z-]+)", re.sub(r"^ *#.*$|choco install make.*$", "", text, flags=re.MULTILINE)
        )
    )
    assert called
    assert called <= targets
    assert "secrets." not in text


def test_only_the_job_that_publishes_may_ask_pypi_for_a_token() -> None:
    text = (ROOT / ".github" / "workflows" / "release.yml").read_text(encoding="utf-8")
    assert text.count("id-token: write") == 1
    assert "id-token: write" in text.split("\n  publish:\n")[1]
    assert re.search(r"publish:\n    needs: \[wheel, test, version\]\n    if: github.ref_type == 'tag'", text)
