"""Write docs/reference/python.md from the docstrings of every public name of `pairity` and its rooms for users.

What is public is in `__all__`; of a class, what has a docstring. Signatures are those of the source.

python docs/python_api.py            write the page
python docs/python_api.py --check    write nothing; exit 1 if the page is out of date
"""

import ast
import inspect
import re
import sys
from collections.abc import Iterator
from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pairity
import pairity.datatrove
import pairity.experiments
import pairity.hf
import pairity.lm
import pairity.spark
from generated import write_or_check

PAGE = Path(__file__).parent / "reference" / "python.md"

Function = ast.FunctionDef | ast.AsyncFunctionDef

ORDER = (
    "train", "Parity", "Fair", "Classical", "Tokenizer", "Trace", "count", "Draw", "Counts", "label", "identify",
    "evaluate", "Scores", "report", "tax",
)  # fmt: skip
"""The order of a first use; names that are not here follow."""

LM_ORDER = ("pack", "Choice", "train", "Recipe", "measure_models", "measure", "score")

SETTINGS = ("Parity", "Fair", "Classical", "Draw", "Roles", "Experiment", "Choice", "Recipe")
"""Values whose fields are all that a user needs: their methods answer the engine."""

INTRODUCTION = """\
# Python

*Written by `python docs/python_api.py` from the docstrings: change those in `python/pairity/`, not this page.*

All of it is typed. A user's mistake raises [`pairity.PairityError`](#pairityerror) with a sentence that says what to
do, and what should be heard about a result is a [`pairity.PairityWarning`](#pairitywarning). What the arguments
`train`, `dev`, `data` and `sources` take is described in [input](../input.md).
"""


def markdown(docstring: str) -> str:
    """The paragraphs of a docstring. Columns of `name  what it is`, and lines that begin with a name, become lists."""
    found = []
    for paragraph in inspect.cleandoc(docstring).split("\n\n"):
        lines = paragraph.split("\n")
        rows = [re.fullmatch(r"(?:(\w+) {2,}| {8,})(.+)", line) for line in lines]
        if len(lines) > 1 and all(rows) and rows[0] and rows[0][1]:
            found.append(
                "\n".join(
                    ("- `{}`: " if row[1] else "  ").format(row[1]) + escaped(row[2]) for row in rows if row
                )
            )
        elif lines[0].startswith("`") and sum(line.startswith("`") for line in lines) > 1:
            found.append(
                "\n".join(("- " if line.startswith("`") else "  ") + escaped(line) for line in lines)
            )
        elif all(line.startswith("    ") for line in lines):
            found.append("\n".join(["```text", *(line[4:] for line in lines), "```"]))
        else:
            found.append("\n".join(map(escaped, lines)))
    return "\n\n".join(found)


def escaped(line: str) -> str:
    """Without what Markdown would take for HTML or emphasis, but for what is in backticks."""
    parts = line.split("`")
    parts[::2] = [re.sub(r"([<*])", r"\\\1", part) for part in parts[::2]]
    return "`".join(parts)


def signature(node: Function, name: str) -> str:
    """name(a: int, *, b: str = "x") -> str, over several lines if it is long."""
    node.args.posonlyargs = [one for one in node.args.posonlyargs if one.arg not in ("self", "cls")]
    node.args.args = [one for one in node.args.args if one.arg not in ("self", "cls")]
    returns = "" if node.returns is None or node.name == "__init__" else f" -> {ast.unparse(node.returns)}"
    listed = list(arguments(node.args))
    short = f"{name}({', '.join(listed)}){returns}"
    if len(short) <= 100:
        return short
    return "\n".join([f"{name}(", *(f"    {argument}," for argument in listed), f"){returns}"])


def arguments(args: ast.arguments) -> Iterator[str]:
    """Each argument with its annotation and its default."""
    given = [*args.posonlyargs, *args.args]
    defaults: list[ast.expr | None] = [None] * (len(given) - len(args.defaults)) + list(args.defaults)
    for argument, default in zip(given, defaults, strict=True):
        yield with_default(argument, default)
    if args.vararg:
        yield f"*{ast.unparse(args.vararg)}"
    elif args.kwonlyargs:
        yield "*"
    for argument, default in zip(args.kwonlyargs, args.kw_defaults, strict=True):
        yield with_default(argument, default)
    if args.kwarg:
        yield f"**{ast.unparse(args.kwarg)}"


def with_default(argument: ast.arg, default: ast.expr | None) -> str:
    return ast.unparse(argument) + ("" if default is None else f" = {ast.unparse(default)}")


def source_of(thing: Any) -> ast.ClassDef | Function:
    """The node of a class or function in its module."""
    return node_in(inspect.getsource(sys.modules[thing.__module__]), thing.__name__)


