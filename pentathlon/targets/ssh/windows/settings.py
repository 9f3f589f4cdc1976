"""Settings of a Windows machine: power plan, core parking, Defender.

Each is read, the command that puts it back is noted over there for the guard, it is set, and read
again. What the machine lacks (Wine has no powercfg) makes the system unavailable with the reason.
Priority classes are set by the agent itself, and the page file is in its inventory.
"""

from __future__ import annotations

import base64
import re
from collections.abc import Callable, Mapping
from typing import Any

from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.targets.ssh.windows.machine import WindowsMachine

PLANS = {
    "balanced": "381b4222-f694-41f0-9685-ff5bb260df2e",
    "high_performance": "8c5e7fda-e8bf-4a96-9a85-a6e23a8c635c",
    "power_saver": "a1841308-3541-4fab-bc81-f71556f20b4a",
    "ultimate_performance": "e9a42b02-d5df-448d-aa00-03f14749eb61",
}
"""Power plans that Windows comes with, by the names that a study has for them."""

PROCESSOR = "54533251-82be-4824-96c1-47b60b740d00"
CORES = "0cc5b647-c1df-4637-891a-dec35c318583"
"""The subgroup of the processor and in it the least share of cores that are not parked, in %."""

KEYS = ("power_plan", "core_parking", "defender")

GUID = re.compile(r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
INDEX = re.compile(r"0x([0-9a-fA-F]{8})")

Note = Callable[[list[str]], None]
"""Takes the words of a command that puts something back."""


class WindowsSettings:
    """The settings that a study gives one system, for the machine that it is."""

    def __init__(self, machine: WindowsMachine, values: Mapping[str, Any]) -> None:
        self._machine = machine
        self._values = {key: values[key] for key in KEYS if key in values}

    def check(self) -> None:
        """Read what is to be changed; change nothing.

        Raises:
            TargetUnavailable: the machine has nothing of the kind.
        """
        for key in self._values:
            getattr(self, f"_read_{key}")()

    def apply(self, place: str, note: Note) -> None:
        """Change the machine.

        Args:
            place: the session's directory there.
            note: takes what puts a change back, before it is made.

        Raises:
            TargetUnavailable: a setting cannot be made there.
        """
        for key, value in self._values.items():
            getattr(self, f"_set_{key}")(value, place, note)

    def _ask(self, key: str, words: list[str]) -> str:
        try:
            return self._machine.run(words)
        except TargetUnavailable:
            raise
        except TargetError as error:
            raise TargetUnavailable(f"{key} cannot be set: {error}") from error

    def _refused(self, key: str, wanted: Any, reads: Any) -> TargetUnavailable:
        host = self._machine.address.host
        return TargetUnavailable(
            f"{key} is {reads} on {host} after it was set to {wanted}; the login may lack the "
            "right to change it"
        )

    # Power plan: powercfg prints in the language of the system, so its numbers are looked for.

    def _read_power_plan(self) -> str:
        text = self._ask("power_plan", ["powercfg.exe", "/getactivescheme"])
        if (found := GUID.search(text)) is None:
            raise TargetUnavailable(f"powercfg on {self._machine.address.host} names no power plan")
        return found[0].lower()

    def _set_power_plan(self, value: str, place: str, note: Note) -> None:
        wanted, now = PLANS.get(value, value).lower(), self._read_power_plan()
        if now == wanted:
            return
        note(["powercfg.exe", "/setactive", now])
        self._ask("power_plan", ["powercfg.exe", "/setactive", wanted])
        if (reads := self._read_power_plan()) != wanted:
            raise self._refused("power_plan", wanted, reads)

    # Core parking: of the plan in force, on mains.

    def _read_core_parking(self) -> int:
        text = self._ask(
            "core_parking", ["powercfg.exe", "/qh", "scheme_current", PROCESSOR, CORES]
        )
        # The last two numbers are those on mains and on battery; those before are the limits.
        numbers = INDEX.findall(text)
        if len(numbers) < 2:
            raise TargetUnavailable(
                f"powercfg on {self._machine.address.host} has no setting for core parking"
            )
        return int(numbers[-2], 16)

    def _set_core_parking(self, value: int, place: str, note: Note) -> None:
        now = self._read_core_parking()
        if now == value:
            return
        plan = self._read_power_plan()
        # Written down in the order that undoes it: the last line is run first.
        note(["powercfg.exe", "/setactive", plan])
        note(["powercfg.exe", "/setacvalueindex", plan, PROCESSOR, CORES, str(now)])
        self._ask(
            "core_parking",
            ["powercfg.exe", "/setacvalueindex", plan, PROCESSOR, CORES, str(value)],
        )
        self._ask("core_parking", ["powercfg.exe", "/setactive", plan])
        if (reads := self._read_core_parking()) != value:
            raise self._refused("core_parking", value, reads)

    # Defender, by its PowerShell module; tamper protection may refuse to switch it off.

    def _read_defender(self) -> bool:
        """Whether real-time protection is on."""
        script = "(Get-MpComputerStatus -ErrorAction Stop).RealTimeProtectionEnabled"
        text = self._ask("defender", powershell(script)).strip().lower()
        if text not in ("true", "false"):
            raise TargetUnavailable(
                f"{self._machine.address.host} does not report the state of Defender by "
                "Get-MpComputerStatus"
            )
        return text == "true"

    def _set_defender(self, value: str, place: str, note: Note) -> None:
        is_on = self._read_defender()
        if value == "excluded":
            path = f"-ExclusionPath '{place}'"
            note(powershell(f"Remove-MpPreference {path} -ErrorAction Stop"))
            self._ask("defender", powershell(f"Add-MpPreference {path} -ErrorAction Stop"))
            script = f"(Get-MpPreference).ExclusionPath -contains '{place}'"
            reads = self._ask("defender", powershell(script)).strip().lower()
            if reads != "true":
                raise self._refused("defender", value, "without the exclusion")
        elif (value == "on") != is_on:
            off = "$true" if value == "off" else "$false"
            back = "$false" if value == "off" else "$true"
            setting = "Set-MpPreference -ErrorAction Stop -DisableRealtimeMonitoring"
            note(powershell(f"{setting} {back}"))
            self._ask("defender", powershell(f"{setting} {off}"))
            if self._read_defender() != (value == "on"):
                raise self._refused("defender", value, "as before (tamper protection?)")


def powershell(script: str) -> list[str]:
    """The words that run a script in PowerShell, in a form that every shell passes on as it is."""
    text = base64.b64encode(script.encode("utf-16-le")).decode()
    return ["powershell.exe", "-NoProfile", "-NonInteractive", "-EncodedCommand", text]
