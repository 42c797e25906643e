"""tiktoken's encodings and files of ranks, ready to be judged; Mistral's tekken.json too."""

from __future__ import annotations

import base64
import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pairity.bpe.model import NO_ID
from pairity.errors import PairityError
from pairity.extras import load_extra
from pairity.formats.json_files import read_json
from pairity.formats.tiktoken import read_ranks, read_settings
from pairity.judging.arrays import Ids, Integers
from pairity.judging.protocol import Adapter, joined, plain
from pairity.text.pretokenizers import CL100K, TIKTOKEN_GPT2, pattern_of
from pairity.threads import thread_count

TIKTOKEN_PATTERNS = {
    "o200k": str(pattern_of("gpt4o")),
    "cl100k": CL100K,
    "p50k": TIKTOKEN_GPT2,
    "r50k": TIKTOKEN_GPT2,
    "gpt2": TIKTOKEN_GPT2,
    "llama3": str(pattern_of("gpt4")),
    "llama4": str(pattern_of("gpt4o")),
    "qwen": str(pattern_of("gpt4", digits=True)),
}
"""The pattern of a published file of ranks, by a part of the name of the file or its folder."""

PUBLISHED_SIZES = {
    ("o200k", 199_998): 200_019,
    ("cl100k", 100_256): 100_277,
    ("p50k", 50_280): 50_281,
    ("r50k", 50_256): 50_257,
    ("gpt2", 50_256): 50_257,
    ("llama3", 128_000): 128_256,
}
"""Pattern and number of ranks of a published file -> size with the special tokens, which are not in the file:
the size of a vocabulary must not depend on where its ranks were found (see `protocol.TokenizerLike`)."""


class TiktokenTokenizer(Adapter):
    """A `tiktoken.Encoding`."""

    def __init__(self, encoding: Any, name: str, threads: int | None, vocab_size: int | None = None) -> None:
        super().__init__(name, int(vocab_size or encoding.n_vocab))
        self._encoding = encoding
        # tiktoken hands lines to its threads one by one: for short lines that costs more than it saves.
        self._threads = 1 if threads is None else thread_count(threads)
        self._special = {encoding.encode_single_token(token) for token in encoding.special_tokens_set}

    def encode_lines(self, lines: list[str]) -> tuple[Ids, Integers]:
        if self._threads == 1:
            return joined(self._encoding.encode_ordinary(line) for line in lines)
        return joined(self._encoding.encode_ordinary_batch(lines, num_threads=self._threads))

    def decode(self, ids: Sequence[int]) -> bytes:
        return bytes(self._encoding.decode_bytes(plain(ids)))

    def token_bytes(self, token: int) -> bytes | None:
        return None if token in self._special else bytes(self._encoding.decode_single_token_bytes(token))

    def pretoken_counts(self, lines: list[str]) -> Integers | None:
        regex = importlib.import_module("regex")  # tiktoken itself needs it
        try:
            pattern = regex.compile(self._encoding._pat_str)
        except (regex.error, ValueError):  # tiktoken's own engine reads more
            return None
        return np.array([len(pattern.findall(line)) for line in lines], dtype=np.int64)


def open_encoding(encoding: str, name: str, threads: int | None) -> TiktokenTokenizer:
    """An encoding that tiktoken knows by name. It gets the ranks itself, from its cache or the network."""
    tiktoken = load_extra("tiktoken", f"the tokenizer 'tiktoken:{encoding}'")
    if encoding not in tiktoken.list_encoding_names():
        known = ", ".join(sorted(tiktoken.list_encoding_names()))
        raise PairityError(f"tiktoken has no encoding {encoding!r}. It knows: {known}.")
    try:
        return TiktokenTokenizer(tiktoken.get_encoding(encoding), name, threads)
    except Exception as error:
        raise PairityError(
            f"tiktoken could not get the ranks of {encoding!r} ({type(error).__name__}). Without a network, give "
            f"the file itself ({encoding}.tiktoken), or set TIKTOKEN_CACHE_DIR to a cache of tiktoken that has it."
        ) from error


def is_ranks_file(path: Path) -> bool:
    """Whether the first line is BASE64 RANK."""
    with path.open("rb") as file:
        parts = file.readline(4096).split()
    if len(parts) != 2 or not parts[1].isdigit():
        return False
    try:
        base64.b64decode(parts[0], validate=True)
    except ValueError:
        return False
    return True


def open_ranks(path: Path, pattern: str | None, name: str, threads: int | None) -> TiktokenTokenizer:
    """A file of ranks; `pattern` is a name in TIKTOKEN_PATTERNS or a regular expression.

    Without one it is that of the .json beside the ranks, which pairity writes, or follows from the file's name.
    """
    ranks = read_ranks(path)
    stored, specials = read_settings(path)
    if stored is not None and pattern in (None, stored):
        size = 1 + max([*ranks.values(), *specials.values()], default=0)
        return ranks_tokenizer(path, ranks, stored, name, threads, size)
    if pattern is None:
        place = f"{path.resolve().parent.name}/{path.name}".lower()
        pattern = next((known for known in TIKTOKEN_PATTERNS if known in place), None)
    if pattern is None:
        raise PairityError(
            f"{path} holds tiktoken ranks, but not the pattern that cuts the text before them. Add it: "
            f"{path.name}@NAME with NAME one of {', '.join(TIKTOKEN_PATTERNS)}, or {path.name}@REGEX."
        )
    vocab_size = PUBLISHED_SIZES.get((pattern, len(ranks)))
    return ranks_tokenizer(path, ranks, TIKTOKEN_PATTERNS.get(pattern, pattern), name, threads, vocab_size)


def is_tekken(path: Path) -> bool:
    with path.open(encoding="utf-8", errors="replace") as file:
        start = file.read(4096)
    return '"pattern"' in start and '"config"' in start and "default_vocab_size" in start


def open_tekken(path: Path, name: str, threads: int | None) -> TiktokenTokenizer:
    """Mistral's tekken.json: tiktoken ranks and their pattern in one file."""
    content = read_json(path)
    try:
        config = content["config"]
        size = int(config["default_vocab_size"])
        learned = size - int(config["default_num_special_tokens"])
        ranks = {
            base64.b64decode(entry["token_bytes"]): int(entry["rank"]) for entry in content["vocab"][:learned]
        }
        pattern = str(config["pattern"])
    except (KeyError, TypeError, ValueError) as error:
        raise PairityError(f"{path} is damaged ({error!r}). Get the file again.") from error
    return ranks_tokenizer(path, ranks, pattern, name, threads, size)


def ranks_tokenizer(
    path: Path,
    ranks: dict[bytes, int],
    pattern: str,
    name: str,
    threads: int | None,
    vocab_size: int | None,
) -> TiktokenTokenizer:
    tiktoken = load_extra("tiktoken", f"the tokenizer {path}")
    missing = [byte for byte in range(256) if bytes([byte]) not in ranks]
    if missing:
        raise PairityError(
            f"{path} has no token for {len(missing)} of the 256 bytes: tiktoken cannot encode with it."
        )
    if len(set(ranks.values())) < len(ranks) or not 0 <= max(ranks.values()) < NO_ID:
        raise PairityError(f"{path} is damaged: two tokens have the same rank, or a rank is out of range.")
    try:
        encoding = tiktoken.Encoding(name, pat_str=pattern, mergeable_ranks=ranks, special_tokens={})
    except Exception as error:  # it raises ValueError for a pattern, and others for what it does not expect
        raise PairityError(f"tiktoken refuses the pattern given for {path}: {error}") from error
    return TiktokenTokenizer(encoding, name, threads, vocab_size)
