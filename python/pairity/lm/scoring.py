"""Scoring: the bits that a model needs for every document.

The model reads a document after an end-of-text id and must predict one at its end, so its bits are those of a complete
code for it: -log2 p(ids, end | end). They do not depend on the number of tokens, only on how well the model predicts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from pairity.lm.model import Llama
from pairity.lm.packs import PackedTexts

BATCH_TOKENS = 16_384


@dataclass(frozen=True)
class Window:
    """Some tokens of a document that fit into the context; those before `counted` are only context."""

    document: int
    start: int
    end: int
    counted: int


def windows(lengths: npt.NDArray[np.int64], context: int) -> Iterator[Window]:
    """One window per document that fits. In longer ones, windows advance by half a context, so every token has one."""
    for document, length in enumerate(lengths.tolist()):
        start, counted = 0, 0
        while counted < length:
            end = min(start + context, length)
            yield Window(document, start, end, counted)
            start, counted = end - context // 2, end


def score(model: Llama, texts: PackedTexts, end_id: int) -> npt.NDArray[np.float64]:
    """The bits of every document, in float32 regardless of the precision of training."""
    device = next(model.parameters()).device
    lengths = np.diff(texts.offsets) + 1  # with the end
    waiting = sorted(windows(lengths, model.shape.context), key=lambda one: one.end - one.start)
    bits = np.zeros(len(lengths))
    with torch.no_grad():
        while waiting:
            longest = waiting[-1].end - waiting[-1].start
            batch = [waiting.pop() for _ in range(min(len(waiting), max(1, BATCH_TOKENS // longest)))]
            given = np.full((len(batch), longest), end_id, np.int64)
            wanted, counts = given.copy(), np.zeros(given.shape, bool)
            for row, one in enumerate(batch):
                ids = texts.ids[texts.offsets[one.document] : texts.offsets[one.document + 1]]
                framed = np.concatenate([[end_id], ids, [end_id]])
                size = one.end - one.start
                given[row, :size] = framed[one.start : one.end]
                wanted[row, :size] = framed[one.start + 1 : one.end + 1]
                counts[row, one.counted - one.start : size] = True
            losses = model(torch.from_numpy(given).to(device), torch.from_numpy(wanted).to(device), each=True)
            nats = np.where(counts, losses.cpu().double().numpy(), 0.0).sum(1)
            np.add.at(bits, [one.document for one in batch], nats / math.log(2))
    return bits


def bits_per_byte_by_language(bits: npt.NDArray[np.float64], texts: PackedTexts) -> dict[int, float]:
    """{number of the language: bits of all its documents / their bytes}"""
    return {
        int(one): float(bits[texts.language == one].sum() / texts.bytes[texts.language == one].sum())
        for one in np.unique(texts.language)
    }
