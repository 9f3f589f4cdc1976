"""What is done on other machines before the program ends, and what is printed meanwhile."""

from __future__ import annotations

import subprocess
import sys
import threading

import pytest

from pentathlon.cli import leaving
from pentathlon.cli.exits import Exit
from pentathlon.machine import ends
from pentathlon.machine.activity import activity

FAILS = """
import sys
from pentathlon.cli.leaving import leave
from pentathlon.machine import ends
ends.at_end(lambda: ["could not put back: bench1 does not answer"])
sys.exit(leave({code}))
"""


@pytest.mark.parametrize(("code", "status"), [(0, Exit.UNAVAILABLE), (4, 4)])
def test_what_could_not_be_put_back_is_an_error(code: int, status: int) -> None:
    words = [sys.executable, "-c", FAILS.format(code=code)]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == status, "the first reason to fail is kept"
    assert done.stderr == "error: could not put back: bench1 does not answer\n"


def test_where_all_is_put_back_the_status_is_what_it_was() -> None:
    ends.at_end(list)
    assert leaving.leave(0) == 0
    assert not ends.left()


NOTES = """
import sys
from pentathlon.cli.leaving import leave
from pentathlon.machine import ends
ends.note("bench1 is back in its default entry, with Linux 6.2")
assert ends.left()
sys.exit(leave({code}))
"""


@pytest.mark.parametrize("code", [0, 4])
def test_a_note_is_printed_and_is_no_error(code: int) -> None:
    words = [sys.executable, "-c", NOTES.format(code=code)]
    done = subprocess.run(words, check=False, capture_output=True, text=True)
    assert done.returncode == code
    assert done.stderr == "bench1 is back in its default entry, with Linux 6.2\n"


def test_what_is_being_done_is_printed_while_it_takes_long(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lines: list[str] = []
    named, unnamed = threading.Event(), threading.Event()

    def say(text: str, **_: object) -> None:
        lines.append(text)
        (named if text.startswith("bench1 restarts, for ") else unnamed).set()

    monkeypatch.setattr(leaving.err, "print", say)
    with leaving.reported("something is put back", quiet_s=0.01):
        assert unnamed.wait(60.0)
        with activity("bench1 restarts"):
            assert named.wait(60.0)
    assert lines[0] == "something is put back"
