"""An emulated link between two namespaces: right ones pass, and a wrong one is refused."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest

from pentathlon.machine.errors import TargetError
from pentathlon.protocol import agent
from pentathlon.protocol.requests.emulation import ProbeSend
from pentathlon.study.link_profile import Profile, Way, parse_profile
from pentathlon.targets.netns.target import probe
from pentathlon.testbed.link.calibrate import LinkRefused, calibrate, exchange
from pentathlon.testbed.link.testbed import LinkTestbed, Side, open_link
from pentathlon.testbed.link.use import difference

FAST = "[both]\nrate_kbit = 20000\ndelay_ms = 5\nqueue_bytes = 65536\n"


@pytest.fixture(scope="module", autouse=True)
def namespaces() -> None:
    if os.geteuid() != 0:
        pytest.skip("packet rings need root")
    try:
        probe()
    except TargetError as error:
        pytest.skip(str(error))


def link(text: str) -> Profile:
    return parse_profile(text, "test")


@pytest.fixture
def bed(tmp_path: Path) -> Iterator[LinkTestbed]:
    with open_link(agent.locate(), link(FAST), state_dir=tmp_path) as made:
        yield made


def came(bed: LinkTestbed, count: int = 5, size: int = 64, version: int = 4) -> list[int]:
    """Sequences of the probes that came to the server, of `count` from the client."""
    sends: dict[Side, ProbeSend] = {
        "client": ProbeSend(count=count, size_bytes=size, period_ns=5_000_000)
    }
    return [row[0] for row in exchange(bed, sends, version)["server"]["came"]]


def test_a_link_that_keeps_to_its_profile_passes_with_its_figures(bed: LinkTestbed) -> None:
    # A machine that does much else may need more attempts; none may pass that is wrong.
    found = asdict(calibrate(bed, attempts=10))
    assert found["attempts"][-1] == []
    for direction in ("up", "down"):
        figures = found["ways"][direction]
        assert abs(figures["rate"]["error_percent"]) <= 1
        assert abs(figures["delay"]["error_ms"]) <= 0.2
        assert figures["loss"]["probes"] == 200 and figures["loss"]["lost"] == 0
    assert found["cpu_percent"] > 0


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        ({"delay_ms": 6.0}, "median delay is"),
        ({"rate_kbit": 18_000.0}, "the rate is"),
        ({"overhead_bytes": 100}, "the rate is"),
    ],
)
def test_a_link_that_does_something_else_is_refused_with_the_figures(
    tmp_path: Path, fault: dict[str, Any], message: str
) -> None:
    requested = link(FAST)
    wrong = replace(requested, down=replace(requested.down, **fault))
    with open_link(agent.locate(), wrong, state_dir=tmp_path) as bed:
        # The emulator does what `wrong` states, and is judged by what was requested.
        bed.reopen = lambda lead_ns: None  # type: ignore[method-assign]
        bed.profile = requested
        with pytest.raises(LinkRefused) as refused:
            calibrate(bed, attempts=2)
    assert message in str(refused.value) and "down: " in str(refused.value)
    assert len(refused.value.found.attempts) == 2


def test_losses_are_those_asked_for_and_copies_change_no_figure(tmp_path: Path) -> None:
    lossy = link(FAST + 'loss = "random 0.05"\nduplicate = 0.1\n')
    with open_link(agent.locate(), lossy, state_dir=tmp_path) as bed:
        found = calibrate(bed, attempts=10)
    for direction in ("up", "down"):
        loss = found.ways[direction]["loss"]
        assert loss["lost"] == loss["lost_on_purpose"] > 0


def test_a_cut_link_carries_nothing_until_it_is_mended(bed: LinkTestbed) -> None:
    assert came(bed, 2) == [0, 1]
    bed.cut()
    assert came(bed, 2) == []
    bed.mend()
    assert came(bed, 2) == [0, 1]
    assert bed.statistics()["up"]["drops"]["cut"] >= 2


def test_ipv6_passes_and_the_mtu_is_that_of_the_profile(tmp_path: Path) -> None:
    narrow = link(f"mtu_bytes = 1400\n{FAST}")
    with open_link(agent.locate(), narrow, state_dir=tmp_path) as bed:
        assert came(bed, 2, version=6) == [0, 1]
        before = bed.statistics()["up"]["frames_in"]
        # The hosts say some words of their own on the link too (neighbour and group membership).
        assert len(came(bed, 40, size=1372)) == 40
        assert 40 <= bed.statistics()["up"]["frames_in"] - before < 60
        # One byte more is two packets.
        assert len(came(bed, 40, size=1373)) == 40
        assert bed.statistics()["up"]["frames_in"] - before >= 120


def test_hosts_hand_over_whole_packets_with_checksums(bed: LinkTestbed) -> None:
    # Segmentation or checksums left to the device would show as drops, or as unchecked frames.
    length = 300_000
    script = (
        "import socket,sys\n"
        "s=socket.create_server(('198.18.0.2',7001))\n"
        "print('up',flush=True)\n"
        "c,_=s.accept()\n"
        "n=0\n"
        "while d:=c.recv(65536): n+=len(d)\n"
        "print(n)\n"
    )
    server = subprocess.Popen(
        bed.inside("server", ["python3", "-c", script]), stdout=subprocess.PIPE, text=True
    )
    assert server.stdout is not None
    assert server.stdout.readline() == "up\n"
    send = (
        "import socket\n"
        "s=socket.create_connection(('198.18.0.2',7001))\n"
        f"s.sendall(bytes({length}))\n"
    )
    subprocess.run(bed.inside("client", ["python3", "-c", send]), timeout=20, check=True)
    assert server.communicate(timeout=20)[0].strip() == str(length)
    up = bed.statistics()["up"]
    assert up["unchecked"] == 0 and up["drops"]["mtu"] == 0
    assert up["bytes_out"] > length


def test_an_unlimited_link_has_no_rate_to_measure(tmp_path: Path) -> None:
    with open_link(agent.locate(), link("[both]\ndelay_ms = 3\n"), state_dir=tmp_path) as bed:
        found = calibrate(bed, attempts=10)
    assert "rate" not in found.ways["up"]


def test_differences_leave_nothing_of_what_was_before(bed: LinkTestbed) -> None:
    came(bed, 40)
    before = bed.statistics()
    came(bed, 5)
    found = difference(before, bed.statistics())
    # Five probes and what the hosts say by themselves; the forty before are gone.
    assert 5 <= found["up"]["frames_out"] == found["up"]["frames_in"] < 40
    late = sum(count for _, count in found["up"]["lateness_ns"]["buckets"])
    assert late == found["up"]["frames_out"]


def test_a_way_without_anything_is_a_cable() -> None:
    assert Way().line_ms(1000) == 0
