"""Each package imports only what docs/architecture.md lists for it, and `unsafe` code stays in the
rooms that may hold it (docs/architecture.md)."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "pentathlon"
ARCHITECTURE = ROOT / "docs" / "architecture.md"
EVERY = "every package"


def allowed_imports() -> dict[str, set[str]]:
    """The table of packages in docs/architecture.md: what each of them may import."""
    found: dict[str, set[str]] = {}
    for line in ARCHITECTURE.read_text().splitlines():
        row = re.fullmatch(r"\| `(\w+)/` \|[^|]*\|([^|]*)\|", line)
        if row:
            found[row[1]] = set(found) if EVERY in row[2] else set(re.findall(r"`(\w+)`", row[2]))
    return found


ALLOWED = allowed_imports()


@cache
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
    return (imported_rooms(source) & set(ALLOWED)) - ALLOWED[room] - {room}


def test_every_package_is_in_the_table() -> None:
    assert set(ALLOWED) == {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert {path.stem for path in PACKAGE.glob("*.py")} == {"__init__", "__main__"}


def test_packages_stand_on_those_above_them_in_the_table() -> None:
    lower: set[str] = set()
    for room, imports in ALLOWED.items():
        assert imports <= lower, f"{room} imports what stands on it or beside it"
        lower.add(room)


@pytest.mark.parametrize("room", ALLOWED)
def test_a_package_imports_what_the_table_allows_and_all_of_it(room: str) -> None:
    modules = sorted((PACKAGE / room).rglob("*.py"))
    assert modules, f"the package {room} is empty"
    wrong = {
        f"{module.relative_to(PACKAGE)} imports {name}"
        for module in modules
        for name in violations(room, module.read_text())
    }
    assert not wrong
    if room != "cli":
        used = set().union(*(imported_rooms(module.read_text()) for module in modules))
        assert not ALLOWED[room] - used, "the table allows more than is imported"


def test_the_check_sees_a_wrong_import() -> None:
    assert violations("store", "def f():\n    from pentathlon.report import html\n") == {"report"}
    assert violations("store", "import pentathlon.study.plan\n") == set()
    assert violations("study", "from pentathlon import cli\n") == {"cli"}


CRATES = ROOT / "agent" / "crates"
MANIFESTS = sorted(str(path.relative_to(ROOT)) for path in CRATES.glob("*/Cargo.toml"))
TESTS_ALONE = {"hostile", "planted"}


def allowed_dependencies() -> dict[str, set[str]]:
    """The table of the agent's crates in docs/architecture.md."""
    rows = re.findall(r"^\| `(\w+)` \|[^|]*\|([^|]*)\|$", ARCHITECTURE.read_text(), re.MULTILINE)
    return {name: set(re.findall(r"`(\w+)`", names)) for name, names in rows}


def dependencies(manifest: str) -> set[str]:
    """The crates of this project that a crate is linked with, by the names of their folders."""
    names = tomllib.loads((ROOT / manifest).read_text()).get("dependencies", {})
    ours = (name.removeprefix("pentathlon-") for name in names if name.startswith("pentathlon-"))
    return {name.replace("-", "_") for name in ours}


def test_every_crate_depends_on_what_the_table_says_and_never_on_a_higher_one() -> None:
    table = allowed_dependencies()
    assert table.keys() | TESTS_ALONE == {Path(manifest).parent.name for manifest in MANIFESTS}
    lower: set[str] = set()
    for crate, allowed in table.items():
        assert allowed <= lower, f"{crate} depends on what stands on it or beside it"
        assert dependencies(f"agent/crates/{crate}/Cargo.toml") == allowed, crate
        lower.add(crate)
    assert dependencies("graphics/Cargo.toml") == {"harness", "protocol", "session"}


UNSAFE_ROOMS = {
    "agent/crates/os/src/lib.rs: the crate",
    "agent/crates/workloads/src/arithmetic/mod.rs: pub mod kernels;",
    "agent/crates/workloads/src/cpu/cipher/mod.rs: pub(super) mod kernels;",
    "agent/crates/workloads/src/cpu/pi/mod.rs: mod kernels;",
    "agent/crates/workloads/src/memory/mod.rs: pub mod kernels;",
    "agent/crates/code/src/lib.rs: the crate",
    "graphics/src/sys/mod.rs: pub mod x11;",
    "graphics/src/sys/mod.rs: pub mod win32;",
}
"""Where the compiler accepts `unsafe`; it refuses it everywhere else."""


