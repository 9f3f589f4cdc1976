"""What a Windows machine runs now, without an agent there: its build, and when it was started."""

from __future__ import annotations

import re

from pentathlon.machine.errors import TargetError
from pentathlon.targets.ssh.boots.running import Running
from pentathlon.targets.ssh.client import Address
from pentathlon.targets.ssh.windows import machine
from pentathlon.targets.ssh.windows.settings import powershell

STARTED = "(Get-CimInstance Win32_OperatingSystem).LastBootUpTime.ToUniversalTime().ToString('s')"
WMIC = ("wmic.exe", "os", "get", "LastBootUpTime")
"""Where PowerShell answers nothing; Windows 11 24H2 has it no more."""

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d|\d{14}\.\d{6}[+-]\d{3}")


def read(address: Address) -> Running | None:
    """What runs there; None if it is no Windows.

    Raises:
        TargetUnavailable: it cannot be reached.
        TargetError: it does not report when it was started.
    """
    found = machine.find(address)
    if found is None:
        return None
    for words in (powershell(STARTED), list(WMIC)):
        # wmic writes UTF-16.
        if match := TIME.search(found.run(words).replace("\0", "")):
            return Running(found.version, "", "", f"started {match[0]}", windows=True)
    raise TargetError(f"{address.host} does not report when it was started")


def restart_line(address: Address) -> str:
    """The line that restarts the machine.

    Raises:
        TargetError: it runs no Windows any more.
    """
    found = machine.find(address)
    if found is None:
        raise TargetError(f"{address.host} runs no Windows any more")
    return found.shell.line(machine.REBOOT)
