"""The tokens of a tokenizer as Hugging Face's WordPiece: a pre-token is cut into the longest tokens, from the left.

    tokens " un", "ab", "le", "able", merges u+n, a+b, l+e, ab+le   " unable" -> " un" "able"

Ids are those of the tokenizer, and all 256 bytes are among them, so no text is unknown, and all text decodes to itself.
But text is cut differently than by merges, so a model must use the same one of the two throughout. Pieces within a word
have no mark ("##"), because the space before a word is part of its first piece. The time of Hugging Face's code grows
with the cube of the length of a pre-token: it is too slow for pre-tokenizers that hardly cut ("none").
"""

from typing import Any

from pairity.bpe.model import BpeModel
from pairity.formats import tokenizer_json

LONGEST_WORD = 2**32 - 1
"""In characters. The default of Hugging Face is 100, and a longer word would be unknown as a whole."""


def write(model: BpeModel) -> dict[str, Any]:
    """The contents of tokenizer.json."""
    contents = tokenizer_json.write(model)
    contents["model"] = {
        "type": "WordPiece",
        "unk_token": "",  # a required field that is never used
        "continuing_subword_prefix": "",
        "max_input_chars_per_word": LONGEST_WORD,
        "vocab": contents["model"]["vocab"],
    }
    return contents
