"""How numbers are formatted: one rule per metric, the same in the page, the figures and the paper's tables."""

from __future__ import annotations

from dataclasses import dataclass

from pairity.judging.metrics import METRICS

MINUS = "\N{MINUS SIGN}"


@dataclass(frozen=True)
class Form:
    """The format of a kind of number."""

    decimals: int
    percent: bool = False
    signed: bool = False

    def write(self, value: float) -> str:
        """0.52134 as a percentage -> "52.1%"; -0.5 signed -> "−0.50".

        A value is not rounded to 0, nor a share to 100%, unless it is exactly that: it gets more decimals instead.
        """
        scaled = value * 100 if self.percent else value
        decimals = self.decimals
        while decimals < 8 and hides(value, round(scaled, decimals), self.percent):
            decimals += 1
        text = f"{abs(scaled):,.{decimals}f}"
        below_zero = scaled < 0 and float(text.replace(",", "")) != 0
        sign = MINUS if below_zero else "+" if self.signed and scaled > 0 else ""
        return f"{sign}{text}%" if self.percent else f"{sign}{text}"


def hides(value: float, rounded: float, percent: bool) -> bool:
    return (rounded == 0 and value != 0) or (percent and rounded == 100 and value != 1)


def form_of(metric: str) -> Form:
    """The format of the values of a metric."""
    known = METRICS.get(metric)
    return Form(4) if known is None else Form(known.decimals, percent=known.percent, signed=known.signed)


def write(metric: str, value: float | None) -> str:
    """The value as text; a dash if there is none."""
    return "\N{EN DASH}" if value is None else form_of(metric).write(value)


def write_interval(metric: str, low: float | None, high: float | None) -> str:
    """ "0.0620 to 0.0661", or empty if there is no interval."""
    return "" if low is None or high is None else f"{write(metric, low)} to {write(metric, high)}"


def percent(share: float, decimals: int = 0) -> str:
    """The size of a share, without its sign: -0.52 -> "52%"."""
    return Form(decimals, percent=True).write(abs(share))


def short_size(size: int) -> str:
    """A vocabulary size in short form: 32_000 -> "32k", 200_019 -> "200k", 50_257 -> "50.3k"."""
    if size < 1000:
        return str(size)
    thousands = f"{size / 1000:.1f}" if size < 100_000 else f"{size / 1000:.0f}"
    return f"{thousands.removesuffix('.0')}k"
