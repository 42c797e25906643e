"""Stop a process before each of its file operations, one after another, and look at what it leaves.

Python announces every file operation to audit hooks. In a forked child the hook counts them and ends the child
before number n, at once and without any cleaning up, as a power cut would.

    for crash in crashes(lambda: tok.save("out", force=True)):
        ...  # what does "out" hold now?
"""

import os
import sys
import traceback
from collections.abc import Callable, Iterator
from typing import NoReturn

WRITING = {
    "os.chmod", "os.link", "os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.symlink", "os.truncate",
    "shutil.copymode", "shutil.move", "shutil.rmtree",
}  # fmt: skip
STOPPED = 77


def is_operation(event: str, arguments: tuple) -> bool:
    if event == "open":
        _, mode, flags = arguments
        return bool(flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)) or any(
            c in str(mode or "") for c in "wax+"
        )
    return event in WRITING or (event.startswith("ctypes.dlsym") and arguments[-1] == "renameat2")


def run_until(work: Callable[[], object], number: int) -> bool:
    """Run `work` in a child that ends before file operation `number`; whether there was such an operation."""
    child = os.fork()
    if not child:
        stop_before(work, number)
    return was_stopped(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))


def was_stopped(code: int) -> bool:
    assert code in (0, STOPPED), f"the work itself failed (exit {code})"
    return code == STOPPED


def stop_before(work: Callable[[], object], number: int) -> NoReturn:
    """Do `work` and end this process, before file operation `number` if there are so many."""

    def stop_there(seen: int) -> None:
        if seen == number:
            os._exit(STOPPED)

    work_watched(work, stop_there)


def work_watched(work: Callable[[], object], watch: Callable[[int], object]) -> NoReturn:
    """Do `work`, calling `watch` before each of its file operations, and end this process."""
    seen = 0

    def hook(event: str, arguments: tuple) -> None:
        nonlocal seen
        if is_operation(event, arguments):
            seen += 1
            watch(seen)

    sys.addaudithook(hook)
    code = 1
    try:
        work()
        code = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(code)


def crashes(work: Callable[[], object]) -> Iterator[int]:
    """Yields after each crash: before operation 1, 2, ... until the work gets to its end."""
    number = 1
    while run_until(work, number):
        yield number
        number += 1
