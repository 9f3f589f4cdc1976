"""The metrics of a flow of many packets, by the agent: it goes through both ends' files once.

`flow_metrics.compute` says the same, from arrays that pass through memory several times.
"""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import TypedDict

from pentathlon.packets.clocks import ClockDifference
from pentathlon.packets.flow_metrics import QUANTILES, Delay, FlowMetrics, rate, throughput
from pentathlon.packets.records import RecordsError
from pentathlon.protocol.requests.join import Clocks, JoinRequest

LATE_SHARES = [0.99]


class Departures(TypedDict):
    """What was sent; `late_ns`: quantiles of the shares that were requested."""

    packets: int
    intended_ns: list[int] | None
    sent_ns: list[int] | None
    late_ns: list[float | None]
    latest_ns: int


class Arrivals(TypedDict):
    """What came; sums of the times in seconds."""

    packets: int
    bytes: int
    first_bytes: int
    first_ns: int | None
    last_ns: int
    copies: int
    reordered: int
    total: float
    minimum: float
    maximum: float
    steps: float
    jitter: float


class Spread(TypedDict):
    """Of the delays: quantiles, and differences of those that were sent one after the other."""

    quantiles: list[float | None]
    adjacent: float
    adjacent_count: int


class Joined(TypedDict):
    """What `join` prints (docs/protocol.md); `delays`: None where nothing came."""

    sent: Departures
    received: Arrivals
    delays: Spread | None


def flow_metrics(
    agent: Path, sent: Path, received: Path, clocks: ClockDifference | None
) -> FlowMetrics:
    """As `flow_metrics.compute`, from the files of both ends, which nobody may change meanwhile.

    Raises:
        RecordsError: a file is torn or damaged.
    """
    line = None
    if clocks:
        line = Clocks(origin_ns=clocks.origin_ns, offset_ns=clocks.offset_ns, drift=clocks.drift)
    request = JoinRequest(
        sent=str(sent), received=str(received), clocks=line,
        delay_shares=list(QUANTILES.values()), late_shares=LATE_SHARES,
    )  # fmt: skip
    done = subprocess.run([agent, "join"], input=request.line(), capture_output=True, check=False)
    if done.returncode:
        raise RecordsError(done.stderr.decode(errors="replace").strip())
    return _metrics(json.loads(done.stdout), clocks)


def _metrics(values: Joined, clocks: ClockDifference | None) -> FlowMetrics:
    """The metrics from the agent's sums (docs/protocol.md, `join`)."""
    went, came, spread = values["sent"], values["received"], values["delays"]
    sent, received = went["packets"], came["packets"]
    delay = _delay(came, spread) if spread else None
    steps = received - 1
    above = delay.quantiles.get("p999") if delay else None
    return FlowMetrics(
        sent=sent,
        received=received,
        offered_rate=rate(sent, went["intended_ns"]),
        sending_rate=rate(sent, went["sent_ns"]),
        throughput=throughput(
            came["bytes"] - came["first_bytes"], received, (came["first_ns"] or 0, came["last_ns"])
        ),
        lost_ratio=1 - received / sent if sent else None,
        duplicate_ratio=came["copies"] / sent if sent else None,
        reordered_ratio=came["reordered"] / received if received else None,
        delay=delay if clocks else None,
        delay_bound=clocks.bound_ns * 1e-9 if clocks else None,
        ipdv_mean_abs=_mean(spread["adjacent"], spread["adjacent_count"]) if spread else None,
        pdv_p999=above - delay.minimum if delay and above is not None else None,
        jitter=came["jitter"] if steps > 0 else None,
        # With J0 = 0 the recursion adds up to sum(J) = sum(|D|) - 15 Jn.
        jitter_mean=_mean(came["steps"] - 15 * came["jitter"], steps),
        ditg_jitter=_mean(came["steps"], steps),
        lateness_p99=None if went["late_ns"][0] is None else went["late_ns"][0] * 1e-9,
        lateness_max=went["latest_ns"] * 1e-9 if sent else None,
    )


def _delay(came: Arrivals, spread: Spread) -> Delay:
    found = zip(QUANTILES, spread["quantiles"], strict=True)
    return Delay(
        came["total"] / came["packets"], came["minimum"], came["maximum"],
        {name: value for name, value in found if value is not None},
    )  # fmt: skip


def _mean(total: float, count: int) -> float | None:
    return total / count if count > 0 else None
