"""What tests of training share."""

import pytest

from pairity import sample


@pytest.fixture(scope="session")
def lines():
    """The sample: dev, test."""
    return sample.read("dev"), sample.read("test")
