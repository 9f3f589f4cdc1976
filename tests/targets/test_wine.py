"""Wine with the agent's Windows build; skipped where one of them is missing."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine import processes
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.targets import windows_build
from pentathlon.targets.session import ProcessSession
from pentathlon.targets.wine import prefix, program
from pentathlon.targets.wine.target import WineTarget
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSystem, descendants, large, request, spin

BEFORE = set(prefix.directory().glob("pentathlon-*"))
"""What a run that was killed, or another one, has there."""


@pytest.fixture
def wine(real_agent: Path, state: Path) -> WineTarget:
    target = make_target(FakeSystem(target="wine"), real_agent, state)
    assert isinstance(target, WineTarget)
    try:
        target.prepare()
    except TargetUnavailable as error:
        pytest.skip(str(error))
    return target


def boots() -> list[str]:
    """Prefixes of the systems that were booted here."""
    return [path.name for path in set(prefix.directory().glob("pentathlon-*")) - BEFORE]


def errors(events: list[dict[str, Any]]) -> list[str]:
    return [event["reason"] for event in events if event["event"] == "error"]


def test_the_agent_serves_a_request_and_computes_what_the_host_computes(
    wine: WineTarget, real_agent: Path, state: Path
) -> None:
    wanted = spin(processes=2).model_copy(update={"inventory": True})
    with wine.boot(200) as session:
        events = documents(session.run(wanted, 60, 120))
    assert errors(events) == []
    opening = events[0]
    assert opening["agent"]["target"] == "x86_64-pc-windows-gnu"
    with make_target(FakeSystem(), real_agent, state).boot(30) as session:
        host = documents(session.run(wanted, 60, 120))
    sums = [{e["checksum"] for e in some if e["event"] == "sample"} for some in (events, host)]
    assert sums[0] == sums[1]
    assert len(sums[0]) == 1
    assert not boots()
    same_machine(opening["system"], host[0]["system"])


def same_machine(values: dict[str, Any], host: dict[str, Any]) -> None:
    """The inventory under Wine is never one of Windows, and agrees with that of the host."""
    assert values["os"]["name"].startswith("Win32 API on Linux (Wine ")
    assert values["kernel"]["release"] == values["os"]["name"]
    assert host["kernel"]["release"] in values["kernel"]["host"]
    assert values["virtualization"]["kernel"] == "wine"
    assert set(values) == set(host)
    for key in ("vendor", "model_name", "family", "model", "stepping", "threads"):
        assert values["cpu"][key] == host["cpu"][key], key
    assert values["memory"]["total_bytes"] == pytest.approx(host["memory"]["total_bytes"], rel=0.02)
    assert values["memory"]["page_bytes"] == host["memory"]["page_bytes"]
    data = [
        {(c["level"], c["type"]): c["size_bytes"] for c in of["caches"]}
        for of in (values, host)
        if isinstance(of["caches"], list)
    ]
    assert all(one == data[0] for one in data)
    assert all(reason for _, reason in reasons(values))


def reasons(tree: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every leaf that is not reported, with its reason."""
    if isinstance(tree, dict) and set(tree) == {"unsupported"}:
        yield path, tree["unsupported"]
    elif isinstance(tree, dict):
        for key, value in tree.items():
            yield from reasons(value, f"{path}.{key}")
    else:
        assert tree is not None, path


def test_files_lie_in_a_scratch_directory_that_is_gone_afterwards(
    wine: WineTarget, tmp_path: Path
) -> None:
    with wine.boot(200) as session:
        events = documents(session.run(request("process.create_delete"), 60, 120))
        assert [path.name for path in tmp_path.glob("scratch/pentathlon-*/scratch/*")] == []
    assert errors(events) == []


def test_what_windows_does_not_have_is_unsupported(wine: WineTarget) -> None:
    with wine.boot(200) as session:
        events = documents(session.run(request("process.fork_wait"), 60, 120))
    kinds = {event["kind"] for event in events if event["event"] == "error"}
    assert kinds == {"unsupported"}
    assert "no fork" in errors(events)[0]
    missing = events[0]["telemetry"]["unsupported"]
    assert {"steal_ns", "major_faults"} <= set(missing)
    assert all(missing.values())


def test_a_workload_that_takes_too_long_is_ended_with_its_processes(wine: WineTarget) -> None:
    wanted = spin(sample_ms=60_000.0, warmup=0, timeout_s=1)
    wanted.workloads.append(spin().workloads[0])
    with wine.boot(200) as session:
        events = documents(session.run(wanted, 60, 120))
    kinds = [event["kind"] for event in events if event["event"] == "error"]
    assert kinds == ["timeout"]
    assert events[-1]["samples"] > 0, "the next workload ran"


