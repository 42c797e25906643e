"""The fuzzer for a few seconds, always with the same cases; `make fuzz` runs it for longer."""

from pathlib import Path

from mutate import OUTCOMES, run

CASES = 600


def test_damaged_files_are_read_as_before_or_refused(tmp_path: Path) -> None:
    said: list[str] = []
    counted = run(1, seconds=0, cases=CASES, folder=tmp_path, say=said.append)
    assert not said, "\n".join(said)
    assert sum(counted.values()) > CASES / 2
    reached = {outcome for _, outcome in counted}
    assert reached == set(OUTCOMES) - {"failed"}
