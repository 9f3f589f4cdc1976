"""Which limit of the CPUs' idle states a run has."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from pentathlon.machine.errors import TargetError
from pentathlon.procedure.idling import Limit, choose
from pentathlon.study.plan import Plan
from pentathlon.targets.contract import Target
from tests.fakes import scripted
from tests.fakes.scripted import ScriptedTarget, well

HERE = cast("dict[str, Target]", {"a": ScriptedTarget("a", well)})


class Elsewhere(ScriptedTarget):
    def occupies(self) -> frozenset[str]:
        return frozenset({"the machine at 198.18.0.2"})


def plan(pairing: str, requested: Any = None) -> Plan:
    made = scripted.plan(blocks=2).model_dump(mode="json", by_alias=True)
    made["pairing"] = pairing
    made["study"]["procedure"]["cpu_latency_us"] = requested
    return Plan.model_validate(made)


@pytest.fixture
def device(tmp_path: Path) -> Path:
    (tmp_path / "device").touch()
    return tmp_path / "device"


def test_turns_keep_the_cpus_awake_and_nothing_else_does(device: Path) -> None:
    assert choose(plan("turns"), HERE, device) == Limit(0)
    assert choose(plan("turns", "any"), HERE, device) == Limit()
    for pairing in ("steps", "none"):
        assert choose(plan(pairing), HERE, device) == Limit()


@pytest.mark.parametrize("pairing", ["turns", "steps", "none"])
def test_a_study_may_request_a_limit(device: Path, pairing: str) -> None:
    assert choose(plan(pairing, 20), HERE, device) == Limit(20)


def test_turns_without_the_right_are_measured_with_a_note(tmp_path: Path) -> None:
    limit = choose(plan("turns"), HERE, tmp_path)
    assert limit.us is None
    assert limit.reason == (
        f"The CPUs may become idle between batches that take turns, because {tmp_path} cannot be "
        "written (Is a directory), so the measured values vary more."
    )


def test_a_requested_limit_that_cannot_be_had_is_refused(tmp_path: Path, device: Path) -> None:
    with pytest.raises(TargetError) as refused:
        choose(plan("steps", 0), HERE, tmp_path)
    assert str(refused.value) == (
        f"[procedure] has cpu_latency_us = 0, and {tmp_path} cannot be written (Is a directory); "
        "leave out cpu_latency_us or run the study as root"
    )
    away = cast("dict[str, Target]", {"a": Elsewhere("a", well)})
    with pytest.raises(TargetError) as refused:
        choose(plan("none", 0), away, device)
    assert str(refused.value) == (
        '[procedure] has cpu_latency_us = 0, and system "a" is measured on another machine (the '
        "machine at 198.18.0.2); leave out cpu_latency_us"
    )
