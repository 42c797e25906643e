"""GPT-2's pair of files: merges.txt, a merge per line in the byte-level alphabet, and vocab.json."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from pairity.bpe.alphabet import to_text
from pairity.bpe.merges import BYTE_TOKENS
from pairity.bpe.model import BpeModel
from pairity.errors import PairityError
from pairity.files.reading import unreadable
from pairity.formats import tokenizer_json
from pairity.formats.json_files import as_json, read_json
from pairity.text.pretokenizers import Pretokenization

NAMES = ("vocab.json", "merges.txt")


def files(model: BpeModel) -> dict[str, bytes]:
    lines = ["#version: 0.2", *(" ".join(pair) for pair in tokenizer_json.merge_list(model))]
    return {
        "vocab.json": as_json(tokenizer_json.vocab(model)),
        "merges.txt": ("\n".join(lines) + "\n").encode(),
    }


def check(model: BpeModel) -> None:
    """Refuse a model that these two files alone cannot express."""
    if model.whole_pretokens:
        raise PairityError(
            "merges.txt cannot express that pre-tokens which are tokens are taken whole "
            "(`ignore_merges`), as this tokenizer does. Export to hf."
        )


def read(
    merges: Path,
    vocab: Path | None,
    *,
    cut: Pretokenization,
    special_tokens: Sequence[str],
    allow_holes: bool,
) -> BpeModel:
    """With vocab.json, special tokens get their ids from it; without it, all ids follow from the merges."""
    pairs = read_pairs(merges)
    if vocab is None:
        model = BpeModel.from_merges(number(pairs, merges), cut=cut, special_tokens=special_tokens)
        return replace(model, merges=tokenizer_json.last_ranks(model.merges))
    contents = read_json(vocab)
    missing = [name for name in special_tokens if name not in contents]
    if missing:
        raise PairityError(f"the special token {missing[0]!r} is not in {vocab}.")
    specials = {name: contents[name] for name in special_tokens}
    try:
        tokens, rows = tokenizer_json.table(contents, pairs, specials)
    except OverflowError as error:
        raise PairityError(f"{vocab} is damaged: an id is too large ({error}).") from None
    return BpeModel.from_tokens(tokens, rows, cut=cut, special_tokens=specials, allow_holes=allow_holes)


def read_pairs(path: Path) -> list[list[str]]:
    try:
        lines = path.read_text(encoding="utf-8").split("\n")
    except OSError as error:
        raise unreadable(path, error) from None
    except UnicodeDecodeError:
        raise PairityError(f"{path} is not UTF-8, so it is not a merges file.") from None
    rows = [line.removesuffix("\r") for line in lines]
    return [line.split(" ") for line in rows[rows[0].startswith("#version") :] if line]


def number(pairs: Sequence[Sequence[str]], path: Path) -> list[tuple[int, int]]:
    """The merges as training numbers them: [["a", "b"]] -> [(64, 65)]."""
    texts = map(to_text, BYTE_TOKENS)
    ids = {text: token_id for token_id, text in enumerate(texts)}
    rows = []
    for rank, pair in enumerate(pairs):
        try:
            left, right = pair
            rows.append((ids[left], ids[right]))
        except (ValueError, KeyError):
            raise PairityError(
                f"{path}: merge {rank} ({' '.join(pair)!r}) is not a pair of bytes or of tokens that earlier "
                "merges make."
            ) from None
        ids.setdefault(left + right, len(ids))
    return rows