def node_in(source: str, name: str) -> ast.ClassDef | Function:
    return next(
        node
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef | Function) and node.name == name
    )


def fields(node: ast.ClassDef) -> list[tuple[str, str]]:
    """The annotated fields of a class, each with the string below it."""
    found = []
    for item, after in zip(node.body, [*node.body[1:], None], strict=True):
        if isinstance(item, ast.AnnAssign) and "ClassVar" not in ast.unparse(item.annotation):
            told = isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
            found.append((ast.unparse(item), inspect.cleandoc(after.value.value) if told else ""))  # type: ignore[union-attr]
    return found


def all_fields(thing: type) -> list[tuple[str, str]]:
    """Those of a class, and after them those that it has from other dataclasses."""
    nodes = [source_of(base) for base in thing.__mro__ if base is thing or is_dataclass(base)]
    return [field for node in nodes if isinstance(node, ast.ClassDef) for field in fields(node)]


def methods(thing: type) -> Iterator[tuple[Function, bool]]:
    """Documented public methods, those of the class before those of its bases; and whether each is a property."""
    seen = set()
    for base in thing.__mro__:
        if not base.__module__.startswith("pairity."):
            continue
        node = source_of(base)
        assert isinstance(node, ast.ClassDef)
        for item in node.body:
            if not isinstance(item, Function) or item.name.startswith("_") or item.name in seen:
                continue
            seen.add(item.name)
            if ast.get_docstring(item):
                yield item, any(ast.unparse(one) == "property" for one in item.decorator_list)


def entry(module: ModuleType, name: str, title: str | None = None) -> str:
    if name in getattr(module, "NEED_TORCH", ()):  # PyTorch may not be here
        home = Path(str(module.__file__)).with_name(f"{module.HOMES[name]}.py")
        thing: Any = None
        node = node_in(home.read_text(encoding="utf-8"), name)
    else:
        thing = getattr(module, name)
        node = source_of(thing)
    whole = f"{module.__name__}.{name}"
    parts = [f"## {title or name}"]
    if isinstance(node, Function):
        return "\n\n".join([*parts, code(signature(node, whole)), markdown(ast.get_docstring(node) or "")])
    start = next((one for one in node.body if isinstance(one, Function) and one.name == "__init__"), None)
    if start is not None:
        parts.append(code(signature(start, whole)))
    elif listed := all_fields(thing):
        parts.append(code("\n".join([f"{whole}(", *(f"    {field}," for field, _ in listed), ")"])))
    else:
        parts.append(code(f"{whole}()" if is_dataclass(thing) else whole))
    parts.append(markdown(ast.get_docstring(node) or ""))
    if start is not None and (told := ast.get_docstring(start)):
        parts.append(markdown(told))
    told_fields = [(ast.parse(field).body[0], text) for field, text in all_fields(thing) if text]
    if told_fields:
        parts.append(
            "\n".join(
                f"- `{one.target.id}`: {' '.join(escaped(text).split())}"  # type: ignore[attr-defined]
                for one, text in told_fields
            )
        )
    if name not in SETTINGS:
        for method, is_property in methods(thing):
            own = f"{name}.{method.name}"
            shown = f"{own}: {ast.unparse(method.returns)}" if is_property and method.returns else None
            parts += [f"### {own}", code(shown or signature(method, own))]
            parts.append(markdown(ast.get_docstring(method) or ""))
    return "\n\n".join(parts)


def code(text: str) -> str:
    return f"```python\n{text}\n```"


def page() -> str:
    names = sorted(
        pairity.__all__, key=lambda name: (ORDER.index(name) if name in ORDER else len(ORDER), name)
    )
    entries = [entry(pairity, name) for name in names]
    trainers = [entry(pairity.hf, name) for name in pairity.hf.__all__]
    heading = "## Hugging Face trainers\n\nHow to use them: [the drop-in](../howto/hugging-face.md)."
    grids = "## Experiments\n\nHow to use them: [compare many settings](../howto/experiment.md)."
    studies = [entry(pairity.experiments, name) for name in pairity.experiments.__all__]
    cluster = "## Clusters\n\nHow to use them: [count on many machines](../howto/cluster.md)."
    engines = [
        entry(module, name, f"{module.__name__.removeprefix('pairity.')}.{name}")
        for module in (pairity.spark, pairity.datatrove)
        for name in module.__all__
    ]
    models = "## Language models\n\nHow to use them: [does it matter to a language model?](../lm.md)."
    lm = [entry(pairity.lm, name, f"lm.{name}") for name in LM_ORDER]
    parts = [
        INTRODUCTION.rstrip(), *entries, grids, *studies, models, *lm, heading, *trainers, cluster, *engines
    ]  # fmt: skip
    return "\n\n".join(parts) + "\n"


if __name__ == "__main__":
    sys.exit(write_or_check(__file__, __doc__, PAGE, page))
