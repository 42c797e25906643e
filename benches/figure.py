"""docs/speed.svg: seconds and memory of each program, a group of bars for each work, from the record only."""

from html import escape
from typing import Any

from report import OURS, comparisons, megabytes, program

WIDTH, LABELS, NUMBERS = 820, 250, 130
BAR, GAP, GROUP = 16, 5, 40


def draw(record: dict[str, Any]) -> str:
    """Each group has its own scale: the slowest program takes the whole width."""
    parts: list[str] = []
    y = 34
    for suite in record["suites"].values():
        for case, (ours, peers) in comparisons(suite).items():
            parts.append(f'<text x="12" y="{y}" class="work">{escape(case)}</text>')
            y += 10
            slowest = max(row["wall"] for row in [ours, *peers])
            for row in [ours, *sorted(peers, key=lambda row: row["wall"])]:
                length = max(1.0, (WIDTH - LABELS - NUMBERS) * row["wall"] / slowest)
                kind = "ours" if row["program"] == OURS else "peer"
                name = escape(program(row).replace("`", ""))
                memory = megabytes(row)
                numbers = f"{row['wall']:.2f} s" + ("" if memory is None else f", {memory:,.0f} MB")
                middle = y + BAR - 4
                parts += [
                    f'<text x="{LABELS - 8}" y="{middle}" text-anchor="end">{name}</text>',
                    f'<rect x="{LABELS}" y="{y}" width="{length:.1f}" height="{BAR}" class="{kind}"/>',
                    f'<text x="{LABELS + length + 6:.1f}" y="{middle}">{numbers}</text>',
                ]
                y += BAR + GAP
            y += GROUP - GAP
    if not parts:
        parts = [f'<text x="12" y="{y}">Not measured yet.</text>']
    style = (
        "text{font:13px sans-serif;fill:#333}.work{font-weight:bold}.ours{fill:#c2410c}.peer{fill:#94a3b8}"
        "@media(prefers-color-scheme:dark){text{fill:#ddd}}"
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y}" role="img">\n'
        f"<title>Seconds and peak memory of pairity and its peers</title>\n<style>{style}</style>\n"
        + "\n".join(parts)
        + "\n</svg>\n"
    )
