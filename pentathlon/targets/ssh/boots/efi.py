"""The firmware's own boot options: BootNext, which it removes before it boots that option."""

from __future__ import annotations

import re

from pentathlon.machine.errors import TargetUnavailable
from pentathlon.targets.ssh.boots.loader import PRELUDE, Entry, Loader
from pentathlon.targets.ssh.boots.running import Running

OPTION = re.compile(r"^Boot([0-9A-Fa-f]{4})([* ]) ?([^\t]*)(?:\t(.*))?$")


class Efi(Loader):
    """UEFI boot options by efibootmgr(8)."""

    name = "efi"
    STATE = r"""
next=$($S efibootmgr 2>/dev/null | sed -n 's/^BootNext: //p')
current=$($S efibootmgr 2>/dev/null | sed -n 's/^BootCurrent: //p')
echo "BootNext is ${next:-unset}, the current boot option is ${current:-unknown}"
"""
    DISARM = r"""
if command -v efibootmgr >/dev/null && $S efibootmgr 2>/dev/null | grep -q '^BootNext:'
then $S efibootmgr -q --delete-bootnext; fi
"""

    def entries(self) -> list[Entry]:
        lines = self._look()
        order = next((line[11:].split(",") for line in lines if line.startswith("BootOrder: ")), [])
        found = []
        for line in lines:
            if match := OPTION.match(line):
                number, title = match[1].upper(), match[3].strip()
                first = bool(order) and number == order[0].strip().upper()
                found.append(Entry(id=number, title=title, names=(f"Boot{number}",), default=first))
        return found

    def _look(self) -> list[str]:
        script = "command -v efibootmgr >/dev/null || exit 0\n$S efibootmgr -v 2>/dev/null || :"
        lines = self.ask(PRELUDE + script).splitlines()
        if not any(line.startswith("BootOrder:") for line in lines):
            raise TargetUnavailable(
                f"{self.host} shows no boot options (efibootmgr(8), root, and UEFI firmware are "
                "needed)"
            )
        return lines

    def arm(self, home: Running) -> str:
        return f"{PRELUDE}$S efibootmgr -q --bootnext {self.check().id} >/dev/null\n"

    def booted(self, running: Running, home: Running) -> str | None:
        current = next((w[13:] for w in self._look() if w.startswith("BootCurrent: ")), "").strip()
        wanted = self.check().id
        if not current or current.upper() == wanted:
            return None
        return f"the firmware booted the option {current} instead of {wanted}"
