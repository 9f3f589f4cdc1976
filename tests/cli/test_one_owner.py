"""Settings of the machine have one owner: two runs that change them are not run at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from pentathlon.machine.claims import Claims, lock_directory
from pentathlon.machine.cpus import AVAILABLE
from pentathlon.machine.whole_machine import RIGHT, everything
from tests.cli.conftest import FAKE, STUDY, Shop
from tests.targets.conftest import needs_root

pytestmark = pytest.mark.slow

SWAPPINESS = Path("/proc/sys/vm/swappiness")
FIRST, LAST = min(AVAILABLE), max(AVAILABLE)

WITH_FILE = """
import sys
from pentathlon.machine import sysfs
sysfs.SINGLE["swappiness"] = sys.argv.pop(1)
from pentathlon.cli.start import main
main()
"""
"""The command, with another file for the setting."""


def study(name: str, value: int, cpu: int) -> str:
    text = STUDY.replace('name = "two"', f'name = "{name}"').replace("cpus = [0]", "")
    return text.replace(
        'target = "local"',
        f'target = "local"\ncpus = [{cpu}]\nsettings = {{ swappiness = {value} }}',
    )


PLAIN = STUDY.replace("cpus = [0]", "").replace(
    'target = "local"', f'target = "local"\ncpus = [{LAST}]'
)
"""A study that changes nothing."""


class Machine:
    """A setting, and runs that change it; every boot notes what it reads, and waits for `go`."""

    def __init__(self, shop: Shop, setting: Path) -> None:
        self.shop = shop
        self.setting = setting
        self.started: list[subprocess.Popen[str]] = []

    def start(self, name: str, value: int, cpu: int, *words: str) -> subprocess.Popen[str]:
        directory = self.shop.directory / name
        directory.mkdir()
        (directory / "study.toml").write_text(study(name, value, cpu))
        agent = directory / "agent"
        agent.write_text(
            f'#!/bin/sh\nif [ "$1" = run ]; then echo $(cat {self.setting}) >>{directory}/read\n'
            f"while [ ! -e {directory}/go ]; do sleep 0.02; done; fi\n"
            f'exec {sys.executable} {FAKE} "$@"\n'
        )
        agent.chmod(0o755)
        process = subprocess.Popen(
            [
                *[sys.executable, "-c", WITH_FILE, str(self.setting)],
                *["run", "study.toml", "--no-pilot", "--no-report", "--out", "result", *words],
            ],
            cwd=directory,
            env={**self.shop.variables(), "PENTATHLON_AGENT": str(agent)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self.started.append(process)
        return process

    def measuring(self, name: str, value: int, cpu: int) -> subprocess.Popen[str]:
        """Start a run, and wait until its first system is there."""
        process = self.start(name, value, cpu)
        while not (self.shop.directory / name / "read").exists():
            assert process.poll() is None, "it ended before it measured"
            time.sleep(0.02)
        return process

    def go(self, name: str) -> None:
        (self.shop.directory / name / "go").touch()

    def read(self, name: str) -> set[str]:
        """The values that the boots of a run had."""
        return set((self.shop.directory / name / "read").read_text().split())

    def one_after_the_other(self) -> None:
        """Two runs that want different values, both at once."""
        before = self.setting.read_text()
        first = self.measuring("first", 11, FIRST)
        second = self.start("second", 33, LAST, "--wait")
        assert second.stderr is not None
        output = second.stderr.readline()
        assert 'by the run of study "first"' in output and "waiting for its end" in output
        assert not (self.shop.directory / "second" / "read").exists()
        self.go("second")
        self.go("first")
        for process in (first, second):
            _, err = process.communicate(timeout=60)
            assert process.returncode == 0, err
        assert self.read("first") == {"11"} and self.read("second") == {"33"}
        assert self.setting.read_text().strip() == before.strip()


def made(shop: Shop, setting: Path) -> Iterator[Machine]:
    machine = Machine(shop, setting)
    yield machine
    for process in machine.started:
        if process.poll() is None:
            process.terminate()
            process.communicate(timeout=60)


@pytest.fixture
def machine(shop: Shop) -> Iterator[Machine]:
    setting = shop.directory / "swappiness"
    setting.write_text("60")
    yield from made(shop, setting)


@pytest.fixture
def kernel(shop: Shop) -> Iterator[Machine]:
    """The real setting."""
    if not os.access(SWAPPINESS, os.W_OK):
        pytest.skip("this user may not change the swappiness of this machine")
    # Tests of another checkout may be run on this machine at the same time.
    with Claims(Path(tempfile.gettempdir()), waiting=print) as claims:
        claims.take("tests", ["swappiness"])
        before = SWAPPINESS.read_text()
        yield from made(shop, SWAPPINESS)
        SWAPPINESS.write_text(before)


def test_the_second_run_is_refused_and_the_first_one_named(machine: Machine) -> None:
    first = machine.measuring("first", 11, FIRST)
    second = machine.start("second", 33, LAST)
    machine.go("second")
    _, err = second.communicate(timeout=60)
    assert second.returncode == 3 and len(err.strip().splitlines()) == 1, err
    result = machine.shop.directory / "first" / "result"
    assert f'by the run of study "first" (process {first.pid}, {result})' in err
    assert "the right to change this machine's settings is taken" in err
    assert not (machine.shop.directory / "second" / "result").exists()
    machine.go("first")
    _, err = first.communicate(timeout=60)
    assert first.returncode == 0, err
    assert machine.read("first") == {"11"} and machine.setting.read_text() == "60"


def test_the_second_run_waits_and_each_has_its_own_value(machine: Machine) -> None:
    machine.one_after_the_other()


@needs_root
def test_a_real_setting_of_the_kernel(kernel: Machine) -> None:
    kernel.one_after_the_other()


@needs_root
def test_a_killed_owner_owns_nothing(kernel: Machine) -> None:
    machine, before = kernel, kernel.setting.read_text()
    first = machine.measuring("first", 11, FIRST)
    first.send_signal(signal.SIGKILL)
    first.communicate()
    second = machine.start("second", 33, LAST)
    machine.go("second")
    _, err = second.communicate(timeout=60)
    assert second.returncode == 0, err
    assert machine.read("second") == {"33"} and machine.setting.read_text() == before


def test_a_run_that_changes_nothing_is_not_run_under_the_settings_of_another(
    machine: Machine,
) -> None:
    machine.measuring("first", 11, FIRST)
    done = machine.shop.call("run", machine.shop.write(PLAIN), "--no-pilot", "--no-report")
    assert done.code == 3 and 'study "first"' in done.err, done.err
    assert "that run may change settings of the whole machine" in done.err


def test_settings_are_not_changed_under_a_run_that_changes_nothing(machine: Machine) -> None:
    with Claims() as claims:
        claims.take("a plain study", [f"CPU {FIRST}"])
        second = machine.start("second", 33, LAST)
        machine.go("second")
        _, err = second.communicate(timeout=60)
    assert second.returncode == 3 and 'study "a plain study"' in err
    assert "this run may change settings of the whole machine" in err
    assert machine.setting.read_text() == "60"


CHANGE = """
import os, sys
from pathlib import Path
from pentathlon.machine import restore, undo_journal
journal = undo_journal.UndoJournal(Path(sys.argv[1]))
setting = Path(sys.argv[2])
journal.note(restore.setting(setting, restore.current(setting), "77"))
setting.write_text("77")
if sys.argv[3] == "keep":
    journal.keep()
