"""GRUB: `next_entry` in its environment block, which it clears before it boots that entry.

The saved default is never changed, so every start but the next one boots it, also where the wanted
kernel panics. For words on the command line a copy of the entry is written into `custom.cfg`, which
the configuration of grub-mkconfig(8) reads (its script 41_custom), and which the way back removes
again.
"""

from __future__ import annotations

import re
import shlex

from pentathlon.machine.errors import TargetUnavailable
from pentathlon.targets.ssh.boots import grub_menu
from pentathlon.targets.ssh.boots.efi_variables import READ
from pentathlon.targets.ssh.boots.loader import OWN, PRELUDE, Entry, Loader, find, quoted
from pentathlon.targets.ssh.boots.running import Running

PLACE = r"""
G=
for one in /boot/grub /boot/grub2; do $S test -s "$one/grub.cfg" && { G=$one; break; }; done
E=$(command -v grub-editenv || command -v grub2-editenv)
"""
"""`$G`: the directory of GRUB's configuration; `$E`: grub-editenv(1)."""

IMAGE = "BOOT_IMAGE="
"""GRUB's own word on the command line: the kernel's file."""

PLAIN = re.compile(r"[^\s$\"'\\\\]+")
"""A word that reaches the kernel as it stands in the configuration: no variable, no blank."""

BEGIN, END = "# pentathlon: begin", "# pentathlon: end"

# What the user has in custom.cfg stays; an empty file that we made goes.
REMOVE = rf"""
if [ -n "$G" ] && $S grep -qs '^{BEGIN}$' "$G/custom.cfg"; then
    $S sed -i '/^{BEGIN}$/,/^{END}$/d' "$G/custom.cfg"
    $S test -s "$G/custom.cfg" || $S rm -f "$G/custom.cfg"
fi
"""

# GRUB puts its word on each command line; newer ones report themselves as loaders do.
LOOK = (
    READ
    + r"""
[ -n "$G" ] || { echo none; exit 0; }
[ -n "$E" ] || { echo no grub-editenv; exit 0; }
echo found "$G"
$S "$E" "$G/grubenv" list | sed 's/^/env /'
$S sed 's/^/cfg /' "$G/grub.cfg"
grep -q BOOT_IMAGE= /proc/cmdline || echo "loader $(read_variable LoaderInfo)"
"""
)


