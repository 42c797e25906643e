"""Running: train a model into a folder, and measure the bits of trained models.

config.json, model.safetensors   for transformers' LlamaForCausalLM
tokenizer.json and others        the tokenizer
lm.json                          recipe, pack, history and speed
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import torch

from pairity.errors import PairityError
from pairity.files.locks import locked
from pairity.files.places import check_folder
from pairity.files.writing import write_folder
from pairity.lm import training, weights
from pairity.lm.measuring import Scored
from pairity.lm.model import Llama
from pairity.lm.packs import Pack
from pairity.lm.recipe import Recipe
from pairity.lm.scoring import score

ABOUT = "lm.json"
WEIGHTS = "model.safetensors"
CHECKPOINT = "checkpoint.safetensors"


def train(
    pack: str | os.PathLike[str],
    output: str | os.PathLike[str],
    recipe: Recipe | None = None,
    *,
    resume: bool = False,
    force: bool = False,
    checkpoint_seconds: float = 600.0,
    listen: training.TrainingListener | None = None,
) -> dict[str, Any]:
    """Train a model on a pack and write its folder; returns the contents of lm.json.

    A stopped run leaves checkpoint.safetensors in the folder, and `resume` continues from there, bit for bit (on a GPU
    only as far as its kernels are deterministic).
    """
    recipe, folder, packed = recipe or Recipe(), Path(output), Pack(Path(pack))
    first = int(os.environ.get("RANK", "0")) == 0
    with locked(folder) if first else nullcontext():
        check_folder(folder, (WEIGHTS,), what="a model", force=force or resume)
        checkpoint = folder / CHECKPOINT
        if checkpoint.exists() and not resume:
            if not force:
                raise PairityError(
                    f"{folder} holds a stopped run: continue it with --resume, or start again with --force."
                )
            checkpoint.unlink()
        engine, run = training.train(
            packed, recipe, checkpoint=checkpoint, checkpoint_seconds=checkpoint_seconds, listen=listen
        )
        last = run.history[-1]
        about = {
            "tokenizer": packed.tokenizer,
            "pack": {"path": str(packed.folder.absolute()), "digest": packed.manifest["digest"]},
            "documents": packed.manifest["documents"],
            "recipe": recipe.describe(),
            "parameters": engine.model.shape.parameters,
            "tokens_seen": last["tokens"],
            "bytes_seen": last["bytes"],
            "speed": run.speed(engine),
            "history": run.history,
            "curve": run.curve,
        }
        if first:
            save(folder, engine.model, packed, about)
    return about


def save(folder: Path, model: Llama, pack: Pack, about: dict[str, Any]) -> None:
    """Write the folder for transformers, with the tokenizer."""
    tokenizer = {file.name: file.read_bytes() for file in sorted((pack.folder / "tokenizer").iterdir())}
    config = weights.config(model.shape, pack.tokenizer["end_id"])
    write_folder(
        folder,
        {
            **tokenizer,
            "config.json": json.dumps(config, indent=1) + "\n",
            WEIGHTS: weights.writer(model.state_dict()),
            ABOUT: json.dumps(about, indent=1) + "\n",
        },
        obsolete=(CHECKPOINT,),
    )


def load(folder: Path) -> Llama:
    """The model in a folder that `train` wrote."""
    model = Llama(weights.shape_of(folder))
    model.load_state_dict(weights.read(folder / WEIGHTS)[0])
    model.to("cuda" if torch.cuda.is_available() else "cpu")
    return model


def measure_models(
    models: Iterable[str | os.PathLike[str]],
    *,
    pack: str | os.PathLike[str] | None = None,
    baseline: str | None = None,
) -> list[Scored]:
    """The bits of every document to measure on; all packs must have the same documents.

    The text is in the pack that a model was trained on; `pack` is its new location if it was moved. With `baseline`,
    one of the models must have the tokenizer of this name.
    """
    found: list[Scored] = []
    for folder, about, packed in opened(models, pack, baseline):
        model = load(folder)
        for name in packed.manifest["texts"]:
            texts = packed.text(name)
            bits = score(model, texts, packed.tokenizer["end_id"])
            rows = {packed.languages[one]: texts.language == one for one in np.unique(texts.language)}
            found.append(
                Scored(
                    model=folder.name,
                    tokenizer=packed.tokenizer["name"],
                    seed=about["recipe"]["seed"],
                    text=name,
                    bits={language: bits[chosen] for language, chosen in rows.items()},
                    bytes={language: texts.bytes[chosen].astype(float) for language, chosen in rows.items()},
                    tokens_seen=about["tokens_seen"],
                    bytes_seen=about["bytes_seen"],
                )
            )
    return found


def opened(
    models: Iterable[str | os.PathLike[str]], pack: str | os.PathLike[str] | None, baseline: str | None
) -> list[tuple[Path, dict[str, Any], Pack]]:
    """For every model: its folder, its lm.json, and its pack. Anything wrong with them is an error here."""
    found: list[tuple[Path, dict[str, Any], Pack]] = []
    for given in models:
        folder = Path(given)
        about = read_about(folder)
        packed = Pack(Path(pack or about["pack"]["path"]))
        if packed.tokenizer["digest"] != about["tokenizer"]["digest"]:
            raise PairityError(
                f"{folder} was not trained with the tokenizer that {packed.folder} is packed for."
            )
        found.append((folder, about, packed))
        if packed.manifest["documents"] != found[0][2].manifest["documents"]:
            raise PairityError(
                f"{folder} and {found[0][0]} were measured on different documents: pack the text for all "
                "tokenizers in one command."
            )
    names = list(dict.fromkeys(packed.tokenizer["name"] for _, _, packed in found))
    if baseline is not None and baseline not in names:
        raise PairityError(f"no model has the tokenizer {baseline!r}: choose one of {', '.join(names)}.")
    return found


def read_about(folder: Path) -> dict[str, Any]:
    try:
        about: dict[str, Any] = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise PairityError(f"{folder} is not a model of pairity lm train: it has no {ABOUT}.") from None
    except ValueError as error:
        raise PairityError(f"{folder / ABOUT} is damaged, it is not JSON: {error}.") from None
    return about
