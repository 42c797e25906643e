"""GGUF: a vocabulary for llama.cpp. How text is cut there is described in `llama_cpp`."""

import tempfile
import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from pairity.bpe.model import BpeModel
from pairity.bpe.roles import Roles
from pairity.errors import PairityWarning, listed
from pairity.extras import load_extra
from pairity.formats import llama_cpp, tokenizer_json
from pairity.formats.post_processor import around

DEFAULT_EOS = 11
"""The id that llama.cpp uses as BOS and EOS if a file names none."""


def contents(model: BpeModel) -> bytes:
    """The bytes of the file, for a model that passed all checks."""
    gguf = load_extra("gguf", "a GGUF file")
    roles = with_ends(model)
    warn_of_ends(model, roles)
    texts = {token_id: text for text, token_id in tokenizer_json.vocab(model).items()}
    not_special = model.wrapping.not_special
    specials = {token_id: name in not_special for name, token_id in model.special_tokens.items()}

    def kind(token_id: int) -> Any:
        if token_id not in texts:
            return gguf.TokenType.UNUSED
        if token_id not in specials:
            return gguf.TokenType.NORMAL
        return gguf.TokenType.USER_DEFINED if specials[token_id] else gguf.TokenType.CONTROL

    with tempfile.TemporaryDirectory() as folder:  # the package can only write to a path
        path = Path(folder) / "vocab.gguf"
        # The architecture is required, but a vocabulary has none. The vocabularies in llama.cpp say llama.
        file = gguf.GGUFWriter(path, "llama")
        file.add_type("vocab")
        file.add_tokenizer_model("gpt2")
        file.add_tokenizer_pre(llama_cpp.name_of(model))
        file.add_token_list([texts.get(i, f"[UNUSED_{i}]") for i in range(len(model.tokens))])
        file.add_token_types([kind(i) for i in range(len(model.tokens))])
        file.add_token_merges([" ".join(pair) for pair in tokenizer_json.merge_list(model)])
        add_roles(file, model, roles)
        file.write_header_to_file()
        file.write_kv_data_to_file()
        file.close()
        return path.read_bytes()


def with_ends(model: BpeModel) -> Roles:
    """The roles; without a BOS or EOS token, the token with which the post-processor begins or ends a text.

    llama.cpp can put one token before a text and one after it: its BOS and EOS tokens. Each end is decided on its own.
    If the post-processor adds a token other than BOS, or several, nothing is added at that end, because prompts and
    chats rely on the roles.
    """
    roles = model.roles
    before, after = around(model.wrapping.post_processor)
    if roles.bos_token is None and len(before) == 1:
        roles = replace(roles, bos_token=before[0], add_bos=True)
    if roles.eos_token is None and len(after) == 1:
        roles = replace(roles, eos_token=after[0], add_eos=True)
    return roles


def add_roles(file: Any, model: BpeModel, roles: Roles) -> None:
    """Write ids, flags and chat templates into the fields of llama.cpp."""
    file.add_add_bos_token(roles.add_bos)
    if roles.add_eos:
        file.add_add_eos_token(True)
    for role, token in roles.named.items():
        getattr(file, f"add_{role}_id")(model.special_tokens[token])
    if templates := model.templates:
        several = [{"name": name, "template": template} for name, template in templates.items()]
        file.add_chat_template(several if model.wrapping.templates else roles.chat_template)


def warn_of_ends(model: BpeModel, roles: Roles) -> None:
    """Warn of what llama.cpp does differently: end a text at a default token, or add fewer tokens around it."""
    if roles.eos_token is None:
        warnings.warn(
            f"the tokenizer has no eos_token, so llama.cpp will end a text at id {DEFAULT_EOS}, which is "
            f"{model.tokens[DEFAULT_EOS]!r} here. Set one (--eos-token).",
            PairityWarning,
            stacklevel=5,
        )
    put = [token for side in around(model.wrapping.post_processor) for token in side]
    if lost := [token for token in put if token not in roles.added]:
        kept = [token for token in put if token in roles.added]
        warnings.warn(
            "llama.cpp can only add the BOS token before a text and the EOS token after it, so other "
            "tokens that this tokenizer adds are left out: "
            f"{listed(lost)}{f' ({listed(kept)} is kept)' if kept else ''}.",
            PairityWarning,
            stacklevel=5,
        )
