"""Which guests find in a boot what they wrote in the one before."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar

import pytest

from pentathlon.study.preparation import PlannedStep
from pentathlon.targets import registry
from pentathlon.targets.contract import Session
from pentathlon.targets.installs import KeepingTarget


class Kept(KeepingTarget):
    kind: ClassVar[str] = "kept"
    layer: ClassVar[str] = "none"
    persistent: ClassVar[bool] = False

    def make_files(self, own: Path) -> None:
        (own / "file").write_text("new")

    def describe(self) -> dict[str, Any]:
        return {}

    def prepare(self) -> None:
        pass

    def boot(self, timeout_s: float) -> Session:
        raise NotImplementedError


class Written(Kept):
    written: ClassVar[bool] = True


def made(kind: type[Kept], tmp_path: Path) -> Kept:
    system: Any = SimpleNamespace(name="a", cpus=None)
    return kind(system, Path("agent"), tmp_path)


def test_files_that_the_guest_writes_into_keep_what_it_learns(tmp_path: Path) -> None:
    target = made(Written, tmp_path)
    assert "2 installs" in str(target.forgets())
    target.renew(None, 1.0, 0)
    try:
        assert target.forgets() is None
        first = target.files(tmp_path)
        (first / "learned").write_text("yes")
        assert (target.files(tmp_path) / "learned").exists()
        target.renew(None, 1.0, 1)
        assert not (target.files(tmp_path) / "learned").exists()
    finally:
        target.discard()
    assert target.forgets() is not None


def test_files_that_it_only_reads_do_not(tmp_path: Path) -> None:
    target = made(Kept, tmp_path)
    target.renew(None, 1.0, 0)
    try:
        assert "survives" in str(target.forgets())
    finally:
        target.discard()


def test_the_plan_knows_what_the_targets_do() -> None:
    for kind in registry.kinds():
        module, _, name = kind.target.partition(":")
        target = getattr(import_module(module), "QemuTarget" if name == "make" else name)
        assert (target.kind, target.layer) == (kind.name, kind.layers[0])
        assert target.persistent != kind.is_guest, kind.name
        assert getattr(target, "written", target.persistent) != kind.forgets, kind.name


@pytest.mark.parametrize(
    ("target", "command", "installs", "wanted"),
    [
        ("local", None, 1, "give the step a command"),
        ("ssh", None, 1, "give the step a command"),
        ("ssh", "make anew", 1, None),
        ("uml", None, 1, None),
    ],
)
def test_the_plan_says_that_fresh_needs_a_command(
    target: str, command: str | None, installs: int, wanted: str | None
) -> None:
    step = PlannedStep(do="fresh", options={"command": command})
    words = step.words(target, installs)
    assert ("unsupported" in words) == (wanted is not None)
    assert (wanted or "") in words


@pytest.mark.parametrize(
    ("target", "installs", "possible"),
    [("local", 1, True), ("uml", 1, False), ("uml", 2, True), ("qemu", 2, False)],
)
def test_the_plan_says_where_training_is_lost(target: str, installs: int, possible: bool) -> None:
    step = PlannedStep(do="train", options={"times": 5})
    assert ("unsupported" in step.words(target, installs)) == (not possible)
