"""Settings of another machine: what is set there, and that it is put back, however a session ends.

The files of the kernel are played, in the server's own mount namespace; the shell over there, the
guard and the connection are real. The CPU quota is a real control group of this machine.
"""

import contextlib
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon.machine import cgroup, processes
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.targets.ssh.client import remote
from pentathlon.targets.ssh.settings import LinuxSettings
from pentathlon.targets.ssh.survey import survey
from tests.fakes.messages import documents
from tests.targets.conftest import (
    FakeSettings,
    burst,
    connections_ended,
    descendants,
    needs_root,
)
from tests.targets.sshd import Sshd
from tests.targets.test_ssh import BOOT_S, connections, target

pytestmark = needs_root

SWAPPINESS = "proc/sys/vm/swappiness"
CONTROL = "proc/sys/net/ipv4/tcp_congestion_control"
MEMORY = "proc/sys/net/ipv4/tcp_rmem"
BEFORE = {SWAPPINESS: "60\n", CONTROL: "cubic\n", MEMORY: "4096\t131072\t6291456\n"}


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    found = {}
    for name, text in BEFORE.items():
        found[name] = tmp_path / name.replace("/", "-")
        found[name].write_text(text)
    return found


@pytest.fixture
def server(tmp_path: Path, files: dict[str, Path]) -> Iterator[Sshd]:
    made = Sshd(tmp_path / "sshd")
    # Sessions of other tests sweep theirs, and see other files of the kernel.
    (tmp_path / "there").mkdir()
    made.set_variables(TMPDIR=str(tmp_path / "there"))
    before = descendants()
    binds = [f"mount --bind {file} /{name}" for name, file in files.items()]
    made.start_in("unshare", "--mount", "sh", "-c", "; ".join([*binds, 'exec "$@"']), "sh")
    yield made
    made.stop()
    connections_ended(before)


def words(files: dict[str, Path]) -> dict[str, list[str]]:
    return {name: file.read_text().split() for name, file in files.items()}


WANTED: dict[str, Any] = {"swappiness": 10, "sysctl": {"net.ipv4.tcp_rmem": "4096 87380 1000000"}}
SET = {SWAPPINESS: ["10"], CONTROL: ["cubic"], MEMORY: ["4096", "87380", "1000000"]}
AS_BEFORE = {name: text.split() for name, text in BEFORE.items()}


def restored(files: dict[str, Path]) -> bool:
    """Whether the guard over there puts everything back, which nobody hears of."""
    deadline = time.monotonic() + 10
    while words(files) != AS_BEFORE and time.monotonic() < deadline:
        time.sleep(0.05)
    return words(files) == AS_BEFORE


def test_what_is_set_is_put_back_at_the_end(
    server: Sshd, files: dict[str, Path], state: Path, real_agent: Path
) -> None:
    one = target(server, real_agent, state, settings=FakeSettings(WANTED))
    with one.boot(BOOT_S):
        assert words(files) == SET
    assert words(files) == AS_BEFORE


def test_a_connection_that_breaks_puts_back_too(
    server: Sshd, files: dict[str, Path], state: Path, real_agent: Path
) -> None:
    one = target(server, real_agent, state, settings=FakeSettings(WANTED))
    session = one.boot(BOOT_S)
    assert words(files) == SET
    for pid in connections(server.pid):
        processes.kill(pid)
    assert restored(files)
    session.stop()


def test_a_guard_that_was_killed_is_made_good_by_the_next_one(
    server: Sshd, files: dict[str, Path], state: Path, real_agent: Path
) -> None:
    session = target(server, real_agent, state, settings=FakeSettings(WANTED)).boot(BOOT_S)
    place = Path(session._connection.directory)
    processes.kill(int((place / "guard").read_text().split()[0]))
    with contextlib.suppress(TargetError):
        session.stop()
    assert words(files) == SET
    with target(server, real_agent, state).boot(BOOT_S):
        assert words(files) == AS_BEFORE


def test_what_somebody_else_has_changed_since_stays(
    server: Sshd, files: dict[str, Path], state: Path, real_agent: Path
) -> None:
    with target(server, real_agent, state, settings=FakeSettings(WANTED)).boot(BOOT_S):
        files[SWAPPINESS].write_text("33\n")
    assert words(files) == AS_BEFORE | {SWAPPINESS: ["33"]}


@pytest.mark.parametrize(
    "lack",
    [
        ({"sysctl": {"vm.no_such_thing": 1}}, "bench: this kernel has no /proc/sys/vm/no_such_thi"),
        ({"tcp_congestion_control": "nonesuch"}, "and no nonesuch"),
        ({"irq_affinity": [999]}, "irq_affinity names a CPU that is not on bench"),
    ],
)
def test_what_the_machine_lacks_is_a_sentence_before_anything_is_changed(
    server: Sshd,
    files: dict[str, Path],
    state: Path,
    real_agent: Path,
    lack: tuple[dict[str, Any], str],
) -> None:
    values, sentence = lack
    with pytest.raises(TargetUnavailable) as caught:
        target(server, real_agent, state, settings=FakeSettings(WANTED | values)).prepare()
    assert sentence in str(caught.value)
    assert words(files) == AS_BEFORE


def test_a_quota_is_a_group_that_is_removed(server: Sshd, state: Path, real_agent: Path) -> None:
    try:
        parent = cgroup.find().parent
    except TargetUnavailable as error:
        pytest.skip(error.reason)
    asked = FakeSettings({"cpu_quota_percent": 50.0})
    with target(server, real_agent, state, settings=asked).boot(BOOT_S) as session:
        (group,) = list(parent.rglob(f"pentathlon-{session._connection.token}"))
        assert cgroup.percent(group) == 50.0
        events = session.run(burst(), 60, 120)
        next(events)  # The agent is started in the group by the request.
        inside = (group / "cgroup.procs").read_text().split()
        assert inside
        assert documents(events)[-1]["errors"] == 0
    assert not group.exists()


def test_what_may_be_set_there_is_read_over_the_connection(
    server: Sshd, files: dict[str, Path], state: Path, real_agent: Path
) -> None:
    files[SWAPPINESS].write_text("33\n")
    address = target(server, real_agent, state).address
    asked = survey(lambda script, *words: address.ask_line(remote(script, *words)), "bench")
    found = {one.key: one for one in asked}
    assert (found["swappiness"].present, found["swappiness"].possible) == ("33", True)
    assert found["tcp_congestion_control"].present == "cubic"
    assert "cubic" in found["tcp_congestion_control"].values
    assert files[SWAPPINESS].read_text() == "33\n"


def test_settings_of_the_agent_and_of_windows_are_none_of_these() -> None:
    assert not LinuxSettings("bench", {"nice": 5, "scheduler": "batch", "defender": "off"}, 4)
