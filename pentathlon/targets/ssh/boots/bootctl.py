"""systemd-boot, and what else keeps to the Boot Loader Interface: an entry for one boot.

`bootctl set-oneshot` writes the EFI variable LoaderEntryOneShot, which the loader removes before it
boots that entry. For words on the command line a copy of the entry's file is made, which the way
back removes.
"""

from __future__ import annotations

import json
import shlex
from typing import Any

from pentathlon.machine.errors import TargetUnavailable
from pentathlon.targets.ssh.boots.efi_variables import READ, VARIABLES, VENDOR
from pentathlon.targets.ssh.boots.loader import OWN, PRELUDE, RELEASE, Entry, Loader
from pentathlon.targets.ssh.boots.running import Running


class Bootctl(Loader):
    """systemd-boot by bootctl(1)."""

    name = "bootctl"
    STATE = (
        READ
        + r"""
once=$(read_variable LoaderEntryOneShot) chosen=$(read_variable LoaderEntrySelected)
echo "LoaderEntryOneShot is ${once:-unset}, the selected entry was ${chosen:-unknown}"
"""
    )
    DISARM = rf"""
if [ -e {VARIABLES}/LoaderEntryOneShot-{VENDOR} ]; then $S bootctl set-oneshot ""; fi
if command -v bootctl >/dev/null; then
    for one in "$(bootctl -x 2>/dev/null)" "$(bootctl -p 2>/dev/null)"; do
        [ -z "$one" ] || $S rm -f "$one/loader/entries/{OWN}.conf"
    done
    sync
fi
"""

    def entries(self) -> list[Entry]:
        return [entry for entry, _ in self._list()]

    def _list(self) -> list[tuple[Entry, dict[str, Any]]]:
        script = (
            "command -v bootctl >/dev/null || exit 0\n"
            '[ -n "$(read_variable LoaderInfo)" ] || { echo other; exit 0; }\n'
            "$S bootctl list --json=short --no-pager 2>/dev/null || echo old"
        )
        output = self.ask(PRELUDE + READ + script).strip()
        if output == "other":
            raise TargetUnavailable(
                f"{self.host} was not started by systemd-boot or another loader of the Boot Loader "
                "Interface, so nothing would read what bootctl(1) sets"
            )
        found = _documents(output)
        if not found:
            lack = "no bootctl(1)" if not output else "no loader that bootctl(1) can list"
            raise TargetUnavailable(
                f"{self.host} has {lack} (systemd 252 or newer, with systemd-boot)"
            )
        pairs = []
        for one in found:
            if not isinstance(one.get("id"), str):
                continue
            if one["id"] in (f"{OWN}.conf", "auto-reboot-to-firmware-setup"):
                continue
            release = RELEASE.search(str(one.get("linux") or ""))
            options = one.get("options")
            entry = Entry(
                id=one["id"],
                title=str(one.get("showTitle") or one.get("title") or one["id"]),
                names=(one["id"].removesuffix(".conf"),) if one["id"].endswith(".conf") else (),
                release=release[1] if release else _text(one.get("version")),
                cmdline=_text(options),
                default=one.get("isDefault") is True,
            )
            pairs.append((entry, one))
        return pairs

    def check(self) -> Entry:
        entry = super().check()
        if self.boot.cmdline and not self._file(entry):
            raise TargetUnavailable(
                f'the entry "{entry.id}" of {self.host} is no file in loader/entries, so no words '
                "can be added to its command line"
            )
        return entry

    def _file(self, entry: Entry) -> str | None:
        """The entry's file, where it is one of the Boot Loader Specification, type 1."""
        for known, raw in self._list():
            if known.id == entry.id and str(raw.get("path", "")).endswith(".conf"):
                return str(raw["path"])
        return None

    def arm(self, home: Running) -> str:
        entry = self.check()
        wanted, own = entry.id, ""
        if self.boot.cmdline:
            file = self._file(entry)
            assert file is not None
            directory = shlex.quote(file.rpartition("/")[0])
            words = shlex.quote(self.boot.cmdline)
            # Several `options` lines of an entry are joined by the loader.
            own = (
                f"{{ $S cat {shlex.quote(file)}; echo; echo options {words}; }} | "
                f"$S tee {directory}/{OWN}.conf >/dev/null || exit 1\n"
            )
            wanted = f"{OWN}.conf"
        return f"{PRELUDE}{own}$S bootctl set-oneshot {shlex.quote(wanted)} && sync\n"

    def booted(self, running: Running, home: Running) -> str | None:
        lines = self.ask(PRELUDE + READ + "read_variable LoaderEntrySelected; echo").splitlines()
        selected = lines[0].strip() if lines else ""
        wanted = f"{OWN}.conf" if self.boot.cmdline else self.check().id
        # An older loader leaves out the suffix.
        if not selected or selected.removesuffix(".conf") == wanted.removesuffix(".conf"):
            return None
        return (
            f'the loader selected the entry "{selected}" instead of "{wanted}", whose kernel may '
            "have panicked and started anew"
        )


def _documents(output: str) -> list[dict[str, Any]]:
    """The entries: one array, or as systemd 252 prints them, a document on each line."""
    found: list[Any] = []
    for text in (output, *output.splitlines()):
        try:
            one = json.loads(text)
        except (ValueError, RecursionError):
            continue
        found += one if isinstance(one, list) else [one]
        if text is output:
            break
    return [one for one in found if isinstance(one, dict)]


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None
