"""Read access to the parts of a tokenizer: tokens, merges, special tokens, how text is cut, record and trace."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from pairity import _core
from pairity.bpe.model import BpeModel
from pairity.bpe.roles import Roles
from pairity.counts.counting import count_lines
from pairity.errors import PairityError
from pairity.tokenizer import inspection

if TYPE_CHECKING:
    import pyarrow as pa


class Contents:
    """A model, with a property for each of its parts."""

    _model: BpeModel

    @property
    def model(self) -> BpeModel:
        """The whole tokenizer as one value."""
        return self._model

    @property
    def vocab_size(self) -> int:
        """The number of tokens, including special ones."""
        return self._model.vocab_size

    def __len__(self) -> int:
        """One more than the last id: the rows that an embedding needs."""
        return len(self._model.tokens)

    @property
    def tokens(self) -> tuple[bytes, ...]:
        """Id -> bytes; empty for an id without a token."""
        return self._model.tokens

    @property
    def vocabulary(self) -> Mapping[bytes, int]:
        """Bytes -> id, without the special tokens."""
        return MappingProxyType(self._model.vocabulary)

    @property
    def special_tokens(self) -> Mapping[str, int]:
        """Name -> id."""
        return MappingProxyType(self._model.special_tokens)

    @property
    def roles(self) -> Roles:
        """Which special tokens start, end and pad a text in other libraries, and the chat template."""
        return self._model.roles

    @property
    def merges(self) -> npt.NDArray[np.uint32]:
        """(left, right, new) ids, one row per merge, in the order of their ranks."""
        return self._model.merges

    @property
    def pattern(self) -> str | None:
        """The regular expression that splits text into pre-tokens; None keeps each text whole."""
        return self._model.cut.pattern

    @property
    def pretokenizer(self) -> str:
        """The name of the pattern, with `:digits` for the variant of single digits; the pattern if it has none."""
        return self._model.cut.name

    @property
    def normalize(self) -> str | None:
        """The Unicode normalisation applied before splitting; None for none."""
        return self._model.cut.normalize

    @property
    def whole_pretokens(self) -> bool:
        """Whether a pre-token that is itself a token skips the merges and becomes that token."""
        return self._model.whole_pretokens

    @property
    def record(self) -> dict[str, Any]:
        """The record of the training run; saved in pairity.json."""
        return dict(self._model.record)

    @property
    def trace(self) -> pa.Table | None:
        """What each merge was learned for: a row for the start, then one per merge; saved in trace.parquet."""
        return self._model.trace

    def steered_by(self, lines: Iterable[str]) -> bool:
        """Whether exactly these lines were the dev text of a language when this tokenizer was trained."""
        digests = dev_digests(self.record)
        return bool(digests) and count_lines(lines, self._model.cut).digest() in digests

    def pretokenize(self, text: str) -> list[str]:
        """The pre-tokens of a text, normalised as the tokenizer does; no token crosses their boundaries."""
        return _core.pretokenize(self.pattern, text, nfc=self.normalize == "nfc")

    def id_of(self, token: str | bytes) -> int:
        """The id of a special token (by its name, a `str`) or of a token (by its bytes, or by its text)."""
        if isinstance(token, str) and token in self._model.special_tokens:
            return self._model.special_tokens[token]
        encoded = token.encode() if isinstance(token, str) else token
        found = self._model.vocabulary.get(encoded)
        if found is None:
            raise PairityError(f"{token!r} is not a token of this vocabulary.")
        return found

    def origins(self) -> npt.NDArray[np.uint32]:
        """For every id, the two tokens that are merged last when its bytes are encoded. 0xFFFFFFFF twice for bytes,
        special tokens, and tokens that merging never produces."""
        return self._model.origins()

    def unmerged(self) -> list[int]:
        """The ids of longer tokens that merging never produces. Training makes none; imported tables may have some."""
        return self._model.unmerged()

    def table(self, counts: Mapping[str, Any] | None = None) -> pa.Table:
        """One row per token: id, bytes, text (null if not whole characters), kind, and for learned ones the merge that
        made it, the language it was learned for (null: for all together) and its count there then (null: learned
        before this run). With `counts` (from `pairity.count`) also how often it occurs in the text of each language.
        """
        return inspection.table(self._model, counts)


def share_of_global_merges(record: Mapping[str, Any]) -> float | None:
    """The share of global merges of a hybrid, if it was given as a share.

    It refers to the full size: truncating the tokenizer makes a larger share of it classical BPE.
    """
    method = record.get("method")
    share = method.get("global_merges") if isinstance(method, dict) else None
    return share if isinstance(share, float) and 0 < share < 1 else None


def dev_digests(record: Mapping[str, Any]) -> set[str]:
    """The digests of all dev text in a record, which may have any shape if it was written by hand."""
    languages = record.get("languages")
    texts = languages.values() if isinstance(languages, dict) else ()
    devs = [text.get("dev") for text in texts if isinstance(text, dict)]
    further = [text.get("further_dev") for text in texts if isinstance(text, dict)]
    devs += [dev for sets in further if isinstance(sets, dict) for dev in sets.values()]
    found = [dev.get("digest") for dev in devs if isinstance(dev, dict)]
    return {digest for digest in found if isinstance(digest, str)}
