"""A machine that was restarted is asked at least once, also where the time is up by then."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from pentathlon.machine.errors import TargetError
from pentathlon.targets.ssh.target import SshTarget
from pentathlon.targets.ssh.windows import machine as windows
from pentathlon.targets.ssh.windows.machine import WindowsMachine

PAST = time.monotonic() - 1.0


def posix(boots: list[str]) -> Any:
    """A machine that answers with one boot id after the other, and then with the last."""
    answers = iter(boots)
    last = boots[-1]
    address = SimpleNamespace(
        host="bench", once=lambda command: ["true"], ask=lambda command: next(answers, last) + "\n"
    )
    return SimpleNamespace(address=address, reboot_command="reboot")


def test_a_posix_machine_is_asked_once() -> None:
    SshTarget.restart(posix(["old", "new"]), PAST)
    with pytest.raises(TargetError, match=r"did not come back .* its boot id is still old"):
        SshTarget.restart(posix(["old", "old"]), PAST)


@pytest.mark.parametrize("now", ["new", "old"])
def test_a_windows_machine_is_asked_once(now: str, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def boot_id(self: WindowsMachine, agent: str) -> str:
        asked.append(agent)
        return now

    monkeypatch.setattr(WindowsMachine, "boot_id", boot_id)
    monkeypatch.setattr(windows, "POLL_S", 0.0)
    machine: Any = SimpleNamespace(host="pc")
    pc = WindowsMachine(machine, machine, "10.0")
    if now == "new":
        pc._wait("agent.exe", "old", PAST)
    else:
        with pytest.raises(
            TargetError, match=r"did not come back .* its boot is still that of old"
        ):
            pc._wait("agent.exe", "old", PAST)
    assert asked == ["agent.exe"]
