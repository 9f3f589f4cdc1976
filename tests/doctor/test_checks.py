"""What works here, why not, and the command that helps."""

import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from pentathlon.doctor import checks, probes
from pentathlon.machine import cache, restore
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.protocol import agent
from pentathlon.targets.gvisor import doctor as gvisor_doctor
from pentathlon.targets.gvisor import runsc
from pentathlon.targets.plain import PlainSystem
from pentathlon.targets.qemu import doctor as qemu_doctor
from pentathlon.targets.uml import doctor as uml_doctor
from pentathlon.targets.uml import fetch, kernels
from pentathlon.targets.wine import prefix
from pentathlon.targets.wine import program as wine
from tests.targets.conftest import needs_root


def by_name(findings: list[probes.Finding]) -> dict[str, probes.Finding]:
    found = {finding.name: finding for finding in findings}
    assert len(found) == len(findings)
    return found


@pytest.fixture
def empty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine on which nothing has been fetched or installed."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(runsc, "on_path", lambda program: None)
    monkeypatch.setattr(kernels, "on_path", lambda program: None)


@pytest.mark.usefixtures("empty")
def test_what_is_missing_names_the_command(real_agent: Path, state: Path) -> None:
    found = by_name(checks.diagnose(quick=True, state_dir=state))
    assert found["pentathlon-agent"].works
    assert found["local"].works
    for name in (*(f"uml {series}" for series in kernels.SUITES), "gvisor"):
        assert not found[name].works
        assert found[name].remedy == "pentathlon doctor --install"


def test_every_failure_has_a_reason(state: Path) -> None:
    for finding in checks.diagnose(quick=True, state_dir=state):
        assert finding.detail.strip()
        assert finding.works or finding.remedy or finding.name.startswith("hardware")


def test_a_machine_without_tc_has_a_finding_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    def lacking() -> None:
        raise TargetUnavailable("the program tc is not installed", "sudo apt-get install iproute2")

    monkeypatch.setattr(probes, "netem_lacking", lacking)
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    found = by_name(list(probes.helpers()))["links by netem"]
    assert not found.works and found.remedy == "sudo apt-get install iproute2"


def test_without_an_agent_no_target_works(state: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(agent.VARIABLE, "/nowhere/agent")
    found = checks.diagnose(quick=True, state_dir=state)
    assert not [f.name for f in found if f.group == "target" and f.works]
    assert "/nowhere/agent" in by_name(found)["pentathlon-agent"].detail


@pytest.mark.usefixtures("empty")
def test_a_trial_boot_is_a_real_one(real_agent: Path, scripted: Path, state: Path) -> None:
    trial = PlainSystem("local", "local")
    good = checks._target(trial, real_agent, quick=False, state=state)
    assert good.works
    assert "booted in" in good.detail
    # The scripted agent knows no empty request, and dies of it.
    bad = checks._target(trial, scripted, quick=False, state=state)
    assert not bad.works
    assert 'before "done"' in bad.detail


@needs_root
def test_leftovers_are_listed_and_not_touched(state: Path, tmp_path: Path) -> None:
    value = tmp_path / "value"
    value.write_text("old")
    code = """
import os, sys
from pathlib import Path
from pentathlon.machine import restore
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.targets.wine import prefix
from pentathlon.targets.wine import program as wine
value = Path(sys.argv[2])
UndoJournal(Path(sys.argv[1])).note(restore.setting(value, "old", "new"))
value.write_text("new")
os._exit(9)
"""
    subprocess.run([sys.executable, "-c", code, str(state), str(value)], check=False)
    found = [f for f in checks.diagnose(quick=True, state_dir=state) if f.group == "leftover"]
    assert [(f.works, str(value) in f.name) for f in found] == [(False, True)]
    assert value.read_text() == "new"
    UndoJournal(state).undo()
    assert value.read_text() == "old"


def test_installing_goes_on_after_a_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own-state"))
    requests: list[str] = []

    def broken(series: str, log: object) -> kernels.Kernel:
        requests.append(series)
        if series == "6.1":
            raise TargetUnavailable("no mirror", "set one")
        if series == "6.12":
            raise TargetError("the download failed")
        return kernels.Kernel("1.2.3", Path("/k"), "0")

    monkeypatch.setattr(fetch, "fetch", broken)
    monkeypatch.setattr(fetch, "present", lambda series: None)
    done = by_name(checks.install(lambda line: None, only=["uml 6.1", "uml 6.12", "uml newest"]))
    assert sorted(requests) == ["6.1", "6.12", "newest"]
    assert list(done) == ["uml 6.1", "uml 6.12", "uml newest"]
    assert (done["uml 6.1"].works, done["uml 6.1"].remedy) == (False, "set one")
    assert (done["uml 6.12"].works, done["uml 6.12"].detail) == (False, "the download failed")
    assert done["uml newest"].works


def test_kernels_are_fetched_side_by_side(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own-state"))
    both = threading.Barrier(2)

    def slow(series: str, log: object) -> kernels.Kernel:
        with cache.locked(tmp_path, series):
            both.wait(60)  # One after the other would wait for ever.
        return kernels.Kernel("1.2.3", Path("/k"), "0")

    monkeypatch.setattr(fetch, "fetch", slow)
    monkeypatch.setattr(fetch, "present", lambda series: None)
    found = checks.install(lambda line: None, only=["uml 6.1", "uml newest"])
    assert [one.works for one in found] == [True, True]


def test_what_is_there_is_not_fetched_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own-state"))
    monkeypatch.setattr(fetch, "present", lambda series: kernels.Kernel("6.1.1", Path("/k"), "0"))
    monkeypatch.setattr(fetch, "fetch", lambda series, log: pytest.fail("fetched"))
    assert [f.works for f in checks.install(print, only=["uml 6.1"])] == [True]


def test_no_prefix_of_wine_is_made_unasked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, state: Path
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "own-state"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setattr(wine, "find", lambda: wine.Wine(Path("/bin/false"), "8.0"))
    monkeypatch.setattr(prefix, "make", lambda found, log: pytest.fail("made"))
    monkeypatch.setattr(uml_doctor, "get_kernel", lambda series, log: "there")
    monkeypatch.setattr(gvisor_doctor, "get_program", lambda log: "there")
    monkeypatch.setattr(qemu_doctor, "get_kernel", lambda name, log: "there")
    assert "wine" not in by_name(checks.install(lambda line: None))
    looked = by_name(checks.diagnose(quick=True, state_dir=state))["wine"]
    assert (looked.works, looked.remedy) == (False, "pentathlon doctor --install --only wine")


def test_findings_are_plain_data(state: Path) -> None:
    for finding in checks.diagnose(quick=True, state_dir=state):
        json.dumps(vars(finding))
        assert finding.group in {"agent", "target", "setting", "helper", "leftover"}


def test_a_bracketed_word_is_the_present_one(tmp_path: Path) -> None:
    file = tmp_path / "enabled"
    file.write_text("always [madvise] never\n")
    assert restore.current(file) == "madvise"
    file.write_text("100000\n")
    assert restore.current(file) == "100000"


def test_root_is_told_as_it_is() -> None:
    found = by_name(list(probes.machine_settings()))
    assert found["root"].works == (os.geteuid() == 0)


def test_a_program_says_who_needs_it() -> None:
    needed = probes.programs()
    assert needed["setarch"] == ("util-linux", "targets of the kind uml")
    assert needed["taskset"] == ("util-linux", "targets of the kinds uml and gvisor")
    assert needed["cc"] == ("gcc libc6-dev", "UML kernels up to 6.12")
    assert needed["setpriv"] == ("util-linux", "ending systems when this program is killed")
