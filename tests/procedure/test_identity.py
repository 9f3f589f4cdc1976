"""Boots of one system run one kernel, and a restart brings another boot."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from pentathlon.procedure import identity
from pentathlon.procedure.identity import Identity
from pentathlon.procedure.records import AgentEvent, BootEnd, Record
from pentathlon.procedure.runner import Runner
from pentathlon.procedure.state import RunState
from pentathlon.protocol.events import Inventory, Sample
from pentathlon.study.plan import Plan
from tests.fakes import scripted
from tests.fakes.scripted import ScriptedTarget, well

KERNEL = {"release": "6.1.0-1", "version": "#1 SMP", "command_line": "ro quiet"}


class Restarted(ScriptedTarget):
    """A target each of whose boots restarts a machine."""

    @property
    def restarts(self) -> bool:
        return True


class Chosen(ScriptedTarget):
    """A target whose kernel a loader chooses."""

    def loader_state(self) -> str | None:
        return "GRUB's next_entry is unset"


def booting(*kernels: dict[str, Any]) -> scripted.Play:
    """A system whose boots run these kernels, the last one for ever."""

    def play(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
        first, *rest = well(request, boot)
        kernel = kernels[min(boot, len(kernels) - 1)]
        yield first | {"system": {"kernel": kernel}}
        yield from rest

    return play


def run(
    b: ScriptedTarget, blocks: int = 3, retries: int = 1, plan: Plan | None = None
) -> tuple[RunState, list[Record]]:
    plan = plan or scripted.plan(blocks=blocks, retries=retries)
    records: list[Record] = []
    state = RunState(plan)
    targets = {"a": ScriptedTarget("a", well), "b": b}
    Runner(plan, targets, records.append, catalog=scripted.catalog(), state=state).run()
    return state, records


@pytest.mark.parametrize(
    ("field", "value"),
    [("release", "6.1.0-2"), ("version", "#2 SMP"), ("command_line", "ro quiet mitigations=off")],
)
def test_a_boot_of_another_kernel_failed(field: str, value: str) -> None:
    b = ScriptedTarget("b", booting(KERNEL, KERNEL | {field: value}))
    state, records = run(b)
    [first, *_] = state.unresolved()
    assert (first.kind, first.block, first.system) == ("boot", 1, "b")
    assert f'"{KERNEL[field]}"' in first.reason and f'"{value}"' in first.reason
    assert "expected the " in first.reason and "found the " in first.reason
    assert {failure.block for failure in state.unresolved()} == {1, 2}
    # Not one sample of the other kernel was taken.
    samples = [
        r.block
        for r in records
        if isinstance(r, AgentEvent) and r.system == "b" and isinstance(r.message, Sample)
    ]
    assert set(samples) == {0}
    assert all(session.stopped for session in b.sessions)


def test_the_loaders_state_belongs_to_the_sentence() -> None:
    """What a kernel that was swapped between two boots is refused with."""
    state, _ = run(Chosen("b", booting(KERNEL, KERNEL | {"release": "6.2"})))
    assert state.unresolved()[0].reason == (
        'system "b": this boot is another system than the earlier ones: expected the release '
        '"6.1.0-1"; found the release "6.2"; GRUB\'s next_entry is unset'
    )


def test_a_boot_of_another_kernel_is_tried_again() -> None:
    b = ScriptedTarget("b", booting(KERNEL, KERNEL | {"release": "6.2"}, KERNEL))
    state, _ = run(b)
    assert not state.unresolved()
    assert [failure.kind for failure in state.failures] == ["boot"]


def test_the_kernel_is_known_again_from_the_journal() -> None:
    b = ScriptedTarget("b", booting(KERNEL))
    state, records = run(b, blocks=1)
    fold = RunState(state.plan)
    for record in records:
        fold.apply(record)
    assert fold.identities == state.identities
    assert fold.identities["b"].release == "6.1.0-1"


def test_a_boot_that_measured_nothing_says_nothing_of_the_system() -> None:
    def play(request: dict[str, Any], boot: int) -> Iterator[dict[str, Any]]:
        if boot:
            yield from booting(KERNEL)(request, boot)
            return
        yield scripted.inventory(request) | {"system": {"kernel": KERNEL | {"release": "6.2"}}}
        raise scripted.TargetError("it died")

    state, _ = run(ScriptedTarget("b", play))
    assert not state.unresolved()
    assert state.identities["b"].release == "6.1.0-1"


def test_a_restart_that_brought_no_new_boot_failed() -> None:
    b = Restarted("b", booting(*(KERNEL | {"boot_id": name} for name in ("x", "x", "y", "z"))))
    state, records = run(b)
    assert not state.unresolved(), "the retry restarted it"
    [failure] = state.failures
    assert failure.kind == "boot"
    assert "expected a new boot id after the restart; found x, the boot of b in block 1" in (
        failure.reason
    )
    ends = [r for r in records if isinstance(r, BootEnd) and r.system == "b"]
    assert [end.outcome for end in ends] == ["ok", "failed", "ok", "ok"]


def test_one_boot_of_a_machine_may_serve_several_sessions_where_nothing_restarts_it() -> None:
    b = ScriptedTarget("b", booting(KERNEL | {"boot_id": "x"}))
    state, _ = run(b)
    assert not state.failures


def test_what_a_guest_makes_anew_is_no_difference() -> None:
    lines = [
        f"mem=640M rootflags=/tmp/pentathlon-{token}/root con0=fd:{number},fd:{number + 1} quiet"
        for token, number in (("0123456789abcdef", 5), ("fedcba9876543210", 9))
    ]
    first, second = (identity.of_values({"kernel.command_line": line}) for line in lines)
    assert identity.difference(first, second) is None
    third = identity.of_values({"kernel.command_line": lines[0] + " seccomp=on"})
    assert identity.difference(first, third) is not None


def test_what_is_not_given_is_no_difference() -> None:
    known = Identity("6.1", "#1", "ro", "x")
    assert identity.difference(known, Identity()) is None
    assert not Identity().known
    for system in (None, {"kernel": {"release": {"unsupported": "no"}}}, {"kernel": 5}):
        event = Inventory(event="inventory", t_ns=1, system=system)
        assert identity.of_event(event) == Identity()
