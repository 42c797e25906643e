"""Which special tokens to recognise when encoding, and which must not occur in the text."""

from collections.abc import Collection, Mapping
from typing import Literal

from pairity import _core
from pairity.errors import PairityError

SpecialChoice = Literal["all"] | Collection[str]
Rules = dict[str, _core.Specials | None]


class SpecialRules:
    """The special tokens of a tokenizer, and a cached finder for every set of them that was requested.

    Those that are `plain`, added to a vocabulary without being special, are always recognised.
    """

    def __init__(self, tokens: Mapping[str, int], plain: Collection[str] = ()) -> None:
        self._tokens = tokens
        self._plain = frozenset(plain)
        self._finders: dict[frozenset[str], _core.Specials | None] = {frozenset(): None}
        self._default = self._chosen((), "all")

    def choose(self, allowed: SpecialChoice, disallowed: SpecialChoice) -> Rules:
        """The rules for the core; "all" means the same as in `Tokenizer.encode`."""
        if allowed == () and disallowed == "all":
            return self._default
        return self._chosen(allowed, disallowed)

    def _chosen(self, allowed: SpecialChoice, disallowed: SpecialChoice) -> Rules:
        everything = frozenset(self._tokens)
        allowed_names = everything if allowed == "all" else self._known(allowed) | self._plain
        disallowed_names = everything - allowed_names if disallowed == "all" else self._known(disallowed)
        return {"allowed": self._finder(allowed_names), "disallowed": self._finder(disallowed_names)}

    def _known(self, names: Collection[str]) -> frozenset[str]:
        if isinstance(names, str):
            raise PairityError(f"give special tokens as a set: {{{names!r}}}, or 'all'.")
        chosen = frozenset(names)
        if unknown := chosen - self._tokens.keys():
            have = ", ".join(map(repr, self._tokens)) or "none"
            raise PairityError(
                f"{min(unknown)!r} is not a special token of this tokenizer, which has {have}."
            )
        return chosen

    def _finder(self, names: frozenset[str]) -> _core.Specials | None:
        if names not in self._finders:
            chosen = [(name, token_id) for name, token_id in self._tokens.items() if name in names]
            self._finders[names] = _core.Specials(chosen)
        return self._finders[names]
