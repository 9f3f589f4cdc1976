"""What a process does before it ends."""

from __future__ import annotations

import subprocess
import sys

import pytest

from pentathlon.machine import ends

SCRIPT = """
from pentathlon.machine import ends
ends.at_end(lambda: print("first") or [])
ends.at_end(lambda: print("second") or [])
{more}
"""


def printed(more: str) -> list[str]:
    words = [sys.executable, "-c", SCRIPT.format(more=more)]
    return subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()


def test_the_interpreter_does_it_at_the_latest_and_once() -> None:
    assert printed("print('end')") == ["end", "second", "first"]
    assert printed("ends.run(); print('end')") == ["second", "first", "end"]


def test_it_is_done_once_however_often_it_is_named_and_its_sentences_are_returned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Tests before this one in the same process may have left something to do.
    monkeypatch.setattr(ends, "_ends", [])
    monkeypatch.setattr(ends, "_notes", [])
    calls = []

    def end() -> list[str]:
        calls.append("end")
        return ["one was not put back"]

    ends.at_end(end)
    ends.at_end(end)
    assert ends.left()
    assert ends.run() == ["one was not put back"]
    assert calls == ["end"] and not ends.left()