def test_no_process_has_its_heap_where_wine_needs_a_page(wine: WineTarget) -> None:
    if not program.fixed_addresses():
        pytest.skip("setarch cannot fix addresses here")
    wanted, heaps = spin(sample_ms=20.0, processes=3), set()
    with wine.boot(200) as session:
        for _, event in session.run(wanted, 60, 120):
            if event["event"] == "progress":
                heaps |= set(filter(None, map(heap, descendants())))
    assert wine.describe()["options"]["addresses_randomised"] is False
    # One start, behind the loader, and none that is chosen anew for each process.
    assert len(heaps) == 1, heaps


def heap(pid: int) -> str | None:
    """Where the heap of a process that has Wine's loader begins; None for others."""
    try:
        lines = Path(f"/proc/{pid}/maps").read_text().splitlines()
    except OSError:
        return None
    if not any(line.endswith("/ntdll.so") for line in lines):
        return None
    return next((line.split("-")[0] for line in lines if line.endswith("[heap]")), None)


def test_a_large_request_arrives(wine: WineTarget) -> None:
    with wine.boot(200) as session:
        events = documents(session.run(large(20), 60, 120))
    assert events[-1]["errors"] == 20


def test_a_system_that_is_killed_says_so_and_leaves_nothing(wine: WineTarget) -> None:
    with wine.boot(200) as session:
        assert isinstance(session, ProcessSession)
        with pytest.raises(TargetError, match="ended by signal 9"):
            for _, event in session.run(spin(sample_ms=60_000.0), 60, 120):
                if event["event"] == "progress":
                    processes.kill(session.pid, signal.SIGKILL)
    assert not descendants()
    assert not boots()


def test_a_boot_cannot_change_the_prefix_of_the_next_one(tmp_path: Path) -> None:
    made = tmp_path / "made"
    (made / "drive_c" / "windows").mkdir(parents=True)
    (made / "drive_c" / "windows" / "a.dll").write_text("dll")
    (made / "system.reg").write_text("old")
    (made / "dosdevices").mkdir()
    (made / "dosdevices" / "c:").symlink_to("../drive_c")
    prefix.copy(made, tmp_path / "boot")
    (tmp_path / "boot" / "system.reg").write_text("new")
    assert (made / "system.reg").read_text() == "old"
    assert str((tmp_path / "boot" / "dosdevices" / "c:").readlink()) == "../drive_c"
    files = [root / "drive_c" / "windows" / "a.dll" for root in (made, tmp_path / "boot")]
    assert files[0].stat().st_ino == files[1].stat().st_ino


def test_paths_are_named_as_windows_programs_name_them() -> None:
    assert prefix.windows_path(Path("/tmp/a b")) == "Z:\\tmp\\a b"


@pytest.mark.parametrize(("version", "major"), [("8.0 (Debian 8.0~repack-4)", 8), ("10.2", 10)])
def test_versions(version: str, major: int) -> None:
    assert program.Wine(Path("/w"), version).major == major


def test_a_newer_wine_needs_no_library_beside_the_agent(tmp_path: Path) -> None:
    assert program.shim(program.Wine(Path("/w"), "9.0"), tmp_path / windows_build.AGENT) is None
    with pytest.raises(TargetUnavailable, match=r"bcryptprimitives\.dll") as caught:
        program.shim(program.Wine(Path("/w"), "8.0"), tmp_path / windows_build.AGENT)
    assert caught.value.remedy == "sh scripts/cross windows"


def test_the_agents_windows_build_is_looked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(windows_build.VARIABLE, raising=False)
    exe = tmp_path / windows_build.AGENT
    exe.write_bytes(b"MZ and more")
    assert windows_build.agent(None, tmp_path / "pentathlon-agent") == exe
    other = tmp_path / "other.exe"
    other.write_bytes(b"MZ")
    assert windows_build.agent(str(other), tmp_path / "pentathlon-agent") == other
    monkeypatch.setenv(windows_build.VARIABLE, str(tmp_path / "none.exe"))
    with pytest.raises(
        TargetUnavailable, match=f"{windows_build.VARIABLE} names .* no Windows program"
    ):
        windows_build.agent(None, tmp_path / "pentathlon-agent")


def test_without_wine_the_command_is_named(
    tmp_path: Path, state: Path, real_agent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(program, "LOADERS", (str(tmp_path / "wine64"),))
    target = make_target(FakeSystem(target="wine"), real_agent, state)
    assert target.describe()["kernel"] == "Win32 API on Linux (Wine is not on this machine)"
    with pytest.raises(TargetUnavailable) as caught:
        target.prepare()
    assert caught.value.remedy == "sudo apt-get install wine64"


def test_options_of_other_targets_are_refused(tmp_path: Path, state: Path) -> None:
    with pytest.raises(TargetError, match='has the option "kernel"'):
        make_target(FakeSystem(target="wine", kernel="6.1"), tmp_path, state)
