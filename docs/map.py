"""The map of the code in CONTRIBUTING.md, and the picture of its rooms: made from the code itself.

The order of the rooms is that of `tool.importlinter` in pyproject.toml, which `make lint` enforces. What a
module is for is the first sentence of its docstring (Python) or of its head (Rust).

    python docs/map.py            write the map and docs/rooms.svg
    python docs/map.py --check    write nothing; exit 1 where they are out of date
"""

import argparse
import ast
import re
import sys
import textwrap
import tomllib
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "python" / "pairity"
MARKED = re.compile(r"(<!-- map -->\n).*?(<!-- /map -->)", re.DOTALL)

BOX, FLOOR, GAP, ROW, COLUMNS = (188, 92), 60, 26, 128, 4  # of the picture, in pixels


def layers() -> list[list[str]]:
    """The rooms from the first that text enters to the last: [["errors"], ["files", ...], ["text"], ...]."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [contract] = [one for one in settings["tool"]["importlinter"]["contracts"] if one["type"] == "layers"]
    return [[name.strip() for name in re.split("[|:]", layer)] for layer in reversed(contract["layers"])]


def first_sentence(text: str) -> str:
    """Up to the first full stop, on one line."""
    sentence = re.split(r"(?<=\.)\s", " ".join(text.split("\n\n")[0].split()), maxsplit=1)[0]
    return sentence.rstrip(".:").replace("|", "\\|")


def purpose(path: Path) -> str:
    """What a source file says that it is for."""
    source = path.read_text(encoding="utf-8")
    if path.suffix == ".rs":
        head = [line.removeprefix("//!").strip() for line in source.splitlines() if line.startswith("//!")]
        found = "\n".join(head)
    else:
        found = ast.get_docstring(ast.parse(source)) or ""
    if not found:
        raise SystemExit(f"{path.relative_to(ROOT)} does not say what it is for: give it a docstring.")
    return first_sentence(found)


def modules(room: str) -> list[Path]:
    """The files of a room, its `__init__` first."""
    if (PACKAGE / f"{room}.py").exists():
        return [PACKAGE / f"{room}.py"]
    return sorted(
        (PACKAGE / room).rglob("*.py"), key=lambda path: (path.parent, path.name != "__init__.py", path)
    )


def tables() -> str:
    rows = ["| room | module | what it is for |", "|---|---|---|"]
    for room in (room for layer in layers() for room in layer):
        for path in modules(room):
            inside = path.parent != PACKAGE
            name = path.relative_to(PACKAGE / room if inside else PACKAGE)
            link = f"[`{name}`]({path.relative_to(ROOT)})"
            text = purpose(path)
            if name.name == "__init__.py" and len(name.parts) == 1:
                rows.append(f"| **{room}/** | | **{text}** |")
            else:
                rows.append(f"| {'' if inside else room} | {link} | {text} |")
    rows += ["", "| Rust (`src/`) | what it is for |", "|---|---|"]
    for path in sorted((ROOT / "src").rglob("*.rs")):
        if path.name != "tests.rs":
            rows.append(
                f"| [`{path.relative_to(ROOT / 'src')}`]({path.relative_to(ROOT)}) | {purpose(path)} |"
            )
    return "\n".join(rows) + "\n"


def picture() -> str:
    """The rooms in their order as an SVG: every room may import those before it and the floor, and no others."""
    floor, *flow = grouped(layers())
    width = COLUMNS * (BOX[0] + GAP) + GAP
    lines = -(-len(flow) // COLUMNS)
    height = lines * ROW + FLOOR + 32
    parts = []
    for index, rooms in enumerate(flow):
        row, column = divmod(index, COLUMNS)
        x, y = GAP + column * (BOX[0] + GAP), 16 + row * ROW
        parts.append(box(x, y, BOX[0], rooms))
        if index + 1 < len(flow):
            middle = y + BOX[1] / 2
            if column + 1 < COLUMNS:
                parts.append(arrow([(x + BOX[0], middle), (x + BOX[0] + GAP, middle)]))
            else:
                below, turn = y + BOX[1] + 18, GAP + BOX[0] / 2
                parts.append(
                    arrow(
                        [
                            (x + BOX[0] / 2, y + BOX[1]),
                            (x + BOX[0] / 2, below),
                            (turn, below),
                            (turn, y + ROW),
                        ]
                    )
                )
    parts.append(box(GAP, 16 + lines * ROW, width - 2 * GAP, floor, "The floor that all rooms stand on"))
    style = (
        "text{font:13px system-ui,sans-serif;fill:#1f2937}.name{font-weight:600}.what{font-size:11px;fill:#4b5563}"
        "rect{fill:#f3f4f6;stroke:#9ca3af}path{fill:none;stroke:#6b7280;marker-end:url(#tip)}#tip path{fill:#6b7280}"
        "@media (prefers-color-scheme:dark){text{fill:#e5e7eb}.what{fill:#9ca3af}rect{fill:#1f2937;stroke:#4b5563}}"
    )
    tip = (
        '<marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" orient="auto">'
        '<path d="M0,0L8,4L0,8z"/></marker>'
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        f'role="img" aria-label="The rooms of pairity in the order of their imports"><style>{style}</style>'
        f"<defs>{tip}</defs>{''.join(parts)}</svg>\n"
    )


def grouped(all_layers: list[list[str]]) -> list[list[str]]:
    """The single files below the first room are the floor."""
    first = next(
        i
        for i, layer in enumerate(all_layers)
        if (PACKAGE / layer[0] / "__init__.py").exists() and len(layer) == 1
    )
    return [[room for layer in all_layers[:first] for room in layer], *all_layers[first:]]


def box(x: float, y: float, width: float, rooms: list[str], text: str = "") -> str:
    what = textwrap.wrap(text or purpose(modules(rooms[0])[0]), int(width / 6.1))
    shown = what if len(what) <= 3 else [*what[:2], what[2] + " …"]
    words = "".join(
        f'<text class="what" x="{x + 10}" y="{y + 44 + 15 * i}">{escape(line)}</text>'
        for i, line in enumerate(shown)
    )
    name = f'<text class="name" x="{x + 10}" y="{y + 24}">{escape(" · ".join(rooms))}</text>'
    height = FLOOR if text else BOX[1]
    return f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="8"/>{name}{words}'


def arrow(points: list[tuple[float, float]]) -> str:
    return '<path d="M' + "L".join(f"{x:g},{y:g}" for x, y in points) + '"/>'


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 where something is out of date"
    )
    check = parser.parse_args().check
    page, drawing = ROOT / "CONTRIBUTING.md", ROOT / "docs" / "rooms.svg"
    old = page.read_text(encoding="utf-8")
    wanted = {page: MARKED.sub(lambda match: match[1] + tables() + match[2], old), drawing: picture()}
    stale = [
        path for path, text in wanted.items() if not path.exists() or path.read_text(encoding="utf-8") != text
    ]
    for path in stale:
        print(f"{path.relative_to(ROOT)} {'is out of date: run python docs/map.py' if check else 'written'}")
        if not check:
            path.write_text(wanted[path], encoding="utf-8")
    return int(check and bool(stale))


if __name__ == "__main__":
    sys.exit(main())
