"""A link of two hosts that nobody sends over is silent: a stray packet disturbs a trial."""

import time
from pathlib import Path

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.protocol import agent
from pentathlon.targets.local.target import LocalTarget
from pentathlon.targets.netns.target import probe
from pentathlon.testbed import hosts
from pentathlon.testbed.endpoint import Endpoint
from tests.targets.conftest import FakeSystem

SETTLED_S = 2.5
"""After it, only router solicitations would be sent: about 4, 8 and 12 s after the link is up."""

LONG_ENOUGH_S = 4.0


def sent(host: Endpoint) -> dict[str, int]:
    """Interface -> packets that it sent (proc(5), /proc/net/dev)."""
    text = host.perform(["cat", "/proc/net/dev"], 10.0)["output"]
    rows = (line.split(":") for line in text.splitlines()[2:])
    return {name.strip(): int(words.split()[9]) for name, words in rows}


def test_two_hosts_say_nothing_unasked(tmp_path: Path) -> None:
    try:
        probe()
        path = agent.locate()
    except (TargetUnavailable, agent.AgentError) as error:
        pytest.skip(str(error))
    if not Path("/proc/sys/net/ipv6").exists():
        pytest.skip("this kernel has no IPv6, which is what would speak")
    target = make_target(FakeSystem(target="netns"), path, tmp_path)
    assert isinstance(target, LocalTarget)
    pair = hosts.netns_hosts(target, (None, None))(20)
    try:
        time.sleep(SETTLED_S)
        before = [sent(host) for host in pair]
        time.sleep(LONG_ENOUGH_S)
        assert [sent(host) for host in pair] == before
    finally:
        hosts.stop(pair)
