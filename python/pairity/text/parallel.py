"""Parallel text: line i says the same in every language, so all languages have the same number of lines."""

from collections import Counter
from collections.abc import Mapping

from pairity.errors import PairityError, listed


def check_parallel(lines: Mapping[str, int], *, what: str, unit: str = "lines", fix: str) -> None:
    """Refuse text that cannot be parallel: {"eng_Latn": 997, "deu_Latn": 996}."""
    if len(set(lines.values())) < 2:
        return
    [(usual, _)] = Counter(lines.values()).most_common(1)
    odd = listed(f"{language} has {number}" for language, number in lines.items() if number != usual)
    raise PairityError(f"{what} is not parallel: most languages have {usual} {unit}, but {odd}. {fix}")
