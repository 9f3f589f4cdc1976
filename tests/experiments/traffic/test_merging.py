"""Jitter is reported where packets come one by one, and refused where the interface merges them."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest

from pentathlon.experiments.traffic.driver import run_traffic
from pentathlon.machine import launch
from tests.experiments.traffic import features
from tests.experiments.traffic.conftest import Pair, task
from tests.fakes.messages import documents

BETWEEN = {"jitter", "ditg_jitter", "ipdv"}


def switch(pair: Pair, feature: str, state: str) -> None:
    """A feature of the receiver's interface."""
    enter = [str(launch.need("nsenter", "util-linux")), "--target", str(pair[1].session.pid)]
    words = ["--net", "--", sys.executable, features.__file__, "pent1", feature, state]
    done = subprocess.run([*enter, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        pytest.skip(done.stderr)


def measured(pair: Pair, **parameters: Any) -> tuple[dict[str, float], list[tuple[str, str]]]:
    """Metrics, and the errors."""
    own = {"echo": False, "packet_rate": "constant 500"}
    events = documents(run_traffic(task(**own | parameters), *pair))
    values = {e["metric"]: e["value"] for e in events if e["event"] == "sample"}
    errors = [(e["kind"], e["reason"]) for e in events if e["event"] == "error"]
    if any(kind == "invalid" for kind, _ in errors) or (values and "throughput" not in values):
        pytest.skip("the machine is too busy for a generator of 500 packets/s")
    return values, errors


@pytest.mark.parametrize("feature", ["rx-udp-gro-forwarding", "rx-gro-list"])
def test_jitter_is_refused_while_the_interface_merges(joined: Pair, feature: str) -> None:
    switch(joined, "rx-gro", "on")
    switch(joined, feature, "on")
    try:
        values, errors = measured(joined)
        best, refused = measured(joined, transmit_backend=["best"])
    finally:
        switch(joined, feature, "off")
    assert not BETWEEN & values.keys()
    assert values["lost"] == 0 and values["throughput"] > 0
    ((kind, reason),) = errors
    assert kind == "unsupported"
    assert "pent1 can merge packets" in reason and f"({feature} is on)" in reason
    # A transmit backend that yields all else is not one that the system lacks.
    assert best["lost"] == 0 and sum("merge" in text for _, text in refused) == 1
    values, errors = measured(joined)
    assert values.keys() >= BETWEEN
    assert errors == []


def test_a_reader_of_frames_is_refused_while_the_interface_merges(joined: Pair) -> None:
    switch(joined, "rx-gro", "on")
    switch(joined, "rx-udp-gro-forwarding", "on")
    try:
        values, errors = measured(joined, transmit_backend=["sendmmsg"], receiver="ring")
    finally:
        switch(joined, "rx-udp-gro-forwarding", "off")
    assert values == {}
    ((kind, reason),) = errors
    if "pent1" not in reason:
        pytest.skip(reason)
    assert kind == "unsupported" and "takes packets that were merged for one" in reason
    assert measured(joined, transmit_backend=["sendmmsg"], receiver="ring")[0].keys() >= BETWEEN


def test_a_program_at_the_interface_sees_packets_before_they_are_merged(joined: Pair) -> None:
    switch(joined, "rx-gro", "on")
    switch(joined, "rx-gro-list", "on")
    try:
        values, errors = measured(joined, transmit_backend=["sendmmsg"], receiver="xdp")
    finally:
        switch(joined, "rx-gro-list", "off")
    if errors:
        pytest.skip(str(errors))
    assert values.keys() >= BETWEEN
