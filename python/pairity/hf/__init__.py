"""The BPE trainers of Hugging Face on our engine: change the import, keep the script.

In: a `tokenizers.Tokenizer` and iterators of text. Out: the same tokenizer, trained in place. Next:
`pairity.judging`, which opens any tokenizer of Hugging Face.

    trainers    the two trainers, with the arguments of those of `tokenizers`
    words       cutting texts into words, and numbering their characters for the engine
"""

from pairity.hf.trainers import BpeTrainer, ParityBpeTrainer

__all__ = ["BpeTrainer", "ParityBpeTrainer"]
