"""Virtual machines of QEMU as ends of links, for the tests of several modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.exchange import pcapng
from pentathlon.experiments.file_services.capture.summary import summarise
from pentathlon.experiments.file_services.testbed import Testbed
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.study.system import System
from pentathlon.targets.qemu import kernels, shares
from pentathlon.targets.qemu import target as qemu
from pentathlon.testbed.link import use
from pentathlon.testbed.link.calibrate import Calibration
from tests.experiments.file_services.conftest import (
    WAN,
    Bench,
    capture,
    no_namespaces,
    samples,
    testbed_of,
)

KERNEL = "6.1-cloud"
"""Of Debian's kernels the one whose boots never failed with QEMU 7.2 (docs/targets.md)."""

BOOT_S = 240.0


def no_machines() -> str | None:
    """Why no virtual machine can be an end of a link here."""
    if reason := no_namespaces():
        return reason
    if qemu.version() is None:
        return "QEMU is not installed"
    try:
        shares.check()
        kernel = kernels.resolve(KERNEL)
    except TargetUnavailable as error:
        return str(error)
    return "the kernel lacks modules" if kernels.lacks(kernel, kernels.PARTS) else None


def joined(place: Path, system: System, link: str | None = None) -> Testbed:
    """Both ends, with an emulated link where no other is named."""
    if reason := no_machines():
        pytest.skip(reason)
    profile = place / "test.toml"
    profile.write_text(WAN)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(use, "calibrate", lambda bed: Calibration("test", "none"))
        return testbed_of(place, link or str(profile), system, BOOT_S)


def copied(bench: Bench, protocol: str) -> None:
    found = samples(events := bench.run("files.copy", protocols=[protocol]))
    assert 100_000 < found["wire_bytes"] < 150_000
    # The machine is behind the link: nothing is nearer than its 50 ms.
    assert found["link_round_trip"] >= 50
    talks = summarise(pcapng.read(capture(events)), *bench.testbed.addresses, "smb").talks
    assert talks and all(talk.segments for talk in talks)
    # Whole packets crossed the link, none longer than its MTU.
    lengths = [frame.length for frame in pcapng.read(capture(events)).frames]
    assert 1400 < max(lengths) <= 1514
