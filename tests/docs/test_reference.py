"""The reference says what the code has: every option, every public name, every field of every file."""

import json
import re
import shlex
from collections.abc import Iterator
from itertools import takewhile
from pathlib import Path
from typing import Any

import click
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import commands
import pairity
import pairity.experiments
import pairity.hf
import pairity.lm
import python_api
from examples import ROOT
from pairity.cli.options import Command
from pairity.cli.program import all_commands, main
from pairity.experiments.curve import schema_of
from pairity.experiments.sizing import Needed
from pairity.experiments.table import table_of
from pairity.experiments.targets import read_targets
from pairity.experiments.tuned import Tuned
from pairity.lm.documents import Choice, pack
from pairity.lm.measuring import TABLE
from pairity.text.sampling import Draw
from pairity.tokenizer.embedding import write_rows

REFERENCE = ROOT / "docs" / "reference"
FILES = (REFERENCE / "files.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("script", [commands, python_api], ids=lambda script: script.__name__)
def test_what_is_generated_is_up_to_date(script: Any) -> None:
    assert script.PAGE.read_text(encoding="utf-8") == script.page(), f"run: python docs/{script.__name__}.py"


@pytest.mark.parametrize("name", all_commands())
def test_every_option_of_every_command_is_in_the_reference(name: str) -> None:
    command = all_commands()[name]
    page = (REFERENCE / "commands.md").read_text(encoding="utf-8")
    section = re.split("^## ", page.split(f"\n## pairity {name}\n")[1], maxsplit=1, flags=re.MULTILINE)[0]
    for option in (spelled for parameter in command.params for spelled in parameter.opts):
        assert option.startswith("-") is False or f"`{option}" in section, f"{name} {option}"


def test_every_public_name_has_an_entry() -> None:
    headings = re.findall("^## (.+)$", (REFERENCE / "python.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert {*pairity.__all__, *pairity.experiments.__all__, *pairity.hf.__all__} <= set(headings)
    assert {"spark.count", "spark.on", "datatrove.CountStep"} <= set(headings)
    assert {f"lm.{name}" for name in pairity.lm.__all__} <= set(headings)


@pytest.mark.parametrize("name", ["Tokenizer", "Scores", "Counts"])
def test_every_public_method_has_an_entry(name: str) -> None:
    page = (REFERENCE / "python.md").read_text(encoding="utf-8")
    for method, value in vars(getattr(pairity, name)).items():
        if not method.startswith("_") and (callable(value) or isinstance(value, property | classmethod)):
            assert f"### {name}.{method}\n" in page, f"{name}.{method} needs a docstring"


# ---------------------------------------------------------------- the files

SOME_NAME = {
    "special_tokens": "TOKEN",
    "files": "FILE",
    "record.method.ratios": "LANG",
    "record.languages": "LANG",
    "record.languages.LANG.further_dev": "NAME",
    "record.dev_sets": "NAME",
    "record.stuck": "LANG",
    "record.starved": "LANG",
    "record.exhausted": "LANG",
    "languages": "LANG",
    "meta.languages": "LANG",
    "meta.tokenizers": "NAME",
    "meta.versions": "PACKAGE",
    "meta.failures": "NAME",
    "meta.failures.NAME": "LANG",
    "meta.losses": "NAME",
    "meta.losses.NAME": "LANG",
    "leaks": "NAME",
    "record.extension.costs": "LANG",
    "record.draw.weights": "LANG",
    "record.draw.max_bytes": "LANG",
    "drawn.given": "LANG",
    "texts": "TEXT",
    "texts.TEXT.languages": "LANG",
    "settings.parallel": "LANG",
}
"""Where the keys of an object are names that differ from run to run."""

SELDOM = {
    "repeats",
    "transformers",
    *("record.stuck.LANG", "record.starved.LANG", "meta.failures.NAME.LANG", "meta.losses.NAME.LANG"),
}
"""Fields that the small runs of this test do not bring about."""


def table_after(line: str) -> dict[str, str]:
    """Name -> type, from the first table after a line of the page."""
    rows = re.findall(
        r"^\| (?:`(.+?)` \| (\w[\w<>: ]*)|[a-z]+ \| type) \|", FILES.split(f"\n{line}", 1)[1], re.MULTILINE
    )
    first = rows.index(("", ""))
    last = rows.index(("", ""), first + 1) if ("", "") in rows[first + 1 :] else len(rows)
    return dict(rows[first + 1 : last])


def fields(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """("record.method.name", "parity"), ... of a JSON object."""
    if isinstance(value, dict) and (value or path in SOME_NAME):
        for name, inner in value.items():
            step = SOME_NAME.get(path, name)
            yield from fields(inner, f"{path}.{step}" if path else step)
    elif path:
        yield path, value


def types_of(value: Any) -> set[str]:
    """What the page may call a value: null may stand for anything."""
    for kind, name in ((bool, "boolean"), (int | float, "number"), (str, "string"), (list, "list")):
        if isinstance(value, kind):
            return {name}
    return {"boolean", "number", "string", "list", "object"}


def columns(schema: Any) -> dict[str, str]:
    """Name -> type, with LANG for the languages in names."""
    return {
        re.sub("^(cost|own_cost|in|change):.*", r"\1:LANG", field.name): str(field.type) for field in schema
    }


TEXT = {
    "eng_Latn": ["to be or not to be", "to see"] * 3,
    "deu_Latn": ["sein oder nicht sein", "zu sehen"] * 3,
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with files of every kind."""
    folder = tmp_path_factory.mktemp("files")
    roles = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<p>", "unk_token": "<u>"}
    template = "{% for message in messages %}{{ message['content'] }}{% endfor %}"
    quiet = {"progress": False, **roles, "add_bos": True, "add_eos": True, "chat_template": template}
    code = {"code": ["def be(): return be", "def see(): return be"]}
    policy = pairity.Parity(ratios={"code": 20.0})
    first = pairity.train(TEXT | code, dev=TEXT, method=policy, num_merges=20, **quiet)
    first.save(folder / "first")
    with pytest.warns(pairity.PairityWarning, match="training stopped early"):
        longer = pairity.train(TEXT, dev=TEXT, continue_from=first, num_merges=500, progress=False)
    longer.save(folder / "longer")
    draw = pairity.Draw(
        balance="temperature",
        temperature=2.0,
        by="lines",
        weights={"deu_Latn": 2},
        max_bytes="1GB",
        budget="1GB",
    )
    five = {"num_merges": 5, "method": pairity.Classical(), **quiet}
    pairity.train(TEXT, draw=draw, min_count=2, **five).save(folder / "classical")
    counts = pairity.count(TEXT, draw=draw)
    pairity.train(counts, **five).save(folder / "drawn")
    sets = pairity.DevSets({"all": TEXT, "again": TEXT})
    fair = pairity.Fair(ratios={"code": "auto"})
    pairity.train(TEXT | code, dev=sets, **five | {"method": fair}).save(folder / "fair")
    pairity.train(TEXT, dev=TEXT, superwords=0.5, **five).save(folder / "superwords")
    profile = pairity.inspect_language(first, "eng_Latn", data=TEXT)
    pq.write_table(profile.table(), folder / "language.parquet")
    write_rows(first, longer, folder / "rows.parquet")
    unclean = {language: [*lines, f"{lines[0]} {lines[0]}", b"\xff"] for language, lines in TEXT.items()}
    counts = pairity.count(unclean, draw=draw, on_error="skip", dedup="lines", min_count=2)
    counts.save(folder / "counts.parquet")
    pq.write_table(first.table(counts), folder / "tokens.parquet")
    pq.write_table(table_of([]), folder / "table.parquet")
    pq.write_table(schema_of(["eng_Latn"]).empty_table(), folder / "curve.parquet")
    pq.write_table(TABLE.empty_table(), folder / "bits.parquet")
    half = Choice(held_out=0.3, draw=Draw(sample=0.99))
    lines = {
        language: [f"{line} {number}" for number, line in enumerate(lines * 9)]
        for language, lines in TEXT.items()
    }
    pack(lines, {"first": first}, folder / "packs", parallel=TEXT, choice=half)
    with pytest.warns(pairity.PairityWarning, match="its own dev text"):
        pairity.evaluate({"first": first, "longer": longer}, TEXT, baseline="first", resamples=20).save(
            folder / "scores"
        )
    with pytest.warns(pairity.PairityWarning, match="cannot store"):
        first.export("tiktoken", folder / "ranks.tiktoken")
    return folder


def compare_json(documented: dict[str, str], *contents: dict[str, Any]) -> None:
    found: dict[str, list[set[str]]] = {}
    for name, value in (pair for content in contents for pair in fields(content)):
        found.setdefault(name, []).append(types_of(value))
    assert set(found) <= set(documented), "fields that the page does not have"
    assert set(documented) - set(found) <= SELDOM, "fields that no file has"
    for name, types in found.items():
        named = set(documented[name].split(" or "))
        assert all(named & kinds for kinds in types), f"{name} is {types}"


def test_fields_of_pairity_json(written: Path) -> None:
    contents = [
        json.loads((written / name / "pairity.json").read_text())
        for name in ("first", "longer", "classical", "drawn", "fair", "superwords")
    ]
    compare_json(table_after("## pairity.json"), *contents)


def test_files_of_the_folder(written: Path) -> None:
    section = FILES.split("\n## The tokenizer's folder", 1)[1].split("\n## ", 1)[0]
    assert set(re.findall(r"^\| `(.+?)`", section, re.MULTILINE)) == {
        path.name for path in (written / "first").iterdir()
    }


@pytest.mark.parametrize(
    ("line", "file"),
    [
        ("## trace.parquet", "first/trace.parquet"),
        ("## Table of tokens", "tokens.parquet"),
        ("## Table of a language", "language.parquet"),
        ("## Rows of new tokens", "rows.parquet"),
        ("## Counts", "counts.parquet"),
        ("`scores.parquet`", "scores/scores.parquet"),
        ("`differences.parquet`", "scores/differences.parquet"),
        ("`groups.parquet`", "scores/groups.parquet"),
        ("`table.parquet`", "table.parquet"),
        ("`curve.csv`, from", "curve.parquet"),
        ("## Model scores", "bits.parquet"),
    ],
)
def test_columns_of_tables(written: Path, line: str, file: str) -> None:
    documented = table_after(line)
    if line == "## trace.parquet":
        documented |= table_after("For a language with a ratio instead of dev text")
    assert documented == columns(pq.read_schema(written / file))


def test_fields_of_pack_json(written: Path) -> None:
    compare_json(table_after("## Packs"), json.loads((written / "packs" / "first" / "pack.json").read_text()))


def test_fields_of_curve_json() -> None:
    targets = read_targets(["gini<=0.1"])
    contents = [
        Tuned(Path(), targets, [], None, None, needed, "a verdict", (), (), ()).described(1000)
        for needed in (None, Needed("fair 4", 2000, 1900))
    ]
    compare_json(table_after("`curve.json`:"), *contents)


def test_metadata_of_counts(written: Path) -> None:
    (written / "eng_Latn.txt").write_text("to be\n")
    pairity.count(written / "eng_Latn.txt", shard=(1, 2)).save(written / "part.parquet")
    metadata = [pq.read_schema(written / name).metadata for name in ("counts.parquet", "part.parquet")]
    compare_json(
        table_after("Its metadata contains JSON"), *(json.loads(one[b"pairity"]) for one in metadata)
    )


def test_fields_of_scores_json(written: Path) -> None:
    compare_json(table_after("`scores.json`"), json.loads((written / "scores" / "scores.json").read_text()))
    assert {path.name for path in (written / "scores").iterdir()} == {
        "scores.json",
        "lengths.npz",
        *(f"{table}.{kind}" for table in ("scores", "differences", "groups") for kind in ("parquet", "csv")),
    }


def test_fields_of_the_settings_beside_ranks(written: Path) -> None:
    compare_json(table_after("## tiktoken's ranks"), json.loads((written / "ranks.json").read_text()))


def test_a_field_that_is_not_documented_is_found() -> None:
    documented = {"format": "number"}
    compare_json(documented, {"format": 1})
    for changed in ({"format": 1, "new": 2}, {}, {"format": "one"}):
        with pytest.raises(AssertionError):
            compare_json(documented, changed)


def test_tables_have_the_types_of_arrow() -> None:
    assert columns(pa.schema([("cost:a", pa.float64()), ("n", pa.int64())])) == {
        "cost:LANG": "double",
        "n": "int64",
    }


def examples_of(name: str) -> list[str]:
    command = all_commands()[name]
    assert isinstance(command, Command)
    return [line.strip() for line in command.examples.strip().splitlines()]


@pytest.mark.parametrize("name", all_commands())
def test_the_examples_of_the_help_have_the_options_that_there_are(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.toml").write_text('train = ["train/"]\nvocab-size = 1000\n', encoding="utf-8")
    program = click.Context(main, info_name="pairity")
    shown = 0
    for words in (shlex.split(part) for line in examples_of(name) for part in line.split("|")):
        if words[0] == "pairity":
            used = " ".join(words[1:3]) if words[1] == "lm" else words[1]
            given = list(takewhile(lambda word: word != "<", words[1 + len(used.split()) :]))
            all_commands()[used].make_context(words[1], given, parent=program)
            shown += used == name
    assert shown, "a command shows how it is used"
