"""Superwords: how many a run has learned, and how each language uses them.

{"stages": {"words": 31872, "phrases": 31872, "superwords": 15020},
 "languages": {"eng_Latn": {"superwords": {"served": 980, "cost_before": 41.3, "share": 0.124}, ...}, ...}}
"""

import re
from typing import Any

import numpy as np

from pairity.bpe.model import BpeModel
from pairity.tokenizer.inspection import occurrences
from pairity.training.settings import Settings
from pairity.training.texts import Texts
from pairity.training.trace import Trace

EDGE = re.compile(r"\S ")
"""The edge between two words, which no token learned from words contains."""


def is_superword(token: bytes) -> bool:
    # A broken character at either end may be white space, so it is ignored.
    return EDGE.search(token.decode(errors="ignore")) is not None


def superwords_of(settings: Settings, texts: Texts, trace: Trace, model: BpeModel) -> dict[str, Any]:
    """The number of merges from words and from phrases, and of superwords among the tokens; and for each language: how
    often it was served from phrases, what it cost before that (by the last costs in the trace), and the share of
    superwords among the tokens of its dev text."""
    in_words = merges_in_words(settings, trace)
    is_one = np.array([is_superword(token) for token in model.tokens])
    is_one[list(model.special_tokens.values())] = False
    before = trace.costs[np.searchsorted(trace.sampled, in_words, side="right") - 1]
    served = np.bincount(
        trace.served[in_words:][trace.served[in_words:] >= 0], minlength=len(trace.languages)
    )
    languages: dict[str, Any] = {}
    for index, language in enumerate(trace.languages):
        cost, share = float(before[index]), None
        if texts.dev is not None and language in texts.dev:
            seen = occurrences(model, texts.dev[language])
            share = float(seen[is_one].sum() / seen.sum())
        languages[language] = {
            "served": int(served[index]),
            "cost_before": None if np.isnan(cost) else cost,
            "share": share,
        }
    stages = {"words": in_words, "phrases": len(trace) - in_words, "superwords": int(is_one.sum())}
    return {"stages": stages, "languages": languages}


def merges_in_words(settings: Settings, trace: Trace) -> int:
    """How many merges came from words. If words ran out of pairs, the first merge that makes a superword ends them."""
    done = np.arange(len(trace) + 1) if settings.num_merges else trace.vocab_size - trace.vocab_size[0]
    joined = (left + right for left, right in zip(trace.left, trace.right, strict=True))
    first = next((step for step, token in enumerate(joined) if is_superword(token)), len(trace))
    return min(int(np.searchsorted(done, settings.budget_in_words)), first)
