"""Weights on disk: safetensors (a JSON header and the raw numbers), and the config.json for transformers."""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import torch
from torch import Tensor

from pairity.errors import PairityError
from pairity.lm.recipe import ModelShape

DTYPES = {
    torch.float32: "F32",
    torch.bfloat16: "BF16",
    torch.float16: "F16",
    torch.int64: "I64",
    torch.uint8: "U8",
}


def writer(
    tensors: Mapping[str, Tensor], metadata: Mapping[str, str] | None = None
) -> Callable[[BinaryIO], None]:
    """A function that writes the file: the length of the header in 8 bytes, the header, the tensors end to end."""
    header: dict[str, Any] = {"__metadata__": {"format": "pt", **(metadata or {})}}
    end = 0
    for name, tensor in tensors.items():
        start, end = end, end + tensor.numel() * tensor.element_size()
        header[name] = {
            "dtype": DTYPES[tensor.dtype],
            "shape": list(tensor.shape),
            "data_offsets": [start, end],
        }
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)

    def write(file: BinaryIO) -> None:
        file.write(struct.pack("<Q", len(text)) + text)
        for tensor in tensors.values():
            file.write(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)

    return write


def read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    """The tensors, and the metadata."""
    try:
        with path.open("rb") as file:
            header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
            data = np.fromfile(file, np.uint8)
        metadata = header.pop("__metadata__", {})
        dtypes = {name: dtype for dtype, name in DTYPES.items()}
        return {
            name: torch.from_numpy(data[slice(*one["data_offsets"])])
            .view(dtypes[one["dtype"]])
            .reshape(one["shape"])
            for name, one in header.items()
        }, metadata
    except FileNotFoundError:
        raise PairityError(f"there is no {path}.") from None
    except (OSError, ValueError, KeyError, RuntimeError, struct.error, MemoryError, OverflowError) as error:
        raise PairityError(f"{path} is damaged, it is not a safetensors file: {error}.") from None


def config(shape: ModelShape, end_id: int) -> dict[str, Any]:
    """config.json of transformers' LlamaForCausalLM."""
    return {
        "architectures": ["LlamaForCausalLM"],
        "model_type": "llama",
        "hidden_act": "silu",
        "hidden_size": shape.width,
        "intermediate_size": shape.hidden,
        "num_hidden_layers": shape.layers,
        "num_attention_heads": shape.heads,
        "num_key_value_heads": shape.kv_heads,
        "head_dim": shape.head_size,
        "max_position_embeddings": shape.context,
        "rms_norm_eps": shape.norm_eps,
        "rope_theta": shape.rope_theta,
        "tie_word_embeddings": shape.tied,
        "vocab_size": shape.vocab_size,
        "attention_bias": False,
        "mlp_bias": False,
        "bos_token_id": end_id,
        "eos_token_id": end_id,
        "torch_dtype": "float32",
    }


def shape_of(folder: Path) -> ModelShape:
    """The shape that config.json describes."""
    path = folder / "config.json"
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        return ModelShape(
            layers=found["num_hidden_layers"],
            width=found["hidden_size"],
            heads=found["num_attention_heads"],
            kv_heads=found["num_key_value_heads"],
            hidden=found["intermediate_size"],
            tied=found["tie_word_embeddings"],
            vocab_size=found["vocab_size"],
            context=found["max_position_embeddings"],
            rope_theta=found["rope_theta"],
            norm_eps=found["rms_norm_eps"],
        )
    except FileNotFoundError:
        raise PairityError(f"{folder} is not a model: it has no config.json.") from None
    except (ValueError, KeyError, TypeError) as error:
        raise PairityError(f"{path} was not written by pairity lm train: {error}.") from None
