"""Our tokenizers in the formats of other libraries.

Every export gives the very ids of `Tokenizer.encode`. What a format cannot say is refused with the reason:
never a tokenizer that is different without a word.
"""

from __future__ import annotations

import base64
import importlib
import json
import os
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pairity.errors import PairityError
from pairity.formats import folder, tokenizer_json
from pairity.formats import gguf as gguf_file
from pairity.formats.importing import NO_PAIR, WHOLE_TEXT, check_covers, origins_by_rank
from pairity.tokenizer.tokenizer import Tokenizer

if TYPE_CHECKING:
    import tiktoken
    import tokenizers
    import transformers

FORMATS = ("hf", "transformers", "tiktoken", "merges", "gguf")


def export(
    tok: Tokenizer,
    to: str,
    path: str | os.PathLike[str],
    *,
    force: bool = False,
    roles: Mapping[str, str | None] | None = None,
    chat_template: str | None = None,
) -> list[Path]:
    """Write the tokenizer for another library; returns the files.

    hf            one tokenizer.json, at PATH or in the folder PATH
    transformers  a folder for AutoTokenizer (`roles`: {"bos_token": ..., "eos_token": ..., "pad_token": ...})
    tiktoken      ranks at PATH, pattern and special tokens in a .json beside it
    merges        a folder with GPT-2's vocab.json and merges.txt
    gguf          a vocabulary for llama.cpp at PATH
    """
    target = Path(path)
    roles = roles or {}
    match to:
        case "hf":
            file = target if target.suffix == ".json" else target / "tokenizer.json"
            return _write({file.name: folder.as_json(tokenizer_json.write(tok))}, file.parent, force)
        case "transformers":
            return _write(
                folder.transformers_files(tok, roles=roles, chat_template=chat_template), target, force
            )
        case "merges":
            return _write(_merges_files(tok), target, force)
        case "tiktoken":
            return _write(_tiktoken_files(tok, target), target.parent, force)
        case "gguf":
            file_writer = gguf_file.writer(tok, roles)
            return _write({target.name: file_writer}, target.parent, force)
        case "sentencepiece":
            raise PairityError(
                "SentencePiece cannot express this tokenizer: its BPE merges characters of text that it "
                "cuts by rules of its own, ours merges bytes within pre-tokens of a pattern. Choose one of "
                + ", ".join(FORMATS)
                + "."
            )
        case _:
            raise PairityError(f"unknown format {to!r}. Choose one of {', '.join(FORMATS)}.")


def _write(files: Mapping[str, folder.Writer], target: Path, force: bool) -> list[Path]:
    folder.write(files, target, force=force)
    return [target / name for name in files]


def to_huggingface(tok: Tokenizer) -> tokenizers.Tokenizer:
    import tokenizers

    return tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json.write(tok)))


def to_transformers(
    tok: Tokenizer, *, roles: Mapping[str, str | None], chat_template: str | None
) -> transformers.PreTrainedTokenizerFast:
    library = _library("transformers", "peers")
    named, others = folder.split_roles(tok, roles)
    made = library.PreTrainedTokenizerFast(
        tokenizer_object=to_huggingface(tok),
        clean_up_tokenization_spaces=False,
        additional_special_tokens=others,
        **named,
    )
    made.chat_template = chat_template
    return made


def _merges_files(tok: Tokenizer) -> dict[str, folder.Writer]:
    if tok.whole_pretokens:
        raise PairityError(
            "merges.txt cannot say that pre-tokens which are tokens are taken whole (`ignore_merges`), as "
            "this tokenizer has it. Export to hf."
        )
    return folder.merges_files(tok)


def to_tiktoken(tok: Tokenizer, name: str) -> tiktoken.Encoding:
    _check_tiktoken(tok)
    library = _library("tiktoken", "peers")
    return library.Encoding(
        name,
        pat_str=WHOLE_TEXT if tok.pattern is None else tok.pattern,
        mergeable_ranks=dict(tok.vocabulary),
        special_tokens=dict(tok.special_tokens),
    )


def _tiktoken_files(tok: Tokenizer, target: Path) -> dict[str, folder.Writer]:
    if target.suffix == ".json":
        raise PairityError(
            f"the ranks need another name than {target}: the settings go to a .json beside them."
        )
    _check_tiktoken(tok)
    settings = {
        "name": target.stem,
        "pat_str": WHOLE_TEXT if tok.pattern is None else tok.pattern,
        "special_tokens": dict(tok.special_tokens),
    }
    ranks = sorted((token_id, token) for token, token_id in tok.vocabulary.items())
    lines = b"".join(base64.b64encode(token) + b" %d\n" % token_id for token_id, token in ranks)
    return {target.name: lines, target.with_suffix(".json").name: folder.as_json(settings)}


def _check_tiktoken(tok: Tokenizer) -> None:
    """tiktoken has ranks and no merges: any two neighbours whose join is a token are merged, the lowest id
    first."""
    if tok.normalize:
        raise PairityError(
            f"tiktoken cannot normalise text ({tok.normalize}): ids would differ. Export to hf."
        )
    check_covers(tok.pattern, "export to tiktoken: it")
    names = sorted(tok.special_tokens)
    for name, following in pairwise(names):
        if following.startswith(name):
            raise PairityError(
                f"the special token {following!r} begins with {name!r}: tiktoken finds either of the two. "
                "Rename one."
            )
    ours = tok.origins()
    unlike = np.flatnonzero((ours != origins_by_rank(tok)).any(axis=1))
    if len(unlike):
        token_id = int(unlike[0])
        raise PairityError(
            f"tiktoken would make the token {tok.tokens[token_id]!r} (id {token_id}) in another way than "
            f"the merges do, and so would {len(unlike) - 1} more: it has no merges, it joins whatever makes "
            "a token. Export to hf."
        )
    if not tok.whole_pretokens and (never := tok.unmerged()):
        raise PairityError(
            f"no text gives the token {tok.tokens[never[0]]!r} (id {never[0]}), but tiktoken would use it: "
            "a pre-token that is a token is taken whole there. Export to hf."
        )
    ranks: dict[tuple[int, int], int] = {}
    for rank, (left, right, _) in enumerate(tok.merges.tolist()):
        ranks.setdefault((left, right), rank)
    in_order = [ranks[tuple(pair)] for pair in ours.tolist() if pair[0] != NO_PAIR]
    if any(np.diff(in_order) < 0):
        raise PairityError(
            "tiktoken merges in the order of the ids, which here is not that of the merges. Export to hf."
        )


def _library(name: str, extra: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        raise PairityError(f"this needs {name}: pip install 'pairity[{extra}]'") from None
