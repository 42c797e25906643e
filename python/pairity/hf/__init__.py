"""Hugging Face's BPE trainers with our engine: change the import, keep the script.

In: a `tokenizers.Tokenizer` and iterators of text. Out: the same tokenizer, trained in place.
"""

from pairity.hf.trainers import BpeTrainer, ParityBpeTrainer

__all__ = ["BpeTrainer", "ParityBpeTrainer"]
