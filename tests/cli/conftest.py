"""What the tests of the command line share."""

import pytest

from pairity import sample
from program import pairity


@pytest.fixture(scope="session")
def trained(tmp_path_factory):
    """A small tokenizer in the folder `tokenizer`, and nothing beside it."""
    folder = tmp_path_factory.mktemp("cli") / "tokenizer"
    dev = sample.FOLDER / "dev"
    done = pairity(
        "train", "--train", dev, "--dev", dev, "--vocab-size", 900, "--special-token", "<s>", "-o", folder
    )
    assert done.returncode == 0, done.stderr
    assert "900 tokens" in done.stdout
    assert "dev Gini" in done.stdout
    assert [path.name for path in folder.parent.iterdir()] == ["tokenizer"], "a checkpoint is left"
    return folder
