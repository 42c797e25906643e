"""Filesystems as users meet them: folders without the right to write, small disks, mount points."""

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

RIGHTS_OF_ROOT = "-dac_override,-dac_read_search,-fowner,-chown"
NOBODY = 65534


def as_ordinary_user() -> list[str]:
    """The words before a command that let it write only where it has the right to: root may write anywhere."""
    if os.geteuid() != 0:
        return []
    if not shutil.which("setpriv"):
        pytest.skip("as root, the test needs setpriv")
    return ["setpriv", f"--bounding-set={RIGHTS_OF_ROOT}", "--"]


@contextlib.contextmanager
def without_right_to_write(folder: Path) -> Iterator[Path]:
    """Nothing can be made in the folder, though what is in it can be changed."""
    folder.chmod(0o555)
    if os.geteuid() == 0:
        os.chown(folder, NOBODY, NOBODY)
    try:
        yield folder
    finally:
        if os.geteuid() == 0:
            os.chown(folder, 0, 0)
        folder.chmod(0o755)


@contextlib.contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A mounted filesystem of its own; skips where that is not allowed."""
    folder.mkdir(parents=True, exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("mounting needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", str(folder)], check=True)
