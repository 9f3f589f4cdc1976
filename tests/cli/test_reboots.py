"""A study of a machine that is restarted for each boot, over a real ssh server with boot ids."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from pentathlon.protocol import agent
from pentathlon.store.query import load_result
from tests.cli.conftest import Shop
from tests.targets.conftest import connections_ended, descendants, needs_root
from tests.targets.sshd import Sshd

pytestmark = pytest.mark.system

STUDY = """\
name = "restarted"
reference = "a"
[procedure]
blocks = 1
iterations = 1
retries = 0
boot_timeout_s = 8.0
[[system]]
name = "a"
target = "ssh"
ssh = {{ host = "bench", config = "{config}", reboot = true, reboot_command = "{first}" }}
[[system]]
name = "b"
target = "ssh"
ssh = {{ host = "bench", config = "{config}", reboot = true, reboot_command = "{second}" }}
[[suite]]
name = "s"
workloads = ["process.getpid"]
"""


class Machine(threading.Thread):
    """Restarts the server when it is asked to, each time with the next boot id."""

    def __init__(self, server: Sshd) -> None:
        super().__init__()
        self.server = server
        self.restart_file = server.directory / "restart"
        self.boots = 1
        self.over = threading.Event()
        server.start(boot_id=self.boot_id())

    def boot_id(self) -> str:
        return f"00000000-0000-4000-8000-{self.boots:012}"

    def run(self) -> None:
        while not self.over.wait(0.02):
            if self.restart_file.exists():
                self.restart_file.unlink()
                self.boots += 1
                self.server.stop()
                self.server.start(boot_id=self.boot_id())


@pytest.fixture
def machine(tmp_path: Path) -> Iterator[Machine]:
    before = descendants()
    server = Sshd(tmp_path / "sshd")
    made = Machine(server)
    made.start()
    yield made
    made.over.set()
    made.join()
    server.stop()
    connections_ended(before)


@needs_root
def test_two_restarts_into_one_kernel_are_called_so(shop: Shop, machine: Machine) -> None:
    shop.environment["PENTATHLON_AGENT"] = str(agent.locate())
    text = STUDY.format(
        config=machine.server.config,
        first=f"touch {machine.restart_file}",
        second=f"touch {machine.restart_file} # boots another kernel",
    )
    done = shop.call("run", shop.write(text), "--yes", "--no-pilot")
    assert done.code == 6, done.err
    sentence = "b and a booted the identical kernel ("
    assert sentence in done.out
    words = " ".join(done.out.split())
    assert "although the study gives them different values of ssh.reboot_command" in words
    result = load_result(shop.result())
    assert "restart" in result.plan.targets["a"]["kernel"], "the kernel is not known before"
    ids = result.inventory().filter(pl.col("path") == "kernel.boot_id")
    assert ids["value_json"].n_unique() == 2, "the boot id of every boot is kept"
