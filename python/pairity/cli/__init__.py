"""The command line: parse, call, print. One module per family of commands.

In: words on the command line. Out: a call into one of the other rooms, and its result in readable form.

The program starts with this module, so it imports nothing slow: signals are handled from the first moment on.
"""

import codecs
import os
import signal
import sys
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import NoReturn

SIGNALS = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C, SIGTERM, or a closed terminal; its notes say what that means for the work."""

    def __init__(self, number: int) -> None:
        self.number = number


def run() -> None:
    """The entry point. A mistake of the user prints one sentence, and no signal prints a traceback."""
    try:
        answer_signals()
        open_streams()
        code = import_module("pairity.cli.program").run_words()
        sys.stdout.flush()
        sys.stderr.flush()
    except BrokenPipeError:
        die_of_broken_pipe()
    except OSError as error:
        # Flushing failed: standard output is on a full disk.
        end(f"error: {error}", 1)
    except KeyboardInterrupt as stop:
        ignore_signals()
        meaning = "; ".join(reversed(getattr(stop, "__notes__", [])))  # the outermost first
        with suppress(OSError):
            sys.stdout.flush()
        end(
            f"interrupted: {meaning}" if meaning else "interrupted",
            128 + getattr(stop, "number", signal.SIGINT),
        )
    # Not sys.exit: threads of pyarrow that have just started can crash an orderly exit.
    os._exit(code)


def end(line: str, code: int) -> NoReturn:
    with suppress(OSError):
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()
    os._exit(code)


def answer_signals() -> None:
    """Treat SIGTERM and a closed terminal (SIGHUP) like Ctrl-C, unless they are ignored."""
    asked = False

    def stop(number: int, frame: FrameType | None) -> None:
        nonlocal asked
        if asked and number != signal.SIGINT:
            return  # closing a terminal may send two signals; the first one is already ending the work
        asked = True
        raise Interrupted(number)

    for number in SIGNALS:
        if signal.getsignal(number) is not signal.SIG_IGN:  # nohup, or a job in the background of a script
            signal.signal(number, stop)


def ignore_signals() -> None:
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)


def open_streams() -> None:
    """Replace closed streams by empty ones, and make every name printable, even if it is not UTF-8."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, Path(os.devnull).open(mode))  # noqa: SIM115 (it stays open)
    codecs.register_error("as bytes or escaped", as_bytes_or_escaped)
    if hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(errors="as bytes or escaped")


def as_bytes_or_escaped(error: UnicodeError) -> tuple[str | bytes, int]:
    """The bytes of a file name as they are; characters that the terminal cannot show as `\\u0b95`."""
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.lookup_error("backslashreplace")(error)


def die_of_broken_pipe() -> NoReturn:
    """End like other tools when the reader closes the pipe: by the signal, silently."""
    if hasattr(signal, "SIGPIPE"):
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGPIPE)
    os._exit(1)
