"""The network namespace: only loopback, up, and gone afterwards."""

import contextlib
import os
import time
from pathlib import Path

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.targets.netns.target import probe
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSystem, request

IFF_UP = 1


@pytest.fixture(autouse=True)
def works() -> None:
    try:
        probe()
    except TargetUnavailable as error:
        pytest.skip(error.reason)


def namespaces() -> set[str]:
    found = set()
    for path in Path("/proc").glob("[0-9]*/ns/net"):
        try:
            found.add(str(path.readlink()))
        except OSError:
            continue
    return found


def own_namespaces() -> set[str]:
    """Those of this process's descendants alone: tests that run beside this one have others."""
    parents: dict[int, int] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            # The name, in parentheses, may hold blanks; after it come the state and the parent.
            parents[int(path.parent.name)] = int(path.read_text().rpartition(")")[2].split()[1])
        except OSError:
            continue
    found = set()
    for process in parents:
        above = process
        while above in parents and above != os.getpid():
            above = parents[above]
        if above == os.getpid() != process:
            # It may have ended since.
            with contextlib.suppress(OSError):
                found.add(str(Path(f"/proc/{process}/ns/net").readlink()))
    return found - {str(Path("/proc/self/ns/net").readlink())}


def test_the_agent_sees_loopback_only(scripted: Path, state: Path) -> None:
    target = make_target(FakeSystem(target="netns"), scripted, state)
    target.prepare()
    with target.boot(10) as session:
        seen = next(iter(session.run(request("place"), 10, 10))).document
    assert seen["devices"] == ["lo"]
    assert seen["loopback"] & IFF_UP
    assert seen["net"] != str(Path("/proc/self/ns/net").readlink())
    assert seen["net"] not in namespaces()


def test_two_boots_have_two_namespaces(scripted: Path, state: Path) -> None:
    target = make_target(FakeSystem(target="netns"), scripted, state)
    with target.boot(10) as first, target.boot(10) as second:
        seen = [
            next(iter(s.run(request("place"), 10, 10))).document["net"] for s in (first, second)
        ]
    assert len(set(seen)) == 2


def test_a_hanging_agent_leaves_no_namespace(scripted: Path, state: Path) -> None:
    target = make_target(FakeSystem(target="netns"), scripted, state)
    with target.boot(10) as session, pytest.raises(TargetError, match="no event came"):
        # On a busy machine the program that makes the namespace may not have come to it yet.
        deadline = time.monotonic() + 30
        while not (made := own_namespaces()) and time.monotonic() < deadline:
            time.sleep(0.05)
        documents(session.run(request("stubborn"), 0.5, 10))
    assert made and not made & namespaces()


def test_the_real_agent_serves_a_request(real_agent: Path, state: Path) -> None:
    target = make_target(FakeSystem(target="netns"), real_agent, state)
    with target.boot(10) as session:
        events = documents(session.run(request("test.spin"), 30, 60))
    assert events[-1]["errors"] == 0
    assert events[-1]["samples"] > 0
