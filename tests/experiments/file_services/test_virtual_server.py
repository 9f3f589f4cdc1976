"""File tasks over links whose server is a virtual machine of QEMU."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from pentathlon.experiments.file_services import trial
from pentathlon.experiments.systems import make_target
from pentathlon.protocol import agent
from pentathlon.study.system import Peer, System
from tests.experiments.file_services.conftest import (
    Bench,
    Testbeds,
    after,
    cut_in_mid_task,
    failure,
    goes_on_after,
    two_tasks_run,
)
from tests.experiments.file_services.virtual_machines import KERNEL, copied, joined, no_machines


@pytest.fixture(scope="module")
def as_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """The server is a virtual machine, the client a namespace."""
    place = tmp_path_factory.mktemp("server")
    system = System(name="server", target="netns", peer=Peer(target="qemu", kernel=KERNEL))
    testbed = joined(place, system)
    yield Bench(Testbeds(testbed), place)
    testbed.stop()


def test_a_copy_from_a_virtual_machine_has_its_bytes(as_server: Bench) -> None:
    copied(as_server, "sftp")


def test_tasks_come_from_a_virtual_machine(as_server: Bench) -> None:
    two_tasks_run(as_server)


def test_a_server_that_is_killed_in_a_virtual_machine_costs_one_sentence(
    as_server: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trial, "limit_s", lambda testbed, held: 8.0)
    with after(as_server, 200_000, lambda: as_server.testbed.server.finish_job("nginx")):
        events = as_server.run("files.copy", protocols=["http1.1"], document_bytes=[2_000_000])
    assert failure(events).startswith("the server nginx ended in mid-task; ")


def test_after_a_virtual_machine_was_killed_the_next_case_has_a_new_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if reason := no_machines():
        pytest.skip(reason)
    system = System(name="server", target="netns", peer=Peer(target="qemu", kernel=KERNEL))
    target = make_target(system, agent.locate(), tmp_path)
    output = goes_on_after(
        target, tmp_path, monkeypatch,
        lambda testbed: os.kill(testbed.server.session.pid, signal.SIGKILL),
    )  # fmt: skip
    lost = r'the server was lost in mid-task \(system "server".*signal 9.*\); [0-9,]+ of 2,000,000 '
    assert re.match(lost, output), output


def test_a_link_to_it_that_is_cut_costs_one_sentence(
    as_server: Bench, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut_in_mid_task(as_server, monkeypatch, "http1.1")
