"""What is fetched to build and install has exact versions and hashes, and what is linked has its
licence (docs/supply-chain.md)."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOCKS = [
    "requirements.lock",
    "requirements-dev.lock",
    "requirements-build.lock",
    "requirements-pip.lock",
    "requirements-site.lock",
]


def locked(text: str) -> dict[str, set[str]]:
    """Versions of each package of a lock file; a package may have one per marker.

    Raises:
        ValueError: a line is no requirement with an exact version and at least one hash.
    """
    versions: dict[str, set[str]] = {}
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    for entry in re.split(r"(?<!\\)\n", "\n".join(lines).strip()):
        found = re.fullmatch(
            r"([a-z0-9-]+)==([\w.]+)( ; [^\\]+?)?( \\\n    --hash=sha256:[0-9a-f]{64})+", entry
        )
        if found is None:
            raise ValueError(f"not pinned by version and hash: {entry!r}")
        versions.setdefault(found[1], set()).add(found[2])
    return versions


@pytest.mark.parametrize("name", LOCKS)
def test_every_locked_package_has_a_version_and_hashes(name: str) -> None:
    assert locked((ROOT / name).read_text())


@pytest.mark.parametrize(
    "line", ["numpy>=1", "numpy==1.0", "--index-url https://example.org", "numpy @ https://x/y.whl"]
)
def test_the_check_of_locks_sees_what_is_not_pinned(line: str) -> None:
    good = f"a==1 \\\n    --hash=sha256:{'0' * 64}\n"
    assert locked(good) == {"a": {"1"}}
    with pytest.raises(ValueError, match="not pinned"):
        locked(good + line + "\n")


def test_the_build_requirements_are_those_of_their_lock() -> None:
    """`pip install .` then builds with the versions of scripts/setup, though without hashes."""
    requires = tomllib.loads((ROOT / "pyproject.toml").read_text())["build-system"]["requires"]
    pinned: dict[str, set[str]] = {}
    for requirement in requires:
        name, version = requirement.split("==")
        pinned[name] = {version}
    assert pinned == locked((ROOT / "requirements-build.lock").read_text())


@pytest.mark.parametrize("name", LOCKS)
def test_the_build_requirements_agree_with_the_other_locks(name: str) -> None:
    """They are installed into one environment, one after the other."""
    build = locked((ROOT / "requirements-build.lock").read_text())
    other = locked((ROOT / name).read_text())
    assert {n: build[n] for n in build.keys() & other} == {
        n: other[n] for n in build.keys() & other
    }


def unchecked_installations(script: str) -> list[str]:
    """Calls of pip in a shell script that could fetch something without a hash."""
    calls = re.findall(r"-m pip\b.*", script.replace("\\\n", " "))
    assert calls
    return [
        call
        for call in calls
        if not {"--require-hashes", "--no-deps"} & set(call.split())
        or not {"--no-build-isolation", "--only-binary"} & set(call.split())
    ]


@pytest.mark.parametrize("script", ["setup", "site"])
def test_a_script_fetches_nothing_without_a_hash(script: str) -> None:
    assert not unchecked_installations((ROOT / "scripts" / script).read_text())


def test_the_check_of_the_set_up_sees_an_isolated_build() -> None:
    assert unchecked_installations("python -m pip install --require-hashes \\\n -r a.lock\n")
    assert unchecked_installations("python -m pip install --no-deps .\n")
    assert unchecked_installations("python -m pip install --no-build-isolation .\n")


CARGO_LOCKS = [ROOT / "Cargo.lock", ROOT / "graphics" / "Cargo.lock"]


def unmentioned(lock: str, notices: str) -> list[str]:
    """The packages of a Cargo.lock that a notice file names neither inside nor outside."""
    mentioned = set(re.findall(r"^[\w-]+ \d[\w.+-]*$", notices, re.MULTILINE))
    return [
        f"{package['name']} {package['version']}"
        for package in tomllib.loads(lock)["package"]
        if "source" in package and f"{package['name']} {package['version']}" not in mentioned
    ]


@pytest.mark.parametrize("lock", CARGO_LOCKS, ids=["agent", "graphics"])
def test_the_notices_name_every_locked_package(lock: Path) -> None:
    assert not unmentioned(lock.read_text(), (ROOT / "NOTICES.txt").read_text())


def test_the_check_of_notices_sees_a_package_and_a_version() -> None:
    lock = '[[package]]\nname = "a-b"\nversion = "1.0.0"\nsource = "registry"\n'
    assert unmentioned(lock, "a-b 1.0.1\nLicence of a-b 1.0.0\n") == ["a-b 1.0.0"]
    assert unmentioned(lock, "a-b 1.0.0\n    MIT\n") == []


def test_the_notices_are_those_of_what_is_linked() -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not in the search path")
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "notices", "--check"],
        capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("file", sorted((ROOT / "licences").iterdir()), ids=lambda file: file.stem)
def test_the_notices_hold_the_licences_of_the_run_time_libraries(file: Path) -> None:
    notices = (ROOT / "NOTICES.txt").read_text().split()
    assert " ".join(file.read_text().split()) in " ".join(notices)


def test_the_notices_are_installed_beside_the_agent() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert {"LICENSE", "NOTICES.txt"} <= set(project["license-files"])


def is_allowed(expression: str, allowed: set[str]) -> bool:
    """Whether a licence expression (SPDX) can be met by allowed licences alone."""
    words = re.findall(r"\(|\)|\bAND\b|\bOR\b|[\w.-]+(?: WITH [\w.-]+)?", expression)
    known = {"(": "(", ")": ")", "AND": "and", "OR": "or"}
    return bool(eval(" ".join(known.get(word) or str(word in allowed) for word in words)))


def test_every_package_inside_has_a_licence_that_deny_toml_allows() -> None:
    licences = tomllib.loads((ROOT / "deny.toml").read_text())["licenses"]
    exceptions = {one["crate"]: set(one["allow"]) for one in licences["exceptions"]}
    rows = re.findall(
        r"^([\w-]+) \S+\n    (.*); in pentathlon-", (ROOT / "NOTICES.txt").read_text(), re.MULTILINE
    )
    assert len(rows) > 100 and exceptions.keys() <= {name for name, _ in rows}
    wrong = [
        f"{name}: {expression}"
        for name, expression in rows
        if not is_allowed(expression, set(licences["allow"]) | exceptions.get(name, set()))
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("expression", "allowed"),
    [
        ("MIT", True),
        ("MPL-2.0", False),
        ("MPL-2.0 OR MIT", True),
        ("MPL-2.0 AND MIT", False),
        ("(MIT OR Apache-2.0) AND GPL-3.0-or-later", False),
        ("Apache-2.0 WITH LLVM-exception", False),
        ("Apache-2.0 WITH LLVM-exception OR MIT", True),
    ],
)
def test_a_licence_expression_is_read_as_it_stands(expression: str, allowed: bool) -> None:
    assert is_allowed(expression, {"MIT", "Apache-2.0"}) is allowed
