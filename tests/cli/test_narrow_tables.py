"""Tables on a terminal of 80 columns: what does not fit is folded, and nothing is cut off."""

import io
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path

import pytest
from rich.cells import cell_len

from pairity.cli.printing import print_table
from pairity.cli.tuning import print_tuned
from pairity.experiments import Tuned
from pairity.experiments.targets import read_targets
from pairity.reporting.pareto import Point


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def shown(monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], list[str]]:
    """The lines that a function prints on a terminal."""
    monkeypatch.setenv("TERM", "dumb")  # 80 columns and no bold, says rich

    def lines_of(prints: Callable[[], None]) -> list[str]:
        with redirect_stdout(Terminal()) as terminal:
            prints()
        return terminal.getvalue().splitlines()

    return lines_of


def point(name, **more):
    given = {
        "name": name, "kind": "hybrid", "options": "", "tokens": 32_000, "gini": 0.0265, "gini_low": None,
        "gini_high": None, "rate": 0.01527, "rate_low": None, "rate_high": None, "tokens_per_line": 64.0,
        "worst_language": "deu_Latn", "worst_cost": 68.95, "costs": {"eng_Latn": 60.8},
        "changes": {"eng_Latn": 0.0733},
    }  # fmt: skip
    return Point(**given | more)


def test_a_tuning_fits_and_shows_every_name_and_target_whole(shown):
    points = [
        point("classical", chosen=True),
        point("hybrid 0.688", on_curve=True, misses=("eng_Latn<=+6%", "gini<=0.01")),
    ]
    targets = read_targets(["eng_Latn<=+6%", "gini<=0.01"])
    tuned = Tuned(Path(), targets, points, points[0], None, None, "classical.", ("eng_Latn",), (), ())
    lines = shown(lambda: print_tuned(tuned))
    assert max(map(cell_len, lines)) <= 80
    words = " ".join(lines).split()
    for whole in ("classical", "hybrid", "0.688", "0.01527", "deu_Latn", "68.95", "+7.33%", "eng_Latn<=+6%,"):
        assert whole in words


def test_a_long_name_is_folded_and_numbers_stay_whole(shown):
    name = "a-tokenizer-with-a-very-long-name-" * 4
    row = [name, "0.0265", "misses eng_Latn<=+6%"]
    lines = shown(lambda: print_table(["tokenizer", "Gini", "targets"], [row], numbers=[1]))
    assert max(map(cell_len, lines)) <= 80
    assert "".join(line.split()[0] for line in lines[1:]) == name
    assert "0.0265" in lines[1].split()


def test_a_table_that_fits_is_not_folded(shown):
    lines = shown(lambda: print_table(["tokenizer", "lines/token"], [["parity", "0.01527"]], numbers=[1]))
    assert lines == [" tokenizer  lines/token ", " parity         0.01527 "]
