"""`pentathlon boots`: what a machine can boot, over a real ssh server and GRUB's configuration."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.conftest import Shop
from tests.targets.bench_machine import OLD, BenchMachine, started
from tests.targets.conftest import needs_root

pytestmark = [pytest.mark.system, needs_root]


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[BenchMachine]:
    with started(tmp_path) as made:
        yield made


def test_the_list_is_tables_to_paste(shop: Shop, bench: BenchMachine) -> None:
    done = shop.call("boots", "bench", "--config", bench.server.config, "--method", "grub")
    assert done.code == 0, done.err
    systems = tomllib.loads(done.out)["system"]
    assert OLD in [one["boot"]["entry"] for one in systems]
    assert {one["boot"]["method"] for one in systems} == {"grub"}
    lines = done.out.splitlines()
    assert lines[0].startswith("# bench runs 6.1.0-9-amd64 (")
    assert "# grub:" in lines
    assert [line for line in lines if line.endswith(", the default")] == [
        "# Debian GNU/Linux, the default"
    ]


def test_kexec_has_no_default(shop: Shop, bench: BenchMachine) -> None:
    """The kernel that runs is named so: no start without a choice is by kexec."""
    (bench.directory / "boot" / "vmlinuz-6.1.0-9-amd64").touch()
    (bench.directory / "boot" / "vmlinuz-5.10.0-3-amd64").touch()
    bench.script("kexec", "#!/bin/sh\n")
    done = shop.call("boots", "bench", "--config", bench.server.config, "--method", "kexec")
    assert done.code == 0, done.err
    assert "# /boot/vmlinuz-6.1.0-9-amd64, which runs now" in done.out.splitlines()
    assert "# /boot/vmlinuz-5.10.0-3-amd64" in done.out.splitlines()
    assert ", the default" not in done.out


def test_a_machine_without_the_loader_is_one_sentence(shop: Shop, bench: BenchMachine) -> None:
    (bench.grub / "grub.cfg").unlink()
    done = shop.call("boots", "bench", "--config", bench.server.config, "--method", "grub")
    assert done.code == 3, done.out
    assert "# grub: bench has no grub.cfg in /boot" in done.out
