"""Sizes in bytes, as people write them: 64MB, 4GB, 1.5GiB."""

import re

from pairity.errors import PairityError

UNITS: dict[str, int] = {"": 1, "B": 1} | {
    f"{letter}{unit}": base**power
    for power, letter in enumerate("KMGTP", start=1)
    for unit, base in (("", 1000), ("B", 1000), ("I", 1024), ("IB", 1024))
}
"""KB is 1,000 bytes and KiB is 1,024, as in the standards; upper and lower case are the same."""

SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([A-Z]*)", re.IGNORECASE | re.ASCII)


def parse_size(size: str | int, name: str = "") -> int:
    """parse_size("4GB") -> 4000000000, parse_size("64 MiB") -> 67108864, parse_size(512) -> 512

    `name`: what the size is called in errors.
    """
    found = SIZE.fullmatch(str(size).strip())
    unit = None if found is None else UNITS.get(str(found[2]).upper())
    if found is None or unit is None or isinstance(size, bool):
        wrong = f"{name} is {size!r}, which" if name else repr(size)
        raise PairityError(f"{wrong} is not a size: write a number and a unit, as in 512MB, 4GB or 4GiB.")
    number = str(found[1])
    return round(float(number) * unit) if "." in number else int(number) * unit


def show_size(size: float) -> str:
    """show_size(4_200_000_000) -> '4.2 GB'"""
    for power, letter in ((4, "T"), (3, "G"), (2, "M")):
        if size >= 1000**power:
            number = size / 1000**power
            return f"{number:,.{0 if number >= 10 else 1}f} {letter}B"
    return f"{size:,.0f} bytes"
