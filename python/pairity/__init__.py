"""Train, evaluate and ship multilingual BPE tokenizers that treat languages fairly.

    import pairity

    tok = pairity.train("train/", dev="dev/", vocab_size=32_000, method=pairity.Parity(window=100))
    tok.save("tokenizer/")
    scores = pairity.evaluate({"parity": tok, "gpt-4o": "tiktoken:o200k_base"}, data="devtest/")
    pairity.report(scores, "report.html")

The flow, one room per stage: text -> counts -> training -> tokenizer -> judging -> reporting. `bpe` has the parts of a
tokenizer, and `formats` takes it to other libraries. `reference` is the method in plain Python: slow but easy to check.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pairity.bpe.roles import Roles
    from pairity.counts.counting import count
    from pairity.counts.counts import Counts
    from pairity.errors import PairityError, PairityWarning
    from pairity.judging.evaluation import evaluate
    from pairity.judging.profile import inspect_language
    from pairity.judging.scores import Scores
    from pairity.judging.tax import tax
    from pairity.labelling.identifying import identify
    from pairity.labelling.labelling import label
    from pairity.reporting.page import report
    from pairity.text.sampling import Draw
    from pairity.tokenizer.embedding import extend_embeddings, initial_rows
    from pairity.tokenizer.tokenizer import Tokenizer
    from pairity.training.dev_sets import DevSets
    from pairity.training.policy import Classical, Fair, Parity
    from pairity.training.trace import Trace
    from pairity.training.training import train

    __version__: str

HOMES = {
    "Classical": "training.policy",
    "Counts": "counts.counts",
    "DevSets": "training.dev_sets",
    "Draw": "text.sampling",
    "Fair": "training.policy",
    "PairityError": "errors",
    "PairityWarning": "errors",
    "Parity": "training.policy",
    "Roles": "bpe.roles",
    "Scores": "judging.scores",
    "Tokenizer": "tokenizer.tokenizer",
    "Trace": "training.trace",
    "count": "counts.counting",
    "evaluate": "judging.evaluation",
    "extend_embeddings": "tokenizer.embedding",
    "identify": "labelling.identifying",
    "initial_rows": "tokenizer.embedding",
    "inspect_language": "judging.profile",
    "label": "labelling.labelling",
    "report": "reporting.page",
    "tax": "judging.tax",
    "train": "training.training",
}
"""Where each public name lives. A room is loaded when one of its names is first used: `import pairity` takes no time,
and training or encoding does not wait for judging and reporting."""

__all__ = [
    "Classical",
    "Counts",
    "DevSets",
    "Draw",
    "Fair",
    "PairityError",
    "PairityWarning",
    "Parity",
    "Roles",
    "Scores",
    "Tokenizer",
    "Trace",
    "count",
    "evaluate",
    "extend_embeddings",
    "identify",
    "initial_rows",
    "inspect_language",
    "label",
    "report",
    "tax",
    "train",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        return import_module("importlib.metadata").version("pairity")
    if name not in HOMES:
        raise AttributeError(f"module 'pairity' has no attribute {name!r}")
    return getattr(import_module(f"pairity.{HOMES[name]}"), name)


def __dir__() -> list[str]:
    return [*globals(), *__all__]
