"""What the login shell of a Windows machine is, and lines that it understands as they are meant.

OpenSSH for Windows hands a command to cmd.exe, or to what the registry's `DefaultShell` names,
which is usually PowerShell. One line finds out which: each of them, and a POSIX shell, replaces its
own variables in it and leaves those of the others as they are.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pentathlon.machine.errors import TargetError

Name: TypeAlias = Literal["cmd", "powershell"]

NAMES = ("OS", "TEMP", "NUMBER_OF_PROCESSORS", "PROCESSOR_ARCHITECTURE")
"""Environment variables that every Windows has."""

PROBE = 'echo "' + "".join(f"%{n}%|" for n in NAMES) + "".join(f"$env:{n}|" for n in NAMES) + '"'

SPECIAL = re.compile(r"""["%!^&|<>'`$\x00-\x1f]""")
"""What one of the two shells takes for something else, also between quotation marks."""


@dataclass(frozen=True)
class Shell:
    """The login shell of a Windows machine.

    Attributes:
        temp: the user's temporary directory; of a name that is not ASCII the console's code page
            may have left something else.
        cpus: logical processors.
        architecture: as Windows names it, such as "AMD64" or "ARM64".
    """

    name: Name
    temp: str
    cpus: int
    architecture: str

    @property
    def version_line(self) -> str:
        """A line that prints the version of the system, by cmd.exe's own command."""
        return "ver" if self.name == "cmd" else "cmd.exe /c ver"

    def line(self, words: Sequence[str]) -> str:
        """A line that runs a program with these words.

        Raises:
            TargetError: a word has characters that cannot be passed on safely.
        """
        return _call(self.name, words)

    def line_and_remove(self, words: Sequence[str], directory: str) -> str:
        """A line that runs a program, then removes a directory, in which the program may lie.

        Its exit status is 0 where that of the program is, else 1 (cmd) or the program's own. A
        program cannot remove its own file while it runs; the shell, which waits for it, can. It
        does so also where the connection has gone meanwhile.
        """
        run = _call(self.name, words)
        if self.name == "powershell":
            remove = f"Remove-Item -Recurse -Force -LiteralPath {_quoted('powershell', directory)}"
            return f"{run}; $status = $LASTEXITCODE; {remove}; exit $status"
        remove = f"rmdir /s /q {_quoted('cmd', directory)}"
        return f"{run} & if errorlevel 1 ({remove} & exit 1) else {remove}"


def recognise(answer: str) -> Shell | None:
    """The shell that answered `PROBE` so; None if it is none of Windows'."""
    for line in answer.splitlines():
        fields = line.strip().strip('"').split("|")
        if len(fields) < 2 * len(NAMES):
            continue
        count = len(NAMES)
        for name, values in (("cmd", fields[:count]), ("powershell", fields[count : 2 * count])):
            if values[0] == "Windows_NT":
                cpus = int(values[2]) if values[2].isdigit() else 0
                made: Name = "cmd" if name == "cmd" else "powershell"
                return Shell(made, values[1], cpus, values[3])
    return None


def _call(shell: Name, words: Sequence[str]) -> str:
    quoted = " ".join(_quoted(shell, word) for word in words)
    # PowerShell takes a quoted text at the beginning for a value, unless it is asked to run it.
    return f"& {quoted}" if shell == "powershell" else quoted


def _quoted(shell: Name, word: str) -> str:
    if SPECIAL.search(word) or (shell == "cmd" and word.endswith("\\") and " " in word):
        raise TargetError(
            f'"{word}" has characters that the shells of Windows take for something else; use '
            "letters, digits, blanks and \\ : / . - _ ( ) only"
        )
    if shell == "powershell":
        return word if re.fullmatch(r"[\w:\\/.-]+", word) and word[0] != "-" else f"'{word}'"
    return word if re.fullmatch(r"[\w:\\/.-]+", word) else f'"{word}"'
