"""The tokenizer: text to ids and back, truncating and extending, files.

tok = Tokenizer.load("out/")
ids = tok.encode("Grüße, мир!")        # [5341, 11, ...]
tok.decode(ids)                        # 'Grüße, мир!'
tok.count(["one line", "another"])     # array([2, 1])
tok.truncate(16_000).save("small/")
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import numpy.typing as npt

from pairity.bpe.model import NO_ID, BpeModel
from pairity.bpe.roles import GivenRoles
from pairity.bpe.start import in_order
from pairity.errors import PairityError, PairityWarning, quoted
from pairity.formats import exporting, folder, merges_txt, tiktoken, tokenizer_json, transformers
from pairity.formats.opening import open_model
from pairity.text.pretokenizers import Pretokenization
from pairity.threads import thread_count
from pairity.tokenizer.contents import Contents, share_of_global_merges
from pairity.tokenizer.special_rules import SpecialChoice, SpecialRules
from pairity.tokenizer.texts import Errors, Text, as_texts, explained, with_errors

if TYPE_CHECKING:
    import pyarrow as pa


class Tokenizer(Contents):
    """A byte-level BPE tokenizer. It never changes once made, and threads may share it."""

    def __init__(
        self,
        tokens: Mapping[int, bytes],
        merges: npt.ArrayLike,
        *,
        pattern: str | None,
        normalize: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
        whole_pretokens: bool = False,
        allow_holes: bool = False,
        record: Mapping[str, Any] | None = None,
        trace: pa.Table | None = None,
    ) -> None:
        """From the table itself; `from_merges`, `load` and the imports are easier to use.

        `tokens` has the bytes of every id except the special ones, `merges` one row (left, right, new) per merge.
        `whole_pretokens`: a pre-token that is a token is taken whole, whatever the merges say, as tiktoken does
        (`ignore_merges` in Hugging Face files).
        """
        self._use(
            BpeModel.from_tokens(
                tokens,
                merges,
                cut=Pretokenization(pattern, normalize),
                special_tokens=dict(special_tokens or {}),
                whole_pretokens=whole_pretokens,
                allow_holes=allow_holes,
                record=dict(record or {}),
                trace=trace,
            )
        )

    def _use(self, model: BpeModel) -> None:
        self._model = model
        self._encoder = model.encoder
        self._special_rules = SpecialRules(model.special_tokens, model.wrapping.not_special)

    # ------------------------------------------------------------------ making one

    @classmethod
    def from_model(cls, model: BpeModel) -> Tokenizer:
        """From a `BpeModel`, such as the `model` of another tokenizer."""
        made = cls.__new__(cls)
        made._use(model)
        return made

    @classmethod
    def from_merges(
        cls,
        merges: npt.ArrayLike,
        *,
        pattern: str | None,
        normalize: str | None = None,
        special_tokens: Sequence[str] = (),
        record: Mapping[str, Any] | None = None,
        trace: pa.Table | None = None,
    ) -> Tokenizer:
        """From pairs of training's ids: 0 to 255 the bytes in `alphabet.BYTE_ORDER`, 256 and up what was learned.

        A merge whose string is a token already reuses its id and takes no new one.
        """
        cut = Pretokenization(pattern, normalize)
        return cls.from_model(
            BpeModel.from_merges(
                merges, cut=cut, special_tokens=special_tokens, record=dict(record or {}), trace=trace
            )
        )

    @classmethod
    def load(cls, spec: str | os.PathLike[str]) -> Tokenizer:
        """From a folder that `save` wrote, a tokenizer.json, a file of ranks, "tiktoken:NAME", "hf:NAME" or whatever
        else names a byte-level BPE (see `pairity.formats.opening.find`); every id is kept."""
        return cls.from_model(open_model(spec))

    @classmethod
    def from_huggingface(cls, source: Any, *, allow_holes: bool = False) -> Tokenizer:
        """From a tokenizer.json, a folder with one, a `tokenizers.Tokenizer` or a fast tokenizer of transformers.

        Every id is kept. So are roles, chat template, post-processor and the rest of tokenizer_config.json.
        """
        return cls.from_model(tokenizer_json.read_from(source, allow_holes=allow_holes))

    @classmethod
    def from_tiktoken(
        cls,
        source: Any,
        *,
        pattern: str | None = None,
        special_tokens: Mapping[str, int] | None = None,
        allow_holes: bool = False,
    ) -> Tokenizer:
        """From a `tiktoken.Encoding`, or a file of ranks with its pattern (a name or a regular expression).

        Special tokens may share an id: all of their names are encoded, and the id decodes to the first of them. The
        id of an empty token, as Whisper's ranks have one, names no token.
        """
        return cls.from_model(
            tiktoken.read_from(
                source, pattern=pattern, special_tokens=special_tokens, allow_holes=allow_holes
            )
        )

    @classmethod
    def from_merges_file(
        cls,
        merges: str | os.PathLike[str],
        vocab: str | os.PathLike[str] | None = None,
        *,
        pretokenizer: str = "gpt2",
        special_tokens: Sequence[str] = (),
        allow_holes: bool = False,
    ) -> Tokenizer:
        """From GPT-2's pair of files; without vocab.json the ids follow from the merges."""
        return cls.from_model(
            merges_txt.read(
                Path(merges),
                None if vocab is None else Path(vocab),
                cut=Pretokenization.of(pretokenizer),
                special_tokens=special_tokens,
                allow_holes=allow_holes,
            )
        )

    # ------------------------------------------------------------------ text to ids

    def encode(
        self,
        text: Text,
        *,
        allowed_special: SpecialChoice = (),
        disallowed_special: SpecialChoice = "all",
        errors: Errors = "strict",
    ) -> list[int]:
        """The ids of a text.

        A special token in the text (not one that was added as an ordinary word, which is always read as a token) is an
        error unless it is in `allowed_special`, which reads it as that token,
        or left out of `disallowed_special`, which reads it as plain text ("all" means all that are not allowed).
        Bytes need not be UTF-8: a sequence that is not becomes a pre-token of its own, so that every byte string
        decodes to itself. Lone surrogates in a `str` are an error, or with errors="replace" U+FFFD.
        """
        rules = self._special_rules.choose(allowed_special, disallowed_special)
        if errors != "strict":
            return with_errors(lambda texts: self._encoder.encode(texts[0], **rules), (text,), errors)
        try:  # a fast path: many callers encode short texts one by one
            return self._encoder.encode(text, **rules)
        except ValueError as error:
            raise explained(error) from None

    def encode_batch(
        self,
        texts: Iterable[Text],
        *,
        allowed_special: SpecialChoice = (),
        disallowed_special: SpecialChoice = "all",
        errors: Errors = "strict",
        threads: int | None = None,
    ) -> list[list[int]]:
        """The ids of every text, on all cores or as many `threads` as given."""
        rules = self._special_rules.choose(allowed_special, disallowed_special)
        workers = thread_count(threads)
        return with_errors(
            lambda texts: self._encoder.encode_batch(texts, threads=workers, **rules), as_texts(texts), errors
        )

    def encode_flat(
        self,
        texts: Iterable[Text],
        *,
        allowed_special: SpecialChoice = (),
        disallowed_special: SpecialChoice = "all",
        errors: Errors = "strict",
        threads: int | None = None,
    ) -> tuple[npt.NDArray[np.uint32], npt.NDArray[np.int64]]:
        """The ids of all texts end to end, and n + 1 offsets: text i is ids[offsets[i]:offsets[i + 1]].

        The fast way for much text: no list, and no Python number per id.
        """
        rules = self._special_rules.choose(allowed_special, disallowed_special)
        workers = thread_count(threads)
        ids, offsets = with_errors(
            lambda texts: self._encoder.encode_flat(texts, threads=workers, **rules), as_texts(texts), errors
        )
        return np.frombuffer(memoryview(ids).toreadonly(), np.uint32), np.frombuffer(offsets, np.int64)

    def count(
        self,
        lines: Iterable[Text],
        *,
        allowed_special: SpecialChoice = (),
        disallowed_special: SpecialChoice = "all",
        errors: Errors = "strict",
        threads: int | None = None,
    ) -> npt.NDArray[np.int64]:
        """The number of ids in every line, without creating them."""
        rules = self._special_rules.choose(allowed_special, disallowed_special)
        workers = thread_count(threads)
        counts = with_errors(
            lambda texts: self._encoder.count(texts, threads=workers, **rules), as_texts(lines), errors
        )
        return np.frombuffer(counts, np.int64)

    def encode_with_offsets(
        self,
        text: Text,
        *,
        allowed_special: SpecialChoice = (),
        disallowed_special: SpecialChoice = "all",
        errors: Errors = "strict",
    ) -> tuple[list[int], list[tuple[int, int]]]:
        """The ids, and where each starts and ends: in characters of a `str`, in bytes of `bytes`.

        A token that holds a part of a character covers the whole of it. With normalize the places are those
        in the normalised text.
        """
        ids = self.encode(
            text, allowed_special=allowed_special, disallowed_special=disallowed_special, errors=errors
        )
        if shared := self._model.shared_special_ids & set(ids):
            names = [name for name, token_id in self.special_tokens.items() if token_id in shared]
            raise PairityError(
                f"{quoted(names)} share one id, so token offsets in this text are ambiguous: leave these "
                "special tokens out of allowed_special."
            )
        lengths = np.fromiter((len(self.tokens[i]) for i in ids), np.int64, len(ids))
        ends = np.cumsum(lengths)
        starts = ends - lengths
        if isinstance(text, str):
            encoded = np.frombuffer(self.decode_bytes(ids), np.uint8)
            character = np.cumsum((encoded & 0xC0) != 0x80)  # the character of every byte, counted from 1
            starts, ends = character[starts] - 1, character[ends - 1]
        return ids, list(zip(starts.tolist(), ends.tolist(), strict=True))

    # ------------------------------------------------------------------ ids to text

    def decode_bytes(self, ids: Iterable[int]) -> bytes:
        """The bytes of the ids; special tokens as they are written."""
        # Arrays and tensors convert themselves much faster.
        given = ids.tolist() if hasattr(ids, "tolist") else list(ids)
        try:
            return self._encoder.decode(given)
        except OverflowError:
            wrong = next(i for i in given if not 0 <= i <= NO_ID)
            raise PairityError(
                f"id {wrong} is not in the vocabulary, whose ids go from 0 to {len(self) - 1}"
            ) from None
        except ValueError as error:
            raise PairityError(str(error)) from None

    def decode(self, ids: Iterable[int], *, errors: str = "replace") -> str:
        """The text of the ids. Bytes that are not UTF-8, such as half a character, become U+FFFD by default."""
        return self.decode_bytes(ids).decode("utf-8", errors=errors)

    def decode_batch(self, batch: Iterable[Iterable[int]], *, errors: str = "replace") -> list[str]:
        """The text of each row of ids."""
        return [self.decode(ids, errors=errors) for ids in batch]

    def token_of(self, token_id: int) -> bytes:
        """The bytes of one id."""
        return self.decode_bytes([token_id])

    # ------------------------------------------------------------------ larger and smaller

    def engine_merges(self) -> npt.NDArray[np.uint32]:
        """The merges as training numbers them, for `from_merges`; an error if merges alone do not determine the ids."""
        model = self._model
        return in_order(model.tokens, model.vocabulary, model.merges).pairs

    def extended(
        self, pairs: npt.ArrayLike, *, record: Mapping[str, Any] | None = None, trace: pa.Table | None = None
    ) -> Tokenizer:
        """With further merges, numbered as in training that continues this one; all ids stay."""
        return Tokenizer.from_model(self._model.extended(pairs, record=dict(record or {}), trace=trace))

    def truncate(self, vocab_size: int) -> Tokenizer:
        """The tokenizer that training would have given at a smaller size; ids stay as they are.

        A hybrid whose global merges were a share of its size would have had fewer of them: that is a warning.
        """
        share = share_of_global_merges(self.record)
        if share is not None and vocab_size < len(self):
            warnings.warn(
                f"the first {share:.0%} of this tokenizer was learned for all languages together; "
                f"truncated to {vocab_size:,} tokens, that part is larger than in a tokenizer trained at "
                "this size.",
                PairityWarning,
                stacklevel=2,
            )
        return Tokenizer.from_model(self._model.truncated(vocab_size))

    # ------------------------------------------------------------------ files and other libraries

    def with_roles(self, **roles: Unpack[GivenRoles]) -> Tokenizer:
        """The same with other roles: bos_token, eos_token, pad_token, unk_token, add_bos, add_eos, chat_template."""
        return Tokenizer.from_model(self._model.with_roles(roles))

    def save(self, path: str | os.PathLike[str], *, force: bool = False, **roles: Unpack[GivenRoles]) -> None:
        """Write a folder that `load` and transformers' AutoTokenizer read; `force` replaces an old one.

        `roles` (see `with_roles`) count more than those that the tokenizer has.
        """
        folder.save(self._model.with_roles(roles), Path(path), force=force)

    def export(
        self,
        to: str,
        path: str | os.PathLike[str],
        *,
        force: bool = False,
        allow_different: bool = False,
        **roles: Unpack[GivenRoles],
    ) -> list[Path]:
        """Write it for another library (`to` is one of `formats.exporting.FORMATS`); returns the files.

        `roles` (see `with_roles`) count more than those that the tokenizer has; one that the format has no place for
        is refused. `allow_different`: to gguf even where llama.cpp would give other ids, with a warning that shows
        them; to wordpiece, which always gives others.
        """
        return exporting.export(
            self._model, to, Path(path), force=force, given=roles, allow_different=allow_different
        )

    def to_huggingface(self) -> Any:
        """As a `tokenizers.Tokenizer`."""
        return tokenizer_json.to_huggingface(self._model)

    def to_transformers(self, **roles: Unpack[GivenRoles]) -> Any:
        """As a fast tokenizer of transformers, with `roles` (see `with_roles`) before those that the tokenizer has."""
        return transformers.to_transformers(self._model.with_roles(roles))

    def to_tiktoken(self, name: str = "pairity") -> Any:
        """As a `tiktoken.Encoding`."""
        return tiktoken.to_tiktoken(self._model, name)

    # ------------------------------------------------------------------ being a value

    def __repr__(self) -> str:
        parts = [
            f"vocab_size={self.vocab_size}",
            f"merges={len(self.merges)}",
            f"pretokenizer={self.pretokenizer!r}",
        ]
        if self.normalize:
            parts.append(f"normalize={self.normalize!r}")
        if names := list(self.special_tokens):
            more = f" and {len(names) - 3} more" if len(names) > 3 else ""
            parts.append(f"special_tokens=[{', '.join(map(repr, names[:3]))}{more}]")
        return f"Tokenizer({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        """Whether both turn every text into the same ids by the same table; roles, record and trace do not matter."""
        return self._model == other._model if isinstance(other, Tokenizer) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._model)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle only the model; the encoder is rebuilt."""
        return Tokenizer.from_model, (self._model,)
