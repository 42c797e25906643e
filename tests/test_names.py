"""No two things have one name: a class, a type or an alias is defined once, so its name alone says which is meant."""

import ast
import re
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
TYPE = re.compile(
    r"^(?:\s*(?:pub(?:\([\w: ]+\))? )?(?:struct|enum|union|trait)|(?:pub(?:\([\w: ]+\))? )?type) (\w+)",
    re.MULTILINE,
)
"""Of Rust. A `type` that is indented belongs to an implementation of a trait, which gives it its name."""


def defined_in_python(source: str) -> list[str]:
    """Every class, and every name that is assigned at the top of a module and written like that of a class."""
    tree = ast.parse(source)
    names = [node.name for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    for node in tree.body:
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        names += [one.id for one in targets if isinstance(one, ast.Name)]
    return [name for name in names if re.fullmatch(r"[A-Z][A-Z0-9]*[a-z]\w*", name)]


def twice(found: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: places for name, places in found.items() if len(places) > 1}


def test_a_class_of_the_package_is_defined_once() -> None:
    found = defaultdict(list)
    for path in sorted((ROOT / "python" / "pairity").rglob("*.py")):
        for name in defined_in_python(path.read_text(encoding="utf-8")):
            found[name].append(path.relative_to(ROOT).as_posix())
    assert len(found) > 200
    assert twice(found) == {}


def test_a_type_of_the_core_is_defined_once() -> None:
    """`src/py/` may call what it hands to Python by the name of what is inside."""
    core, door = defaultdict(list), defaultdict(list)
    for path in sorted((ROOT / "src").rglob("*.rs")):
        where = path.relative_to(ROOT / "src").as_posix()
        for name in TYPE.findall(path.read_text(encoding="utf-8")):
            (door if where.startswith("py/") else core)[name].append(where)
    assert len(core) > 80
    assert len(door) > 5
    assert (twice(core), twice(door)) == ({}, {})


def test_both_kinds_of_definition_are_found() -> None:
    python = "class Row:\n    class Cell: ...\n    x = 1\nRows = list[Row]\nRate: object = float\nMOST = 3\n"
    assert sorted(defined_in_python(python)) == ["Cell", "Rate", "Row", "Rows"]
    rust = "pub(crate) struct Row;\n    enum Cell {}\n// struct Not;\ntype Rows = Vec<Row>;\n    type Output = u8;\n"
    assert TYPE.findall(rust) == ["Row", "Cell", "Rows"]
