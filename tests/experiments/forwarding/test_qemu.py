"""A forwarder that is a virtual machine: real packets through both of its cards."""

import os
from collections.abc import Iterator

import pytest

from pentathlon.experiments.forwarding import testbed
from pentathlon.experiments.forwarding.guest_testbed import guest_testbed
from pentathlon.experiments.systems import make_target
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.protocol import agent
from pentathlon.targets.netns.target import probe
from pentathlon.targets.qemu import kernels
from pentathlon.targets.qemu.target import QemuTarget
from pentathlon.testbed import hosts
from tests.experiments.forwarding.test_testbed import flow_of
from tests.targets.conftest import FakeSystem

KERNEL = "6.1-cloud"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[testbed.Testbed]:
    if os.geteuid() != 0:
        pytest.skip("making the bed's links needs root")
    try:
        probe()
        program = agent.locate()
        system = FakeSystem(target="qemu", kernel=KERNEL)
        target = make_target(system, program, tmp_path_factory.mktemp("state"))
        assert isinstance(target, QemuTarget)
        target.prepare()
    except (TargetUnavailable, agent.AgentError) as error:
        pytest.skip(str(error))
    kernel = kernels.present(KERNEL)
    assert kernel is not None and kernel.modules is not None
    if not (kernel.modules / "virtio_net.ko").exists():
        pytest.skip("the kernel was fetched without the card's module")
    found = guest_testbed(target, None)(120)
    yield found
    hosts.stop([found.forwarder, found.generator])


def test_packets_come_back_from_the_virtual_machine(made: testbed.Testbed) -> None:
    assert (made.incoming, made.outgoing) == QemuTarget.devices
    flow = flow_of(made, 1000, 128)
    assert flow.sent >= 495
    assert flow.forwarded > 0
    assert flow.trips is not None
    assert flow.trips.minimum > 0
