"""The experimenter is killed while a system runs: the next start leaves nothing of it."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.undo_journal import leftovers, restore_leftovers
from pentathlon.targets.uml import kernels
from tests.targets.conftest import FakeSystem, descendants

RUN = """
import sys
from pathlib import Path
from tests.targets.conftest import FakeSystem, spin
from pentathlon.experiments.systems import make_target
kind, kernel, agent, state = sys.argv[1:]
system = FakeSystem(target=kind, kernel=kernel or None)
session = make_target(system, Path(agent), Path(state)).boot(60)
asked = spin(sample_ms=60_000.0, warmup=0, timeout_s=300)
for _, event in session.run(asked, 300, 300):
    if event["event"] == "progress":
        print("on", flush=True)
"""

SYSTEMS = [
    ("local", ""),
    ("netns", ""),
    ("gvisor", ""),
    ("wine", ""),
    ("oci", ""),
    *(("uml", str(kernel.path)) for kernel in kernels.available()),
]


@pytest.mark.parametrize(("kind", "kernel"), SYSTEMS, ids=lambda text: text.rpartition("/uml-")[2])
def test_a_killed_experimenter_leaves_nothing(
    kind: str, kernel: str, real_agent: Path, state: Path, tmp_path: Path
) -> None:
    target = make_target(FakeSystem(target=kind, kernel=kernel or None), real_agent, state)
    try:
        target.prepare()
    except TargetUnavailable as error:
        pytest.skip(error.reason)
    command = [sys.executable, "-c", RUN, kind, kernel, str(real_agent), str(state)]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        cwd=Path(__file__).parents[2],
        env=os.environ | {"TMPDIR": str(tmp_path / "scratch")},
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"on\n"
        assert descendants()
        process.send_signal(signal.SIGKILL)
    assert {entry["change"] for entry in leftovers(state)} >= {"directory", "processes"}
    notes = restore_leftovers(state)
    assert any("processes of session" in sentence for sentence in notes)
    # A process that has been killed leaves the table a little later.
    deadline = time.monotonic() + 10
    while descendants() and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not descendants()
