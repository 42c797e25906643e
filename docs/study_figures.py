"""The figures of the studies, drawn from the record only: docs/studies-*.svg."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import escape
from statistics import fmean

from study_record import AWAY, Results, Row, load_paper
from study_tables import PRINTED, TABLE_1, VARIANTS, language, samples_of

WIDTH, HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 820, 440, 70, 190, 66, 50
COLOURS = ("#64748b", "#c2410c", "#0369a1", "#15803d", "#7e22ce", "#be185d")
STYLE = (
    "text{font:13px sans-serif;fill:#333}.title{font-weight:bold}.axis{stroke:#94a3b8;stroke-width:1}"
    ".grid{stroke:#94a3b8;stroke-width:.4}@media(prefers-color-scheme:dark){text{fill:#ddd}}"
)


@dataclass(frozen=True)
class Line:
    """A named row of points; `hollow` for those that the paper prints. Each point may have a label."""

    name: str
    colour: str
    points: tuple[tuple[float, float], ...]
    hollow: tuple[tuple[float, float], ...] = ()
    labels: tuple[str, ...] = ()


def svg(title: str, parts: Sequence[str], height: int = HEIGHT) -> str:
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img">\n'
        f"<title>{escape(title)}</title>\n<style>{STYLE}</style>\n"
        f'<text x="12" y="24" class="title">{escape(title)}</text>\n{body}\n</svg>\n'
    )


def ticks(high: float) -> list[float]:
    """Round numbers from 0 to just above `high`: 0, 0.02, 0.04, ..."""
    step = next(
        factor * 10.0**power
        for power in range(-5, 6)
        for factor in (1, 2, 5)
        if high / (factor * 10.0**power) <= 6
    )
    return [step * number for number in range(int(high / step) + 2)]


def chart(title: str, lines: Sequence[Line], across: str, up: str, marks: Mapping[float, str]) -> str:
    """Lines over x, with `marks` below them: {0.0: "32,000 tokens", ...}; y from 0."""
    every = [point for line in lines for point in (*line.points, *line.hollow)]
    y_ticks = ticks(max(y for _, y in every))
    low, high = min(marks), max(marks)

    def place(x: float, y: float) -> tuple[float, float]:
        return (
            LEFT + (x - low) / (high - low) * (WIDTH - LEFT - RIGHT),
            HEIGHT - BOTTOM - y / y_ticks[-1] * (HEIGHT - TOP - BOTTOM),
        )

    parts = []
    for tick in y_ticks:
        x, y = place(low, tick)
        parts.append(f'<path d="M{x:.1f} {y:.1f}H{WIDTH - RIGHT}" class="grid"/>')
        parts.append(f'<text x="{x - 8:.1f}" y="{y + 4:.1f}" text-anchor="end">{tick:.4g}</text>')
    for mark, text in marks.items():
        x, y = place(mark, 0.0)
        parts.append(f'<text x="{x:.1f}" y="{y + 20:.1f}" text-anchor="middle">{escape(text)}</text>')
    middle = (LEFT + WIDTH - RIGHT) / 2
    parts.append(f'<text x="{middle:.0f}" y="{HEIGHT - 10}" text-anchor="middle">{escape(across)}</text>')
    parts.append(f'<text x="12" y="{TOP - 20}">{escape(up)}</text>')
    for number, line in enumerate(lines):
        points = [place(*point) for point in line.points]
        if len(points) > 1:
            path = "L".join(f"{x:.1f} {y:.1f}" for x, y in points)
            parts.append(f'<path d="M{path}" fill="none" stroke="{line.colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="4" fill="{line.colour}"/>' for x, y in points]
        parts += [
            f'<text x="{x - 7:.1f}" y="{y - 7:.1f}" text-anchor="end">{escape(label)}</text>'
            for label, (x, y) in zip(line.labels, points, strict=False)
        ]
        parts += [
            f'<circle cx="{x:.1f}" cy="{y:.1f}" r="5" fill="none" stroke="{line.colour}" stroke-width="1.5"/>'
            for x, y in (place(*point) for point in line.hollow)
        ]
        y = TOP + 14 + 22 * number
        parts.append(f'<circle cx="{WIDTH - RIGHT + 20}" cy="{y}" r="4" fill="{line.colour}"/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 32}" y="{y + 4}">{escape(line.name)}</text>')
    return svg(title, parts)


def sizes(results: Results) -> str:
    """Gini against the size of the vocabulary; rings: the paper at 128,000."""
    found = sorted({row.vocab_size for row in results.find("table1")})
    paper = load_paper()[TABLE_1]
    lines = []
    for colour, variant in zip(COLOURS, VARIANTS, strict=True):
        each = [(size, samples_of(results, variant, size)) for size in found]
        points = tuple(
            (float(found.index(size)), fmean(row.gini for row in rows)) for size, rows in each if rows
        )
        hollow = ((float(len(found) - 1), paper[PRINTED[variant]]["gini"]),)
        lines.append(Line(variant, colour, points, hollow))
    return chart(
        "Inequality at each size of the vocabulary",
        lines,
        "tokens in the vocabulary (rings: the paper's Table 1, on its own text)",
        "Gini coefficient of tokens per line, FLORES devtest",
        {float(number): f"{size:,}" for number, size in enumerate(found)},
    )


def trade(results: Results) -> str:
    """Fairness against compression, for every share of global merges."""
    rows = sorted(
        results.find("share"), key=lambda row: 1.0 if row.method == "classical" else row.global_share or 0.0
    )
    points = tuple((1000 * row.rate, row.gini) for row in rows)
    low, high = min(x for x, _ in points), max(x for x, _ in points)
    lines = [
        Line("shares between", COLOURS[3], points),
        Line("all merges parity-aware", COLOURS[1], points[:1]),
        Line("all merges classical", COLOURS[0], points[-1:]),
    ]
    marks = [low + (high - low) * number / 4 for number in range(5)]
    return chart(
        "What fairness costs: hybrids from parity-aware to classical",
        lines,
        "lines per 1,000 tokens (to the right: better compression)",
        "Gini coefficient, FLORES devtest",
        {mark: f"{mark:.2f}" for mark in marks},
    )


def home_and_away(results: Results) -> str:
    """Each variant on the text that it was steered for and on another domain."""
    lines = []
    for colour, variant in zip(COLOURS, VARIANTS, strict=True):
        each = [samples_of(results, variant, results.largest, text) for text in ("devtest", AWAY)]
        points = tuple((float(at), fmean(row.gini for row in rows)) for at, rows in enumerate(each) if rows)
        if points:
            lines.append(Line(variant, colour, points))
    return chart(
        "Fairness on FLORES and on software strings",
        lines,
        "left: the domain that steered; right: one that steered nothing",
        "Gini coefficient",
        {0.0: "FLORES devtest", 1.0: "software strings"},
    )


def languages(results: Results) -> str:
    """What each language pays: classical to parity, the first sample of the largest size."""
    rows: dict[str, Row] = {
        row.variant: row
        for row in results.find("table1", vocab_size=results.largest)
        if row.seed in (None, 1)
    }
    classical, parity = rows["classical"].costs, rows["parity"].costs
    order = sorted(classical, key=lambda code: -classical[code])
    top, step = 62, 19
    highest = max(classical.values())
    left, right = 150, 40

    def x_of(cost: float) -> float:
        return left + cost / highest * (WIDTH - left - right)

    parts = [
        f'<circle cx="{left}" cy="44" r="5" fill="{COLOURS[0]}"/><text x="{left + 10}" y="48">classical</text>',
        f'<circle cx="{left + 100}" cy="44" r="5" fill="{COLOURS[1]}"/><text x="{left + 110}" y="48">parity</text>',
        f'<text x="{WIDTH - right}" y="48" text-anchor="end">tokens per line, FLORES devtest</text>',
    ]
    bottom = top + step * len(order)
    for tick in ticks(highest)[:-1]:
        x = x_of(tick)
        parts.append(f'<path d="M{x:.1f} {top}V{bottom}" class="grid"/>')
        parts.append(f'<text x="{x:.1f}" y="{bottom + 16}" text-anchor="middle">{tick:g}</text>')
    for number, code in enumerate(order):
        y = top + step * number + 10
        start, end = x_of(classical[code]), x_of(parity[code])
        parts += [
            f'<text x="{left - 10}" y="{y + 4}" text-anchor="end">{escape(language(code))}</text>',
            f'<path d="M{start:.1f} {y}H{end:.1f}" class="axis"/>',
            f'<circle cx="{start:.1f}" cy="{y}" r="5" fill="{COLOURS[0]}"/>',
            f'<circle cx="{end:.1f}" cy="{y}" r="5" fill="{COLOURS[1]}"/>',
        ]
    return svg(f"What each language pays, {results.largest:,} tokens", parts, bottom + 26)


FIGURES = {
    "studies-sizes": sizes,
    "studies-languages": languages,
    "studies-trade": trade,
    "studies-away": home_and_away,
}
"""Name of the file -> what draws it."""
