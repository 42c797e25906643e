"""The real llama.cpp, where one is installed: llama-cpp-python, or else xllamacpp, whose library we call ourselves."""

import ctypes
import importlib
import unicodedata
from pathlib import Path

import numpy as np
import pytest


class ModelParams(ctypes.Structure):
    """`llama_model_params` of llama.h, as of autumn 2026."""

    _fields_ = [
        *((name, ctypes.c_void_p) for name in ("devices", "overrides")),
        *(
            (name, ctypes.c_int32)
            for name in ("gpu_layers", "split_mode", "load_mode", "lazy_mode", "main_gpu")
        ),
        *((name, ctypes.c_void_p) for name in ("tensor_split", "progress", "progress_data", "kv_overrides")),
        *((name, ctypes.c_bool) for name in ("vocab_only", "check_tensors", "extra_buffers", "no_host")),
        ("more", ctypes.c_bool * 12),
    ]


@ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_char_p, ctypes.c_void_p)
def say_nothing(level, text, data):
    pass


class RealLlamaCpp:
    """`RealLlamaCpp(file).encode("text")`"""

    def __init__(self, file: Path) -> None:
        self.library, params = library()
        params.vocab_only = True
        self.model = self.library.llama_model_load_from_file(str(file).encode(), params)
        if not self.model:
            raise ValueError(f"llama.cpp does not load {file}")
        self.vocab = self.library.llama_model_get_vocab(self.model)

    def encode(self, text: str, *, special: bool = False, add_special: bool = False) -> list[int]:
        encoded = text.encode()
        ids = (ctypes.c_int32 * (len(encoded) + 8))()
        found = self.library.llama_tokenize(
            self.vocab, encoded, len(encoded), ids, len(ids), add_special, special
        )
        assert found >= 0
        return list(ids[:found])


def library():
    """The library and its default parameters; the test is skipped without one, or with one of another layout."""
    try:
        bindings = importlib.import_module("llama_cpp")
        bindings.llama_log_set(say_nothing, None)
        return bindings, bindings.llama_model_default_params()
    except ImportError:
        package = pytest.importorskip("xllamacpp", reason="no llama.cpp is installed")
    [file] = Path(package.__file__).parent.glob("xllamacpp*.so")
    found = ctypes.CDLL(str(file))
    found.llama_model_default_params.restype = ModelParams
    found.llama_model_load_from_file.argtypes = [ctypes.c_char_p, ModelParams]
    found.llama_model_load_from_file.restype = ctypes.c_void_p
    found.llama_model_get_vocab.argtypes = [ctypes.c_void_p]
    found.llama_model_get_vocab.restype = ctypes.c_void_p
    found.llama_tokenize.argtypes = [
        ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32, ctypes.c_void_p, ctypes.c_int32, ctypes.c_bool, ctypes.c_bool
    ]  # fmt: skip
    found.llama_log_set(say_nothing, None)
    params = found.llama_model_default_params()
    if (params.gpu_layers, params.kv_overrides, params.vocab_only, params.extra_buffers) != (
        -1,
        None,
        False,
        True,
    ):
        pytest.skip("this xllamacpp has parameters of another layout")
    return found, params


SETTLED = [chr(c) for c in range(0x20000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]


def fuzzed(count):
    generator = np.random.default_rng(11)
    pieces = [
        *"  \n\r\t'sSſaAbBéÉİ1٣½/!_-",
        "'re",
        "'VE",
        "\u0301",
        "ก็",
        "कि",
        "日本",
        "😀",
        "\u0085",
        "\u2028",
        "\x1c",
    ]
    alphabet = np.array([*pieces * 20, *SETTLED[:9_000], "\u0897", "\u1c89"])
    return ["".join(generator.choice(alphabet, generator.integers(1, 30))) for _ in range(count)]
