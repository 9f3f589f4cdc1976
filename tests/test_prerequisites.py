"""What `scripts/prerequisites` finds, installs and says, on machines made of stand-ins."""

from __future__ import annotations

import shutil
import subprocess
import tomllib
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parent.parent / "scripts" / "prerequisites"
TOOLS = ("sh", "sed", "grep", "sort", "head", "tail", "cut", "cat", "printf", "touch", "rm")
OLD, NEW = "rustc 1.63.0", "rustc 1.96.0 (x 2026-01-01)"

Machine = Path


def program(machine: Machine, name: str, text: str) -> None:
    file = machine / name
    file.unlink(missing_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)


def rust(machine: Machine, version: str) -> None:
    for name in ("rustc", "cargo"):
        program(machine, name, f"echo {version.replace('rustc', name)!r}")


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    """One with everything but Rust, of root, whose distribution has an old and a new compiler."""
    place = tmp_path / "bin"
    place.mkdir()
    for name in TOOLS:
        found = shutil.which(name)
        assert found is not None, name
        (place / name).symlink_to(found)
    program(place, "id", "echo 0")
    program(place, "python3", "exit 0")
    program(place, "cc", "exit 0")
    program(
        place, "apt-cache",
        'case "$2" in rustc) echo "  Candidate: 1.63.0+dfsg1-2";; '
        '*) echo "  Candidate: 1.96.0+dfsg1-1";; esac',
    )  # fmt: skip
    program(place, "apt-get", f'echo "$@" >>{tmp_path}/asked')
    return place


def call(machine: Machine, *words: str) -> subprocess.CompletedProcess[str]:
    # What lies in /usr/bin of the machine that runs the tests is none of theirs.
    text = SCRIPT.read_text().replace("/usr/bin", str(machine / "usr"))
    return subprocess.run(
        [str(machine / "sh"), "-s", *words], input=text, env={"PATH": str(machine)},
        capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip


def test_where_nothing_is_missing_nothing_is_installed(machine: Machine, tmp_path: Path) -> None:
    rust(machine, NEW)
    done = call(machine)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")
    assert not (tmp_path / "asked").exists()


def test_a_rust_of_the_distribution_that_is_new_enough_is_installed(
    machine: Machine, tmp_path: Path
) -> None:
    rust(machine, OLD)
    for name in ("rustc", "cargo"):
        program(machine, f"new-{name}", f"echo '{name} 1.96.0'")
    # Installing puts the new compiler there.
    program(
        machine, "apt-get",
        f'echo "$@" >>{tmp_path}/asked; case "$*" in *rustc-web*) '
        f"for one in rustc cargo; do cat {machine}/new-$one >{machine}/$one; done;; esac",
    )  # fmt: skip
    done = call(machine)
    assert done.returncode == 0, done.stderr
    assert "rustc-web cargo-web" in (tmp_path / "asked").read_text().splitlines()[-1]


def test_everything_that_is_missing_is_named_in_one_sentence(machine: Machine) -> None:
    rust(machine, OLD)
    program(machine, "python3", "exit 1")
    (machine / "cc").unlink()
    program(machine, "id", "echo 1000")
    done = call(machine, "graphics")
    assert done.returncode == 1
    [sentence] = done.stderr.splitlines()
    for what in ("Python 3.11", "a C compiler", "a C++ compiler", "Rust 1.91"):
        assert what in sentence
    command = "apt-get install python3 python3-venv gcc libc6-dev g++ rustc-web cargo-web"
    assert command in " ".join(sentence.split())


def test_without_apt_the_reason_is_that(machine: Machine) -> None:
    (machine / "apt-get").unlink()
    done = call(machine)
    assert done.returncode == 1
    assert "this system has no apt-get" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_an_unreachable_mirror_is_called_that(machine: Machine) -> None:
    program(machine, "apt-get", "echo 'E: Failed to fetch http://mirror/InRelease'; exit 100")
    done = call(machine)
    assert done.returncode == 1
    assert "the package mirror cannot be reached (Failed to fetch http://mirror" in done.stderr
    assert "Unable to locate" not in done.stderr


def test_a_distribution_without_a_new_rust_is_called_that(machine: Machine) -> None:
    program(machine, "apt-cache", 'echo "  Candidate: 1.63.0+dfsg1-2"')
    done = call(machine)
    assert done.returncode == 1
    assert "this distribution has no Rust 1.91" in done.stderr
    assert "install it by rustup" in done.stderr


def test_a_long_installation_is_reported(machine: Machine, tmp_path: Path) -> None:
    """`sleep` ends at once here. What reports is its parent, another one for each command: the
    second call comes after the first line."""
    rust(machine, OLD)
    program(
        machine, "sleep",
        f"[ ! -e {tmp_path}/once.$PPID ] || touch {tmp_path}/twice.$PPID; "
        f"touch {tmp_path}/once.$PPID",
    )  # fmt: skip
    for name in ("rustc", "cargo"):
        program(machine, f"new-{name}", f"echo '{name} 1.96.0'")
    reports = 'for one in {}/twice.*; do [ ! -e $one ] || [ $one = "$1" ] || echo $one; done'
    program(machine, "reports", reports.format(tmp_path))
    wait = (
        'tries=0; until [ -n "$(reports $known)" ] || [ $tries = 20000 ]; '
        "do tries=$((tries + 1)); done; "
    )
    program(
        machine, "apt-get",
        f'case "$*" in *rustc-web*) read -r known <{tmp_path}/known; {wait}'
        f"for one in rustc cargo; do cat {machine}/new-$one >{machine}/$one; done;; "
        f"*) known=; {wait} reports >{tmp_path}/known;; esac",
    )  # fmt: skip
    done = call(machine)
    assert done.returncode == 0, done.stderr
    before, _, after = done.stderr.partition("  15 s: install rustc-web cargo-web\n")
    assert "  15 s: read the package lists\n" in before
    # The first ended with its command.
    assert after.count("install rustc-web cargo-web\n") == len(after.splitlines())
    assert "read the package lists" not in after


def test_every_place_names_the_same_least_versions() -> None:
    """Cargo.toml and pyproject.toml decide; the script runs before either can be read."""
    root = SCRIPT.parent.parent
    cargo = tomllib.loads((root / "Cargo.toml").read_text())["workspace"]["package"]
    graphics = tomllib.loads((root / "graphics" / "Cargo.toml").read_text())["package"]
    python = tomllib.loads((root / "pyproject.toml").read_text())["project"]["requires-python"]
    script = SCRIPT.read_text()
    assert f"\nrust_least={cargo['rust-version']}\n" in script
    assert graphics["rust-version"] == cargo["rust-version"]
    assert f"\npython_least={python.removeprefix('>=')}\n" in script
