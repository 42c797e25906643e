"""Packages that only some features need, installed as extras: `pip install 'pairity[report]'`."""

import importlib
from types import ModuleType

from pairity.errors import PairityError

EXTRA_OF = {
    "fsspec": "remote",
    "gguf": "gguf",
    "jinja2": "report",
    "markupsafe": "report",
    "pycld2": "label",
    "pyspark": "spark",
    "sentencepiece": "peers",
    "tiktoken": "peers",
    "torch": "lm",
    "transformers": "peers",
    "vl_convert": "report",
    "wordfreq": "demo",
}
"""Module -> the extra that installs it."""


def load_extra(module: str, purpose: str) -> ModuleType:
    """The module, or an error with the line that installs it: load_extra("gguf", "a GGUF file")."""
    try:
        return importlib.import_module(module)
    except ImportError as error:
        raise PairityError(
            f"{purpose} needs the package {module}, which is not installed: pip install 'pairity[{EXTRA_OF[module]}]'"
        ) from error
