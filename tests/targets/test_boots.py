"""What another machine boots: chosen by GRUB, verified, and the way back, also after a crash."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon.machine import undo_journal
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.study.boot import Boot, Power
from pentathlon.targets.ssh.boots import stay
from pentathlon.targets.ssh.boots.into import Boots
from pentathlon.targets.ssh.boots.stay import Machine, end_stay, restore_machines
from pentathlon.targets.ssh.client import Address
from tests.targets.bench_machine import DEFAULT, NEW, OLD, BenchMachine, started
from tests.targets.conftest import needs_root

pytestmark = [pytest.mark.system, needs_root]

BOOT_S = 20.0
SHORT_S = 3.0


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[BenchMachine]:
    with started(tmp_path) as made:
        yield made
    stay._stays.clear()


def boots(bench: BenchMachine, state: Path, entry: str, **more: Any) -> Boots:
    power = more.pop("power", None)
    boot = Boot(method="grub", entry=entry, **more)
    return Boots(Machine(bench.address, "reboot", "", power), boot, state)


def test_an_entry_boots_once_and_the_machine_is_left_in_its_default(
    bench: BenchMachine, state: Path
) -> None:
    old = boots(bench, state, "gnulinux-5.10.0-3-amd64-advanced-6d0c", expect={"release": "5.10.*"})
    assert old.check().id == OLD
    now = old.into(BOOT_S)
    assert now.release == "5.10.0-3-amd64"
    assert bench.next_entry == "", "every later start boots the default"
    new = boots(bench, state, "Debian GNU/Linux, with Linux 6.1.0-9-amd64")
    assert new.into(BOOT_S).release == "6.1.0-9-amd64"
    assert [*undo_journal.leftovers(state)] == [], "this process owns its journal"
    assert end_stay(old.machine, state, BOOT_S) is None
    assert bench.booted == [DEFAULT, OLD, NEW, DEFAULT]
    assert "saved_entry=" + DEFAULT in bench.environment("list")
    assert not list((state / "undo").glob("*.jsonl"))
    assert end_stay(new.machine, state, BOOT_S) is None, "it may be called again"
    assert len(bench.booted) == 4


def test_words_are_added_by_an_entry_that_is_removed_again(
    bench: BenchMachine, state: Path
) -> None:
    (bench.grub / "custom.cfg").write_text("# mine\n")
    made = boots(bench, state, OLD, cmdline="mitigations=off isolcpus=1")
    now = made.into(BOOT_S)
    assert now.release == "5.10.0-3-amd64"
    assert now.cmdline.endswith("ro quiet mitigations=off isolcpus=1")
    end_stay(made.machine, state, BOOT_S)
    assert (bench.grub / "custom.cfg").read_text() == "# mine\n"


def test_another_default_kernel_than_before_is_stated(bench: BenchMachine, state: Path) -> None:
    made = boots(bench, state, OLD)
    made.into(BOOT_S)
    bench.swapped = {"6.1.0-9-amd64": "6.1.0-10-amd64"}
    changed = end_stay(made.machine, state, BOOT_S)
    assert changed is not None
    assert "is back in its default entry, with release 6.1.0-10-amd64" in changed
    assert "before the study it ran release 6.1.0-9-amd64" in changed


def test_another_kernel_is_one_sentence(bench: BenchMachine, state: Path) -> None:
    bench.swapped = {"5.10.0-3-amd64": "6.1.0-9-amd64"}
    made = boots(bench, state, OLD, expect={"release": "5.10.*", "cmdline": "quiet"})
    with pytest.raises(TargetError) as raised:
        made.into(BOOT_S)
    text = str(raised.value)
    assert f'bench booted another kernel than the one asked for (grub, "{OLD}")' in text
    assert 'expected release "5.10.*"; found release "6.1.0-9-amd64"' in text
    assert f"GRUB's next_entry is unset, its saved_entry {DEFAULT}" in text
    assert "\n" not in text


def test_a_panic_is_noticed_by_what_came_up_instead(bench: BenchMachine, state: Path) -> None:
    made = boots(bench, state, "panics", expect={"cmdline": "panic=10"})
    with pytest.raises(TargetError, match='expected "panic=10" on the command line; found rel'):
        made.into(BOOT_S)
    assert bench.booted[1:] == ["gnulinux-advanced-6d0c>panics", DEFAULT]


def test_a_panic_is_noticed_where_nothing_is_expected(bench: BenchMachine, state: Path) -> None:
    """The kernel of the default entry has the same release: only the command lines differ."""
    with pytest.raises(TargetError) as raised:
        boots(bench, state, "panics").into(BOOT_S)
    text = str(raised.value)
    assert 'has "root=LABEL=NOWHERE panic=10", which is not on the command line' in text
    assert "it may have panicked and started anew" in text and "\n" not in text
    bench.swapped = {"5.10.0-3-amd64": "5.10.0-4-amd64"}
    with pytest.raises(TargetError, match=r"loads /boot/vmlinuz-5.10.0-3-amd64, and BOOT_IMAGE="):
        boots(bench, state, OLD).into(BOOT_S)


def test_a_machine_that_hangs_is_switched_off_and_on(bench: BenchMachine, state: Path) -> None:
    done = bench.directory / "cycled"
    power = Power(
        controller="command",
        command=f"echo $PENTATHLON_HOST >{done}; touch {bench.directory}/restart",
    )
    made = boots(bench, state, "hangs", power=power)
    with pytest.raises(TargetError) as raised:
        made.into(SHORT_S)
    assert done.read_text() == "bench\n"
    assert "did not come back within 3 s" in str(raised.value)
    assert "to make it work" not in str(raised.value), "only the machine itself can"
    assert "switched off and on, and is in its default entry again" in str(raised.value)
    # The next system of the study finds it there.
    assert boots(bench, state, OLD).into(BOOT_S).release == "5.10.0-3-amd64"


def test_a_machine_whose_loader_still_has_the_entry_is_switched_once_more(
    bench: BenchMachine, state: Path
) -> None:
    """It was switched off while it still shut down, so GRUB boots the hanging entry only then."""
    done, hangs = bench.directory / "cycled", "gnulinux-advanced-6d0c>hangs"
    again = f"grub-editenv {bench.grub}/grubenv set 'next_entry={hangs}'"
    power = Power(
        controller="command",
        command=f"[ -e {done} ] || {again}; echo >>{done}; touch {bench.directory}/restart",
    )
    with pytest.raises(TargetError, match="is in its default entry again"):
        boots(bench, state, "hangs", power=power).into(SHORT_S)
    assert done.read_text() == "\n\n"
    assert bench.booted[1:] == [hangs, hangs, DEFAULT]


def test_without_a_controller_a_machine_that_hangs_is_left(
    bench: BenchMachine, state: Path
) -> None:
    made = boots(bench, state, "hangs")
    with pytest.raises(TargetError, match="no power controller of bench is named"):
        made.into(SHORT_S)
    with pytest.raises(TargetError, match="no power controller of bench is named"):
        end_stay(made.machine, state, 1.0)
    assert list((state / "undo").glob("*.jsonl")), "the journal still has it"


def test_a_grub_that_cannot_forget_is_called_so(bench: BenchMachine, state: Path) -> None:
    bench.forgetful = True
    made = boots(bench, state, OLD)
    with pytest.raises(TargetError, match="GRUB did not clear next_entry"):
        made.into(BOOT_S)
    assert bench.next_entry == "", "so that the default boots next"


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        (
            "gnulinux-5.10.0-3-amd64-advanced-6d0d",
            'did you mean "gnulinux-advanced-6d0c>gnulinux-5',
        ),
        ("gnulinux-advanced-6d0c", "has no entry"),
    ],
)
def test_an_entry_that_is_not_there(
    bench: BenchMachine, state: Path, entry: str, words: str
) -> None:
    with pytest.raises(TargetUnavailable) as raised:
        boots(bench, state, entry).check()
    assert words in raised.value.reason
    assert bench.booted == [DEFAULT]


def test_a_grub_that_does_not_boot_for_once(bench: BenchMachine, state: Path) -> None:
    text = (bench.grub / "grub.cfg").read_text()
    (bench.grub / "grub.cfg").write_text(text.replace("save_env next_entry", "true"))
    with pytest.raises(TargetUnavailable, match="for ever and not once"):
        boots(bench, state, OLD).check()


CRASH = """
import sys
from pathlib import Path
from pentathlon.study.boot import Boot
from pentathlon.targets.ssh.boots.into import Boots
from pentathlon.targets.ssh.boots.stay import Machine
from pentathlon.targets.ssh.client import Address
machine = Machine(Address("bench", config={config!r}), "reboot")
print("begins", flush=True)
Boots(machine, Boot(method="grub", entry={entry!r}), Path({state!r})).into(20.0)
print("booted", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("moment", ["booted", 0.3, 0.9])
def test_after_kill_9_the_next_start_leads_back(
    bench: BenchMachine, state: Path, moment: str | float
) -> None:
    script = CRASH.format(config=bench.address.config, entry=OLD, state=str(state))
    run = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    with run:
        assert run.stdout is not None
        run.stdout.readline()
        if moment == "booted":
            assert run.stdout.readline() == "booted\n"
        else:
            with pytest.raises(subprocess.TimeoutExpired):
                run.wait(moment)
        os.kill(run.pid, signal.SIGKILL)
    bench.idle()
    sentences = restore_machines(state, timeout_s=BOOT_S)
    if sentences:
        assert "put back after a crash: bench is in its default entry (6.1.0-9-amd64)" in sentences
    assert bench.booted[-1] == DEFAULT and bench.next_entry == ""
    if moment == "booted":
        assert bench.booted == [DEFAULT, OLD, DEFAULT] and sentences
    assert not list((state / "undo").glob("*.jsonl"))
    assert restore_machines(state) == []


def test_a_restart_that_has_begun_is_waited_for(bench: BenchMachine, state: Path) -> None:
    """A run that is killed just after its order leaves a machine that answers, and goes down."""
    machine = Machine(bench.address, "reboot")
    home = machine.running().boot_id
    bench.environment("set", f"next_entry={OLD}")
    bench.lingers = True
    machine.restart("reboot")
    while (bench.directory / "restart").exists():
        time.sleep(0.02)
    now = stay.way_back(machine, home, BOOT_S)
    assert bench.booted == [DEFAULT, DEFAULT]
    # The server that answered may be the one of the boot before, which ends only now.
    bench.idle()
    assert machine.wait(None, time.monotonic() + BOOT_S) == now and now.boot_id != home
    assert bench.next_entry == ""


@pytest.mark.parametrize("breaks", [True, False])
def test_a_machine_that_restarts_before_it_is_disarmed_is_led_back(
    bench: BenchMachine, monkeypatch: pytest.MonkeyPatch, breaks: bool
) -> None:
    """The connection that disarms it breaks, or comes up only in the chosen entry."""
    machine = Machine(bench.address, "reboot")
    home = machine.running().boot_id
    bench.environment("set", f"next_entry={OLD}")
    ask = Address.ask

    def restarts(address: Address, script: str, timeout_s: float = 30.0) -> str:
        if stay.STOPPING in script and len(bench.booted) == 1:
            bench.power_off()
            bench.power_on()
            if breaks:
                raise TargetUnavailable("bench cannot be reached with ssh: Connection closed")
        return ask(address, script, timeout_s)

    monkeypatch.setattr(Address, "ask", restarts)
    now = stay.way_back(machine, home, BOOT_S)
    assert bench.booted == [DEFAULT, OLD, DEFAULT] and bench.next_entry == ""
    assert now.release == "6.1.0-9-amd64"


def test_a_machine_that_hung_before_its_loader_is_led_back_after_it_was_switched(
    bench: BenchMachine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """GRUB takes the choice only when it is switched on, so that it runs the chosen entry."""
    power = Power(controller="command", command=f"touch {bench.directory}/restart")
    machine = Machine(bench.address, "reboot", "", power)
    home = machine.running().boot_id
    bench.environment("set", f"next_entry={OLD}")
    bench.power_off()
    monkeypatch.setattr(stay, "_half", lambda deadline: 0.0)
    now = stay.way_back(machine, home, BOOT_S)
    assert bench.booted[:3] == [DEFAULT, OLD, DEFAULT] and bench.next_entry == ""
    assert now.release == "6.1.0-9-amd64"


def test_a_machine_that_is_away_keeps_nobody_else_from_starting(state: Path) -> None:
    machine = Machine(stay.Address("nowhere.invalid"))
    left = undo_journal.UndoJournal(state)
    left.note(stay.restore.booted(machine.record(), "x"))
    os.close(left._file or -1)
    other = undo_journal.UndoJournal(state)
    other.undo()
    (one,) = undo_journal.away(state)
    assert Machine.of_record(one.changes[0]) == machine
    one.path.unlink()
