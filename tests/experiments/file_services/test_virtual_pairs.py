"""File tasks whose ends are both guests, one of them at least a virtual machine of QEMU."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.experiments.file_services.testbed import CABLE
from pentathlon.study.system import Peer, System
from pentathlon.targets.qemu import kernels
from pentathlon.targets.uml import kernels as uml_kernels
from tests.experiments.file_services.conftest import Bench, Testbeds, samples
from tests.experiments.file_services.virtual_machines import KERNEL, copied, joined


def test_two_kernels_of_two_kinds_are_ends_of_one_link(tmp_path: Path) -> None:
    here = uml_kernels.available()
    if not here:
        pytest.skip("no kernel of user-mode Linux is here: pentathlon doctor --install")
    peer = Peer(target="qemu", kernel=KERNEL)
    system = System(name="two", target="uml", kernel=str(here[-1].path), peer=peer)
    testbed = joined(tmp_path, system)
    try:
        sentences = [
            end.perform(["uname", "-r"], 60.0)["output"].strip()
            for end in (testbed.client, testbed.server)
        ]
        assert sentences == [here[-1].version, kernels.resolve(KERNEL).release]
        # A task takes a machine whose CPU is translated its time.
        copied(Bench(Testbeds(testbed), tmp_path), "http1.1")
    finally:
        testbed.stop()


def test_two_virtual_machines_are_ends_of_a_cable(tmp_path: Path) -> None:
    system = System(name="two", target="qemu", kernel=KERNEL, peer=Peer(kernel=KERNEL))
    testbed = joined(tmp_path, system, CABLE)
    try:
        assert testbed.client.apart and testbed.server.apart
        found = samples(Bench(Testbeds(testbed), tmp_path).run("files.copy", protocols=["http1.1"]))
        assert found["link_round_trip"] > 0 and found["wire_bytes"] > 100_000
    finally:
        testbed.stop()
