"""The benchmark runs and its record, tables and figure are made. No time is asserted."""

import gzip
import importlib.util
import json
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
BENCHES = ROOT / "benches"
MODULES = ("report", "figure", "texts", "machine", "record", "bench", "guard", "ideas")
"""In the order in which they import each other."""


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, BENCHES / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def modules() -> Any:
    before = dict(sys.modules)
    yield {name: load(name) for name in MODULES}
    for name in MODULES:
        sys.modules.pop(name)
        if name in before:
            sys.modules[name] = before[name]


def test_counting_under_a_limit_is_measured(tmp_path: Path) -> None:
    (tmp_path / "eng_Latn.txt.gz").write_bytes(gzip.compress(b"to be or not to be\n" * 500))
    options = f"--data {tmp_path} --size 50KB --memory 60MB --threads 1 -o {tmp_path / 'record.json'}"
    command = [sys.executable, str(BENCHES / "memory.py"), *options.split()]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    record = json.loads((tmp_path / "record.json").read_text(encoding="utf-8"))
    assert record["same_bytes"] is True
    assert record["text_bytes"] >= 50_000
    assert min(record["speed"], record["limited"]["wall"], record["limited"]["memory"]) > 0


def test_a_quick_run_makes_record_tables_and_figure(tmp_path: Path) -> None:
    options = (
        "--quick --made-up --skip-peers --suite count encode growth policies --threads 1 --languages 2 --lines 60 "
        "--merges 40 --words 800 --repeat 2"
    )
    command = [sys.executable, str(BENCHES / "bench.py"), *options.split(), "--root", str(tmp_path)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "count plain text, 1 thread" in ended.stdout

    record = json.loads((tmp_path / "docs" / "results" / "bench.json").read_text(encoding="utf-8"))
    assert set(record["suites"]) == {"count", "encode", "growth", "policies"}
    for suite in record["suites"].values():
        assert suite["rows"]
        for row in suite["rows"]:
            assert "failed" not in row
            assert row["wall"] > 0
            assert row["memory"] > 1_000_000
            assert len(row["runs"]) == 2
    counted = [row["words"] for row in record["suites"]["count"]["rows"]]
    assert len(counted) == 2
    assert counted[0] == counted[1] > 100, "plain and compressed text are the same text"

    page = (tmp_path / "docs" / "benchmarks.md").read_text(encoding="utf-8")
    assert "| count plain text, 1 thread | pairity |" in page
    assert str(tmp_path) not in page
    assert ElementTree.parse(tmp_path / "docs" / "speed.svg").getroot().tag.endswith("svg")


def row(program: str, wall: float, **more: Any) -> dict[str, Any]:
    return {
        "case": "work",
        "program": program,
        "threads": 1,
        "wall": wall,
        "user": wall,
        "memory": 5e6,
    } | more


def record_of(*rows: dict[str, Any]) -> dict[str, Any]:
    machine = {"cpu": "a", "cores": 2, "memory_gb": 4, "os": "b", "python": "3.11"}
    suite = {
        "made_by": "make bench",
        "machine": machine,
        "load_before": 0.1,
        "stolen": 0.034,
        "texts": "text",
        "versions": {},
        "skipped": ["ffbpe"],
    }
    return {"suites": {"classical": suite | {"rows": list(rows)}}}


def test_ratios_are_of_the_same_work_and_failures_have_none(modules: dict[str, ModuleType]) -> None:
    failed = {"case": "work", "program": "bpeasy", "threads": 1, "failed": "not done after 5 s"}
    other = row("rustbpe", 9.0, case="other work")
    record = record_of(row("pairity", 2.0), row("tokenizers", 10.0), failed, other)
    table = modules["report"].suite_tables(record)["bench-classical"]
    ratios = [cells[5] for cells in table["rows"]]
    assert ratios == [1.0, 5.0, None, None]
    assert table["rows"][2][-1] == "not done after 5 s"
    assert "Not installed: ffbpe." in table["note"]
    assert "up to 3% CPU steal time" in table["note"]
    assert [cells[3] for cells in modules["report"].speed_table(record)["rows"]] == [
        "Hugging Face tokenizers"
    ]


def test_the_summary_names_the_fastest_peer_of_the_same_task(modules: dict[str, ModuleType]) -> None:
    peers = [row("ffbpe", 4.0), row("rustbpe", 3.0), row("sentencepiece", 0.5)]
    table = modules["report"].speed_table(record_of(row("pairity", 1.0), *peers))
    assert [(cells[3], cells[6]) for cells in table["rows"]] == [("rustbpe", 3.0)]


def test_a_loop_shorter_than_the_noise_is_no_number(modules: dict[str, ModuleType]) -> None:
    loop = modules["bench"].loop_alone
    assert loop("loop", row("tokenizers", 5.0), row("tokenizers", 2.0))["wall"] == 3.0
    noise = loop("loop", row("tokenizers", 2.0), row("tokenizers", 2.1))
    assert "wall" not in noise
    assert "too short" in noise["failed"]


def test_a_peer_does_not_pay_for_our_imports() -> None:
    """Its job gets the pattern in the job; pairity is not imported before its work is measured."""
    program = (
        "import sys; sys.path.insert(0, sys.argv[1]); import workers\n"
        "assert not [name for name in sys.modules if name.split('.')[0] in ('pairity', 'numpy', 'pyarrow')]"
    )
    subprocess.run([sys.executable, "-c", program, str(BENCHES)], check=True)
    source = (BENCHES / "workers.py").read_text(encoding="utf-8").partition("the peers\n")[2]
    for job in source.split("\n@job")[1:]:
        before_work = job.partition("with measured()")[0]
        assert "pairity" not in before_work, job.split("\n")[1]


def test_made_up_words_are_distinct_and_repeatable(modules: dict[str, ModuleType]) -> None:
    for language in ("eng_Latn", "hin_Deva", "zho_Hans"):
        data, offsets = modules["texts"].words(language, 5000, seed=1)
        found = {data[offsets[i] : offsets[i + 1]] for i in range(5000)}
        assert len(found) == 5000
        assert all(word.decode().startswith(" ") for word in found)
        assert data == modules["texts"].words(language, 5000, seed=1)[0]


def test_guard_names_what_has_grown(modules: dict[str, ModuleType], capsys: Any) -> None:
    before = {"count": 100, "parity": 100}
    assert modules["guard"].compare({"count": 102, "parity": 103, "encode": 1}, before) == ["parity"]
    assert "not recorded yet" in capsys.readouterr().out
    recorded = json.loads((BENCHES / "guard.json").read_text(encoding="utf-8"))
    assert list(recorded["instructions"]) == list(modules["guard"].STAGES[1:])


def test_every_idea_is_found_in_the_source_once(modules: dict[str, ModuleType]) -> None:
    root = BENCHES.parent
    for idea in modules["ideas"].IDEAS:
        for old, _ in idea.changes:
            assert (root / idea.file).read_text(encoding="utf-8").count(old) == 1, idea.name


def test_what_the_page_says_of_the_policies_is_what_was_recorded() -> None:
    record = json.loads((ROOT / "docs" / "results" / "bench.json").read_text(encoding="utf-8"))
    rows = record["suites"]["policies"]["rows"]
    parity = {row["case"]: row["wall"] for row in rows if row["program"] == "pairity"}
    times: dict[str, dict[int, list[float]]] = {policy: {1: [], 2: []} for policy in ("joint", "fair")}
    for row in rows:
        if row["program"] != "pairity":
            policy = row["program"].removeprefix("pairity, ").split()[0]
            times[policy][row["threads"]].append(row["wall"] / parity[row["case"]])
    assert [len(times[policy][threads]) for policy in ("joint", "fair") for threads in (1, 2)] == [
        8,
        8,
        12,
        12,
    ]
    assert 1.7 < max(times["fair"][1]) <= 2.05, "fair takes up to twice as long"
    assert max(times["joint"][1]) <= 1.6, "joint takes up to about one and a half times as long"
    assert min(times["joint"][2] + times["fair"][2]) > 1.5, "about two to three times as long"
    assert max(times["joint"][2] + times["fair"][2]) < 3.5, "about two to three times as long"
