"""One trial: a flow through the forwarder, and what became of its packets."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, replace

import numpy as np

from pentathlon.experiments import transmit_backends
from pentathlon.experiments.forwarding import counters
from pentathlon.experiments.forwarding.testbed import Testbed
from pentathlon.packets import flow_metrics, join, records
from pentathlon.packets.records import RecordsError
from pentathlon.protocol.requests.commands import Exchange, Listen, ReceiveFlow, Send, SendFlow
from pentathlon.protocol.requests.works import Watch
from pentathlon.study import distributions
from pentathlon.testbed.cables import BACK
from pentathlon.testbed.trial import InvalidTrial, Task

QUIET_MS = 200
"""Time after the last packet in which late ones are waited for, ms."""

SHORT_OF_LOAD = 0.99
"""A generator that sent less than this share of what was asked has missed its schedule."""

RECEIVER_SHARE = 0.01
"""Most that the receiver itself may lose of what was sent."""

BUFFER_BYTES = 4 << 20

ROUND_TRIPS = {
    "round_trip_median": "p50", "round_trip_p90": "p90", "round_trip_p99": "p99",
    "round_trip_p999": "p999", "round_trip_p9999": "p9999",
}  # fmt: skip
"""Metric -> quantile of `flow_metrics.Delay`."""

READERS = {"send": "recv", "live": "xdp"}
"""Transmit backend -> how what comes back is taken; all others by recvmmsg(2)."""


def overhead(version: int) -> int:
    """Of a frame: Ethernet, Internet and UDP headers, check sequence, B.

    >>> overhead(4), overhead(6)
    (46, 66)
    """
    return 14 + (20 if version == 4 else 40) + 8 + 4


@dataclass(frozen=True)
class Flow:
    """What became of one flow.

    Attributes:
        sent: packets that the generator sent.
        forwarded: packets that came back, with those that the receiver's queues then lost.
        intended_rate: packets/s that were asked of the generator (RFC 2285, 3.5.1, intended load).
        sending_rate: packets/s that were sent (RFC 2285, 3.5.2, offered load).
        throughput: packets/s that came back.
        trips: times from sending to return; None: nothing came back.
        late_p99_s, late_max_s: how much later than intended packets left, s.
        lost_here: packets that the receiver's own queues lost.
        times: beginning and planned end of what is measured of it, time.monotonic().
    """

    sent: int
    forwarded: int
    intended_rate: float
    sending_rate: float
    throughput: float
    trips: flow_metrics.Delay | None
    late_p99_s: float = 0.0
    late_max_s: float = 0.0
    lost_here: int = 0
    times: tuple[float, float] = (0.0, 0.0)

    @property
    def lost_ratio(self) -> float:
        """Share of the packets sent that the forwarder did not forward (salah2010 §2.2)."""
        return max(0.0, 1 - self.forwarded / self.sent)

    def round_trips(self) -> dict[str, float]:
        """Metrics of the time from sending to return, µs.

        A quantile with fewer than one packet beyond it is left out.
        """
        if self.trips is None:
            return {}
        quantiles = self.trips.quantiles
        known = {name: quantiles[of] for name, of in ROUND_TRIPS.items() if of in quantiles}
        return {
            name: 1e6 * value for name, value in ({"round_trip": self.trips.mean} | known).items()
        }

    def generator(self) -> dict[str, float]:
        """Metrics of what the generator did with what was asked of it."""
        return {
            "intended_load": self.intended_rate,
            "offered_load": self.sending_rate,
            "lateness_p99": 1e6 * self.late_p99_s,
            "lateness_max": 1e6 * self.late_max_s,
            "receiver_lost": 100 * self.lost_here / self.sent,
        }


def run_flow(
    bed: Testbed,
    task: Task,
    *,
    packet_rate: float,
    frame_bytes: int,
    version: int = 4,
) -> Flow:
    """Send one flow of constant rate through the forwarder.

    Args:
        task: its parameters `ramp_s`, `duration_s` and `lateness_limit_ms` hold.
        packet_rate: offered load, packets/s.
        frame_bytes: length of the Ethernet frame with its check sequence.
        version: of the Internet Protocol.

    Raises:
        InvalidTrial: the generator missed its schedule, or lost packets itself.
        RecordsError: its records are torn or damaged.
        TargetError: an endpoint failed.
    """
    name = secrets.token_hex(4)
    ramp_s = task.parameters["ramp_s"]
    length_s = ramp_s + task.parameters["duration_s"]
    generator = bed.generator
    session = task.session[:16]
    backend = task.parameters["transmit_backend"]
    received = ReceiveFlow(
        flow=0, protocol="udp", address=BACK[version], buffer_bytes=BUFFER_BYTES,
        transmit_backend=backend,
        reader=READERS.get(backend, "recvmmsg"),
    )  # fmt: skip
    generator.start(f"watch-{name}", Watch(period_ms=60_000))
    try:
        ready = generator.listen(
            Listen(trial=name, session=session, address="127.0.0.1", flows=[received])
        )
        sent = SendFlow(
            flow=0,
            protocol="udp",
            peer=BACK[version],
            port=ready["flows"][0]["port"],
            size={"model": "constant", "value": frame_bytes - overhead(version)},
            gap={"of": distributions.parse(f"constant {packet_rate:g}"), "rate": True},
            duration_s=length_s,
            transmit_backend=backend,
        )
        exchange = Exchange(address="127.0.0.1", port=ready["exchange_port"])
        order = Send(
            trial=name, session=session, seed=task.seed, exchange=exchange, flows=[sent]
        )  # fmt: skip
        try:
            answer = generator.send(order, length_s)
        finally:
            generator.finish(name, QUIET_MS)
    finally:
        watched = generator.finish_job(f"watch-{name}")
    files = {file.kind: file.data for file in generator.fetch(name)}
    for end in ("sent", "received"):
        if end not in files:
            raise RecordsError(f'the generator left no records of the kind "{end}"')
    lost_here = counters.receiver_losses(watched["yields"][0]["whole"], bed.generator_cpus)
    began = generator.zero_s + answer["start_ns"] * 1e-9
    judgement = judge(
        join.join(records.Records(files["sent"]), records.Records(files["received"])),
        lost_here, packet_rate, task.parameters["duration_s"],
        task.parameters["lateness_limit_ms"], ramp_s=ramp_s,
        timed=backend not in transmit_backends.MUTE,
    )  # fmt: skip
    return replace(judgement, times=(began + ramp_s, began + length_s))


def judge(
    both: join.Joined,
    lost_here: int,
    packet_rate: float,
    duration_s: float,
    limit_ms: float,
    *,
    ramp_s: float = 0.0,
    timed: bool = True,
) -> Flow:
    """What a flow's records say; both ends have one clock.

    Args:
        lost_here: packets that the receiver's own queues lost.
        packet_rate: intended load, packets/s.
        duration_s: length of the flow after its ramp.
        ramp_s: first part of the flow, whose packets count for nothing: those that were to leave
            before its end.
        timed: the records say when each packet left; else there are no round-trip times.

    Raises:
        InvalidTrial: see `run_flow`.
    """
    whole = (both.length > 0) & ~both.refused
    gone = whole
    if ramp_s and whole.any():
        intended = both.intended_ns
        gone = whole & (intended >= intended[whole].min() + round(1e9 * ramp_s))
        # Queues count without times: what they lost is taken to be spread over the whole flow.
        lost_here = round(lost_here * int(gone.sum()) / int(whole.sum()))
    sent = int(gone.sum())
    wanted = packet_rate * duration_s
    if not sent or sent < SHORT_OF_LOAD * wanted - 1:
        raise InvalidTrial(
            f"the generator missed its schedule: it sent {sent} of {wanted:.0f} packets "
            f"({100 * sent / wanted:.3g} %)"
        )
    late = both.late_ns[gone]
    late_ms = float(np.quantile(late, 0.99)) * 1e-6
    if late_ms > limit_ms:
        raise InvalidTrial(
            f"the generator missed its schedule: 1 % of the packets left more than "
            f"{late_ms:.3g} ms late, and {limit_ms:g} ms are allowed"
        )
    if lost_here > RECEIVER_SHARE * sent:
        raise InvalidTrial(
            f"the receiver lost {lost_here} of {sent} packets itself: what the forwarder did with "
            "this load cannot be told"
        )
    arrived = both.arrived & gone
    arrivals = both.arrival_ns[both.first_arrival[arrived]]
    trips = (
        flow_metrics.delays(flow_metrics.seconds_of(arrivals - both.sent_ns[arrived]))
        if timed
        else None
    )
    # Both ends use one timer, so the flow's length is from the first sending to its planned end.
    forwarded = min(sent, int(arrived.sum()) + lost_here)
    length_s = max(duration_s, float(both.sent_ns[gone].max() - both.sent_ns[gone].min()) * 1e-9)
    return Flow(
        sent, forwarded, packet_rate, sent / length_s, forwarded / length_s, trips,
        late_p99_s=late_ms * 1e-3, late_max_s=float(late.max()) * 1e-9, lost_here=lost_here,
    )  # fmt: skip
