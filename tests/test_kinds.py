"""A kind of target is described once, in its folder: nothing else names it (docs/targets.md)."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

from pentathlon.targets import registry
from pentathlon.targets.capabilities import CardTarget, LoopbackTarget, PlacedTarget, RemoteTarget
from pentathlon.targets.contract import Target
from pentathlon.targets.descriptor import Doctor, Kind

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pentathlon"
KINDS = registry.kinds()
NAMES = "|".join(kind.name for kind in KINDS)

IP = "a word of ip(8), or a field of what it prints"
KEY = "the key of [[system]] of that name, which a kind takes"
WORD = "a field of that name, of a workload, a step or a file of another tool"
OTHER = {
    ("cli/try_command.py", "command"): WORD,
    ("evaluate/facts.py", "command"): "the area of workloads that are commands of the user's own",
    ("extraction/tools/hyperfine.py", "command"): WORD,
    ("procedure/preparation.py", "command"): WORD,
    ("report/export/hyperfine.py", "command"): WORD,
    (
        "cli/boots.py",
        "ssh",
    ): "a table of a study file, which is printed to be pasted into one",
    ("study/boot.py", "command"): "a way of choosing a boot, and of switching a machine off and on",
    ("study/commands/model.py", "command"): WORD,
    ("study/commands/command_line.py", "command"): "the name of a workload whose words have none",
    ("study/messages.py", "command"): WORD,
    ("study/plan.py", "command"): WORD,
    ("study/preparation.py", "command"): WORD,
    ("machine/restore.py", "netns"): IP,
    ("experiments/forwarding/guest_testbed.py", "netns"): IP,
    ("testbed/cables.py", "netns"): IP,
    ("testbed/cables.py", "local"): IP,
    ("testbed/hosts.py", "netns"): IP,
    ("testbed/link/interface_ends.py", "local"): IP,
    ("testbed/link/remote_end.py", "local"): IP,
    ("testbed/link/remote_end.py", "netns"): IP,
    ("testbed/link/testbed.py", "netns"): IP,
    ("study/check.py", "ssh"): KEY,
    ("study/code.py", "ssh"): KEY,
    ("study/messages.py", "ssh"): KEY,
    ("testbed/ends.py", "ssh"): KEY,
    ("campaign/derive.py", "ssh"): KEY,
    ("campaign/machines.py", "command"): WORD,
    ("cli/commands/campaign.py", "ssh"): "the engine of campaigns of that name",
    ("evaluate/fleet/alike.py", "ssh"): KEY,
    ("study/starts.py", "local"): "systems whose boot is the start of a process, for words",
    ("study/aa_study.py", "local"): "a study file, which names its target as every one does",
}
"""Where a text is one of these names and means something else, and what."""

TOOLS = {
    ("cli/boots.py", "ssh"): "the loaders of a machine, which is no system yet",
    ("testbed/link/netem_engine.py", "uml"): "a guest that emulates links, and is no system",
}
"""Which modules load the code of one kind, and for what else than its systems."""


Places = set[tuple[str, str]]


@cache
def found() -> tuple[Places, Places]:
    """Where a module names a kind, and where one loads the code of a kind."""
    names: Places = set()
    code: Places = set()
    for path in sorted(PACKAGE.rglob("*.py")):
        place = str(path.relative_to(PACKAGE))
        if not place.startswith("targets/"):
            tree = ast.parse(path.read_text())
            names |= {(place, name) for name in named(tree)}
            code |= {(place, name) for name in loaded(tree)}
    return names, code


def texts(tree: ast.Module) -> Iterator[str]:
    """Texts of a module that the program uses; those that only explain stand alone."""
    explained = {id(one.value) for one in ast.walk(tree) if isinstance(one, ast.Expr)}
    for one in ast.walk(tree):
        if isinstance(one, ast.Constant) and id(one) not in explained:
            yield from [one.value] if isinstance(one.value, str) else []


def named(tree: ast.Module) -> set[str]:
    """Kinds that a module names: a text that is a name, or has one in quotes."""
    found = set()
    for text in texts(tree):
        if re.fullmatch(NAMES, text):
            found.add(text)
        found.update(re.findall(rf"[\"']({NAMES})[\"']", text))
    return found


def loaded(tree: ast.Module) -> set[str]:
    """Kinds whose own code a module imports."""
    found = set()
    for one in ast.walk(tree):
        words: list[str] = []
        if isinstance(one, ast.Import):
            words = [alias.name for alias in one.names]
        elif isinstance(one, ast.ImportFrom):
            words = [f"{one.module}.{alias.name}" for alias in one.names]
        for word in words:
            if match := re.match(rf"pentathlon\.targets\.({NAMES})(\.|$)", word):
                found.add(match[1])
    return found


def test_no_other_module_names_a_kind() -> None:
    assert found()[0] == set(OTHER)


def test_no_other_module_loads_the_code_of_a_kind() -> None:
    assert found()[1] == set(TOOLS)


@pytest.mark.parametrize(
    ("source", "kinds"),
    [
        ('if kind == "uml":\n    pass\n', {"uml"}),
        ("text = f'use \"qemu\", not {name}'\n", {"qemu"}),
        ('KINDS = ("local", "netns")\n', {"local", "netns"}),
        ('"""The target "wine"."""\nname = "localhost"\n', set()),
    ],
)
def test_the_check_sees_a_name(source: str, kinds: set[str]) -> None:
    assert named(ast.parse(source)) == kinds


def test_the_check_sees_an_import() -> None:
    source = (
        "def f():\n    from pentathlon.targets import wine\nimport pentathlon.targets.uml.shim\n"
    )
    assert loaded(ast.parse(source)) == {"wine", "uml"}
    assert loaded(ast.parse("from pentathlon.targets.contract import Target\n")) == set()


def test_every_folder_of_the_targets_is_a_kind() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("targets/*/__init__.py")}
    assert {kind.name for kind in KINDS} == folders >= set(registry.ORDER)


def test_a_new_folder_is_enough(tmp_path: Path) -> None:
    """In a process of its own, with a second place for the folders of the targets."""
    folder = tmp_path / "bsd"
    folder.mkdir()
    (folder / "__init__.py").touch()
    (folder / "descriptor.py").write_text(
        "from pentathlon.targets.descriptor import Kind\n"
        "KIND = Kind(name='bsd', target='pentathlon.targets.bsd.target:made', layers=('bsd',),\n"
        "            place='guest', renews='all', needs='anybody')\n"
    )
    (folder / "target.py").write_text("def made(*given):\n    return given\n")
    code = (
        "import sys, pentathlon.targets\n"
        "pentathlon.targets.__path__.append(sys.argv[1])\n"
        "from pentathlon.study.model import System\n"
        "from pentathlon.targets import registry\n"
        "made = System(name='a', target='bsd').kind.make(1, 2, 3)\n"
        "print(*registry.names(), made)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    others = sorted({kind.name for kind in KINDS} - set(registry.ORDER) | {"bsd"})
    assert done.stdout == " ".join([*registry.ORDER, *others, "(1, 2, 3)"]) + "\n"


def test_to_load_a_study_loads_no_target() -> None:
    code = (
        "import sys, pentathlon.study.load\n"
        "print([name for name in sys.modules if name.startswith('pentathlon.targets.')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    expected = {
        f"pentathlon.targets.{kind.name}{end}" for kind in KINDS for end in ("", ".descriptor")
    }
    expected |= {
        f"pentathlon.targets.{name}"
        for name in ("descriptor", "imported", "plain", "registry", "supplies")
    }
    assert set(ast.literal_eval(done.stdout)) == expected


def class_of(kind: Kind) -> type[Target]:
    module, _, name = kind.target.partition(":")
    # The class that a function chooses from has the first of the layers.
    found = vars(import_module(module))
    own = [one for one in found.values() if isinstance(one, type) and issubclass(one, Target)]
    own = [one for one in own if one.__module__ == module and one.layer == kind.layers[0]]
    made: type[Target] = found[name] if isinstance(found[name], type) else own[0]
    return made


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: str(kind.name))
def test_a_kind_is_what_its_class_can_do(kind: Kind) -> None:
    made = class_of(kind)
    assert (made.kind, made.layer, made.persistent) == (
        kind.name, kind.layers[0], not kind.is_guest,
    )  # fmt: skip
    assert isinstance(kind.look(), Doctor)
    assert set(kind.required) <= {*kind.keys, *kind.own_keys}
    if (end := kind.end) is None:
        assert not issubclass(made, CardTarget | RemoteTarget | LoopbackTarget | PlacedTarget)
        return
    needed = {
        "loopback": (PlacedTarget, LoopbackTarget), "veth": PlacedTarget, "sockets": CardTarget,
        "namespace": PlacedTarget, "packets": CardTarget, "tap": CardTarget, "cable": RemoteTarget,
    }  # fmt: skip
    for way in (end.pair, end.link):
        assert way is None or issubclass(made, needed[way])
    assert not end.forwards or end.link is not None


def test_the_page_has_the_kinds_as_they_describe_themselves() -> None:
    page = (ROOT / "docs" / "targets.md").read_text()
    for kind in KINDS:
        layers = ", ".join(f"`{layer}`" for layer in kind.layers)
        assert f"| `{kind.name}` | {layers} | {kind.renews} | {kind.needs} |\n" in page
