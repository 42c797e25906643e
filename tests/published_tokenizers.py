"""Published tokenizers that installed Python packages carry, each with its own library beside it."""

import base64
import importlib.util
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pairity.bpe.alphabet import to_text
from pairity.formats.published import PUBLISHED

Encode = Callable[[Sequence[str]], list[list[int]]]


@dataclass(frozen=True)
class Theirs:
    """A tokenizer as its own library has it."""

    spec: str
    """What pairity is given."""
    encode: Encode
    size: int
    special_tokens: dict[str, int]


def installed(package: str, file: str) -> Path:
    found = importlib.util.find_spec(package)
    if found is None or not found.submodule_search_locations:
        pytest.skip(f"{package} is not installed")
    path = Path(found.submodule_search_locations[0]) / file
    if not path.exists():
        pytest.skip(f"{package} has no {file}")
    return path


def of_tiktoken(spec: object, encoding: Any) -> Theirs:
    return Theirs(str(spec), encoding.encode_ordinary_batch, encoding.n_vocab, dict(encoding._special_tokens))


def openai(name: str, folder: Path) -> Theirs:
    tiktoken = pytest.importorskip("tiktoken")
    os.environ["TIKTOKEN_CACHE_DIR"] = str(installed("litellm", "litellm_core_utils/tokenizers"))
    return of_tiktoken(f"tiktoken:{name}", tiktoken.get_encoding(name))


def r50k(folder: Path) -> Theirs:
    """The ranks of GPT-2, which Whisper carries too."""
    tiktoken = pytest.importorskip("tiktoken")
    (folder / "r50k_base.tiktoken").write_bytes(installed("whisper", "assets/gpt2.tiktoken").read_bytes())
    return ranks(
        folder / "r50k_base.tiktoken", tiktoken.Encoding, PUBLISHED["r50k"].pattern, ["<|endoftext|>"]
    )


def whisper(folder: Path) -> Theirs:
    tiktoken = pytest.importorskip("tiktoken")
    path = installed("whisper", "assets/multilingual.tiktoken")
    return ranks(path, tiktoken.Encoding, PUBLISHED["multilingual"].pattern, [])


def meta(version: str, folder: Path) -> Theirs:
    """As Meta's own class makes it."""
    module = pytest.importorskip(f"llama_models.{version}.tokenizer")
    path = installed("llama_models", f"{version}/tokenizer.model")
    return of_tiktoken(path, module.Tokenizer(path).model)


def qwen(folder: Path) -> Theirs:
    path = installed("dashscope", "resources/qwen.tiktoken")
    tiktoken = pytest.importorskip("tiktoken")
    names = ["<|endoftext|>", "<|im_start|>", "<|im_end|>", *(f"<|extra_{i}|>" for i in range(205))]
    return ranks(path, tiktoken.Encoding, PUBLISHED["qwen"].pattern, names)


def ranks(path: Path, encoding: Any, pattern: str, specials: list[str]) -> Theirs:
    pairs = [line.split() for line in path.read_bytes().splitlines()]
    table = {base64.b64decode(token if token != b"=" else b""): int(rank) for token, rank in pairs}
    named = {name: len(table) + i for i, name in enumerate(specials)}
    return of_tiktoken(
        path, encoding(path.stem, pat_str=pattern, mergeable_ranks=table, special_tokens=named)
    )


def tekken(file: str, folder: Path) -> Theirs:
    """Mistral's class runs tiktoken on the ranks, and its ids are these plus the number of special tokens."""
    tiktoken = pytest.importorskip("tiktoken")
    path = installed("mistral_common", f"data/{file}")
    contents = json.loads(path.read_bytes())
    specials, size = (contents["config"][key] for key in ("default_num_special_tokens", "default_vocab_size"))
    table = {base64.b64decode(entry["token_bytes"]): entry["rank"] for entry in contents["vocab"]}
    table = {token: rank for token, rank in table.items() if rank < size - specials}
    inner = tiktoken.Encoding(
        "tekken", pat_str=contents["config"]["pattern"], mergeable_ranks=table, special_tokens={}
    )

    def encode(texts: Sequence[str]) -> list[list[int]]:
        return [[specials + rank for rank in row] for row in inner.encode_ordinary_batch(list(texts))]

    names = {"<unk>": 0, "<s>": 1, "</s>": 2, "[INST]": 3, "<SPECIAL_999>": 999}
    return Theirs(str(path), encode, size, names)


def converted(name: str, normalizer: str | None, folder: Path) -> Theirs:
    """tokenizer.json as transformers makes it of ranks: several merges a token, in the order of the ranks."""
    tokenizers = pytest.importorskip("tokenizers")
    convert = pytest.importorskip("transformers.convert_slow_tokenizer")
    source = {
        "llama3": ("llama_models", "llama3/tokenizer.model"),
        "qwen": ("dashscope", "resources/qwen.tiktoken"),
    }
    specials = PUBLISHED[name].special_tokens
    made = convert.TikTokenConverter(
        vocab_file=str(installed(*source[name])),
        pattern=PUBLISHED[name].pattern,
        extra_special_tokens=list(specials),
    ).converted()
    if normalizer is not None:
        made.normalizer = getattr(tokenizers.normalizers, normalizer)()
    made.save(str(folder / "tokenizer.json"))

    def encode(texts: Sequence[str]) -> list[list[int]]:
        return [one.ids for one in made.encode_batch(list(texts), add_special_tokens=False)]

    return Theirs(str(folder), encode, made.get_vocab_size(), dict(specials))