class Grub(Loader):
    """GRUB 2 with the configuration of grub-mkconfig(8)."""

    name = "grub"
    STATE = (
        PLACE
        + r"""
next=$($S "$E" "$G/grubenv" list 2>/dev/null | sed -n 's/^next_entry=//p')
saved=$($S "$E" "$G/grubenv" list 2>/dev/null | sed -n 's/^saved_entry=//p')
echo "GRUB's next_entry is ${next:-unset}, its saved_entry ${saved:-unset}"
"""
    )
    DISARM = (
        PLACE
        + r"""
if [ -n "$G" ] && [ -n "$E" ] && $S "$E" "$G/grubenv" list 2>/dev/null | grep -q '^next_entry=.'
then $S "$E" "$G/grubenv" unset next_entry; fi
"""
        + REMOVE
        + "sync"
    )

    def entries(self) -> list[Entry]:
        text, environment = self._look()
        return list(grub_menu.entries(text, self._default(text, environment)))

    @staticmethod
    def _default(text: str, environment: dict[str, str]) -> str:
        if saved := environment.get("saved_entry"):
            return saved
        # `set default="0"` behind the branch of next_entry.
        plain = re.findall(r"set default=\"?([^\"$\s]+)\"?", text)
        return plain[-1] if plain else "0"

    def _look(self) -> tuple[str, dict[str, str]]:
        lines = self.ask(PRELUDE + PLACE + LOOK).splitlines()
        if not any(line.startswith("found ") for line in lines):
            lack = "no grub-editenv" if "no grub-editenv" in lines else "no grub.cfg in /boot"
            raise TargetUnavailable(
                f"{self.host} has {lack}, so GRUB cannot be asked to boot something else; is "
                "another method meant?"
            )
        other = next((line[7:].strip() for line in lines if line.startswith("loader ")), "")
        if other and not other.upper().startswith("GRUB"):
            raise TargetUnavailable(
                f"{self.host} was started by {other} and not by GRUB, so nothing would read what "
                "grub-reboot(8) sets"
            )
        text = "\n".join(line[4:] for line in lines if line.startswith("cfg "))
        pairs = (line[4:].partition("=") for line in lines if line.startswith("env "))
        return text, {name: value for name, _, value in pairs}

    def check(self) -> Entry:
        text, environment = self._look()
        known = list(grub_menu.entries(text, self._default(text, environment)))
        if not known:
            raise TargetUnavailable(
                f"the grub.cfg of {self.host} has no menu entries (it may read those of "
                "/boot/loader/entries, as Fedora's does); this is not known to the method "
                '"grub", so use "kexec" or a "command"'
            )
        entry = find(known, self.boot.entry or "", self.host, self.name)
        if "next_entry" not in text:
            raise TargetUnavailable(
                f"the grub.cfg of {self.host} does not read next_entry, so it cannot boot an entry "
                "for once; have it written anew",
                f"ssh {self.host} sudo update-grub",
            )
        if not re.search(r"save_env\b.*\bnext_entry", text):
            raise TargetUnavailable(
                f"GRUB of {self.host} cannot write its environment block (its grub.cfg has no "
                "save_env next_entry, as where /boot is on LVM or Btrfs), so it would boot the "
                "entry for ever and not once"
            )
        if self.boot.cmdline and "custom.cfg" not in text:
            raise TargetUnavailable(
                f"the grub.cfg of {self.host} does not read custom.cfg, so no words can be added "
                "to an entry; have grub-mkconfig's script 41_custom write it"
            )
        return entry

    def arm(self, home: Running) -> str:
        entry = self.check()
        wanted, own = entry.id, ""
        if self.boot.cmdline:
            text, _ = self._look()
            (item,) = (
                i for i in grub_menu.items(text) if not i.is_submenu and i.full_id == entry.id
            )
            block = grub_menu.with_words(item, OWN, self.boot.cmdline)
            made = shlex.quote(f"{BEGIN}\n{block}\n{END}\n")
            own = f'printf %s {made} | $S tee -a "$G/custom.cfg" >/dev/null\n'
            wanted = OWN
        return (
            f"{PRELUDE}{PLACE}{REMOVE}{own}"
            f'$S "$E" "$G/grubenv" set next_entry={shlex.quote(wanted)} && sync\n'
        )

    def booted(self, running: Running, home: Running) -> str | None:
        text, environment = self._look()
        if not environment.get("next_entry"):
            return self._another(running, text, environment)
        self.ask(PRELUDE + self.DISARM)
        return (
            f"GRUB did not clear next_entry ({quoted(environment['next_entry'])}): it was not GRUB "
            "that booted, or it cannot write there; it is unset now"
        )

    def _another(self, running: Running, text: str, environment: dict[str, str]) -> str | None:
        """What shows that the kernel that runs is not the entry's: a kernel that panics and starts
        anew leads to the default entry, with no other sign of it.
        """
        known = list(grub_menu.entries(text, self._default(text, environment)))
        entry = find(known, self.boot.entry or "", self.host, self.name)
        lines = [item.linux() for item in grub_menu.items(text) if item.full_id == entry.id]
        _, kernel, *words = lines[0] if lines and lines[0] else ["", ""]
        present = running.cmdline.split()
        image = next((w for w in present if w.startswith(IMAGE)), None)
        if image is not None and _name(image) != _name(kernel) and PLAIN.fullmatch(kernel):
            return f'the entry "{entry.id}" loads {kernel}, and {image} is on the command line'
        missing = [word for word in words if PLAIN.fullmatch(word) and word not in present]
        if not missing:
            return None
        return (
            f'the entry "{entry.id}" has "{" ".join(missing)}", which is not on the command line '
            f"of the kernel that runs, {running.words()}: it may have panicked and started anew"
        )


def _name(path: str) -> str:
    """A file's name; the path may begin with a device or another file system's root."""
    return path.rpartition("/")[2]
