"""Lines for the shells of Windows, and the settings there, without a machine."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import pytest

from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.targets.ssh.windows import shell
from pentathlon.targets.ssh.windows.files import sftp_path, windows_path
from pentathlon.targets.ssh.windows.settings import PLANS, WindowsSettings, powershell

TEMP = r"C:\Users\A B\AppData\Local\Temp"
CMD = f'"Windows_NT|{TEMP}|8|AMD64|$env:OS|$env:TEMP|$env:NUMBER_OF_PROCESSORS|x|"\r\n'
POWERSHELL = (
    f"%OS%|%TEMP%|%NUMBER_OF_PROCESSORS%|%PROCESSOR_ARCHITECTURE%|Windows_NT|{TEMP}|16|ARM64|\r\n"
)
POSIX = "%OS%|%TEMP%|%NUMBER_OF_PROCESSORS%|%PROCESSOR_ARCHITECTURE%|:OS|:TEMP|:N|:P|\n"


def test_each_shell_is_known_by_what_it_replaces() -> None:
    assert shell.recognise("a banner\r\n" + CMD) == shell.Shell("cmd", TEMP, 8, "AMD64")
    assert shell.recognise(POWERSHELL) == shell.Shell("powershell", TEMP, 16, "ARM64")
    assert shell.recognise(POSIX) is None
    assert shell.recognise("") is None


def made(name: shell.Name) -> shell.Shell:
    return shell.Shell(name, TEMP, 2, "AMD64")


def test_paths_with_blanks_stay_one_word() -> None:
    words = [rf"{TEMP}\agent.exe", "guard", "--below", r"D:\x", "run"]
    assert made("cmd").line(words) == rf'"{TEMP}\agent.exe" guard "--below" D:\x run'.replace(
        '"--below"', "--below"
    )
    assert made("powershell").line(words) == rf"& '{TEMP}\agent.exe' guard '--below' D:\x run"


def test_the_shell_removes_what_the_program_cannot() -> None:
    assert made("cmd").line_and_remove(["a.exe"], r"C:\x y") == (
        r'a.exe & if errorlevel 1 (rmdir /s /q "C:\x y" & exit 1) else rmdir /s /q "C:\x y"'
    )
    assert made("powershell").line_and_remove(["a.exe"], r"C:\x y") == (
        r"& a.exe; $status = $LASTEXITCODE; "
        r"Remove-Item -Recurse -Force -LiteralPath 'C:\x y'; exit $status"
    )


@pytest.mark.parametrize(
    "word", ["%TEMP%", "a&b", 'a"b', "a'b", "a|b", "$x", "`a", "a^b", "a\nb", "!x!"]
)
@pytest.mark.parametrize("name", ["cmd", "powershell"])
def test_what_a_shell_would_take_for_something_else_is_refused(name: shell.Name, word: str) -> None:
    with pytest.raises(TargetError, match="shells of Windows take for something else"):
        made(name).line(["a.exe", word])


def test_scripts_go_in_a_form_that_has_no_special_characters() -> None:
    words = powershell("Get-MpPreference | Where-Object { $_.X -eq '\"%' }")
    assert base64.b64decode(words[-1]).decode("utf-16-le").endswith("'\"%' }")
    for name in ("cmd", "powershell"):
        assert "EncodedCommand" in shell.Shell(name, TEMP, 2, "AMD64").line(words)  # type: ignore[arg-type]


def test_paths_have_two_forms() -> None:
    assert sftp_path(r"C:\a b\c") == "/C:/a b/c"
    assert windows_path(sftp_path(r"C:\a b\c")) == r"C:\a b\c"


class FakeAddress:
    host = "pc"


class FakeMachine:
    """A machine with a power plan, one hidden setting and Defender; in German."""

    address = FakeAddress()

    def __init__(self, *, refuses: bool = False, lacks: str = "-") -> None:
        self.plan, self.parking, self.protects = PLANS["balanced"], 5, True
        self.excluded: set[str] = set()
        self.refuses, self.lacks = refuses, lacks
        self.log: list[list[str]] = []

    def run(self, words: Sequence[str], timeout_s: float = 30.0) -> str:
        self.log.append(list(words))
        if words[0].startswith(self.lacks):
            raise TargetError(f'pc: a command ended with 1: "{words[0]}" wurde nicht gefunden')
        return (
            self.powershell(words[-1])
            if words[0].startswith("powershell")
            else self.powercfg(words)
        )

    def powercfg(self, words: Sequence[str]) -> str:
        match words[1]:
            case "/getactivescheme":
                return f"GUID des Energieschemas: {self.plan}  (Ausbalanciert)\r\n"
            case "/setactive":
                self.plan = self.plan if self.refuses else words[2]
            case "/setacvalueindex":
                self.parking = self.parking if self.refuses else int(words[5])
            case "/qh":
                return (
                    "    Mögliche Mindesteinstellung: 0x00000000\r\n"
                    "    Mögliche Maximaleinstellung: 0x00000064\r\n"
                    f"  Index der aktuellen Wechselstromeinstellung: 0x{self.parking:08x}\r\n"
                    "  Index der aktuellen Gleichstromeinstellung: 0x0000000a\r\n"
                )
        return ""

    def powershell(self, encoded: str) -> str:
        script = base64.b64decode(encoded).decode("utf-16-le")
        path = script.split("'")[1] if "'" in script else ""
        if "Get-MpComputerStatus" in script:
            return f"{self.protects}\r\n"
        if "Get-MpPreference" in script:
            return f"{path in self.excluded}\r\n"
        if self.refuses:
            return ""
        if "Add-MpPreference" in script:
            self.excluded.add(path)
        elif "Remove-MpPreference" in script:
            self.excluded.discard(path)
        elif "DisableRealtimeMonitoring" in script:
            self.protects = script.endswith("$false")
        return ""

    @property
    def state(self) -> tuple[Any, ...]:
        return self.plan, self.parking, self.protects, frozenset(self.excluded)


CHANGES = [
    {"power_plan": "high_performance"},
    {"core_parking": 100},
    {"defender": "off"},
    {"defender": "excluded"},
    {"power_plan": "ultimate_performance", "core_parking": 100, "defender": "excluded"},
]


@pytest.mark.parametrize("values", CHANGES)
def test_what_is_noted_before_a_change_puts_it_back(values: dict[str, Any]) -> None:
    machine = FakeMachine()
    before = machine.state
    noted: list[list[str]] = []

    def note(words: list[str]) -> None:
        noted.append(words)

    settings = WindowsSettings(machine, values)  # type: ignore[arg-type]
    settings.check()
    assert machine.state == before
    settings.apply(r"C:\there", note)
    assert machine.state != before
    for words in reversed(noted):
        machine.run(words)
    assert machine.state == before


def test_what_is_already_so_is_not_touched() -> None:
    machine = FakeMachine()
    values = {"power_plan": "balanced", "core_parking": 5, "defender": "on"}
    WindowsSettings(machine, values).apply(r"C:\there", pytest.fail)  # type: ignore[arg-type]


@pytest.mark.parametrize("values", CHANGES[:4])
def test_a_setting_that_does_not_stick_is_refused(values: dict[str, Any]) -> None:
    machine = FakeMachine(refuses=True)
    with pytest.raises(TargetUnavailable, match=f"{next(iter(values))} is .* after it was set"):
        WindowsSettings(machine, values).apply(r"C:\there", lambda words: None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("lacks", "values"), [("powercfg", CHANGES[0]), ("powershell", CHANGES[2])]
)
def test_what_the_machine_lacks_is_named(lacks: str, values: dict[str, Any]) -> None:
    machine = FakeMachine(lacks=lacks)
    with pytest.raises(TargetUnavailable, match=rf"cannot be set: .*{lacks}\.exe.* gefunden"):
        WindowsSettings(machine, values).check()  # type: ignore[arg-type]
