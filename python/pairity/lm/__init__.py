"""Language models: what a tokenizer does for them, measured in bits with small models trained on the same text.

In: text and tokenizers. Out: packed ids, trained models as folders for transformers, and one table of bits per byte and
per line for each language. The modules that run on the GPU machine (`texts`, `packing`, `packs`, `model`, `recipe`,
`training`, `scoring`, `weights`) need only torch and numpy.

    documents  text of any SOURCE, shuffled over all languages, the same for every tokenizer
    packing    from documents to ids: a pack, which `packs` reads
    model      the architecture, in the sizes of `sizes.csv`
    training   from a pack and a recipe to a model
    scoring    bits of every document under a model
    measuring  from bits to one table with intervals, paired between tokenizers
    benchmarks from result files of lighteval and lm-evaluation-harness to scores per language
    model_scores reads both as one table, for the report
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from pairity.extras import load_extra

if TYPE_CHECKING:
    from pairity.lm.benchmarks import score
    from pairity.lm.documents import Choice, pack
    from pairity.lm.measuring import measure
    from pairity.lm.recipe import Recipe
    from pairity.lm.running import measure_models, train

HOMES = {
    "Choice": "documents",
    "Recipe": "recipe",
    "measure": "measuring",
    "measure_models": "running",
    "pack": "documents",
    "score": "benchmarks",
    "train": "running",
}
NEED_TORCH = ("measure_models", "train")

__all__ = ["Choice", "Recipe", "measure", "measure_models", "pack", "score", "train"]


def __getattr__(name: str) -> Any:
    if name not in HOMES:
        raise AttributeError(f"module 'pairity.lm' has no attribute {name!r}")
    if name in NEED_TORCH:
        load_extra("torch", "a language model")
    return getattr(import_module(f"pairity.lm.{HOMES[name]}"), name)
