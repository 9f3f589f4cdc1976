"""Whether a machine is left in its default entry, whenever the experimenter is killed.

    python benches/killed_boots.py [KILLS] [--guest DIRECTORY] [--whole SECONDS] [--no-power]

A run boots a machine into one entry of GRUB, into another one (a machine that really reboots only
into the first), and leads it back. It is killed by SIGKILL at KILLS moments (default 20) that are
spread evenly over the time of a run that is let end, or over --whole seconds, in an order in which
the first few are spread over it too, as a machine that really reboots takes minutes for each.
After each, `doctor --restore` is what a user would call; then the machine must run its default
entry, GRUB must have no entry for the next start, its custom.cfg must be gone, and no undo journal
may be left. Prints for each moment what had been booted by then and what was put back, and at the
end how many machines were left in their default entry.

The machine is played: a real sshd(8) and GRUB's real environment block, in a mount namespace (root
and Debian's grub-common). With --guest it is the virtual machine that scripts/rebooting-guest has
started, which really reboots, at about a minute a boot. It is named with its power controller, as
in examples/two-kernels-one-machine.toml, and how often it was needed is printed; --no-power leaves
it out.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Protocol

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pentathlon.machine.errors import TargetError
from pentathlon.targets.ssh.boots import stay
from pentathlon.targets.ssh.boots.stay import restore_machines
from pentathlon.targets.ssh.client import Address
from tests.targets.bench_machine import DEFAULT, NEW, OLD, BenchMachine

RUN = """
import sys
from pathlib import Path
from pentathlon.study.boot import Boot, Power
from pentathlon.targets.ssh.boots.into import Boots
from pentathlon.targets.ssh.boots.stay import Machine, end_stay
from pentathlon.targets.ssh.client import Address
state = Path({state!r})
power = Power(controller="command", command={power!r}) if {power!r} else None
machine = Machine(Address({host!r}, config={config!r}), "reboot", "", power)
for entry in {entries!r}:
    boot = Boot(method="grub", entry=entry, cmdline="audit=0")
    print("booted", Boots(machine, boot, state).into({limit_s}).release, flush=True)
