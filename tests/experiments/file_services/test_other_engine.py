"""File tasks over links that netem of a guest kernel emulates."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.machine.errors import TargetUnavailable
from pentathlon.study.system import Peer, System
from pentathlon.targets.uml import kernels
from pentathlon.testbed.link import use
from pentathlon.testbed.link.calibrate import Calibration
from pentathlon.testbed.link.netem_engine import NetemEngine
from tests.experiments.file_services.conftest import (
    WAN,
    Bench,
    Testbeds,
    no_namespaces,
    samples,
    testbed_of,
)

HERE = kernels.available()
KERNEL = str(HERE[0].path) if HERE else None


@pytest.mark.parametrize(
    ("target", "other"), [("netns", "netns"), ("uml", "netns"), ("netns", "uml")]
)
def test_a_document_crosses_a_link_of_netem(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, target: str, other: str
) -> None:
    if reason := no_namespaces():
        pytest.skip(reason)
    if KERNEL is None:
        pytest.skip("no kernel of user-mode Linux is here: pentathlon doctor --install")
    monkeypatch.setattr(use, "calibrate", lambda bed: Calibration("test", "none"))
    profile = tmp_path / "test.toml"
    profile.write_text(WAN)
    kernel = {"uml": KERNEL}
    peer = Peer.model_validate(
        {"target": other, "kernel": kernel.get(other), "link_engine": "netem-uml"}
    )
    system = System.model_validate(
        {"name": "netem", "target": target, "kernel": kernel.get(target), "peer": peer}
    )
    try:
        testbed = testbed_of(tmp_path, str(profile), system)
    except TargetUnavailable as error:
        pytest.skip(str(error))
    try:
        assert testbed.link is not None and isinstance(testbed.link.bed.engine, NetemEngine)
        found = samples(Bench(Testbeds(testbed), tmp_path).run("files.copy", protocols=["http1.1"]))
        assert 100_000 < found["wire_bytes"] < 150_000 and found["link_round_trip"] >= 50
    finally:
        testbed.stop()
