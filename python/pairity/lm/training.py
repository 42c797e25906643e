"""Training: from a pack and a recipe to a model, in one loop. A stopped run resumes exactly where it was.

With torchrun, every GPU takes its share of each batch.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from pairity.errors import PairityError
from pairity.files.writing import write_file
from pairity.lm import weights
from pairity.lm.model import Llama
from pairity.lm.packs import IdStream, Pack
from pairity.lm.recipe import PEAKS, ModelShape, Recipe
from pairity.lm.scoring import bits_per_byte_by_language, score

CURVE_DOCUMENTS = 32  # of each language, for the curve
LOG_POINTS = 100
WARM = 5  # steps before the clock starts: compiling does not count as speed

TrainingListener = Callable[[int, int, str], None]
"""Called with (step, steps, a few words)."""


@dataclass
class ModelEngine:
    """A model on its device, compiled once and used for any number of runs of the same shape."""

    model: Llama
    call: Any
    device: torch.device
    rank: int = 0
    world: int = 1

    @classmethod
    def start(cls, shape: ModelShape, recipe: Recipe) -> ModelEngine:
        rank, world = int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))
        cuda = torch.cuda.is_available()
        device = torch.device(f"cuda:{os.environ.get('LOCAL_RANK', '0')}" if cuda else "cpu")
        if cuda:
            torch.cuda.set_device(device)
            torch.set_float32_matmul_precision("highest")
        model = Llama(shape).to(device)
        call: Any = model
        if world > 1:
            if not torch.distributed.is_initialized():
                torch.distributed.init_process_group("nccl" if cuda else "gloo")
            call = torch.nn.parallel.DistributedDataParallel(
                model, device_ids=[device.index] if cuda else None
            )
        return cls(model, torch.compile(call) if recipe.compile and cuda else call, device, rank, world)

    @property
    def peak(self) -> float | None:
        name = torch.cuda.get_device_name(self.device) if self.device.type == "cuda" else ""
        return next((peak * self.world for part, peak in PEAKS.items() if part in name), None)


@dataclass
class RunLog:
    """What a run produces besides the weights."""

    steps: int
    step: int = 0
    history: list[dict[str, Any]] = field(default_factory=list)
    """[{"step", "tokens", "bytes", "loss", "rate"}], the loss in nats per token since the row before."""
    curve: list[dict[str, Any]] = field(default_factory=list)
    """[{"step", "tokens", "bytes", "bits_per_byte": {language: ...}}]"""
    seconds: float = 0.0
    timed_tokens: int = 0

    def speed(self, engine: ModelEngine) -> dict[str, float | None]:
        rate = self.timed_tokens / self.seconds if self.seconds else None
        flops = None if rate is None else rate * engine.model.shape.flops_per_token
        mfu = flops / engine.peak if flops and engine.peak else None
        return {"tokens_per_second": rate, "flops_per_second": flops, "mfu": mfu}


def optimizer_of(model: Llama, recipe: Recipe) -> torch.optim.AdamW:
    """AdamW with weight decay on the matrices of the blocks and an untied head, but not on norms and the embedding."""
    plain = [
        weight for name, weight in model.named_parameters() if weight.dim() == 1 or "embed_tokens" in name
    ]
    decayed = [weight for weight in model.parameters() if all(weight is not one for one in plain)]
    groups = [
        {"params": decayed, "weight_decay": recipe.weight_decay},
        {"params": plain, "weight_decay": 0.0},
    ]
    on_gpu = next(model.parameters()).is_cuda
    return torch.optim.AdamW(groups, lr=recipe.peak, betas=(0.9, 0.95), eps=1e-8, fused=on_gpu)


def train(
    pack: Pack,
    recipe: Recipe,
    *,
    engine: ModelEngine | None = None,
    checkpoint: Path | None = None,
    checkpoint_seconds: float = 600.0,
    listen: TrainingListener | None = None,
) -> tuple[ModelEngine, RunLog]:
    """Train from fresh weights, or from `checkpoint` if that file exists; it is deleted at the end."""
    shape = recipe.shape(pack.tokenizer["vocab_size"])
    run = RunLog(recipe.steps(pack.tokens))
    engine = engine or ModelEngine.start(shape, recipe)
    if engine.model.shape != shape:
        raise PairityError(f"the engine has the shape {engine.model.shape}, but the recipe asks for {shape}.")
    if recipe.batch % (engine.world * (recipe.micro_batch or 1)):
        raise PairityError(
            f"batch is {recipe.batch}: it must be a multiple of {engine.world} GPUs x micro_batch."
        )
    model = engine.model
    model.begin(recipe.seed)
    optimizer = optimizer_of(model, recipe)
    torch.manual_seed(recipe.seed)
    made_from = json.dumps({"recipe": recipe.describe(), "pack": pack.manifest["digest"]}, sort_keys=True)
    if checkpoint and checkpoint.exists():
        run = restore(checkpoint, made_from, model, optimizer)
    stream = IdStream(pack, recipe.seed)
    sample = pack.text("held-out").first(CURVE_DOCUMENTS)
    per_step = recipe.batch * recipe.context
    points = {round((at + 1) * run.steps / recipe.curve) for at in range(recipe.curve)}
    log_every = max(1, run.steps // LOG_POINTS)
    losses, saved, clock = torch.zeros((), device=engine.device), time.monotonic(), Clock(engine)
    for step in range(run.step, run.steps):
        rate = recipe.rate(step, run.steps)
        for group in optimizer.param_groups:
            group["lr"] = rate
        losses += one_step(engine, optimizer, recipe, stream.read(step * per_step, per_step + 1))
        run.step = step + 1
        tokens = run.step * per_step
        seen = {"step": run.step, "tokens": tokens, "bytes": round(pack.bytes * tokens / pack.tokens)}
        clock.tick(run, per_step)
        if run.step % log_every == 0 or run.step == run.steps:
            since = run.step - (run.history[-1]["step"] if run.history else 0)
            loss = mean_over_gpus(losses, engine) / since
            losses.zero_()
            run.history.append({**seen, "loss": loss, "rate": rate})
            if listen:
                listen(run.step, run.steps, f"loss {loss:.3f}")
        if run.step in points:
            clock.stop(run)
            found = bits_per_byte_by_language(score(model, sample, pack.tokenizer["end_id"]), sample)
            by_name = {pack.languages[number]: bits for number, bits in found.items()}
            run.curve.append({**seen, "bits_per_byte": by_name})
        due = time.monotonic() - saved >= checkpoint_seconds
        # A checkpoint does not store the loss since the last row of the history, so it is saved only at a row.
        if (
            checkpoint
            and due
            and run.step < run.steps
            and run.history
            and run.history[-1]["step"] == run.step
        ):
            clock.stop(run)
            if engine.rank == 0:
                write_file(checkpoint, weights.writer(*state_of(made_from, run, model, optimizer)))
            saved = time.monotonic()
    clock.stop(run)
    return engine, run


def one_step(engine: ModelEngine, optimizer: torch.optim.AdamW, recipe: Recipe, ids: Any) -> Tensor:
    """Sum gradients over the micro-batches and take one optimizer step; returns the mean loss on this GPU."""
    share = recipe.batch // engine.world
    rows = torch.from_numpy(ids.astype(np.int64))
    if engine.device.type == "cuda":
        rows = rows.pin_memory()  # or the copy would wait for the previous step
    mine = slice(engine.rank * share, (engine.rank + 1) * share)
    given = rows[:-1].view(recipe.batch, recipe.context)[mine]
    wanted = rows[1:].view(recipe.batch, recipe.context)[mine]
    size = recipe.micro_batch or share
    total = torch.zeros((), device=engine.device)
    for start in range(0, share, size):
        part, target = (
            one[start : start + size].to(engine.device, non_blocking=True) for one in (given, wanted)
        )
        last = start + size >= share
        waiting = nullcontext() if last or engine.world == 1 else engine.call.no_sync()
        with waiting:
            with torch.autocast(engine.device.type, torch.bfloat16, enabled=recipe.precision == "bf16"):
                loss = engine.call(part, target) * (size / share)
            loss.backward()
        total += loss.detach()
    torch.nn.utils.clip_grad_norm_(engine.model.parameters(), recipe.clip)
    optimizer.step()
    optimizer.zero_grad(set_to_none=True)
    return total


def mean_over_gpus(value: Tensor, engine: ModelEngine) -> float:
    if engine.world > 1:
        value = value.clone()
        torch.distributed.all_reduce(value)
    return float(value.item()) / engine.world


class Clock:
    """Counts only the seconds of steps. After a stop, it starts again a few steps later."""

    def __init__(self, engine: ModelEngine) -> None:
        self.engine, self.since, self.counted, self.begun = engine, 0, 0, 0.0

    def tick(self, run: RunLog, tokens: int) -> None:
        self.since += 1
        if self.since == WARM:
            self.begun, self.counted = self.now(), 0
        elif self.since > WARM:
            self.counted += tokens

    def stop(self, run: RunLog) -> None:
        if self.counted:
            run.seconds += self.now() - self.begun
            run.timed_tokens += self.counted
        self.since = self.counted = 0

    def now(self) -> float:
        if self.engine.device.type == "cuda":
            torch.cuda.synchronize(self.engine.device)
        return time.perf_counter()


# A checkpoint: weights, both moments of every weight, the state of the random numbers, and the progress of the run


def state_of(
    made_from: str, run: RunLog, model: Llama, optimizer: torch.optim.AdamW
) -> tuple[dict[str, Tensor], dict[str, str]]:
    tensors = dict(model.state_dict())
    for number, state in optimizer.state_dict()["state"].items():
        tensors |= {f"optimizer.{number}.{name}": value for name, value in state.items()}
    tensors["rng"] = torch.get_rng_state()
    return tensors, {"made_from": made_from, "run": json.dumps(vars(run))}


def restore(path: Path, made_from: str, model: Llama, optimizer: torch.optim.AdamW) -> RunLog:
    tensors, metadata = weights.read(path)
    if metadata.get("made_from") != made_from:
        raise PairityError(
            f"{path} belongs to another recipe or another pack: use the same ones, or remove it."
        )
    torch.set_rng_state(tensors.pop("rng"))
    states: dict[int, dict[str, Tensor]] = {}
    for name in [name for name in tensors if name.startswith("optimizer.")]:
        _, number, key = name.split(".")
        states.setdefault(int(number), {})[key] = tensors.pop(name)
    model.load_state_dict(tensors)
    optimizer.load_state_dict({"state": states, "param_groups": optimizer.state_dict()["param_groups"]})
    return RunLog(**json.loads(metadata["run"]))
