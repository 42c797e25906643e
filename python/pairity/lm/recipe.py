"""The recipe: how large a model is and how it is trained, as one frozen value; sizes by name are in `sizes.csv`.

The paper's recipe: AdamW (0.9, 0.95), weight decay 0.1, linear warm-up over 4%, a constant learning rate, and a decay
by 1 - sqrt over the last 20%. Small models with few steps need a longer warm-up and a lower rate: each size has its
own defaults (for 55M, 6e-4 with 10% was stable and 1.5e-3 was not).
"""

from __future__ import annotations

import csv
import math
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from pairity.errors import PairityError

PEAKS = {"B200": 2250e12, "H200": 989e12, "H100": 989e12, "A100": 312e12, "L40S": 362e12, "4090": 165e12}
"""Part of the name of a device -> its dense bf16 FLOP/s, according to the manufacturer."""


@dataclass(frozen=True)
class ModelShape:
    """A LLaMA-style model. `kv_heads` below `heads`: several heads share their keys and values."""

    layers: int
    width: int
    heads: int
    kv_heads: int
    hidden: int
    tied: bool
    vocab_size: int
    context: int
    rope_theta: float = 10_000.0
    norm_eps: float = 1e-5

    @property
    def head_size(self) -> int:
        return self.width // self.heads

    @property
    def parameters(self) -> int:
        """All of them, including the embedding."""
        attention = 2 * self.width * self.head_size * (self.heads + self.kv_heads)
        block = attention + 3 * self.width * self.hidden + 2 * self.width
        return self.layers * block + self.width + (1 if self.tied else 2) * self.vocab_size * self.width

    @property
    def flops_per_token(self) -> float:
        """FLOPs of training: 6 per weight that is multiplied (an embedding is only looked up), and the causal half of
        attention."""
        looked_up = 0 if self.tied else self.vocab_size * self.width
        return 6.0 * (self.parameters - looked_up) + 6.0 * self.layers * self.context * self.width


@dataclass(frozen=True, kw_only=True)
class Recipe:
    """Everything that a run depends on, apart from the pack."""

    size: str = "55M"
    """Of the model: "5M" to "3B", the names of `sizes()`."""
    seed: int = 1
    """Of the weights, and of the order of the text."""
    epochs: float = 1.0
    """How often the text is read: with the same for every tokenizer, models see the same bytes ..."""
    tokens: int | None = None
    """... or how many tokens are read, instead: with the same for every tokenizer, models get the same compute."""
    batch: int = 64
    """Sequences of a step, over all GPUs."""
    context: int = 1024
    """Tokens of a sequence."""
    micro_batch: int | None = None
    """Sequences that go through a GPU at once; gradients add up until the batch is full. None: all of them."""
    learning_rate: float | None = None
    """At its peak. None: that of the size."""
    warmup: float | None = None
    """The share of the steps over which the rate rises. None: that of the size."""
    decay: float = 0.2
    """The share of the steps over which it falls to 0."""
    weight_decay: float = 0.1
    """On matrices; none on norms and embeddings."""
    clip: float = 1.0
    """The largest norm of the gradient."""
    precision: str = "bf16"
    """"bf16" or "float32": of the matrix products in training. Weights and losses are float32."""
    compile: bool = True
    """Use torch.compile, if there is a GPU."""
    curve: int = 10
    """Times that some held-out text is measured on the way."""

    def __post_init__(self) -> None:
        if self.size not in sizes():
            raise PairityError(f"size is {self.size!r}: choose one of {', '.join(sizes())}.")
        for name in ("batch", "context", "tokens", "micro_batch"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise PairityError(f"{name} is {value}: give at least 1.")
        for name in ("epochs", "learning_rate", "clip"):
            value = getattr(self, name)
            if value is not None and not (math.isfinite(value) and value > 0):
                raise PairityError(f"{name} is {value}: give a number above 0.")
        if not (0 <= self.decay <= 1 and 0 <= self.rise < 1 and self.rise + self.decay <= 1):
            raise PairityError(
                f"warmup is {self.rise} and decay {self.decay}: give shares that add up to at most 1."
            )
        if self.precision not in ("bf16", "float32"):
            raise PairityError(f"precision is {self.precision!r}: choose bf16 or float32.")
        if self.batch % (self.micro_batch or 1):
            raise PairityError(
                f"micro_batch is {self.micro_batch}: it must divide the batch of {self.batch}."
            )

    @property
    def rise(self) -> float:
        return float(sizes()[self.size]["warmup"]) if self.warmup is None else self.warmup

    @property
    def peak(self) -> float:
        return (
            float(sizes()[self.size]["learning_rate"]) if self.learning_rate is None else self.learning_rate
        )

    def shape(self, vocab_size: int) -> ModelShape:
        row = sizes()[self.size]
        numbers = {name: int(row[name]) for name in ("layers", "width", "heads", "kv_heads", "hidden")}
        return ModelShape(**numbers, tied=row["tied"] == "yes", vocab_size=vocab_size, context=self.context)

    def steps(self, tokens: int) -> int:
        """The number of steps for a pack of this many tokens."""
        wanted = round(self.epochs * tokens) if self.tokens is None else self.tokens
        found = wanted // (self.batch * self.context)
        if not found:
            raise PairityError(
                f"{wanted:,} tokens do not fill one batch of {self.batch} x {self.context}: give more text, or a "
                "smaller --batch or --context."
            )
        return found

    def rate(self, step: int, steps: int) -> float:
        """The learning rate of a step, counted from 0: up, level, and down by 1 - sqrt."""
        rising, falling = round(self.rise * steps), round(self.decay * steps)
        if step < rising:
            return self.peak * (step + 1) / rising
        into = step - (steps - falling)
        return self.peak if into < 0 else self.peak * (1 - math.sqrt(into / falling))

    def describe(self) -> dict[str, Any]:
        return asdict(replace(self, learning_rate=self.peak, warmup=self.rise))


@cache
def sizes() -> dict[str, dict[str, str]]:
    with (Path(__file__).parent / "sizes.csv").open(encoding="utf-8", newline="") as file:
        return {row.pop("name"): row for row in csv.DictReader(file)}
