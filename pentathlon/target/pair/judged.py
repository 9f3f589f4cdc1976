"""The flows of a trial, judged: both ends joined, clocks, metrics, and the fit of the models."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from pentathlon.target.pair.trials import Trial
from pentathlon.traffic import clocks, fit, join, metrics, packets, records
from pentathlon.traffic.flows import Flow

SMALLEST, LONGEST = 32.0, 65507.0
"""Lengths that a packet can have, in bytes: its header, and a UDP datagram over IPv4."""


@dataclass(frozen=True)
class FlowResult:
    """One flow of one trial.

    Attributes:
        number: of the flow in the trial.
        found: its metrics.
        trips: round-trip times of its echoes.
        both, back: sender joined with receiver and with echoes; None where an end is not whole.
        gap_distance, size_distance: how far what was sent is from the models (`traffic.fit`).
        foreign: packets at its port that were none of its own.
        lost_records: packets that an end did not write down.
        port: of its receiver.
        stopped: why its sender ended before its time.
    """

    number: int
    flow: Flow
    found: metrics.FlowMetrics
    trips: metrics.Delay | None
    clocks: clocks.ClockDifference | None
    sent: records.Packets
    both: join.Joined | None
    back: join.Joined | None
    gap_distance: float | None
    size_distance: float | None
    foreign: int
    lost_records: int
    addresses: tuple[str, str]
    port: int
    stopped: str | None


def judge(trial: Trial) -> list[FlowResult]:
    """Judge each flow of a trial from the records of both ends.

    Raises:
        RecordsError: a file of records is torn or damaged.
    """
    lines: dict[int, clocks.ClockDifference | None] = {}
    for sender in (0, 1):
        if data := trial.files.get((sender, "exchange", 0)):
            lines[sender] = clocks.difference(records.exchanges(data))
    return [_flow(trial, number, flow, lines) for number, flow in enumerate(trial.flows)]


def _flow(
    trial: Trial, number: int, flow: Flow, lines: dict[int, clocks.ClockDifference | None]
) -> FlowResult:
    sender = int(flow.back)
    sent = records.packets(trial.files[sender, "sent", number])
    got, echoes = (
        records.Records(data) if (data := trial.files.get(key)) is not None else None
        for key in ((1 - sender, "received", number), (sender, "echoes", number))
    )
    line = lines.get(sender)
    lost = sum(one.lost_records for one in (sent, got, echoes) if one is not None)
    both = join.join(sent, got) if got is not None and not _torn(sent, got) else None
    back = join.join(sent, echoes) if echoes is not None and not _torn(sent, echoes) else None
    times = sent.time_ns + sent.late_ns
    ends = trial.addresses[::-1] if flow.back else trial.addresses
    received = trial.received.get(number, {})
    return FlowResult(
        number=number,
        flow=flow,
        found=metrics.flow_metrics(both, line) if both else metrics.sender_only(sent),
        trips=_trips(back),
        clocks=line,
        sent=sent,
        both=both,
        back=back,
        gap_distance=fit.gap_distance(flow.gap, times, sent.time_ns),
        size_distance=fit.distance(
            sent.length.astype(np.float64), flow.size, grain=0.5, least=SMALLEST, most=LONGEST
        ),
        foreign=int(received.get("foreign", 0)),
        lost_records=lost,
        addresses=(ends[0], ends[1]),
        port=trial.ports[number],
        stopped=trial.sent[number].get("broken"),
    )


def _torn(sent: records.Packets, other: records.Records) -> bool:
    """Whether an end lost records: then nobody knows what the other packets became."""
    return bool(sent.lost_records or other.lost_records)


def _trips(back: join.Joined | None) -> metrics.Delay | None:
    if back is None:
        return None
    came = back.arrived
    times = back.arrival_ns[back.first_arrival[came]] - back.sent_ns[came]
    return metrics.delays(metrics.seconds_of(times))


def event_of(result: FlowResult) -> dict[str, Any]:
    """What the `packets` event says of a flow (docs/results.md)."""
    found, line = result.found, result.clocks
    return {
        "flow": result.number,
        "name": result.flow.name,
        "protocol": result.flow.protocol,
        "from": result.addresses[0],
        "to": result.addresses[1],
        "port": result.port,
        "sent": found.sent,
        "received": found.received,
        "duplicates": result.both.duplicates if result.both else None,
        "foreign": result.foreign,
        "lost_records": result.lost_records,
        "offered_rate": found.offered_rate,
        "sending_rate": found.sending_rate,
        "lateness_p99_s": found.lateness_p99,
        "lateness_max_s": found.lateness_max,
        "gap_distance": result.gap_distance,
        "size_distance": result.size_distance,
        "broken": result.stopped,
        "clocks": line
        and {
            "origin_ns": line.origin_ns,
            "offset_ns": line.offset_ns,
            "drift": line.drift,
            "bound_ns": line.bound_ns,
            "exchanges": line.exchanges,
        },
    }


def table_bytes(results: list[FlowResult]) -> bytes:
    """The packets of all flows of a trial, as a Parquet file."""
    nothing = np.empty(0, np.int64)
    empty = records.Packets(nothing, nothing, nothing, nothing, nothing, 0)
    whole = pl.concat(
        [
            packets.table(
                result.number, result.both or join.join(result.sent, empty), result.back,
                result.clocks,
            )
            for result in results
        ]
    )  # fmt: skip
    out = io.BytesIO()
    whole.write_parquet(out, compression="zstd")
    return out.getvalue()
