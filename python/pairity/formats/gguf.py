"""GGUF: a vocabulary for llama.cpp. How text is cut there is told in `llama_cpp`."""

import tempfile
from pathlib import Path
from typing import Any

from pairity.bpe.model import BpeModel
from pairity.extras import load_extra
from pairity.formats import llama_cpp, tokenizer_json
from pairity.formats.transformers import Roles, split_roles

ROLES = {"bos_token": "add_bos_token_id", "eos_token": "add_eos_token_id", "pad_token": "add_pad_token_id"}


def contents(model: BpeModel, roles: Roles) -> bytes:
    """The bytes of the file, once all is known to be expressible."""
    gguf = load_extra("gguf", "a GGUF file")
    named, _ = split_roles(model, roles)
    texts = {token_id: text for text, token_id in tokenizer_json.vocab(model).items()}
    specials = set(model.special_tokens.values())

    def kind(token_id: int) -> Any:
        if token_id not in texts:
            return gguf.TokenType.UNUSED
        return gguf.TokenType.CONTROL if token_id in specials else gguf.TokenType.NORMAL

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
        file.add_add_bos_token(False)
        for role, token in named.items():
            getattr(file, ROLES[role])(model.special_tokens[token])
        file.write_header_to_file()
        file.write_kv_data_to_file()
        file.close()
        return path.read_bytes()
