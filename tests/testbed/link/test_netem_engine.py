"""netem as the engine of a link: the same profile and the same measurement."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.protocol import agent
from pentathlon.protocol.requests.emulation import ProbeSend
from pentathlon.study.link_profile import parse_profile
from pentathlon.targets.netns.target import probe
from pentathlon.testbed.endpoint import CommandError
from pentathlon.testbed.link.calibrate import LinkRefused, calibrate, exchange
from pentathlon.testbed.link.netem_engine import lacking
from pentathlon.testbed.link.testbed import LinkTestbed, open_link
from pentathlon.testbed.link.use import difference

FAST = "[both]\nrate_kbit = 5000\ndelay_ms = 10\nqueue_bytes = 65536\n"


@pytest.fixture(scope="module", autouse=True)
def namespaces() -> None:
    if os.geteuid() != 0:
        pytest.skip("packet sockets need root")
    try:
        probe()
    except TargetError as error:
        pytest.skip(str(error))


@contextmanager
def guest_link(text: str, state: Path) -> Iterator[LinkTestbed]:
    """A link by netem of a guest."""
    try:
        made = open_link(
            agent.locate(), parse_profile(text, "test"), state_dir=state, engine="netem-uml"
        )
    except TargetUnavailable as error:
        pytest.skip(str(error))
    with made:
        yield made


def came(bed: LinkTestbed, count: int) -> list[int]:
    """Sequences of the probes that came to the server, of `count` from the client."""
    sent = ProbeSend(count=count, size_bytes=64, period_ns=5_000_000)
    return [row[0] for row in exchange(bed, {"client": sent})["server"]["came"]]


def test_the_kernels_emulator_passes_the_measurement_that_ours_passes(tmp_path: Path) -> None:
    with guest_link(FAST, tmp_path) as bed:
        found = calibrate(bed, attempts=10)
    assert found.engine.startswith("netem of Linux ")
    assert found.cpu_percent is None and not found.lateness_us
    for figures in found.ways.values():
        assert abs(figures["rate"]["error_percent"]) <= 1
        assert figures["loss"]["lost"] == 0


def test_one_that_does_something_else_is_refused(tmp_path: Path) -> None:
    with guest_link(FAST, tmp_path) as bed:
        bed.profile = parse_profile(FAST.replace("= 10\n", "= 12\n"), "test")
        bed.reopen = lambda lead_ns: None  # type: ignore[method-assign]
        with pytest.raises(LinkRefused, match="the median delay is 1"):
            calibrate(bed, attempts=1)


def test_its_losses_are_counted_and_its_jitter_has_a_table(tmp_path: Path) -> None:
    text = FAST + 'loss = "random 0.05"\njitter_ms = "exponential 0.4"\nkeep_order = true\n'
    text += "duplicate = 0.05\n"
    with guest_link(text, tmp_path) as bed:
        before = bed.statistics()
        try:
            found = calibrate(bed, attempts=3)
        except LinkRefused as refused:
            # A busy machine delays frames by more; what is counted is right nevertheless.
            found = refused.found
        between = difference(before, bed.statistics())
    for direction in ("up", "down"):
        loss = found.ways[direction]["loss"]
        # netem counts lost copies too.
        assert loss["lost_on_purpose"] >= loss["lost"] > 0
        # Exponential with a mean of 0.4 ms: the 95 % point lies 1.2 ms above the 5 % point.
        delay = found.ways[direction]["delay"]
        assert delay["p95_ms"] - delay["p05_ms"] > 0.6
        assert between[direction]["drops"]["loss_or_queue"] >= loss["lost"]
    assert between["cpu_ns"] is None


def test_a_cut_link_loses_everything_until_it_is_mended(tmp_path: Path) -> None:
    with guest_link(FAST, tmp_path) as bed:
        assert came(bed, 2) == [0, 1]
        bed.cut()
        assert came(bed, 2) == []
        bed.mend()
        assert came(bed, 2) == [0, 1]
        found = bed.statistics()["up"]
        assert found["drops"]["cut"] >= 2
        assert found["frames_out"] >= 4


def test_what_netem_cannot_do_is_unsupported_with_the_reason(tmp_path: Path) -> None:
    with (
        pytest.raises(CommandError, match="asks for CoDel") as refused,
        guest_link(FAST + "codel_target_ms = 5\ncodel_interval_ms = 100\n", tmp_path),
    ):
        pass
    assert refused.value.kind == "unsupported"


def test_a_kernel_without_netem_says_so(tmp_path: Path) -> None:
    profile = parse_profile(FAST, "test")
    if lacking() is None:
        with open_link(agent.locate(), profile, state_dir=tmp_path, engine="netem") as bed:
            assert calibrate(bed, attempts=10).engine == f"netem of Linux {os.uname().release}"
        return
    with pytest.raises(CommandError, match=f"{os.uname().release} has no sch_netem") as refused:
        open_link(agent.locate(), profile, state_dir=tmp_path, engine="netem")
    assert refused.value.kind == "unsupported"