end_stay(machine, state, {limit_s})
print("led back", flush=True)
"""

LEFT = """
grub-editenv "$1" list | sed -n 's/^next_entry=\\(.\\)/next_entry is \\1/p'
if [ -s "$2" ]; then echo "$2 is left"; fi
uname -r
"""


class Machine(Protocol):
    """A machine to kill runs on."""

    address: Address
    entries: tuple[str, ...]
    limit_s: float
    power: str
    """Command that switches it off and on, or ""."""

    def cycles(self) -> int:
        """How often it was switched off and on since the last call."""
        ...

    def faults(self) -> list[str]:
        """What is not as it was before the first run, in words."""
        ...


class Played:
    """The machine of the tests."""

    entries: tuple[str, ...] = (OLD, NEW)
    limit_s = 20.0
    power = ""

    def __init__(self, directory: Path) -> None:
        self._bench = BenchMachine(directory)
        self._bench.start()
        self.address = self._bench.address

    def cycles(self) -> int:
        return 0

    def faults(self) -> list[str]:
        self._bench.idle()
        found = []
        if self._bench.booted[-1] != DEFAULT:
            found.append(f"it runs {self._bench.booted[-1]}")
        if self._bench.next_entry:
            found.append(f"next_entry is {self._bench.next_entry}")
        if (self._bench.grub / "custom.cfg").exists():
            found.append("custom.cfg is left")
        return found

    def end(self) -> None:
        self._bench.end()


class Guest:
    """The virtual machine that really reboots."""

    limit_s = 400.0

    def __init__(self, directory: Path, log: Path, *, powered: bool) -> None:
        self._log = log
        script = Path(__file__).resolve().parent.parent / "scripts" / "rebooting-guest"
        words = shlex.join(["bash", str(script), "power", "cycle", str(directory)])
        self.power = f"echo >>{log} && {words}" if powered else ""
        self.address = Address("guest", config=str(directory / "ssh.conf"))
        self._default = self._ask()[-1]
        listed = subprocess.run(
            [sys.executable, "-m", "pentathlon", "boots", "guest", "--config",
             str(directory / "ssh.conf")],
            check=True, capture_output=True, text=True,
        ).stdout  # fmt: skip
        wanted = ("gnulinux-5.10*",)
        assert all(one.rstrip("*") in listed for one in wanted), listed
        self.entries = wanted

    def cycles(self) -> int:
        count = len(self._log.read_bytes()) if self._log.exists() else 0
        self._log.unlink(missing_ok=True)
        return count

    def _ask(self) -> list[str]:
        script = LEFT.replace('"$1"', "$(ls /boot/grub/grubenv /efi/grub/grubenv 2>/dev/null)")
        return self.address.ask(script.replace("$2", "/boot/grub/custom.cfg")).splitlines()

    def faults(self) -> list[str]:
        *found, release = self._ask()
        if release != self._default:
            found.append(f"it runs {release}")
        return found

    def end(self) -> None:
        """It is left running."""


def run(machine: Machine, state: Path) -> subprocess.Popen[str]:
    script = RUN.format(
        state=str(state), host=machine.address.host, config=machine.address.config,
        entries=machine.entries, limit_s=machine.limit_s, power=machine.power,
    )  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)], stdout=subprocess.PIPE, text=True
    )


def moments(count: int, whole_s: float) -> list[float]:
    """The middles of equal parts of a run, each far from those before it (by the golden ratio)."""
    middles = [whole_s * (number + 0.5) / count for number in range(count)]
    order = sorted(range(count), key=lambda number: (number * 0.6180339887498949) % 1.0)
    # `order` is a permutation; its inverse visits the middles in the sequence of the ratio.
    ranks = sorted(range(count), key=order.__getitem__)
    return [middles[rank] for rank in ranks]


def killed(machine: Machine, state: Path, after_s: float) -> tuple[list[str], list[str], list[str]]:
    """Kill a run after a time and restore the machine: what the run printed, what was put back, and
    why it could not be put back at once."""
    with run(machine, state) as running:
        try:
            running.wait(after_s)
        except subprocess.TimeoutExpired:
            running.kill()
        assert running.stdout is not None
        printed = running.stdout.read().splitlines()
    faults: list[str] = []
    sentences: list[str] = []
    for number in ("first", "second"):
        try:
            sentences = restore_machines(state, timeout_s=machine.limit_s)
            break
        except TargetError as error:
            faults.append(f"the {number} restore failed: {error}")
    stay._stays.clear()
    return printed, sentences, faults


def left(machine: Machine, state: Path) -> list[str]:
    """What is not as it was before the first run, in words."""
    try:
        faults = machine.faults()
    except TargetError as error:
        faults = [str(error)]
    if list((state / "undo").glob("*.jsonl")):
        faults.append("an undo journal is left")
    return faults


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kills", nargs="?", type=int, default=20)
    parser.add_argument("--guest", type=Path)
    parser.add_argument("--whole", type=float, metavar="SECONDS")
    parser.add_argument("--no-power", action="store_true")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="kill-") as place:
        state = Path(place) / "state"
        machine: Machine
        if chosen.guest:
            log = Path(place) / "cycles"
            machine = Guest(chosen.guest.absolute(), log, powered=not chosen.no_power)
        else:
            machine = Played(Path(place) / "bench")
        try:
            whole_s = chosen.whole
            if whole_s is None:
                began = time.monotonic()
                printed, _, _ = killed(machine, state, 3 * machine.limit_s)
                whole_s = time.monotonic() - began
                print(
                    f"a whole run: {whole_s:.1f} s; {'; '.join(printed)}; {left(machine, state)}",
                    flush=True,
                )
            counts = [0, 0, 0]
            for after_s in moments(chosen.kills, whole_s):
                printed, sentences, failed = killed(machine, state, after_s)
                faults = left(machine, state)
                counts[2 if faults else len(failed)] += 1
                cycles = machine.cycles()
                restored_by = f" (switched off and on: {cycles})" if cycles else ""
                faults = failed + faults
                words = "; ".join(printed) or "nothing booted"
                restored = "; ".join(sentences) or "nothing to put back"
                print(
                    f"killed after {after_s:6.2f} s: {words}: {restored}{restored_by}"
                    f"{faults or ''}",
                    flush=True,
                )
        finally:
            machine.end()
    first, second, never = counts
    print(
        f"{first} of {chosen.kills} machines left in their default entry by the first restore, "
        f"{second} by a second one, {never} not"
    )
    return 0 if first == chosen.kills else 1


if __name__ == "__main__":
    sys.exit(main())
