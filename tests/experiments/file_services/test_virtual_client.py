"""File tasks, and other traffic over links, whose client is a virtual machine of QEMU."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from pentathlon.experiments.traffic.driver import run_traffic
from pentathlon.study.system import Peer, System
from pentathlon.targets.qemu import kernels
from tests.experiments.file_services.conftest import (
    Bench,
    Testbeds,
    crossed_by_traffic,
    cut_in_mid_task,
    failure,
    samples,
    small_disk,
)
from tests.experiments.file_services.virtual_machines import KERNEL, copied, joined
from tests.experiments.traffic.conftest import task
from tests.fakes.messages import documents


@pytest.fixture(scope="module")
def as_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The client is a virtual machine, the server a namespace."""
    place = tmp_path_factory.mktemp("client")
    system = System(name="client", target="qemu", kernel=KERNEL, peer=Peer(target="netns"))
    testbed = joined(place, system)
    yield Bench(Testbeds(testbed), place)
    testbed.stop()


def test_it_has_its_kernel_and_may_write_where_its_task_is_alone(as_client: Bench) -> None:
    machine, ours = as_client.testbed.client, as_client.scratch
    release = machine.perform(["uname", "-r"], 60.0)["output"].strip()
    assert release == kernels.resolve(KERNEL).release
    assert machine.perform(["touch", str(ours / "by-the-guest")], 60.0)["status"] == 0
    assert (ours / "by-the-guest").exists()
    refused = machine.perform(["touch", "/usr/by-a-guest"], 60.0)
    assert refused["status"] != 0 and "Read-only" in refused["error"]
    # Nor when its root user mounts what it sees anew: the server of the files is what refuses.
    again = "mount -o remount,rw / && touch /usr/by-a-guest"
    assert machine.perform(["/bin/sh", "-c", again], 60.0)["status"] != 0
    assert not Path("/usr/by-a-guest").exists()


def test_it_sees_at_once_what_this_machine_changes(as_client: Bench) -> None:
    machine, file = as_client.testbed.client, as_client.scratch / "changing"
    for text in ("first", "second, which is longer", "3"):
        file.write_text(text)
        assert machine.perform(["cat", str(file)], 60.0)["output"] == text
        file.unlink()
        assert machine.perform(["test", "-e", str(file)], 60.0)["status"] == 1


@pytest.mark.parametrize("protocol", ["smb", "nfs"])
def test_a_copy_to_a_virtual_machine_has_its_bytes(as_client: Bench, protocol: str) -> None:
    copied(as_client, protocol)


def test_a_portal_comes_to_a_virtual_machine(as_client: Bench) -> None:
    small = {"document_bytes": [20_000], "files": 3}
    found = samples(as_client.run("files.portal", protocols=["http2"], **small))
    assert found["wire_bytes"] > 20_000 and found["task_time"] >= 0.1


def test_traffic_crosses_a_link_from_a_virtual_machine(as_client: Bench) -> None:
    crossed_by_traffic(as_client.testbed)


@pytest.mark.parametrize("version", [4, 6])
def test_the_kernels_own_generator_sends_from_a_virtual_machine(
    as_client: Bench, version: int
) -> None:
    """This machine's kernel may have no pktgen; Debian's have it as a module."""
    testbed = as_client.testbed
    work = task(
        transmit_backend=["pktgen"], packet_rate="constant 200", packet_bytes="constant 200",
        ip_versions=[version], duration_s=1.0, lateness_limit_ms=10_000.0,
    )  # fmt: skip
    events = documents(run_traffic(work, testbed.client, testbed.server))
    assert [event["reason"] for event in events if event["event"] == "error"] == []
    (flow,) = [flow for e in events if e["event"] == "packets" for flow in e["flows"]]
    assert flow["received"] == flow["sent"] == 200
    assert flow["duplicates"] == flow["foreign"] == 0
    text = {event["metric"] for event in events if event["event"] == "sample"}
    assert {"throughput", "lost"} <= text and not {"delay_p50", "jitter"} & text


def test_a_virtual_machine_whose_disk_is_full_costs_one_sentence(
    as_client: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_disk(as_client, monkeypatch)
    message = failure(as_client.run("files.copy", protocols=["http1.1"]))
    assert message.startswith("the client's disk is full")


def test_a_link_to_it_that_is_cut_costs_one_sentence(
    as_client: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_in_mid_task(as_client, monkeypatch, "http1.1")
