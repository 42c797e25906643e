"""The report of an extension: costs before and after, proof that old ids are unchanged, and embedding rows to add.

{"tokens": {"before": 800, "after": 850}, "ids_unchanged": 800,
 "embedding_rows": {"before": 800, "after": 850, "padded_to": 64, "padded": 896},
 "costs": {"tam_Taml": {"before": 151.2, "after": 60.4}, ...}}
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from pairity.bpe.model import BpeModel
from pairity.counts.values import LanguageCounts, weighted
from pairity.tokenizer.embedding import check_same_ids, padded_rows
from pairity.tokenizer.tokenizer import Tokenizer
from pairity.training.measure import Measure


def extension_report(
    old: Tokenizer, new: Tokenizer, measures: Mapping[str, Measure], pad_to: int | None, threads: int
) -> dict[str, Any]:
    """Measure costs by encoding the text with both tokenizers, and compare every old id."""
    rows: dict[str, int] = {"before": len(old), "after": len(new)}
    if pad_to is not None:
        rows |= {"padded_to": pad_to, "padded": padded_rows(new, pad_to)}
    before, after = old.model.uncut, new.model.uncut
    return {
        "tokens": {"before": old.vocab_size, "after": new.vocab_size},
        "ids_unchanged": check_same_ids(old, new),
        "embedding_rows": rows,
        "costs": {
            language: {
                when: tokens_in(model, measure.text, threads) * measure.ratio / measure.units
                for when, model in (("before", before), ("after", after))
            }
            for language, measure in measures.items()
        },
    }


def tokens_in(uncut: BpeModel, text: LanguageCounts, threads: int) -> int:
    """The number of tokens in a text, from its counted pre-tokens."""
    lengths = np.frombuffer(uncut.encoder.count(tuple(text.pretokens.to_pylist()), threads=threads), np.int64)
    return weighted(lengths, text.counts)
