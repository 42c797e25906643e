"""The package as users get it: what is in the sdist and the wheel, and that both install and run.

The short form packs what is compiled already. The long form (make test-wheel) takes dist/ as `make wheel` leaves it
and installs both into empty environments, which compiles the core from the sdist.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
PACKAGE = {
    path.relative_to(ROOT / "python").as_posix()
    for path in (ROOT / "python" / "pairity").rglob("*")
    if path.is_file() and path.suffix not in (".so", ".pyd", ".pyc")
}


def maturin(*words: object) -> None:
    program = shutil.which(
        "maturin", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    )
    if program is None or shutil.which("cargo") is None:
        pytest.skip("maturin and cargo are needed to build: make wheel")
    done = subprocess.run([program, *map(str, words)], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def check_sdist(path: Path) -> None:
    """All that a build needs is in it, and nothing compiled."""
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {f"python/{name}" for name in PACKAGE} <= names
    rust = {file.relative_to(ROOT).as_posix() for file in (ROOT / "src").rglob("*.rs")}
    assert {"Cargo.toml", "Cargo.lock", "pyproject.toml", "README.md", "LICENSE", "PKG-INFO", *rust} <= names
    assert [name for name in names if name.endswith((".so", ".pyd", ".pyc"))] == []


def check_wheel(path: Path) -> None:
    """The package and its core, with nothing missing and nothing else."""
    name, version, *tags = path.stem.split("-")
    assert (name, tags[:2]) == ("pairity", ["cp311", "abi3"]), "one wheel for every Python from 3.11 on"
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        names = set(archive.namelist())
        metadata = Parser().parsestr(archive.read(f"pairity-{version}.dist-info/METADATA").decode())
        programs = archive.read(f"pairity-{version}.dist-info/entry_points.txt").decode()
    core = {one for one in names if one.startswith("pairity/_core.") and not one.endswith(".pyi")}
    assert len(core) == 1
    assert {one for one in names if not one.startswith(f"pairity-{version}.dist-info/")} == PACKAGE | core
    assert f"pairity-{version}.dist-info/licenses/LICENSE" in names
    assert metadata["Requires-Python"] == ">=3.11"
    assert metadata["License-Expression"] == "Apache-2.0"
    assert set(metadata.get_all("Provides-Extra", [])) == {
        *("demo", "dev", "gguf", "label", "lm", "peers", "remote", "report", "spark")
    }
    assert "# pairity" in metadata.get_payload()
    assert "pairity=pairity.cli:run" in programs.replace(" ", "")


def test_the_sdist_is_complete(tmp_path: Path) -> None:
    maturin("sdist", "--out", tmp_path)
    [path] = tmp_path.glob("*.tar.gz")
    check_sdist(path)


def test_the_wheel_of_what_is_compiled_is_complete(tmp_path: Path) -> None:
    if not (TARGET / "release").is_dir():
        pytest.skip(f"nothing is compiled in {TARGET}, and compiling takes minutes: make test-wheel")
    maturin("build", "--release", "--out", tmp_path)
    [path] = tmp_path.glob("*.whl")
    check_wheel(path)


# ---------------------------------------------------------------- the long form


def newest(ending: str) -> Path:
    found = sorted((ROOT / "dist").glob(f"*{ending}"), key=lambda path: path.stat().st_mtime)
    assert found, f"there is no {ending} in dist/: run make wheel"
    return found[-1]


def python_of(version: str) -> str | None:
    """A Python of this version that runs here."""
    for program in (f"python{version}", sys.executable):
        found = shutil.which(program)
        asked = [found, "-c", "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"]
        if (
            found
            and subprocess.run(asked, capture_output=True, text=True, check=False).stdout.strip() == version
        ):
            return found
    return None


@pytest.mark.wheel
def test_dist_is_complete() -> None:
    check_sdist(newest(".tar.gz"))
    check_wheel(newest(".whl"))


@pytest.mark.wheel
@pytest.mark.timeout(3600)
@pytest.mark.parametrize(
    ("ending", "version"),
    [(".whl", "3.11"), (".whl", "3.12"), (".whl", "3.13"), (".whl", "3.14"), (".tar.gz", "3.11")],
)
def test_it_installs_into_an_empty_environment_and_runs(ending: str, version: str, tmp_path: Path) -> None:
    python = python_of(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    run(tmp_path, python, "-m", "venv", "environment")
    programs = tmp_path / "environment" / "bin"
    install = [programs / "python", "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    run(tmp_path, *install, f"{newest(ending)}[demo,report]")
    assert run(tmp_path, programs / "pairity", "--version").startswith("pairity, version ")
    printed = run(tmp_path, programs / "pairity", "demo", "-o", "demo")
    assert "The full report: demo/report.html" in printed
    assert (tmp_path / "demo" / "report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    load = (
        "import pairity; tok = pairity.Tokenizer.load('demo/parity'); print(tok.decode(tok.encode('สวัสดี')))"
    )
    assert run(tmp_path, programs / "python", "-c", load) == "สวัสดี\n"
    where = run(tmp_path, programs / "python", "-c", "import pairity; print(pairity.__file__)")
    assert Path(where.strip()).is_relative_to(tmp_path), "another pairity was tested"


def run(folder: Path, *words: object) -> str:
    """What a program prints, in a folder and without the settings of this test's own Python."""
    plain = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL_ENV"))
    }
    done = subprocess.run(
        [str(word) for word in words],
        cwd=folder,
        env=plain | {"CARGO_TARGET_DIR": str(TARGET), "PYTHONUTF8": "1"},
        capture_output=True,
        text=True,
        encoding="utf-8",
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
