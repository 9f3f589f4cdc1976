"""Each room of the package imports only from rooms to its left (docs/architecture.md)."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "pentathlon"
ROOMS = ["study", "target", "procedure", "store", "evaluate", "report"]
"""The stations of the flow, in its direction."""


def imported_rooms(source: str) -> set[str]:
    """Rooms that a module names in its import statements, at any depth of the file."""
    found = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, "imports are absolute, so that a reader sees the room"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            parts = name.split(".")
            if parts[0] == "pentathlon" and len(parts) > 1:
                found.add(parts[1])
    return found


def violations(room: str, source: str) -> set[str]:
    right = set(ROOMS[ROOMS.index(room) + 1 :]) | {"cli"}
    return imported_rooms(source) & right


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_from_its_left(room: str) -> None:
    modules = sorted((PACKAGE / room).rglob("*.py"))
    assert modules, f"the room {room} is empty"
    wrong = {
        f"{module.relative_to(PACKAGE)} imports {name}"
        for module in modules
        for name in violations(room, module.read_text())
    }
    assert not wrong


def test_evaluate_never_touches_a_target() -> None:
    for module in (PACKAGE / "evaluate").rglob("*.py"):
        assert "target" not in imported_rooms(module.read_text()), module


def test_the_check_sees_a_wrong_import() -> None:
    assert violations("store", "def f():\n    from pentathlon.report import html\n") == {"report"}
    assert violations("store", "import pentathlon.study.plan\n") == set()
    assert violations("study", "from pentathlon import cli\n") == {"cli"}
