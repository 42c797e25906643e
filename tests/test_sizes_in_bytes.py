"""Sizes as people write them."""

import pytest

from pairity.errors import PairityError
from pairity.sizes import parse_size, show_size


@pytest.mark.parametrize(
    ("written", "size"),
    [
        ("4GB", 4_000_000_000),
        ("4 gb", 4_000_000_000),
        ("4G", 4_000_000_000),
        ("4GiB", 4 << 30),
        ("64 MiB", 64 << 20),
        ("1.5KB", 1500),
        ("0.1MB", 100_000),
        ("2TiB", 2 << 40),
        ("512", 512),
        ("512B", 512),
        (512, 512),
        ("9007199254740993", 9_007_199_254_740_993),
    ],
)
def test_a_size_is_read(written: str | int, size: int) -> None:
    assert parse_size(written) == size


@pytest.mark.parametrize("written", ["", "GB", "-1GB", "4 G B", "4XB", "1e9", "4,5GB", "٤GB", "nan", True])
def test_what_is_no_size_is_refused(written: str) -> None:
    with pytest.raises(PairityError, match=r"is not a size: write a number and a unit, as in 512MB"):
        parse_size(written)


def test_a_size_is_shown() -> None:
    sizes = [12, 64_000_000, 4_200_000_000, 3 << 40, 5_000_000_000_000_000]
    assert [show_size(size) for size in sizes] == ["12 bytes", "64 MB", "4.2 GB", "3.3 TB", "5,000 TB"]
