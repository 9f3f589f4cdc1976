"""The wrapper of ptrace(): what one of a guest's system calls costs, counted and not timed."""

import shutil
import subprocess
from pathlib import Path

import pytest

from pentathlon.machine import tools
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.tools import on_path
from pentathlon.targets.uml import shim

HARNESS = Path(__file__).with_name("ptrace_shim_count.c")
COMPONENTS = 61
"""Components 2 to 62 of the processor's state, each requested by one CPUID."""


def test_the_layout_of_the_state_is_asked_for_once_for_each_size_of_buffer(tmp_path: Path) -> None:
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    program = tmp_path / "count"
    subprocess.run(
        [compiler, "-O1", "-I", str(shim.SOURCE.parent), "-o", str(program), str(HARNESS), "-ldl"],
        check=True,
        capture_output=True,
        timeout=60,
    )
    lines = subprocess.run([program], check=True, capture_output=True, text=True, timeout=60).stdout
    (*first, kept), (*second, kept_short) = (line.split() for line in lines.splitlines())
    # A thousand calls with one buffer, then a thousand with a shorter one; the host states its own
    # size once.
    assert [int(number) for number in first] == [COMPONENTS, 1, 1000]
    assert [int(number) for number in second] == [2 * COMPONENTS, 1, 2000]
    # The long buffer has room for component 9 and none for 18; the short one for 2 alone.
    assert int(kept, 16) == 0b111 | 1 << 9
    assert int(kept_short, 16) == 0b111


def test_the_library_of_a_wheel_needs_no_compiler(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: apt-get install gcc libc6-dev")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    compiled = shim.build()
    # As an installed package has it: the library beside its source.
    source = tmp_path / shim.SOURCE.name
    source.write_bytes(shim.SOURCE.read_bytes())
    shipped = tmp_path / compiled.name
    monkeypatch.setattr(shim, "SOURCE", source)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "empty"))
    monkeypatch.setattr(tools, "on_path", lambda name: None if name == "cc" else on_path(name))
    shipped.write_bytes(compiled.read_bytes())
    assert shim.build() == shipped
    # What this machine's loader refuses is not used.
    shipped.write_bytes(b"no library")
    with pytest.raises(TargetUnavailable, match="no C compiler"):
        shim.build()