os._exit(9)
"""


def change(machine: Machine, how: str) -> str:
    """Change the setting, by a program that ends at once; what it was before."""
    before = machine.setting.read_text()
    state = machine.shop.directory / "state" / "pentathlon"
    command = [sys.executable, "-c", CHANGE, str(state), str(machine.setting), how]
    assert subprocess.run(command, check=False).returncode == 9
    assert machine.setting.read_text().strip() == "77"
    return before


@needs_root
def test_nothing_is_put_back_under_a_run(kernel: Machine) -> None:
    before = change(kernel, "keep")
    with Claims() as claims:
        claims.take("living", [f"CPU {LAST}"])
        done = kernel.shop.call("doctor", "--restore")
        assert done.code == 3 and kernel.setting.read_text().strip() == "77"
        assert 'by the run of study "living"' in done.err
        assert "nothing was put back" in done.err and len(done.err.splitlines()) == 1
        done = kernel.shop.call("doctor", "--quiet-check", "--apply")
        assert done.code == 3 and "nothing was changed" in done.err
    done = kernel.shop.call("doctor", "--restore")
    assert done.code == 0 and kernel.setting.read_text() == before, done.err


@needs_root
def test_what_a_crash_left_is_not_put_back_under_a_run(kernel: Machine) -> None:
    before = change(kernel, "crash")
    file = kernel.shop.write(PLAIN)
    with Claims() as claims:
        claims.take("living", [f"CPU {FIRST}" if FIRST != LAST else RIGHT])
        done = kernel.shop.call("run", file, "--no-pilot", "--no-report")
        assert done.code == 3 and 'study "living"' in done.err, done.err
        assert kernel.setting.read_text().strip() == "77"
    done = kernel.shop.call("run", file, "--no-pilot", "--no-report")
    assert done.code == 0 and kernel.setting.read_text() == before, done.err


def test_the_whole_machine_is_every_cpu_that_there_is(tmp_path: Path) -> None:
    present = tmp_path / "present"
    present.write_text("4000-4002,4010\n")
    found = everything(present)
    assert {f"CPU {cpu}" for cpu in (4000, 4001, 4002, 4010, *AVAILABLE)} < found
    assert len(found) == 5 + len(AVAILABLE)
    with Claims() as claims:
        claims.take("owner", found)
        parts = [json.loads(file.read_text()) for file in lock_directory().iterdir()]
        assert {"study": "owner", "pid": os.getpid(), "whole": True} in parts
