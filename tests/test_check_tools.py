"""Before a build, missing tools are named with what to do; make adds no noise of its own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
pytestmark = pytest.mark.skipif(os.name != "posix", reason="make and sh")


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    """A PATH of one folder with all that a build asks for, as stand-ins that answer like the real tools."""
    folder = tmp_path / "bin"
    folder.mkdir()
    for name in ("sh", "make", "rm", "mktemp"):
        real = shutil.which(name)
        assert real is not None, f"{name} is needed for this test"
        (folder / name).symlink_to(real)
    _stand_in(folder, "python3", f'exec "{sys.executable}" "$@"')
    _stand_in(folder, "cargo", "echo 'cargo 1.99.0 (0123456 2026-01-01)'")
    _stand_in(folder, "cc", "exit 0")
    return folder


def _stand_in(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
    (folder / name).chmod(0o755)


def _check(tools: Path, *command: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a bare copy of the checkout, so that nothing can touch the real .venv."""
    copy = tools.parent / "checkout"
    shutil.copytree(ROOT / ".ci", copy / ".ci", dirs_exist_ok=True)
    for name in ("Makefile", "Cargo.toml", "pyproject.toml"):
        shutil.copy(ROOT / name, copy)
    # MAKEFLAGS and the like must not leak in when these tests run under make.
    environment = {"PATH": str(tools), "TMPDIR": str(tools)}
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)


def test_silent_when_all_is_there(tools: Path) -> None:
    result = _check(tools, ".ci/check-tools", "python3")
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


@pytest.mark.parametrize(
    ("tool", "script", "said"),
    [
        (
            "python3",
            None,
            ["Python 3.11 or newer: 'python3' was not found", "python.org", "apt install", "brew"],
        ),
        ("python3", "echo 3.9", ["Python 3.11 or newer: 'python3' is 3.9."]),
        (
            "python3",
            'case "$2" in *ensurepip*) exit 1;; *) echo 3.12;; esac',
            ["venv and ensurepip", "python3.12-venv"],
        ),
        ("cargo", None, ["Rust 1.", "'cargo' was not found", "https://rustup.rs"]),
        (
            "cargo",
            "echo 'cargo 1.63.0 (fd9c429 2022-07-01)'",
            ["'cargo' is 1.63.0", "rustup update stable"],
        ),
        ("cargo", "echo 'no default toolchain' >&2; exit 1", ["'cargo' does not run (no default toolchain)"]),
        ("cc", None, ["'cc' was not found", "build-essential", "xcode-select --install"]),
        ("cc", "exit 1", ["'cc' was found but cannot link a program", "build-essential"]),
    ],
)
def test_make_tells_what_is_missing_and_nothing_else(
    tools: Path, tool: str, script: str | None, said: list[str]
) -> None:
    (tools / tool).unlink()
    if script is not None:
        _stand_in(tools, tool, script)
    result = _check(tools, "make", "demo")
    assert result.returncode == 1
    assert result.stdout == ""
    first, *problems = result.stderr.splitlines()
    assert first == "pairity cannot be built here yet:"
    assert len(problems) == 1, result.stderr
    for words in said:
        assert words in problems[0]


def test_all_problems_are_told_at_once(tools: Path) -> None:
    for tool in ("python3", "cargo", "cc"):
        (tools / tool).unlink()
    result = _check(tools, "make", "test")
    assert result.returncode == 1
    assert [line[:6] for line in result.stderr.splitlines()[1:]] == ["- Pyth", "- Rust", "- A li"]


def test_a_newer_python_on_the_path_is_pointed_out(tools: Path) -> None:
    _stand_in(tools, "python3", "echo 3.9")
    _stand_in(tools, "python3.12", "echo 3.12")
    assert "make PYTHON=python3.12" in _check(tools, "make", "demo").stderr


def test_python_can_be_chosen(tools: Path) -> None:
    _stand_in(tools, "python3", "echo 3.9")
    _stand_in(tools, "mine", "echo 3.13")
    assert _check(tools, "make", "-n", "demo", "PYTHON=mine").returncode == 0
    assert "'other' was not found" in _check(tools, "make", "demo", "PYTHON=other").stderr


def test_help_needs_no_tools(tools: Path) -> None:
    for tool in ("python3", "cargo", "cc"):
        (tools / tool).unlink()
    (tools / "awk").symlink_to(shutil.which("awk") or "awk")
    result = _check(tools, "make")
    assert result.returncode == 0
    assert "make demo" in result.stdout
