"""Train and score the language models of the study, where the GPU is: needs torch, numpy and tokenizers alone.

    python docs/lm_prepare.py                        makes lm-run/carry
    python docs/lm_run.py --seconds 560 -o out/      there: as many models as fit into the time
    python docs/lm_run.py --seconds 560 --from 7     the rest, in another call

Runs in this order: every tokenizer with seed 1, with seed 2, with seed 3, all on the same bytes; then those tokenizers
that need more tokens, with as many tokens as the one that needs the fewest: the same compute. After every model
OUT/lm-NUMBER.json is written, with the bits of every line. docs/lm_tables.py turns these files into tables.
"""

import argparse
import json
import os
import platform
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "python"))

import lm_carry  # noqa: E402
from pairity.lm.packing import read_documents  # noqa: E402
from pairity.lm.packs import Pack, PackedTexts  # noqa: E402
from pairity.lm.recipe import Recipe  # noqa: E402
from pairity.lm.scoring import score  # noqa: E402
from pairity.lm.training import ModelEngine, train  # noqa: E402

TEXTS = ("parallel", "held-out")


@dataclass(frozen=True)
class Planned:
    """One model. `equal` is what all tokenizers get the same of."""

    tokenizer: str
    seed: int
    equal: str
    recipe: Recipe


def packed(carry: Path, work: Path) -> dict[str, Pack]:
    """Packs made here, each in a process of its own."""
    names = list(json.loads((carry / "packs.json").read_text(encoding="utf-8")))
    documents = lm_carry.unpack(carry, work / "text")
    say("text unpacked")
    packs = {}
    with ProcessPoolExecutor(len(names), mp_context=get_context("spawn")) as crew:
        made = crew.map(
            lm_carry.packed, [documents] * len(names), [carry] * len(names), [work] * len(names), names
        )
        for name, (folder, same) in zip(names, made, strict=True):
            packs[name] = Pack(folder)
            say(f"{name}: {packs[name].tokens:,} tokens, {'the same' if same else 'OTHER'} ids as before")
    return packs


def plan(packs: dict[str, Pack], options: argparse.Namespace) -> list[Planned]:
    fewest = min(pack.tokens for pack in packs.values())
    settings = {name: getattr(options, name) for name in ("size", "batch", "context", "precision")}
    settings["micro_batch"] = options.micro_batch

    def planned(name: str, seed: int, equal: str) -> Planned:
        budget: dict[str, Any] = {"epochs": options.epochs}
        if equal == "compute":
            budget["tokens"] = round(options.epochs * fewest)
        return Planned(name, seed, equal, Recipe(seed=seed, compile=not options.eager, **settings, **budget))

    runs = [planned(name, seed, "bytes") for seed in options.seeds for name in packs]
    more = [name for name, pack in packs.items() if pack.tokens > fewest]
    return runs + [planned(name, seed, "compute") for seed in options.seeds for name in more]


def seen(pack: Pack) -> dict[str, Any]:
    """How often the tokens of each language's test lines occur in the train text: {language: [quartiles]}, and sums."""
    counts = np.zeros(pack.tokenizer["vocab_size"], np.int64)
    for ids in pack.shards:
        counts += np.bincount(ids, minlength=len(counts))
    texts = pack.text("parallel")
    owners = np.repeat(texts.language, np.diff(texts.offsets))
    quartiles = {}
    for number, language in enumerate(pack.languages):
        quartiles[language] = np.quantile(counts[texts.ids[owners == number]], [0.05, 0.25, 0.5]).tolist()
    return {
        "tokens": pack.tokens,
        "bytes": pack.bytes,
        "train": pack.manifest["languages"],
        "parallel": pack.manifest["texts"]["parallel"]["languages"],
        "seen": quartiles,
    }


def by_language(pack: Pack, texts: PackedTexts, values: Any) -> dict[str, list[float]]:
    """{language: a value for every document, in order}"""
    return {pack.languages[one]: values[texts.language == one].tolist() for one in np.unique(texts.language)}


def sizes_of(pack: Pack, name: str) -> dict[str, list[float]]:
    return by_language(pack, pack.text(name), pack.text(name).bytes)


