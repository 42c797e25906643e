"""A vocabulary for llama.cpp.

llama.cpp has no place for a pattern in its files: it knows pre-tokenizers by name and cuts text with code of
its own. So only patterns that it has a name for can go there.
"""

import tempfile
import warnings
from pathlib import Path
from typing import Any

from pairity.bpe.model import BpeModel
from pairity.errors import PairityError, PairityWarning, listed
from pairity.extras import load_extra
from pairity.formats import tokenizer_json
from pairity.formats.post_processor import around

# Our pretokenizer -> llama.cpp's name, as its llama-vocab.cpp defines them.
NAMES = {"gpt4o": "gpt-4o", "gpt4": "llama-bpe", "gpt4:digits": "qwen2", "gpt2": "gpt-2"}
# Under these names llama.cpp takes a pre-token whole if it is a token.
TAKE_WHOLE = {"llama-bpe"}


def contents(model: BpeModel) -> bytes:
    """The bytes of the file, once all is known to be expressible."""
    gguf = load_extra("gguf", "a GGUF file")
    name = name_of(model)
    check_added(model)
    texts = {token_id: text for text, token_id in tokenizer_json.vocab(model).items()}
    plain = {name for name, flags in model.wrapping.flags.items() if not flags.get("special", True)}
    specials = {token_id: name in plain for name, token_id in model.special_tokens.items()}

    def kind(token_id: int) -> Any:
        if token_id not in texts:
            return gguf.TokenType.UNUSED
        if token_id not in specials:
            return gguf.TokenType.NORMAL
        return gguf.TokenType.USER_DEFINED if specials[token_id] else gguf.TokenType.CONTROL

    with tempfile.TemporaryDirectory() as folder:  # the package writes to a path and to nothing else
        path = Path(folder) / "vocab.gguf"
        # The architecture is a required field. A vocabulary alone has none, and llama.cpp's own say llama.
        file = gguf.GGUFWriter(path, "llama")
        file.add_type("vocab")
        file.add_tokenizer_model("gpt2")
        file.add_tokenizer_pre(name)
        file.add_token_list([texts.get(i, f"[UNUSED_{i}]") for i in range(len(model.tokens))])
        file.add_token_types([kind(i) for i in range(len(model.tokens))])
        file.add_token_merges([" ".join(pair) for pair in tokenizer_json.merge_list(model)])
        add_roles(file, model)
        file.write_header_to_file()
        file.write_kv_data_to_file()
        file.close()
        return path.read_bytes()


def add_roles(file: Any, model: BpeModel) -> None:
    """Ids, flags and chat templates, into the fields that llama.cpp has for them."""
    roles = model.roles
    file.add_add_bos_token(roles.add_bos)
    if roles.add_eos:
        file.add_add_eos_token(True)
    for role, token in roles.named.items():
        getattr(file, f"add_{role}_id")(model.special_tokens[token])
    if templates := model.templates:
        several = [{"name": name, "template": template} for name, template in templates.items()]
        file.add_chat_template(several if model.wrapping.templates else roles.chat_template)


def check_added(model: BpeModel) -> None:
    """Say what is lost where more is put around a text than llama.cpp can put there."""
    put = [token for side in around(model.wrapping.post_processor) for token in side]
    if lost := [token for token in put if token not in model.roles.added]:
        warnings.warn(
            "llama.cpp adds a BOS and an EOS token at most, so what this tokenizer puts around a text is left out: "
            f"{listed(lost)}.",
            PairityWarning,
            stacklevel=5,
        )


def name_of(model: BpeModel) -> str:
    if model.cut.normalize:
        raise PairityError(
            f"llama.cpp cannot normalise text ({model.cut.normalize}) for a BPE: ids would differ."
        )
    if model.cut.name not in NAMES:
        known = ", ".join(NAMES)
        raise PairityError(
            f"llama.cpp knows pre-tokenizers by name only, and has none for {model.cut.name!r}. It has "
            f"names for {known}."
        )
    name = NAMES[model.cut.name]
    if model.whole_pretokens != (name in TAKE_WHOLE) and (never := model.unmerged()):
        does = "takes" if name in TAKE_WHOLE else "does not take"
        raise PairityError(
            f"merging never gives the token {model.tokens[never[0]]!r} (id {never[0]}), and llama.cpp under "
            f"the name {name} {does} such tokens whole, unlike this tokenizer."
        )
    if name == "gpt-4o":
        warnings.warn(
            "llama.cpp's own version of the gpt-4o pattern treats combining marks as no part of a word and "
            "only A-Z and a-z as cased. Text with such marks (Hindi, Thai, Arabic with vowel signs) or with "
            "words like ÉCOLEÉlan can get other ids there.",
            PairityWarning,
            stacklevel=4,
        )
    return name
