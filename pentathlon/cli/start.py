"""The entry of the console script: small, so that Ctrl-C finds it at work while the rest loads."""

from __future__ import annotations

import gc
import os
import signal
import sys
from types import FrameType
from typing import NoReturn

INTERRUPTED = 130
"""`exits.Exit.INTERRUPTED`; that module is not loaded yet when this is needed."""
COLLECTED = (50_000, 20, 20)
"""Thresholds of the garbage collector. With its own it looks hundreds of times through what modules
and tables keep, for some per cent of a command's time."""


def main() -> NoReturn:
    """Load the commands, run the one that is requested, and end with its status."""
    # Who started this may have SIGINT ignored, as a shell does for what it runs in the background.
    ours = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if ours:
        signal.signal(signal.SIGINT, _nothing_begun)
    gc.set_threshold(*COLLECTED)
    from pentathlon.cli import screen  # noqa: PLC0415
    from pentathlon.cli.main import app  # noqa: PLC0415

    screen.prepare_streams()
    try:
        app(prog_name="pentathlon")
    except KeyboardInterrupt:  # Outside of what `exits.domain_errors` covers.
        _say_interrupted()
        code: str | int | None = INTERRUPTED
    except BrokenPipeError:
        screen.silence(sys.stdout)
        code = 0
    except OSError as error:  # The output of --help or --version cannot be written.
        screen.silence(sys.stdout)
        os.write(2, f"error: {(error.strerror or str(error)).lower()}\n".encode())
        code = 2
    except SystemExit as end:
        code = end.code
    else:
        code = 0
    from pentathlon.machine import ends  # noqa: PLC0415

    if ends.left():
        from pentathlon.cli.leaving import leave  # noqa: PLC0415

        code = leave(code)
    if ours:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.exit(_flushed(code))


def begin() -> None:
    """From here on a command is at work, which ends in an orderly way: Ctrl-C raises."""
    if signal.getsignal(signal.SIGINT) is _nothing_begun:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def _nothing_begun(_number: int, _frame: FrameType | None) -> NoReturn:
    """End at once: while modules load, an exception could be taken for one that cannot be found."""
    _say_interrupted()
    os._exit(INTERRUPTED)


def _say_interrupted() -> None:
    os.write(2, b"error: interrupted\n")


def _flushed(code: str | int | None) -> str | int | None:
    """Write what is still buffered; the interpreter would do so too late to report an error."""
    from pentathlon.cli import screen  # noqa: PLC0415

    for stream in (sys.stdout, sys.stderr):
        if stream is None:
            continue
        try:
            stream.flush()
        except BrokenPipeError:
            screen.silence(stream)
        except OSError as error:
            screen.silence(stream)
            if stream is sys.stdout:
                print(f"error: standard output: {(error.strerror or '').lower()}", file=sys.stderr)
                code = code or 2
    return code