def bits_of(pack: Pack, engine: ModelEngine, name: str) -> dict[str, list[float]]:
    texts = pack.text(name)
    return by_language(pack, texts, np.round(score(engine.model, texts, pack.tokenizer["end_id"]), 2))


def machine(engine: ModelEngine) -> dict[str, Any]:
    cuda = engine.device.type == "cuda"
    return {
        "device": torch.cuda.get_device_name(engine.device) if cuda else platform.processor() or "cpu",
        "torch": torch.__version__,
        "python": platform.python_version(),
        "cores": os.cpu_count(),
    }


def say(line: str) -> None:
    print(f"{time.monotonic() - BEGAN:6.1f} s  {line}", flush=True)


BEGAN = time.monotonic()


def main(arguments: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--carry", type=Path, default=ROOT / "lm-run" / "carry")
    parser.add_argument("--work", type=Path, default=Path(tempfile.gettempdir(), "lm-work"))
    parser.add_argument("-o", "--output", type=Path, default=Path(os.environ.get("OUT", "lm-out")))
    parser.add_argument("--size", default="55M")
    parser.add_argument("--epochs", type=float, default=1.0)
    parser.add_argument("--batch", type=int, default=64)
    parser.add_argument("--micro-batch", type=int, default=None)
    parser.add_argument("--context", type=int, default=1024)
    parser.add_argument("--precision", default="bf16")
    parser.add_argument("--eager", action="store_true", help="without torch.compile")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--from", type=int, default=0, dest="first", help="leave the first so many runs out")
    parser.add_argument("--most", type=int, default=99, help="do no more runs than this")
    parser.add_argument("--seconds", type=float, default=1e9, help="begin no run that would end after this")
    options = parser.parse_args(arguments)
    options.output.mkdir(parents=True, exist_ok=True)
    packs = packed(options.carry, options.work)
    runs = plan(packs, options)
    engine = ModelEngine.start(
        runs[0].recipe.shape(next(iter(packs.values())).tokenizer["vocab_size"]), runs[0].recipe
    )
    about = {
        "machine": machine(engine),
        "documents": read_documents(options.work / "text")["digest"],
        "parameters": engine.model.shape.parameters,
        "bytes": {text: sizes_of(next(iter(packs.values())), text) for text in TEXTS},
        "tokenizers": {name: seen(pack) for name, pack in packs.items()},
    }
    say(
        f"{engine.model.shape.parameters:,} parameters on {about['machine']['device']}; {len(runs)} runs in all"
    )
    done: list[dict[str, Any]] = []
    longest = 0.0
    for number, one in enumerate(runs):
        if number < options.first or len(done) == options.most:
            continue
        if time.monotonic() - BEGAN + longest > options.seconds:
            say(f"no time for another run: go on with --from {number}")
            break
        began = time.monotonic()
        pack = packs[one.tokenizer]
        _, run = train(pack, one.recipe, engine=engine)
        bits = {text: bits_of(pack, engine, text) for text in TEXTS}
        took = time.monotonic() - began
        longest = 1.1 * took
        speed = run.speed(engine)
        done.append(
            {
                "number": number,
                "tokenizer": one.tokenizer,
                "seed": one.seed,
                "equal": one.equal,
                "recipe": one.recipe.describe(),
                "steps": run.steps,
                "speed": speed,
                "seconds": took,
                "history": run.history,
                "curve": run.curve,
                "bits": bits,
            }
        )
        file = options.output / f"lm-{options.first}.json"
        file.write_text(json.dumps(about | {"runs": done}), encoding="utf-8")
        mean = np.mean([sum(lines) / len(lines) for lines in bits["parallel"].values()])
        mfu = "" if speed["mfu"] is None else f", MFU {speed['mfu']:.1%}"
        say(
            f"{number}: {one.tokenizer}, seed {one.seed}, equal {one.equal}: {run.steps} steps, loss "
            f"{run.history[-1]['loss']:.3f}, {mean:.1f} bits per line, {took:.0f} s, "
            f"{speed['tokens_per_second'] or 0:,.0f} tokens/s{mfu}"
        )
    say("done")


if __name__ == "__main__":
    main()
