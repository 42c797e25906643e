"""The wrapping: what the files of an imported tokenizer contain besides its table, kept in order to write it again.

None of it changes what `encode` gives. It is what transformers does before and after: tokens put around a text,
truncation and padding, flags of added tokens, and all of tokenizer_config.json that pairity does not interpret.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from pairity.bpe.roles import Roles


@dataclass(frozen=True, kw_only=True)
class Wrapping:
    """Parts as the files had them; None or empty if pairity's own defaults say the same."""

    truncation: Any = None
    padding: Any = None
    post_processor: Any = None
    """Kept if it differs from what the roles imply."""
    decoder: Any = None
    model: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the model that mean nothing to a byte-level BPE, such as the unk_token."""
    flags: Mapping[str, Mapping[str, bool]] = field(default_factory=dict)
    """Added token -> its flags that differ from those of pairity's special tokens: {"<tool>": {"special": False}}."""
    config: Mapping[str, Any] | None = None
    """tokenizer_config.json without roles, template and added tokens."""
    templates: Mapping[str, str] = field(default_factory=dict)
    """Chat templates other than the default one, by name."""

    @property
    def kept(self) -> dict[str, Any]:
        """What tokenizer.json has no place for, to be stored in pairity.json."""
        parts = {"config": self.config, "templates": dict(self.templates)}
        return {name: part for name, part in parts.items() if part}

    @property
    def not_special(self) -> set[str]:
        """The added tokens that other libraries treat as ordinary text, although they are never cut."""
        return {name for name, flags in self.flags.items() if not flags.get("special", True)}

    def adapted(self, before: Roles, now: Roles, ids: Mapping[str, int], *, adding_given: bool) -> Wrapping:
        """Adapted to other roles, which override what was read.

        `adding_given`: the user said which tokens to add. What was read may add tokens without a role.
        """
        found = self
        if adding_given or now.added != before.added:
            said = ("add_bos_token", "add_eos_token")
            config = self.config and {key: value for key, value in self.config.items() if key not in said}
            found = replace(found, post_processor=None, config=config)
        if self.padding and now.pad_token != before.pad_token:
            pad = {"pad_token": now.pad_token, "pad_id": ids.get(now.pad_token or "")}
            found = replace(found, padding={**self.padding, **pad})
        return found


NO_WRAPPING = Wrapping()
