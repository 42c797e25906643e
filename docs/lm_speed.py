"""Time steps of training on the device that torch finds, and write the record of the table of speed in docs/lm.md.

    python docs/lm_speed.py                           110M in three batches: some minutes on a GPU
    python docs/lm_speed.py -o speed.json --size 5M --batch 2 4:2 --context 32 --steps 3 --precision float32

Needs what docs/lm_run.py needs: torch, numpy and tokenizers. Ids are drawn at random, since a step takes as long
whatever they are; steps are timed once they are compiled. Beside them stands a product of matrices in the same
precision.
With the record in its place, `python docs/tables.py` fills the page.
"""

import argparse
import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch

import lm_run  # first: it finds pairity
from pairity.lm.recipe import Recipe
from pairity.lm.training import WARM, ModelEngine, one_step, optimizer_of

RECORD = Path(__file__).parent / "results" / "lm-speed.json"
VOCAB_SIZE = 32_000
COLUMNS = (
    "batch",
    "sequences at once",
    "ms per step",
    "tokens/s",
    "TFLOP/s",
    "of the measured peak",
    "of the stated peak",
)


def seconds(work: Callable[[], object], times: int, device: torch.device) -> float:
    """Of one call, once it is warm."""

    def now() -> float:
        if device.type == "cuda":
            torch.cuda.synchronize(device)
        return time.perf_counter()

    for _ in range(WARM):
        work()
    began = now()
    for _ in range(times):
        work()
    return (now() - began) / times


def peak(device: torch.device, precision: str) -> float:
    """FLOP/s of a product of matrices."""
    size = 8192 if device.type == "cuda" else 512
    dtype = torch.bfloat16 if precision == "bf16" else torch.float32
    one, other = (torch.randn(size, size, device=device, dtype=dtype) for _ in range(2))
    return 2 * size**3 / seconds(lambda: one @ other, 20, device)


def row(recipe: Recipe, steps: int, measured: float) -> tuple[ModelEngine, list[str]]:
    torch.compiler.reset()
    engine = ModelEngine.start(recipe.shape(VOCAB_SIZE), recipe)
    engine.model.begin(recipe.seed)
    optimizer = optimizer_of(engine.model, recipe)
    tokens = recipe.batch * recipe.context
    ids = np.random.default_rng(0).integers(0, VOCAB_SIZE, tokens + 1, dtype=np.uint32)
    took = seconds(lambda: one_step(engine, optimizer, recipe, ids), steps, engine.device)
    rate = tokens / took * engine.model.shape.flops_per_token
    return engine, [
        recipe.size,
        f"{recipe.batch} x {recipe.context:,}",
        str(recipe.micro_batch or recipe.batch),
        f"{1000 * took:.1f}",
        f"{tokens / took:,.0f}",
        f"{rate / 1e12:.3g}",
        f"{rate / measured:.0%}",
        f"{rate / engine.peak:.0%}" if engine.peak else "–",
    ]


def record(recipes: list[Recipe], steps: int) -> dict[str, Any]:
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    measured = peak(device, recipes[0].precision)
    rows = []
    for recipe in recipes:
        engine, made = row(recipe, steps, measured)
        rows.append(made)
        lm_run.say(f"{', '.join(made[:4])} ms per step")
    machine = lm_run.machine(engine)
    compiled = "compiled" if recipes[0].compile and device.type == "cuda" else "not compiled"
    named = f"; the vendor states {engine.peak / 1e12:.0f}" if engine.peak else ""
    return {
        "made_by": "python docs/lm_speed.py",
        "columns": [{"name": "model"}, *({"name": name, "format": ""} for name in COLUMNS)],
        "rows": rows,
        "note": (
            f"{machine['device']}, PyTorch {machine['torch']}, Python {machine['python']}, "
            f"{recipes[0].precision}, {compiled}, {steps} steps each. A matrix product was measured at "
            f"{measured / 1e12:.3g} TFLOP/s{named}."
        ),
    }


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("-o", "--output", type=Path, default=RECORD)
    parser.add_argument("--size", default="110M")
    parser.add_argument(
        "--batch", nargs="+", default=["64", "128:64", "32"], help="sequences of a step, and at once"
    )
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--steps", type=int, default=50, help="that are timed")
    options = parser.parse_args(arguments)
    recipes = []
    for given in options.batch:
        batch, _, at_once = given.partition(":")
        settings = {name: getattr(options, name) for name in ("size", "context", "precision")}
        recipes.append(Recipe(batch=int(batch), micro_batch=int(at_once) if at_once else None, **settings))
    text = json.dumps(record(recipes, options.steps), ensure_ascii=False, indent=1) + "\n"
    options.output.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
