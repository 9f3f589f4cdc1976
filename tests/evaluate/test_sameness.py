"""Systems that differ in a study, and not in their inventories."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pentathlon.evaluate.comparability import pair_objection
from pentathlon.evaluate.facts import Inventory
from pentathlon.evaluate.sameness import identical
from pentathlon.procedure.identity import Identity
from pentathlon.study.model import Study

from tests.fakes.simulate import facts  # isort: skip

KERNEL = {
    "kernel.release": "6.1.0-1",
    "kernel.version": "#1 SMP",
    "kernel.command_line": "ro quiet",
    "kernel.configuration.HZ": 250,
    "kernel.boot_id": "x",
    "cpu.smt.active": True,
    "load.average_1_min": 0.1,
    "memory.free_bytes": 5,
}
BENCH = {"target": "ssh", "ssh": {"host": "bench", "reboot": True}}


def study(a: dict[str, Any], b: dict[str, Any]) -> Study:
    return Study.model_validate(
        {
            "name": "s",
            "reference": "a",
            "system": [{"name": "a", **a}, {"name": "b", **b}],
            "suite": [{"name": "s", "workloads": ["w"]}],
        }
    )


def restarted(command: str) -> dict[str, Any]:
    return {"target": "ssh", "ssh": {"host": "bench", "reboot": True, "reboot_command": command}}


def found(
    a: dict[str, Any], b: dict[str, Any], **changed: Any
) -> list[tuple[tuple[str, ...], bool, str]]:
    """Keys, whether nothing else differs, and the sentence; `changed` is what differs in b."""
    values = KERNEL | {name.replace("__", "."): value for name, value in changed.items()}
    inventories_of = {"a": Inventory(dict(KERNEL)), "b": Inventory(values)}
    return [(one.keys, one.whole, one.words) for one in identical(study(a, b), inventories_of)]


def test_a_command_that_restarts_into_the_same() -> None:
    other = {"kernel__boot_id": "y", "load__average_1_min": 3.0, "memory__free_bytes": 6}
    [(keys, whole, words)] = found(BENCH, restarted("boot-other"), **other)
    assert keys == ("ssh.reboot_command",) and whole
    assert words == (
        "b and a booted the identical kernel (6.1.0-1, #1 SMP, the same command line), although "
        "the study gives them different values of ssh.reboot_command"
    )


@pytest.mark.parametrize("path", ["release", "version", "command_line", "configuration__HZ"])
def test_another_kernel_is_another_system(path: str) -> None:
    assert found(BENCH, restarted("boot-other"), **{f"kernel__{path}": "else"}) == []


def test_a_command_that_changes_the_firmware_is_named_with_what_it_changed() -> None:
    [(_, whole, words)] = found(BENCH, restarted("smt-off"), cpu__smt__active=False)
    assert not whole
    assert words.endswith("different values of ssh.reboot_command; what differs is cpu.smt.active")


def test_two_names_of_a_guests_kernel() -> None:
    guests = ({"target": "uml", "kernel": "6.1"}, {"target": "uml", "kernel": "newest"})
    [(keys, whole, _)] = found(*guests)
    assert keys == ("kernel",) and whole
    larger = guests[1] | {"memory": "1G"}
    [(keys, whole, _)] = found(guests[0], larger)
    assert keys == ("kernel",) and not whole, "the memory differs too"


def test_the_guests_own_words_of_a_command_line_are_not_compared() -> None:
    words = [f"rootflags=/tmp/pentathlon-{token}/root quiet" for token in ("0" * 16, "f" * 16)]
    inventories_of = {
        name: Inventory(KERNEL | {"kernel.command_line": word})
        for name, word in zip("ab", words, strict=True)
    }
    both = study({"target": "uml", "kernel": "6.1"}, {"target": "uml", "kernel": "newest"})
    assert len(identical(both, inventories_of)) == 1
    args = study(
        {"target": "uml", "kernel": "6.1"},
        {"target": "uml", "kernel": "6.1", "uml_args": ["seccomp=on"]},
    )
    assert identical(args, inventories_of)[0].keys == ("uml_args",)
    inventories_of["b"] = Inventory(KERNEL | {"kernel.command_line": words[1] + " seccomp=on"})
    assert identical(args, inventories_of) == ()


def test_two_names_of_one_machine() -> None:
    a, b = ({"target": "ssh", "ssh": {"host": host}} for host in ("one", "two"))
    [(keys, whole, words)] = found(a, b)
    assert keys == ("ssh.host",) and whole and "one boot of one machine (boot id x)" in words
    assert found(a, b, kernel__boot_id="y") == [], "two machines with one kernel"
    assert found(a, b, os__name="another") == [], "two containers on one kernel"


def test_one_kernel_under_systems_that_do_not_claim_another() -> None:
    local = {"target": "local"}
    assert found(local, local | {"cpus": [0]}) == []
    assert found(local, {"target": "netns"}) == []
    assert found(local, local | {"settings": {"swappiness": 10}}) == [], "not in the inventory"


def test_settings_that_vary_between_boots_are_not_the_same() -> None:
    path = "memory.settings.swappiness"
    both = study({"target": "local"}, {"target": "local", "settings": {"swappiness": 10}})
    steady = Inventory({path: 10})
    assert identical(both, {"a": steady, "b": steady})[0].keys == ("settings.swappiness",)
    varying = replace(steady, varying=frozenset({path}))
    assert identical(both, {"a": steady, "b": varying}) == ()
    assert identical(both, {"a": steady, "b": Inventory({path: 60})}) == ()


def test_a_system_without_an_inventory_is_not_judged() -> None:
    assert identical(study(BENCH, restarted("x")), {"a": Inventory(dict(KERNEL))}) == ()
    assert identical(study(BENCH, restarted("x")), {"a": Inventory(), "b": Inventory()}) == ()


def test_boots_of_several_kernels_are_no_system() -> None:
    one, other = facts("a"), facts("b")
    assert pair_objection(other, one) is None
    mixed = other.model_copy(update={"kernels": ("6.1; ro", "6.2; ro")})
    for pair in ((mixed, one), (one, mixed)):
        text = pair_objection(*pair)
        assert text is not None and "the boots of b ran 2 different kernels" in text
    assert Identity().kernel() == "(not given)"


def entry(name: str, **more: Any) -> dict[str, Any]:
    boot = {"method": "grub", "entry": name, **more}
    return {"target": "ssh", "ssh": {"host": "bench"}, "boot": boot}


def test_two_entries_that_boot_the_same() -> None:
    [(keys, whole, words)] = found(entry("k612"), entry("k61"), kernel__boot_id="y")
    assert keys == ("boot.entry",) and whole
    assert "b and a booted the identical kernel" in words
    assert "different values of boot.entry" in words
    # What is expected of a boot makes no other system of it.
    wanted = {"expect": {"release": "6.1*"}}
    [(keys, whole, _)] = found(entry("k612"), entry("k61", **wanted), kernel__boot_id="y")
    assert keys == ("boot.entry",) and whole


def test_two_entries_that_boot_two_kernels() -> None:
    assert not found(entry("k612"), entry("k61"), kernel__release="6.12.0-1")
