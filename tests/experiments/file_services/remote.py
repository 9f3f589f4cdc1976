"""Ends of links that are machines reached by ssh(1), for the tests of several modules."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.experiments.file_services.testbed import Testbed, testbeds
from pentathlon.experiments.systems import make_target
from pentathlon.experiments.two_hosts import PairTarget
from pentathlon.protocol import agent
from pentathlon.study.reach import Ssh
from pentathlon.study.system import Peer, System
from pentathlon.testbed.link import use
from pentathlon.testbed.link.calibrate import Calibration
from tests.experiments.file_services.conftest import WAN


def testbed(place: Path, system: System, link: str | None = None) -> Testbed:
    """The ground of a system, over a link of 10 Mbit/s and 50 ms that nobody measures."""
    profile = place / "test.toml"
    profile.write_text(WAN)
    target = make_target(system, agent.locate(), place)
    assert isinstance(target, PairTarget)
    target.prepare()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(use, "calibrate", lambda bed: Calibration("test", "none"))
        return testbeds(target.ends)(link or str(profile), 60.0, place)


def far_system(config: str, own: str, theirs: str) -> System:
    """Another machine as the client of a namespace."""
    peer = Peer(target="netns", interfaces=(own,), joined_to=(theirs,))
    return System(name="far", target="ssh", ssh=Ssh(host="bench", config=config), peer=peer)
