"""`pentathlon settings`: what may be set here, from the files that the kernel has."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pentathlon.machine import choices as choosing
from pentathlon.machine import sysfs
from pentathlon.machine.settings import KNOWN
from pentathlon.protocol import agent
from pentathlon.study import dependence
from pentathlon.study.catalog import parse_catalog
from pentathlon.study.settings import Settings
from pentathlon.targets.ssh.settings import LOOK, MARK
from pentathlon.targets.ssh.survey import survey
from tests.cli.conftest import Shop

FILES = {
    "sys/kernel/mm/transparent_hugepage/enabled": "always [madvise] never",
    "proc/sys/kernel/randomize_va_space": "2",
    "proc/sys/vm/swappiness": "60",
    "proc/sys/net/ipv4/tcp_congestion_control": "cubic",
    "proc/sys/net/ipv4/tcp_available_congestion_control": "reno cubic",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_governor": "powersave",
    "sys/devices/system/cpu/cpu0/cpufreq/scaling_available_governors": "performance powersave",
    "sys/devices/system/cpu/cpu1/cpufreq/scaling_governor": "performance",
    "sys/devices/system/cpu/cpu1/cpufreq/scaling_available_governors": "performance powersave",
    "sys/devices/system/cpu/intel_pstate/no_turbo": "0",
    "sys/devices/system/cpu/smt/control": "on",
    "proc/irq/7/smp_affinity_list": "0-1",
    "proc/irq/9/smp_affinity_list": "1",
}
PRESENT = {
    "transparent_hugepage": "madvise",
    "aslr": "2",
    "swappiness": "60",
    "tcp_congestion_control": "cubic",
    "governor": "performance, powersave",
    "turbo": "on",
    "smt": "on",
    "irq_affinity": "0-1, 1",
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{text}\n")
    return tmp_path


def test_values_are_read_and_what_lacks_has_its_reason(root: Path) -> None:
    found = {one.key: one for one in choosing.by_file(root)}
    assert list(found) == list(sysfs.KNOWN)
    assert {key: one.present for key, one in found.items() if one.present} == PRESENT
    assert all(found[key].possible and not found[key].reason for key in PRESENT)
    assert found["governor"].values == ("performance", "powersave")
    assert found["transparent_hugepage"].values == ("always", "madvise", "never")
    lacking = found["transparent_hugepage_defrag"]
    assert not lacking.possible and "defrag" in lacking.reason and lacking.present is None


def test_another_machine_is_asked_over_its_shell(root: Path) -> None:
    asked: list[tuple[str, ...]] = []

    def run(script: str, *words: str) -> str:
        asked.append((script, *words))
        lines = [f"{MARK} /{name} {text}" for name, text in FILES.items()]
        return "\n".join(["a banner", *lines, f"{MARK} quota"])

    found = {one.key: one for one in survey(run, "bench1")}
    assert asked[0][0] == LOOK and len(asked) == 1
    assert {key: one.present for key, one in found.items() if one.present} == PRESENT
    assert not found["swappiness"].possible and "sudo -n" in found["swappiness"].reason
    assert found["nice"].possible and str(root) not in str(found)


def test_each_setting_of_a_study_can_depend_on_something() -> None:
    known = set(Settings.model_fields)
    assert set(dependence.TABLE) == known
    assert set(KNOWN) <= known


def test_patterns_of_dependence_name_workloads_of_the_catalog() -> None:
    ids = [*parse_catalog(agent.catalog(agent.locate())).ids(), "graphics.game"]
    for setting, one in {**dependence.TABLE, **dependence.BY_SYSCTL}.items():
        assert one.why and one.source, setting
        for pattern in one.workloads:
            part = replace(one, workloads=(pattern,))
            assert any(map(part.reaches, ids)), (setting, pattern)


def test_sysctl_variables_have_a_reach_of_their_own() -> None:
    assert dependence.untouched("sysctl.net.core.rmem_max", {"memory.read", "memory."}, ())
    assert not dependence.untouched("sysctl.net.core.rmem_max", {"network.traffic"}, ())
    assert not dependence.untouched("sysctl.kernel.sched_rt_runtime_us", {"memory.read"}, ())
    assert not dependence.untouched("tcp_congestion_control", {"mine.job"}, ["mine.job"])
    assert not dependence.untouched("no_such_setting", {"memory.read"}, ())


def test_the_command_prints_them(shop: Shop) -> None:
    done = shop.call("settings", "--format", "json")
    assert done.code == 0
    document = json.loads(done.out)
    assert [one["key"] for one in document["settings"]] == list(KNOWN)
    assert all(one["workloads"] and one["why"] for one in document["settings"])
    assert document["keys"] == ["cpus", "scratch"]
    shown = shop.call("settings")
    assert shown.code == 0 and "scheduler = " in shown.out
    guest = shop.call("settings", "--on", "uml:6.1")
    assert guest.code == 0 and "it is a guest" in guest.out and "uml_args" in guest.out


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--on", "umk"], 'did you mean "uml"'),
        (["--format", "yaml"], 'use "table" or "json"'),
        (["--on", "local:nices=1"], "nices"),
    ],
)
def test_what_is_wrong_is_one_sentence(shop: Shop, words: list[str], sentence: str) -> None:
    done = shop.call("settings", *words)
    assert done.code == 2 and sentence in done.err and "Traceback" not in done.err
