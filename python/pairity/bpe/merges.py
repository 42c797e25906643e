"""From merges to tokens: the token that each merge makes, and its id.

A merge joins two existing tokens. If two merges spell the same token (`ab` + `c` and `a` + `bc`), both are kept and
share its id.
"""

from collections.abc import Iterable, Sequence
from typing import TypeVar

from pairity.bpe.alphabet import BYTE_ORDER
from pairity.errors import PairityError

Token = TypeVar("Token", bytes, str)

BYTE_TOKENS: tuple[bytes, ...] = tuple(bytes([byte]) for byte in BYTE_ORDER)
"""The tokens before the first merge, in the order of the ids that training gives them."""


def join_merges(pairs: Iterable[tuple[int, int]], tokens: Sequence[Token]) -> tuple[list[Token], list[int]]:
    """All tokens in the order in which they are made, and for each merge the id of its token.

    >>> join_merges([(0, 1), (1, 2), (3, 2), (0, 4)], ["a", "b", "c"])
    (['a', 'b', 'c', 'ab', 'bc', 'abc'], [3, 4, 5, 5])
    """
    known = list(tokens)
    ids = {token: token_id for token_id, token in enumerate(known)}
    made = []
    for step, (left, right) in enumerate(pairs):
        if max(left, right) >= len(known):
            raise PairityError(
                f"merge {step} joins ids {left} and {right}, but there are only {len(known)} tokens before it."
            )
        joined = known[left] + known[right]
        new = ids.setdefault(joined, len(known))
        if new == len(known):
            known.append(joined)
        made.append(new)
    return known, made