def rust_sources() -> list[Path]:
    return [
        path
        for program in ("agent", "graphics")
        for path in sorted((ROOT / program).rglob("*.rs"))
        if "target" not in path.relative_to(ROOT).parts
    ]


def allowances(source: str) -> list[str]:
    """The items for which a Rust file allows `unsafe`, whole lines."""
    lines = [line.strip() for line in source.splitlines()]
    found = []
    for number, line in enumerate(lines):
        # Also among other lints, under a condition, and as `warn` or `expect`.
        if re.search(r"#!?\[.*\b(allow|warn|expect)\b.*\bunsafe_code\b", line):
            after = (text for text in lines[number + 1 :] if not text.startswith(("#[", "//")))
            found.append("the crate" if line.startswith("#!") else next(after))
    return found


def unexplained(source: str) -> list[int]:
    """The lines of a Rust file with an `unsafe` whose comment does not say why it is sound.

    A block or an `impl` wants `// SAFETY:` in the comment above its statement, a function
    `# Safety` in its documentation; types need none.
    """
    lines = [line.strip() for line in source.splitlines()]
    wrong = []
    for number, line in enumerate(lines):
        code = line.split("//")[0]
        if not re.search(r"\bunsafe\s*(\{|impl\b|(extern\s*\"\w+\"\s*)?fn\s+\w)", code):
            continue
        word = "# Safety" if re.search(r"\bfn\s+\w", code) else "SAFETY:"
        above = number - 1
        # Up to the comment: over attributes and the beginning of the statement.
        while above >= 0 and not lines[above].startswith("//"):
            if lines[above] == "" or lines[above].endswith((";", "}")):
                break
            above -= 1
        comment = []
        while above >= 0 and lines[above].startswith("//"):
            comment.append(lines[above])
            above -= 1
        if not any(word in text for text in comment):
            wrong.append(number + 1)
    return wrong


def test_unsafe_code_is_allowed_only_in_its_rooms() -> None:
    found = {
        f"{path.relative_to(ROOT)}: {item}"
        for path in rust_sources()
        for item in allowances(path.read_text())
    }
    assert found == UNSAFE_ROOMS


@pytest.mark.parametrize("manifest", ["graphics/Cargo.toml", *MANIFESTS])
def test_the_compiler_refuses_unsafe_code_elsewhere(manifest: str) -> None:
    lints = tomllib.loads((ROOT / manifest).read_text())["lints"]
    if lints.get("workspace"):
        lints = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["lints"]
    assert lints["rust"]["unsafe_code"] in ("deny", "forbid")
    assert lints["clippy"]["undocumented_unsafe_blocks"] in ("warn", "deny")


def test_unsafe_code_outside_sys_and_kernels_is_explained() -> None:
    """What the build script of agent/crates/code compiles is seen by no linter of cargo's."""
    wrong = [
        f"{path.relative_to(ROOT)}:{line}"
        for path in rust_sources()
        if not path.is_relative_to(ROOT / "agent/crates/os") and "kernels" not in str(path)
        for line in unexplained(path.read_text())
    ]
    assert not wrong


def test_the_checks_see_unsafe_code() -> None:
    assert allowances("#[allow(unsafe_code)]\nmod a;\n") == ["mod a;"]
    assert allowances("#[allow(dead_code, unsafe_code)]\n#[cfg(unix)]\nfn f() {\n") == ["fn f() {"]
    assert allowances("#![cfg_attr(unix, allow(unsafe_code))]\n") == ["the crate"]
    assert unexplained("let a =\n    unsafe { b() };\n") == [2]
    assert unexplained("// SAFETY: b is.\nlet a =\n    unsafe { b() };\n") == []
    assert unexplained("// SAFETY: b is.\nb();\nunsafe { b() };\n") == [3]
    assert unexplained("/// Does it.\n#[inline]\nunsafe fn a() {\n") == [3]
    assert unexplained("/// # Safety\n/// None.\n#[inline]\nunsafe fn a() {\n") == []
    assert unexplained("unsafe impl Send for A {}\n") == [1]
    assert unexplained('call: unsafe extern "C" fn() -> i64,\n') == []
