"""Settings of this machine: what the agent really gets, and what is refused in a sentence."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pentathlon.machine import cgroup, restore
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.machine.settings import FILES, MachineSettings, refused
from pentathlon.targets.local.target import LocalTarget
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSettings, FakeSystem, needs_root, request

Make = Callable[..., LocalTarget]
THP = FILES["transparent_hugepage"]


def place(target: LocalTarget) -> dict[str, Any]:
    with target.boot(10) as session:
        return next(iter(session.run(request("place"), 10, 10))).document


def needs_quota() -> cgroup.CpuController:
    try:
        return cgroup.find()
    except TargetUnavailable as error:
        pytest.skip(error.reason)


@needs_root
@pytest.mark.skipif(not THP.exists(), reason="the kernel has no transparent huge pages")
@pytest.mark.parametrize("value", ["always", "madvise", "never"])
def test_huge_pages_are_set_for_the_session_only(local: Make, value: str) -> None:
    before = THP.read_text()
    target = local(settings=FakeSettings({"transparent_hugepage": value}))
    changes = target.settings_to_change()
    assert f"[{value}]" in place(target)["huge"]
    assert THP.read_text() == before
    old = restore.current(THP)
    assert [(c["from"], c["to"]) for c in changes] == ([] if old == value else [(old, value)])


@needs_root
def test_the_agent_runs_in_a_group_with_the_quota(local: Make) -> None:
    controller = needs_quota()
    target = local(settings=FakeSettings({"cpu_quota_percent": 50}))
    with target.boot(10) as session:
        groups = list(controller.parent.glob("pentathlon-*"))
        assert len(groups) == 1
        if controller.version == 1:
            quota = (groups[0] / "cpu.cfs_quota_us").read_text().strip()
            assert (quota, (groups[0] / "cpu.cfs_period_us").read_text().strip()) == (
                "50000",
                "100000",
            )
        else:
            assert (groups[0] / "cpu.max").read_text().split() == ["50000", "100000"]
        seen = next(iter(session.run(request("place"), 10, 10))).document
        assert groups[0].name in seen["cgroup"]
    assert list(controller.parent.glob("pentathlon-*")) == []


@needs_root
def test_a_group_full_of_stubborn_processes_is_removed(local: Make) -> None:
    controller = needs_quota()
    target = local(settings=FakeSettings({"cpu_quota_percent": 200}))
    with target.boot(10) as session, pytest.raises(TargetError, match="no event came"):
        documents(session.run(request("stubborn"), 0.5, 60))
    assert list(controller.parent.glob("pentathlon-*")) == []


def test_the_scratch_directory_is_there_and_private(local: Make) -> None:
    seen = place(local())
    assert seen["scratch_exists"]
    assert not Path(seen["scratch"]).exists()


@pytest.mark.skipif(not Path("/proc/self/autogroup").exists(), reason="no autogroups")
def test_nice_holds_between_sessions_too(local: Make) -> None:
    assert "nice 7" in place(local(settings=FakeSettings({"nice": 7})))["autogroup"]


def test_placement_is_for_the_agent(local: Make) -> None:
    cpu = max(os.sched_getaffinity(0))
    target = local(cpus=(cpu,), settings=FakeSettings({"scheduler": "batch", "nice": 5}))
    with target.boot(10) as session:
        sent = next(iter(session.run(request("echo"), 10, 10))).document["request"]
    assert sent["placement"] == {"cpus": [cpu], "policy": "batch", "priority": 0, "nice": 5}


@pytest.mark.parametrize(
    ("values", "match"),
    [
        ({"colour": 10}, 'has the setting "colour", which the target "local" does not'),
        ({"scheduler": "fifo"}, 'has the scheduler "fifo"; use'),
        ({"scheduler": "other:3"}, 'has the scheduler "other:3"; use'),
        ({"scheduler": "fifo:10", "cpu_quota_percent": 50}, "leave one of the two out"),
    ],
)
def test_wrong_settings_are_one_sentence(values: dict[str, Any], match: str) -> None:
    with pytest.raises(TargetError, match=match):
        MachineSettings(FakeSystem(settings=FakeSettings(values)))


def test_a_cpu_that_is_not_there(local: Make) -> None:
    with pytest.raises(TargetUnavailable, match="CPU 4095 is not available here"):
        local(cpus=(4095,)).prepare()


def test_an_unknown_value_names_the_known_ones(local: Make) -> None:
    if not THP.exists():
        pytest.skip("the kernel has no transparent huge pages")
    target = local(settings=FakeSettings({"transparent_hugepage": "sometimes"}))
    with pytest.raises(TargetUnavailable, match="knows always, madvise, never"):
        target.prepare()


def test_a_policy_that_nobody_may_set_is_refused() -> None:
    assert refused("fifo", 1000, None) is not None
    assert refused("batch", 0, None) is None


def test_options_of_other_targets_are_refused(local: Make) -> None:
    with pytest.raises(TargetError, match='has the option "kernel"'):
        local(kernel="6.1")


MOUNTS_V2 = "cgroup2 {root} cgroup2 rw,nosuid 0 0\n"
MOUNTS_V1 = "tmpfs /sys/fs/cgroup tmpfs rw 0 0\ncgroup {root} cgroup rw,cpu,cpuacct 0 0\n"


def hierarchy(root: Path, handing_on: list[str]) -> None:
    """A directory tree that looks as a version 2 hierarchy does."""
    (root / "user.slice" / "me").mkdir(parents=True)
    for group in ("", "user.slice", "user.slice/me"):
        (root / group / "cgroup.controllers").write_text("cpu memory\n")
        given = "cpu memory\n" if group in handing_on else "memory\n"
        (root / group / "cgroup.subtree_control").write_text(given)


@pytest.mark.parametrize(
    ("handing_on", "expected"),
    [([""], ""), (["", "user.slice"], "user.slice"), (["", "user.slice/me"], "user.slice/me")],
)
def test_version_2_takes_the_nearest_group_that_hands_cpu_on(
    tmp_path: Path, handing_on: list[str], expected: str
) -> None:
    root = tmp_path / "cgroup"
    hierarchy(root, handing_on)
    found = cgroup.find(MOUNTS_V2.format(root=root), "0::/user.slice/me\n")
    assert found == cgroup.CpuController(2, root / expected)


def test_version_2_without_cpu_names_the_command(tmp_path: Path) -> None:
    root = tmp_path / "cgroup"
    hierarchy(root, [])
    with pytest.raises(TargetUnavailable) as caught:
        cgroup.find(MOUNTS_V2.format(root=root), "0::/\n")
    assert caught.value.remedy == f"echo +cpu | sudo tee {root}/cgroup.subtree_control"


def test_version_1_is_found_beside_version_2(tmp_path: Path) -> None:
    first, second = tmp_path / "cpu", tmp_path / "unified"
    (first / "box").mkdir(parents=True)
    second.mkdir()
    (second / "cgroup.controllers").write_text("memory\n")
    mounts = MOUNTS_V2.format(root=second) + MOUNTS_V1.format(root=first)
    found = cgroup.find(mounts, "3:cpu,cpuacct:/box\n0::/\n")
    assert found == cgroup.CpuController(1, first / "box")
    # In a container the own group may not be visible under the mount.
    found = cgroup.find(mounts, "3:cpu,cpuacct:/elsewhere\n")
    assert found == cgroup.CpuController(1, first)


def test_no_controller_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(TargetUnavailable, match="no cgroup `cpu` controller"):
        cgroup.find("proc /proc proc rw 0 0\n", "0::/\n")
