"""Roles: which special tokens begin, end and pad a text, whether they are added to it, and how a chat is written.

Roles(bos_token="<s>", eos_token="</s>", add_bos=True).named   -> {"bos_token": "<s>", "eos_token": "</s>"}

They change no id, and `encode` adds nothing to a text. They are for the libraries that a tokenizer is exported to.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, fields, replace
from typing import Any, TypedDict

from pairity.errors import PairityError, listed
from pairity.extras import load_extra

TOKENS = ("bos_token", "eos_token", "pad_token", "unk_token")
"""The roles that a special token can have."""


class GivenRoles(TypedDict, total=False):
    """The fields of `Roles` as keyword arguments; None keeps what the tokenizer has."""

    bos_token: str | None
    eos_token: str | None
    pad_token: str | None
    unk_token: str | None
    add_bos: bool | None
    add_eos: bool | None
    chat_template: str | None


@dataclass(frozen=True, kw_only=True)
class Roles:
    """Checked on creation; `check` verifies that a tokenizer has each token."""

    bos_token: str | None = None
    """Starts a text ..."""
    eos_token: str | None = None
    """... and ends it."""
    pad_token: str | None = None
    """Fills shorter texts of a batch."""
    unk_token: str | None = None
    """Stands for text that cannot be encoded. Bytes cover all text, so it never occurs; some programs require one."""
    add_bos: bool = False
    """Whether other libraries put bos_token before every text ..."""
    add_eos: bool = False
    """... and eos_token after it."""
    chat_template: str | None = None
    """A Jinja template that turns messages into text, as transformers and llama.cpp read it."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value, kind = getattr(self, field.name), bool if field.name.startswith("add_") else str
            if type(value) is not kind and not (kind is str and value is None):
                wanted = "True or False" if kind is bool else "text"
                raise PairityError(f"{field.name} is {value!r}: it must be {wanted}.")
        for flag, role in (("add_bos", "bos_token"), ("add_eos", "eos_token")):
            if getattr(self, flag) and getattr(self, role) is None:
                option = role.replace("_", "-")
                raise PairityError(
                    f"{flag} adds the {role} to every text, but there is none: set it with {role}=... "
                    f"(--{option})."
                )

    @property
    def named(self) -> dict[str, str]:
        """Role -> token, for the roles that are set."""
        return {role: token for role in TOKENS if (token := getattr(self, role)) is not None}

    @property
    def settings(self) -> dict[str, Any]:
        """Everything that is set, by name: what pairity.json stores."""
        return {field.name: value for field in fields(self) if (value := getattr(self, field.name))}

    @property
    def added(self) -> tuple[str | None, str | None]:
        """The tokens that other libraries put before and after a text."""
        return self.bos_token if self.add_bos else None, self.eos_token if self.add_eos else None

    def check(self, special_tokens: Collection[str]) -> None:
        """Refuse a role whose token is not a special token."""
        for role, token in self.named.items():
            if token not in special_tokens:
                have = listed(map(repr, special_tokens)) or "none"
                raise PairityError(
                    f"{role} {token!r} is not a special token of this tokenizer, which has {have}. Choose one of "
                    "those, or name the token when the tokenizer is trained."
                )

    def changed(self, given: GivenRoles) -> Roles:
        """With what the user gave; None keeps the current value."""
        for name in given:
            if name not in NAMES:
                raise TypeError(f"got an unexpected keyword argument {name!r}")
        chosen: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
        if isinstance(template := chosen.get("chat_template"), str):
            check_template(template)
        return replace(self, **chosen)


NAMES = tuple(field.name for field in fields(Roles))
NO_ROLES = Roles()


def roles_in(settings: Mapping[str, Any]) -> Roles:
    """The inverse of `Roles.settings`, from a file."""
    if unknown := [name for name in settings if name not in NAMES]:
        raise PairityError(f"{unknown[0]!r} is not a role. The roles are {', '.join(NAMES)}.")
    return Roles(**settings)


def check_template(template: str) -> None:
    """Refuse a chat template that is not Jinja, as transformers reads it: with loop controls and `generation`."""
    load_extra("jinja2", "a chat template")
    from jinja2 import TemplateError, TemplateSyntaxError, ext, nodes, parser, sandbox

    class Generation(ext.Extension):
        """{% generation %} ... {% endgeneration %} marks what the assistant says."""

        tags = {"generation"}  # noqa: RUF012 (so jinja2 has it)

        def parse(self, parser: parser.Parser) -> list[nodes.Node]:
            next(parser.stream)
            return parser.parse_statements(("name:endgeneration",), drop_needle=True)

    if not template.strip():
        raise PairityError("the chat template is empty. Leave it out, or give a Jinja template.")
    environment = sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, ext.loopcontrols]
    )
    try:
        environment.compile(template, raw=True)  # only generates code, which is never run
    except TemplateSyntaxError as error:
        reason = f"line {error.lineno}: {(error.message or '').rstrip('.')}"
        raise PairityError(f"the chat template is not a Jinja template: {reason}.") from None
    except (TemplateError, RecursionError) as error:
        raise PairityError(f"the chat template is not a Jinja template: {error}.") from None
