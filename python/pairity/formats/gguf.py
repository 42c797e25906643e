"""A vocabulary for llama.cpp.

llama.cpp has no place for a pattern in its files: it knows pre-tokenizers by name and cuts text with code of
its own.
So only patterns that it has a name for can go there.
"""

import warnings
from collections.abc import Mapping
from pathlib import Path

from pairity.errors import PairityError
from pairity.formats import tokenizer_json
from pairity.formats.folder import Writer, split_roles
from pairity.tokenizer.tokenizer import Tokenizer

# Our pretokenizer -> llama.cpp's name, as its llama-vocab.cpp defines them.
_NAMES = {"gpt4o": "gpt-4o", "gpt4": "llama-bpe", "gpt4:digits": "qwen2", "gpt2": "gpt-2"}
# Under these names llama.cpp takes a pre-token whole if it is a token.
_TAKE_WHOLE = {"llama-bpe"}
_ROLES = {"bos_token": "add_bos_token_id", "eos_token": "add_eos_token_id", "pad_token": "add_pad_token_id"}


def writer(tok: Tokenizer, roles: Mapping[str, str | None]) -> Writer:
    """What writes the file, once all is known to be expressible."""
    try:
        import gguf
    except ImportError:
        raise PairityError("this needs gguf: pip install 'pairity[gguf]'") from None
    name = _name(tok)
    named, _ = split_roles(tok, roles)
    texts = {token_id: text for text, token_id in tokenizer_json.vocab(tok).items()}
    specials = set(tok.special_tokens.values())

    def kind(token_id: int) -> gguf.TokenType:
        if token_id not in texts:
            return gguf.TokenType.UNUSED
        return gguf.TokenType.CONTROL if token_id in specials else gguf.TokenType.NORMAL

    def write(path: Path) -> None:
        # The architecture is a required field; a vocabulary alone has none, and llama.cpp's own ones say
        # llama.
        file = gguf.GGUFWriter(path, "llama")
        file.add_type("vocab")
        file.add_tokenizer_model("gpt2")
        file.add_tokenizer_pre(name)
        file.add_token_list([texts.get(i, f"[UNUSED_{i}]") for i in range(len(tok))])
        file.add_token_types([kind(i) for i in range(len(tok))])
        file.add_token_merges([" ".join(pair) for pair in tokenizer_json.merge_list(tok)])
        file.add_add_bos_token(False)
        for role, token in named.items():
            getattr(file, _ROLES[role])(tok.special_tokens[token])
        file.write_header_to_file()
        file.write_kv_data_to_file()
        file.close()

    return write


def _name(tok: Tokenizer) -> str:
    if tok.normalize:
        raise PairityError(f"llama.cpp cannot normalise text ({tok.normalize}) for a BPE: ids would differ.")
    if tok.pretokenizer not in _NAMES:
        known = ", ".join(_NAMES)
        raise PairityError(
            f"llama.cpp knows pre-tokenizers by name only, and has none for {tok.pretokenizer!r}. It has "
            f"for {known}."
        )
    name = _NAMES[tok.pretokenizer]
    if tok.whole_pretokens != (name in _TAKE_WHOLE) and (never := tok.unmerged()):
        does = "takes" if name in _TAKE_WHOLE else "does not take"
        raise PairityError(
            f"merging never gives the token {tok.tokens[never[0]]!r} (id {never[0]}), and llama.cpp under "
            f"the name {name} {does} such tokens whole, unlike this tokenizer."
        )
    if name == "gpt-4o":
        warnings.warn(
            "llama.cpp's own version of the gpt-4o pattern treats combining marks as no part of a word and "
            "only A-Z and a-z as cased. Text with such marks (Hindi, Thai, Arabic with vowel signs) or with "
            "words like ÉCOLEÉlan can get other ids there.",
            UserWarning,
            stacklevel=4,
        )
    return name
