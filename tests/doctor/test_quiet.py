"""What would disturb a measurement, on planted machines; what is set is put back, always."""

from __future__ import annotations

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from pentathlon.doctor import quiet
from pentathlon.machine import sysfs
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.undo_journal import UndoJournal, leftovers, restore_leftovers
from pentathlon.protocol.requests.session import Request
from tests.targets.conftest import FakeSettings, FakeSystem, needs_root

LAST = sorted(os.sched_getaffinity(0))[-1]


def stat(busy: int, idle: int, steal: int) -> str:
    return f"cpu {busy} 0 0 {idle} 0 0 0 {steal} 0 0\n"


def plant(root: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A quiet machine with everything that can be set."""
    root = tmp_path / "machine"
    plant(
        root,
        {
            "proc/stat": stat(1000, 9000, 10),
            "proc/vmstat": "pgfault 7\npswpin 5\npswpout 6\n",
            "proc/loadavg": "0.01 0.02 0.03 1/100 1\n",
            "proc/1/comm": "init\n",
            "proc/7/comm": "bash\n",
            "proc/sys/kernel/randomize_va_space": "0\n",
            "dev/cpu_dma_latency": "",
            "proc/irq/9/smp_affinity_list": "0-7\n",
            "proc/irq/9/effective_affinity_list": "4000\n",
            "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never\n",
            f"{sysfs.CPUS}/cpu0/cpufreq/scaling_governor": "performance\n",
            f"{sysfs.CPUS}/cpu0/cpufreq/scaling_available_governors": "performance powersave\n",
            f"{sysfs.CPUS}/cpu1/cpufreq/scaling_governor": "performance\n",
            sysfs.NO_TURBO: "1\n",
        },
    )
    return root


def look(root: Path, after: str = stat(1001, 9199, 10)) -> dict[str, quiet.Finding]:
    """A check during which the machine's counters move on."""

    def sleep(seconds: float) -> None:
        (root / "proc/stat").write_text(after)

    found = quiet.check(root, sleep)
    assert all(one.group == "quiet" and one.detail for one in found)
    return {one.name: one for one in found}


def test_a_quiet_machine_is_quiet(machine: Path) -> None:
    assert [name for name, one in look(machine).items() if not one.works] == []


def test_a_machine_whose_cpus_cannot_be_kept_awake_is_named(machine: Path) -> None:
    device = machine / "dev/cpu_dma_latency"
    device.unlink()
    found = look(machine)
    assert [one for one in found if not found[one].works] == ["idle_states"]
    assert found["idle_states"].detail.endswith(f"because this kernel has no {device}")
    assert found["idle_states"].remedy is None
    device.mkdir()
    found = look(machine)
    assert found["idle_states"].detail.endswith(f"{device} cannot be written (Is a directory)")
    assert str(found["idle_states"].remedy).startswith("sudo setfacl")


def utmp(users: int) -> bytes:
    record = struct.pack("<h", quiet.USER_PROCESS).ljust(quiet.UTMP_RECORD, b"\0")
    return struct.pack("<h", 2).ljust(quiet.UTMP_RECORD, b"\0") + record * users


@pytest.mark.parametrize(
    ("name", "files"),
    [
        ("background cron", {"proc/8/comm": "cron\n"}),
        ("background irqbalance", {"proc/8/comm": "irqbalance\n"}),
        ("timers", {"proc/1/comm": "systemd\n"}),
        ("governor", {f"{sysfs.CPUS}/cpu1/cpufreq/scaling_governor": "powersave\n"}),
        ("turbo", {sysfs.NO_TURBO: "0\n"}),
        ("aslr", {"proc/sys/kernel/randomize_va_space": "2\n"}),
        (
            "transparent_hugepage",
            {"sys/kernel/mm/transparent_hugepage/enabled": "[always] madvise never\n"},
        ),
        ("irq_affinity", {"proc/irq/9/effective_affinity_list": f"{LAST}\n"}),
    ],
)
def test_each_planted_disturbance_is_found_alone(
    machine: Path, name: str, files: dict[str, str]
) -> None:
    plant(machine, files)
    found = look(machine)
    assert [one for one in found if not found[one].works] == [name]
    assert found[name].remedy or (name == "irq_affinity" and LAST == 0)


@pytest.mark.parametrize(
    ("name", "after"),
    [("load", stat(1100, 9100, 10)), ("neighbours", stat(1001, 9179, 30))],
)
def test_load_and_neighbours_are_told_apart(machine: Path, name: str, after: str) -> None:
    found = look(machine, after)
    assert [one for one in found if not found[one].works] == [name]


def glance(root: Path, after: str = stat(1001, 9199, 10)) -> list[str]:
    """What a run would report, while the machine's counters move on."""

    def sleep(seconds: float) -> None:
        assert seconds <= quiet.GLANCE_S
        (root / "proc/stat").write_text(after)

    return quiet.disturbances(root, sleep)


def test_a_run_on_a_quiet_machine_has_no_remark_and_no_pause(machine: Path) -> None:
    def sleep(seconds: float) -> None:
        raise AssertionError("nothing is waited for")

    assert quiet.disturbances(machine, sleep) == []
    plant(machine, {"proc/8/comm": "cron\n", "proc/loadavg": "odd\n"})
    assert quiet.disturbances(machine, sleep) == [], "cron is everywhere"


def test_a_load_that_is_over_is_no_remark(machine: Path) -> None:
    plant(machine, {"proc/loadavg": "9.10 2.00 1.00 1/100 1\n"})
    assert glance(machine) == []


def test_a_load_that_goes_on_is_one(machine: Path) -> None:
    plant(machine, {"proc/loadavg": "9.10 2.00 1.00 12/100 1\n", "proc/8/comm": "dpkg\n"})
    package, load = glance(machine, stat(1200, 9000, 10))
    assert load == "load: 100 % of all CPUs busy, average over a minute 9.10"
    assert package == "background dpkg: changes packages"


def test_other_users_are_counted(machine: Path) -> None:
    (machine / "run").mkdir()
    (machine / "run/utmp").write_bytes(utmp(1))
    assert look(machine)["users"].works
    (machine / "run/utmp").write_bytes(utmp(3))
    assert look(machine)["users"].detail.startswith("3 logged in")


def test_what_the_machine_lacks_is_unsupported_with_its_reason(tmp_path: Path) -> None:
    found = look_at_nothing(tmp_path)
    for name in ("governor", "turbo", "aslr", "transparent_hugepage", "irq_affinity"):
        assert found[name].detail.startswith("unsupported: ")
        assert found[name].remedy is None


def look_at_nothing(root: Path) -> dict[str, quiet.Finding]:
    return {one.name: one for one in quiet.check(root, lambda seconds: None)}


DISTURBED = {
    f"{sysfs.CPUS}/cpu0/cpufreq/scaling_governor": "powersave",
    f"{sysfs.CPUS}/cpu1/cpufreq/scaling_governor": "powersave",
    sysfs.NO_TURBO: "0",
    "proc/sys/kernel/randomize_va_space": "2",
    "proc/irq/9/smp_affinity_list": "0-7",
}


def values(root: Path) -> dict[str, str]:
    return {name: (root / name).read_text().strip() for name in DISTURBED}


def test_what_is_applied_stays_until_it_is_asked_back(machine: Path, state: Path) -> None:
    plant(machine, DISTURBED)
    notes = quiet.apply(state, machine)
    assert any(line.startswith("governor: set (2 files)") for line in notes)
    assert values(machine)[sysfs.NO_TURBO] == "1"
    assert values(machine)["proc/sys/kernel/randomize_va_space"] == "0"
    # Another session starts and ends meanwhile, and leaves it.
    UndoJournal(state).undo()
    assert values(machine)["proc/sys/kernel/randomize_va_space"] == "0"
    assert leftovers(state) == []
    notes = restore_leftovers(state, kept=True)
    assert any(line.startswith("put back: ") for line in notes)
    assert values(machine) == DISTURBED
    assert restore_leftovers(state, kept=True) == []


def test_a_quiet_machine_leaves_no_journal(machine: Path, state: Path) -> None:
    plant(machine, {"proc/irq/9/smp_affinity_list": ",".join(map(str, others())) or "0"})
    quiet.apply(state, machine)
    assert list((state / "undo").glob("*.jsonl")) == []


def others() -> list[int]:
    return sorted(os.sched_getaffinity(0))[:-1]


def test_a_call_that_is_killed_half_way_is_put_back_by_the_next_start(
    machine: Path, state: Path
) -> None:
    plant(machine, DISTURBED)
    code = """
import os, sys
from pathlib import Path
from pentathlon.doctor import quiet
first = quiet._apply_one
def killed(key, value, journal, root):
    if key == "aslr":
        os._exit(9)
    return first(key, value, journal, root)
quiet._apply_one = killed
quiet.apply(Path(sys.argv[1]), Path(sys.argv[2]))
"""
    command = [sys.executable, "-c", code, str(state), str(machine)]
    assert subprocess.run(command, check=False).returncode == 9
    assert values(machine)[f"{sysfs.CPUS}/cpu0/cpufreq/scaling_governor"] == "performance"
    UndoJournal(state).undo()
    assert values(machine) == DISTURBED


def test_a_file_that_refuses_is_said(machine: Path, state: Path) -> None:
    plant(machine, DISTURBED)
    file = machine / sysfs.NO_TURBO
    file.unlink()
    file.symlink_to("/proc/version")  # can be read, and written by nobody
    notes = quiet.apply(state, machine)
    assert any(line.startswith("turbo: not changed (") for line in notes), notes
    restore_leftovers(state, kept=True)


def test_a_value_that_the_machine_does_not_know_is_refused(machine: Path) -> None:
    with pytest.raises(TargetUnavailable, match="governors are performance, powersave, and not"):
        sysfs.writes("governor", "schedutil", machine)
    plant(machine, {f"{sysfs.CPUS}/cpufreq/boost": "1\n"})
    assert sysfs.writes("turbo", False, machine) == [(machine / sysfs.NO_TURBO, "1")]
    (machine / sysfs.NO_TURBO).unlink()
    [(file, value)] = sysfs.writes("turbo", False, machine)
    assert (file.name, value) == ("boost", "0")


@needs_root
def test_congestion_control_is_set_in_the_own_namespace_alone(
    real_agent: Path, state: Path
) -> None:
    from pentathlon.experiments.systems import make_target  # noqa: PLC0415  loads the targets

    file = Path("/proc/sys/net/ipv4/tcp_congestion_control")
    before = file.read_text()
    settings = FakeSettings({"tcp_congestion_control": "reno"})
    made = make_target(FakeSystem(target="netns", settings=settings), real_agent, state)
    try:
        made.prepare()
    except TargetUnavailable as error:
        pytest.skip(error.reason)
    assert made.settings_to_change() == []
    requested = Request(session="x", inventory=True, workloads=[])
    with made.boot(20) as session:
        first = next(iter(session.run(requested, 60, 60))).document
    assert first["system"]["network"]["congestion_control"] == "reno"
    assert file.read_text() == before
