"""The post-processor of tokenizer.json: the tokens that Hugging Face's library puts around a text."""

from collections.abc import Mapping
from typing import Any

from pairity.bpe.roles import Roles
from pairity.errors import PairityError
from pairity.formats.json_files import of_type

PAIRED = ("BertProcessing", "RobertaProcessing")
"""Processors that put one token before a text and one after it."""

Around = tuple[list[str], list[str]]
"""The tokens before a text and those after it."""


def of_roles(roles: Roles, ids: Mapping[str, int]) -> dict[str, Any] | None:
    """The processor that adds the tokens requested by the roles; None if there are none."""
    return template(roles, ids) if roles.add_bos or roles.add_eos else None


def template(roles: Roles, ids: Mapping[str, int]) -> dict[str, Any]:
    bos = [roles.bos_token] if roles.add_bos else []
    eos = [roles.eos_token] if roles.add_eos else []

    def piece(sequence: str, type_id: int) -> list[dict[str, Any]]:
        def special(names: list[Any]) -> list[dict[str, Any]]:
            return [{"SpecialToken": {"id": name, "type_id": type_id}} for name in names]

        return [*special(bos), {"Sequence": {"id": sequence, "type_id": type_id}}, *special(eos)]

    return {
        "type": "TemplateProcessing",
        "single": piece("A", 0),
        "pair": piece("A", 0) + piece("B", 1),
        "special_tokens": {
            name: {"id": name, "ids": [ids[name]], "tokens": [name]}
            for name in dict.fromkeys(bos + eos)
            if name
        },
    }


def read(contents: Any, roles: Roles, ids: Mapping[str, int]) -> tuple[Any, bool, bool]:
    """The part to keep (None: the roles imply all of it), and whether it adds bos_token and eos_token."""
    check(contents, ids)
    before, after = around(contents)
    add_bos = roles.bos_token is not None and before == [roles.bos_token]
    add_eos = roles.eos_token is not None and after == [roles.eos_token]
    adding = Roles(bos_token=roles.bos_token, eos_token=roles.eos_token, add_bos=add_bos, add_eos=add_eos)
    return None if contents == template(adding, ids) else contents, add_bos, add_eos


def around(contents: Any) -> Around:
    """The tokens that it puts before one text and after it."""
    if contents is None or contents["type"] == "ByteLevel":
        return [], []
    if contents["type"] == "Sequence":
        parts = [around(part) for part in contents["processors"]]
        return [t for part in reversed(parts) for t in part[0]], [t for part in parts for t in part[1]]
    if contents["type"] in PAIRED:
        return [contents["cls"][0]], [contents["sep"][0]]
    places: Around = ([], [])
    seen = False
    for piece in contents["single"]:
        if "SpecialToken" in piece:
            places[seen].extend(contents["special_tokens"][piece["SpecialToken"]["id"]]["tokens"])
        seen = seen or "Sequence" in piece
    return places


def check(contents: Any, ids: Mapping[str, int]) -> None:
    """Refuse an unknown kind, and tokens that are not special tokens with these ids."""
    if contents is None or contents["type"] == "ByteLevel":
        return
    kind = contents["type"]
    if kind == "Sequence":
        for part in of_type(list, contents["processors"], "the processors of the post-processor"):
            check(part, ids)
    elif kind in PAIRED:
        for token, token_id in (contents["cls"], contents["sep"]):
            check_token(token, token_id, ids)
    elif kind == "TemplateProcessing":
        for special in contents["special_tokens"].values():
            for token, token_id in zip(special["tokens"], special["ids"], strict=True):
                check_token(token, token_id, ids)
        for piece in (*contents["single"], *contents["pair"]):
            if "SpecialToken" in piece and piece["SpecialToken"]["id"] not in contents["special_tokens"]:
                raise missing(piece["SpecialToken"]["id"])
    else:
        raise PairityError(
            f"the post-processor {kind} cannot be kept: only TemplateProcessing, BertProcessing, RobertaProcessing, "
            "ByteLevel and a Sequence of them can."
        )


def check_token(token: Any, token_id: Any, ids: Mapping[str, int]) -> None:
    if token not in ids:
        raise missing(token)
    if ids[token] != token_id:
        raise PairityError(
            f"the post-processor of tokenizer.json gives {token!r} the id {token_id}, but the token has the id "
            f"{ids[token]}."
        )


def missing(token: Any) -> PairityError:
    return PairityError(
        f"the post-processor of tokenizer.json adds {token!r}, which is not an added token of this "
        "tokenizer. Add the token to added_tokens, or remove it from post_processor."
    )
