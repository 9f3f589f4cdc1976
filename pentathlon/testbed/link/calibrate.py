"""Measures a link with probes of our own before it is used, and refuses one that is not right.

In order: the delay of sparse probes in both directions at once, the rate of a train in each
direction, and losses. Where the first pass finds that every probe comes a little late because
handing frames over takes time, the emulator is instructed to hand them over so much earlier.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field

from pentathlon.machine.errors import TargetError
from pentathlon.protocol.lateness import quantile_ns
from pentathlon.protocol.requests.emulation import Probe, ProbeSend
from pentathlon.study.link_profile import DIRECTIONS, HEADER_BYTES, Direction, Way
from pentathlon.testbed.link.judge import Figures, Measured, Verdict, judge, median_jitter_ms
from pentathlon.testbed.link.probes import Delays, TooFew, delays, once, rate_kbit
from pentathlon.testbed.link.statistics import Statistics
from pentathlon.testbed.link.testbed import SIDES, LinkTestbed, Side
from pentathlon.testbed.replies.fields import Fields
from pentathlon.testbed.replies.jobs import Probed

PORT = 4799
SENDER: dict[Direction, Side] = {"up": "client", "down": "server"}
RECEIVER: dict[Direction, Side] = {"up": "server", "down": "client"}

SMALL = 64
"""Payload of the probes for delay and loss, bytes."""
HEADERS = 28
"""Headers of IPv4 and UDP, bytes."""

DELAY_PROBES = 200
LOSS_PROBES = 3000
"""Probes where the profile has losses; where it has none, those for the delay must all come."""
LEAST_PERIOD_MS, MOST_PERIOD_MS = 2.0, 25.0
LOAD = 0.1
"""Share of the line that the probes for delay and loss take, at most half of it for losses."""

TRAIN_S, TRAIN_PACKETS = 0.5, 80
"""A train takes at least so long and has at least so many packets."""
OFFERED = 1.25
"""A train is offered at this multiple of the rate, so the queue stays full."""
LEAST_KEPT = 0.1
"""No train makes up for more losses before the line than leave this share."""

MOST_LEAD_MS = 0.1
ATTEMPTS = 3
START_S, QUIET_S = 0.3, 0.1
"""Time before the first probe, and after the last one."""


class LinkRefused(TargetError):
    """The link does not match its profile; the text holds the figures.

    Attributes:
        found: everything that was measured, in all attempts.
    """

    def __init__(self, text: str, found: Calibration) -> None:
        super().__init__(text)
        self.found = found


@dataclass
class Calibration:
    """What was found out about a link before its use.

    Attributes:
        ways: direction -> figures requested and measured, of the last attempt.
        attempts: the faults of each attempt; the last has none if the link passed.
        lead_us: by how much frames are handed over before they are due.
        engine: what carries the frames.
        cpu_percent: share of one CPU that the emulator took during the last attempt; None: its
            engine does not count it.
        lateness_us: how late it handed frames over then: median and 99 % point; empty likewise.
    """

    profile: str
    engine: str
    ways: dict[str, Figures] = field(default_factory=dict)
    attempts: list[list[str]] = field(default_factory=list)
    lead_us: float = 0.0
    cpu_percent: float | None = None
    lateness_us: dict[str, float] = field(default_factory=dict)


def calibrate(bed: LinkTestbed, attempts: int = ATTEMPTS) -> Calibration:
    """Measure the link; it is in use, and carries nothing else.

    Raises:
        LinkRefused: it failed every attempt.
        TargetError: it could not be measured at all.
    """
    found = Calibration(bed.profile.name, bed.engine.name)
    for _ in range(attempts):
        if not found.attempts:
            _set_lead(bed)
        faults = _attempt(bed, found)
        found.attempts.append(faults)
        if not faults:
            return found
    raise LinkRefused(
        f'the link "{bed.profile.name}" does not match its profile, in {attempts} '
        f"attempts; in the last: {'; '.join(found.attempts[-1])}",
        found,
    )


def _set_lead(bed: LinkTestbed) -> None:
    """Find out how much later than due probes come, and hand frames over so much earlier."""
    try:
        first = _delays(bed)
    except TooFew:
        return
    late = [
        first[direction].median - _nominal_delay_ms(bed.profile.way(direction))
        for direction in DIRECTIONS
    ]
    lead = min(max(min(late), 0.0), MOST_LEAD_MS)
    bed.reopen(round(lead * 1e6))


def _nominal_delay_ms(way: Way) -> float:
    return max(way.delay_ms + median_jitter_ms(way), 0.0)


def _attempt(bed: LinkTestbed, found: Calibration) -> list[str]:
    before = bed.statistics()
    try:
        delay = _delays(bed)
        rates = {direction: _rate(bed, direction) for direction in DIRECTIONS}
        lost = _losses(bed)
    except TooFew as error:
        return [str(error)]
    after = bed.statistics()
    faults: list[str] = []
    for direction in DIRECTIONS:
        way = bed.profile.way(direction)
        sent, came, intended = lost[direction]
        other = sum(
            after[direction]["drops"][cause] - before[direction]["drops"][cause]
            for cause in ("ring", "refused", "mtu", "cut")
            if cause in after[direction]["drops"]
        )
        with_copies = way.duplicate > 0 and not bed.engine.line_first
        measured = Measured(
            rates[direction], delay[direction], sent, came, intended, other, with_copies
        )
        verdict: Verdict = judge(way, measured)
        found.ways[direction] = verdict.figures
        faults += [f"{direction}: {fault}" for fault in verdict.faults]
    found.lead_us = bed.lead_ns / 1e3
    if after["cpu_ns"] is not None and before["cpu_ns"] is not None:
        elapsed = after["elapsed_ns"] - before["elapsed_ns"]
        found.cpu_percent = 100 * (after["cpu_ns"] - before["cpu_ns"]) / elapsed
        found.lateness_us = {
            name: _late(after, share) / 1e3 for name, share in (("p50", 0.5), ("p99", 0.99))
        }
    return faults


def _lost(statistics: Statistics, direction: Direction) -> int:
    """Frames lost on purpose. Where an engine does not count them apart from those that found no
    room: all of both, which is the same for sparse probes."""
    drops = statistics[direction]["drops"]
    return int(drops["loss"] if "loss" in drops else drops["loss_or_queue"])


def _late(statistics: Statistics, share: float) -> float:
    """A quantile of the lateness of both directions, ns, by nearest rank."""
    return quantile_ns(
        (bucket for way in DIRECTIONS for bucket in statistics[way]["lateness_ns"]["buckets"]),
        share,
    )


def _delays(bed: LinkTestbed) -> dict[Direction, Delays]:
    sends = {SENDER[d]: _sparse(bed.profile.way(d), DELAY_PROBES, LOAD) for d in DIRECTIONS}
    found = exchange(bed, sends)
    # A copy that is made before the line waits there for its original.
    return {
        d: delays(once(found[RECEIVER[d]]["came"]), bed.profile.way(d).line_ms(SMALL))
        for d in DIRECTIONS
    }


def _sparse(way: Way, count: int, load: float) -> ProbeSend:
    period_ms = min(max(way.line_ms(SMALL) / load, LEAST_PERIOD_MS), MOST_PERIOD_MS)
    return _probes(count, SMALL, period_ms)


def _probes(count: int, size_bytes: int, period_ms: float) -> ProbeSend:
    return ProbeSend(count=count, size_bytes=size_bytes, period_ns=round(period_ms * 1e6))


def _rate(bed: LinkTestbed, direction: Direction) -> float | None:
    way = bed.profile.way(direction)
    if way.rate_kbit is None:
        return None
    payload = bed.profile.mtu_bytes - HEADERS
    frame_ms = way.line_ms(payload)
    seconds = max(TRAIN_S, TRAIN_PACKETS * frame_ms / 1e3)
    # What is lost before the line fills no queue.
    filling = 1.0 if bed.engine.line_first else max(1 - way.loss.mean, LEAST_KEPT)
    offered = OFFERED / filling
    train = _probes(round(offered * seconds * 1e3 / frame_ms), payload, frame_ms / offered)
    before = bed.statistics()
    found = exchange(bed, {SENDER[direction]: train})
    after = bed.statistics()
    came = found[RECEIVER[direction]]["came"]
    size = bed.profile.mtu_bytes + HEADER_BYTES + way.overhead_bytes
    if not bed.engine.line_first:
        return rate_kbit(came, size)
    lost = _lost(after, direction) - _lost(before, direction)
    return rate_kbit(once(came), size, lost, even=way.jitter_ms is None and not way.reorder)


def _losses(bed: LinkTestbed) -> dict[Direction, tuple[int, int, int]]:
    """Per direction: probes sent, probes that came, losses on purpose."""
    before = bed.statistics()
    sends = {}
    for direction in DIRECTIONS:
        way = bed.profile.way(direction)
        lossy = way.loss.mean > 0
        count, load = (LOSS_PROBES, 0.5) if lossy else (DELAY_PROBES, LOAD)
        sends[SENDER[direction]] = _sparse(way, count, load)
    found = exchange(bed, sends)
    after = bed.statistics()
    result: dict[Direction, tuple[int, int, int]] = {}
    for direction in DIRECTIONS:
        sent = found[SENDER[direction]]["sent"]
        came = len({row[0] for row in found[RECEIVER[direction]]["came"]})
        intended = _lost(after, direction) - _lost(before, direction)
        result[direction] = sent, came, intended
    return result


def exchange(
    bed: LinkTestbed, sends: dict[Side, ProbeSend], version: int = 4
) -> dict[Side, Probed]:
    """Let both hosts probe; what each has sent and received (docs/protocol.md, `probe`).

    Args:
        bed: the link.
        sends: which host sends what.
        version: of the Internet Protocol.
    """
    mark = secrets.randbits(63)
    # The one that sends nothing goes first; nobody sends before the other listens.
    for side in sorted(SIDES, key=lambda side: side in sends):
        other: Side = "server" if side == "client" else "client"
        local, peer = (bed.host(s).addresses[version] for s in (side, other))
        form = "[{}]:{}" if version == 6 else "{}:{}"
        send = sends.get(side)
        work = Probe(
            local=form.format(local, PORT),
            peer=form.format(peer, PORT),
            mark=mark,
            send=send and send.model_copy(update={"after_ns": round(START_S * 1e9)}),
        )
        bed.host(side).start("probe", work)
    longest = max(send.count * send.period_ns / 1e9 for send in sends.values())
    queues = max(_queue_s(bed, direction) for direction in DIRECTIONS)
    time.sleep(START_S + longest + bed.profile.round_trip_ms / 1e3 + queues + QUIET_S)
    found: dict[Side, Probed] = {
        side: bed.host(side).finish_job("probe")["yields"][0] for side in SIDES
    }
    for side, other in zip(SIDES, reversed(SIDES), strict=True):
        _check(bed.host(side).title, found[side], sends.get(side), sends.get(other))
    return found


def _check(host: str, found: Probed, own: ProbeSend | None, peers: ProbeSend | None) -> None:
    """That a host sent and received no probes that were not requested.

    Raises:
        AnswerRefused: it states that it did.
    """
    answer = Fields(host, "stop", {})
    most = own.count if own else 0
    if found["sent"] + found["refused"] > most:
        raise answer.wrong("sent", f"is {found['sent']}, and {most} probes were requested")
    most = peers.count if peers else 0
    for place, row in enumerate(found["came"]):
        if row[0] >= most:
            what = f"has the sequence {row[0]}, and {most} probes were sent"
            raise answer.wrong(f"came[{place}]", what)


def _queue_s(bed: LinkTestbed, direction: Direction) -> float:
    """How long a full queue takes to drain."""
    way = bed.profile.way(direction)
    if way.rate_kbit is None:
        return 0.0
    rooms = [
        way.queue_bytes,
        None if way.queue_packets is None else way.queue_packets * bed.profile.mtu_bytes,
    ]
    return min(room for room in rooms if room is not None) * 8 / way.rate_kbit / 1e3
