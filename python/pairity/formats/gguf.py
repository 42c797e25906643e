"""GGUF: a vocabulary for llama.cpp. How text is cut there is described in `llama_cpp`."""

import tempfile
import warnings
from pathlib import Path
from typing import Any

from pairity.bpe.model import BpeModel
from pairity.errors import PairityWarning, listed
from pairity.extras import load_extra
from pairity.formats import llama_cpp, tokenizer_json
from pairity.formats.post_processor import around

DEFAULT_EOS = 11
"""The id that llama.cpp ends a text at, and begins one with, where a file names none: that of GPT-2's time."""


def contents(model: BpeModel) -> bytes:
    """The bytes of the file, once all is known to be expressible."""
    gguf = load_extra("gguf", "a GGUF file")
    warn_of_ends(model)
    texts = {token_id: text for text, token_id in tokenizer_json.vocab(model).items()}
    not_special = model.wrapping.not_special
    specials = {token_id: name in not_special for name, token_id in model.special_tokens.items()}

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
        file.add_tokenizer_pre(llama_cpp.name_of(model))
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


def warn_of_ends(model: BpeModel) -> None:
    """Say what llama.cpp will do otherwise: end a text where nobody said so, put less around it."""
    if model.roles.eos_token is None:
        warnings.warn(
            f"the tokenizer has no eos_token, and llama.cpp then ends a text at id {DEFAULT_EOS}, which is "
            f"{model.tokens[DEFAULT_EOS]!r} here. Name one (--eos-token).",
            PairityWarning,
            stacklevel=5,
        )
    put = [token for side in around(model.wrapping.post_processor) for token in side]
    if lost := [token for token in put if token not in model.roles.added]:
        warnings.warn(
            "llama.cpp adds a BOS and an EOS token at most, so what this tokenizer puts around a text is left out: "
            f"{listed(lost)}.",
            PairityWarning,
            stacklevel=5,
        )
