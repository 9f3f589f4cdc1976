"""What is fetched to build and install has exact versions and hashes (docs/supply-chain.md)."""

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
LOCKS = ["requirements.lock", "requirements-dev.lock", "requirements-build.lock"]


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


def test_the_set_up_fetches_nothing_without_a_hash() -> None:
    assert not unchecked_installations((ROOT / "scripts" / "setup").read_text())


def test_the_check_of_the_set_up_sees_an_isolated_build() -> None:
    assert unchecked_installations("python -m pip install --require-hashes \\\n -r a.lock\n")
    assert unchecked_installations("python -m pip install --no-deps .\n")
    assert unchecked_installations("python -m pip install --no-build-isolation .\n")
