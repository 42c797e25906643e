"""A training that is interrupted once it has learned, and kept, a number of merges."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from pairity import _core


@contextmanager
def interrupted_after(*kept: int) -> Iterator[None]:
    """Within it every training keeps its merges after each of these numbers, and is then interrupted."""
    original = _core.train

    def interrupted(*arguments, **options):  # type: ignore[no-untyped-def]
        for merges in kept:
            cut = original(*arguments, **options | {"merges": merges, "checkpoint": None})
            options["checkpoint"](cut[0], cut[3])
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_core, "train", interrupted)
        with pytest.raises(KeyboardInterrupt):
            yield