def gpt2_file(folder: Path) -> Theirs:
    """GPT-2's tokenizer.json: ByteLevel alone, with the pattern inside it."""
    tokenizers = pytest.importorskip("tokenizers")
    r50k(folder)
    pairs = [line.split() for line in (folder / "r50k_base.tiktoken").read_bytes().splitlines()]
    order = [base64.b64decode(token) for token, _ in pairs]
    known = {token: rank for rank, token in enumerate(order)}
    merges = []
    for token in order:
        if len(token) > 1:
            parts = [bytes([byte]) for byte in token]
            while len(parts) > 2:
                rank, at = min(
                    (known.get(parts[i] + parts[i + 1], len(known)), i) for i in range(len(parts) - 1)
                )
                assert rank < known[token]
                parts[at : at + 2] = [parts[at] + parts[at + 1]]
            merges.append((to_text(parts[0]), to_text(parts[1])))
    model = tokenizers.models.BPE({to_text(token): rank for token, rank in known.items()}, merges)
    made = tokenizers.Tokenizer(model)
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.add_special_tokens(["<|endoftext|>"])
    made.save(str(folder / "tokenizer.json"))

    def encode(texts: Sequence[str]) -> list[list[int]]:
        return [one.ids for one in made.encode_batch(list(texts), add_special_tokens=False)]

    return Theirs(str(folder / "tokenizer.json"), encode, 50_257, {"<|endoftext|>": 50_256})


THEIRS: dict[str, Callable[[Path], Theirs]] = {
    "o200k_base": lambda folder: openai("o200k_base", folder),
    "o200k_harmony": lambda folder: openai("o200k_harmony", folder),
    "cl100k_base": lambda folder: openai("cl100k_base", folder),
    "p50k_base": lambda folder: openai("p50k_base", folder),
    "r50k_base": r50k,
    "whisper": whisper,
    "llama3": lambda folder: meta("llama3", folder),
    "llama4": lambda folder: meta("llama4", folder),
    "qwen": qwen,
    "tekken_240718": lambda folder: tekken("tekken_240718.json", folder),
    "tekken_240911": lambda folder: tekken("tekken_240911.json", folder),
    "llama3 of transformers": lambda folder: converted("llama3", None, folder),
    "qwen of transformers": lambda folder: converted("qwen", "NFC", folder),
    "gpt2 of transformers": gpt2_file,
}


LLAMA3_TEMPLATE = (
    "{% for m in messages %}{{ '<|start_header_id|>' + m['role'] + '<|end_header_id|>\n\n' + m['content'] + "
    "'<|eot_id|>' }}{% endfor %}{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}"
    "{% endif %}"
)
CHATML = (
    "{% for m in messages %}{{ '<|im_start|>' + m['role'] + '\n' + m['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
ROLES: dict[str, dict[str, str]] = {
    "llama3 of transformers": {
        "bos_token": "<|begin_of_text|>",
        "eos_token": "<|eot_id|>",
        "pad_token": "<|reserved_special_token_0|>",
        "chat_template": LLAMA3_TEMPLATE,
    },
    "qwen of transformers": {
        "eos_token": "<|im_end|>",
        "pad_token": "<|endoftext|>",
        "chat_template": CHATML,
    },
    "gpt2 of transformers": {
        "bos_token": "<|endoftext|>",
        "eos_token": "<|endoftext|>",
        "pad_token": "<|endoftext|>",
        "chat_template": "{% for m in messages %}{{ m['content'] + eos_token }}{% endfor %}",
    },
}
CHAT = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Good morning!"}]


def as_published(name: str, folder: Path) -> None:
    """Beside tokenizer.json what transformers reads, with the roles that its model has; Llama adds its BOS token."""
    tokenizers = pytest.importorskip("tokenizers")
    config = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 8192, **ROLES[name]}
    (folder / "tokenizer_config.json").write_text(json.dumps(config), encoding="utf-8")
    if name.startswith("llama3"):
        file = str(folder / "tokenizer.json")
        made = tokenizers.Tokenizer.from_file(file)
        bos = ROLES[name]["bos_token"]
        template = tokenizers.processors.TemplateProcessing(
            single=f"{bos} $A", pair=f"{bos} $A {bos}:1 $B:1", special_tokens=[(bos, made.token_to_id(bos))]
        )
        made.post_processor = tokenizers.processors.Sequence(
            [tokenizers.processors.ByteLevel(trim_offsets=False), template]
        )
        made.save(file)
