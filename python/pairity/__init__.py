"""Train, judge and ship multilingual BPE tokenizers that treat languages alike.

    import pairity

    tok = pairity.train("train/", dev="dev/", vocab_size=32_000, method=pairity.Parity(window=100))
    tok.save("tokenizer/")
    scores = pairity.evaluate({"parity": tok, "gpt-4o": "tiktoken:o200k_base"}, data="devtest/")
    pairity.report(scores, "report.html")

The flow, one module a stage: sources, corpus -> counts -> training (policy, trace) -> tokenizer, export ->
evaluation, metrics -> reporting. `reference` is the method in plain Python.
"""

from importlib import import_module
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pairity.counts.counts import Counts, count
    from pairity.errors import PairityError, PairityWarning
    from pairity.judging.evaluation import evaluate, tax
    from pairity.judging.scores import Scores
    from pairity.reporting import report
    from pairity.tokenizer.tokenizer import Tokenizer
    from pairity.training.policy import Classical, Parity
    from pairity.training.trace import Trace
    from pairity.training.training import train

    __version__: str

HOMES = {
    "Classical": "training.policy",
    "Counts": "counts.counts",
    "PairityError": "errors",
    "PairityWarning": "errors",
    "Parity": "training.policy",
    "Scores": "judging.scores",
    "Tokenizer": "tokenizer.tokenizer",
    "Trace": "training.trace",
    "count": "counts.counts",
    "evaluate": "judging.evaluation",
    "report": "reporting",
    "tax": "judging.evaluation",
    "train": "training.training",
}
"""Public name -> the module it comes from, imported when the name is first used: `pairity --help` needs none."""

__all__ = [
    "Classical",
    "Counts",
    "PairityError",
    "PairityWarning",
    "Parity",
    "Scores",
    "Tokenizer",
    "Trace",
    "count",
    "evaluate",
    "report",
    "tax",
    "train",
]

if not TYPE_CHECKING:  # a type checker would take any name for granted

    def __getattr__(name: str) -> Any:
        if name == "__version__":
            value = version("pairity")
        elif name in HOMES:
            value = getattr(import_module(f"pairity.{HOMES[name]}"), name)
        else:
            raise AttributeError(f"module 'pairity' has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        return sorted({*globals(), *__all__})
