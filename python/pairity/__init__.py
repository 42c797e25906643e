"""Train, judge and ship multilingual BPE tokenizers that treat languages alike.

    import pairity

    tok = pairity.train("train/", dev="dev/", vocab_size=32_000, method=pairity.Parity(window=100))
    tok.save("tokenizer/")
    scores = pairity.evaluate({"parity": tok, "gpt-4o": "tiktoken:o200k_base"}, data="devtest/")
    pairity.report(scores, "report.html")

The flow, one module a stage: sources, corpus -> counts -> training (policy, trace) -> tokenizer, export ->
evaluation, metrics -> reporting. `reference` is the method in plain Python.
"""

from importlib.metadata import version

from pairity.counts.counts import Counts, count
from pairity.errors import PairityError, PairityWarning
from pairity.judging.evaluation import evaluate
from pairity.judging.scores import Scores
from pairity.judging.tax import tax
from pairity.reporting import report
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.policy import Classical, Parity
from pairity.training.trace import Trace
from pairity.training.training import train

__version__ = version("pairity")

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
