"""The flows of a trial, judged: both ends joined, clocks, metrics, and the fit of the models."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from pentathlon.experiments import transmit_backends
from pentathlon.experiments.traffic import values
from pentathlon.experiments.traffic.trials import Trial
from pentathlon.packets import (
    by_agent,
    clocks,
    fit,
    flow_metrics,
    jitter,
    join,
    records,
    series,
    stamps,
)
from pentathlon.packets import table as packets
from pentathlon.packets.reordering import Reordering, reordering
from pentathlon.protocol import agent
from pentathlon.study import distributions
from pentathlon.study.flows import Flow

MANY = 2_000_000
"""Records of both ends from which on the agent computes a flow's metrics."""


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
        buffer_drops: packets at its port that found no room in the receiver's socket; None: nobody
            counts them.
        lost_records: packets that an end did not write down.
        age_ns: how much older times of arrival can be than the arrivals, where packets share a look
            at the clock; it is in the bound of the delays.
        stale: packets whose times can be older still.
        merges: why packets can be merged before their times of arrival are taken; None: they are
            not.
        port: of its receiver.
        stopped: why its sender ended before its time.
        due: packets that were due before its end; None: it has no schedule, or nobody states.
        refused: packets that the sender's system refused to take.
        stamps: the kernels' times, where they were requested.
        further: metrics beside those of `found` and `trips`.
        jitter: its series (`traffic.jitter`); empty where it is unknown.
    """

    number: int
    flow: Flow
    found: flow_metrics.FlowMetrics
    trips: flow_metrics.Delay | None
    clocks: clocks.ClockDifference | None
    sent: records.Packets
    both: join.Joined | None
    back: join.Joined | None
    gap_distance: float | None
    size_distance: float | None
    foreign: int
    buffer_drops: int | None
    lost_records: int
    age_ns: int
    stale: int
    merges: str | None
    addresses: tuple[str, str]
    port: int
    stopped: str | None
    due: int | None
    refused: int
    stamps: stamps.Stamps | None
    further: dict[str, float]
    jitter: list[tuple[float, float, float]]


def judge(trial: Trial) -> list[FlowResult]:
    """Judge each flow of a trial from the records of both ends.

    Raises:
        RecordsError: a file of records is torn or damaged.
    """
    lines: dict[int, clocks.ClockDifference | None] = {}
    for sender in (
        (0, 1) if not transmit_backends.is_meaningless("delay", trial.transmit_backend) else ()
    ):
        if data := trial.files.get((sender, "exchange", 0)):
            timers = (trial.timers[sender], trial.timers[1 - sender])
            lines[sender] = clocks.between(records.exchanges(data), *timers)
    return [_flow(trial, number, flow, lines) for number, flow in enumerate(trial.flows)]


def _flow(
    trial: Trial, number: int, flow: Flow, lines: dict[int, clocks.ClockDifference | None]
) -> FlowResult:
    sender = int(flow.back)
    source = number if flow.hears is None else flow.hears
    written = trial.files.get((sender, "sent", source))
    if written is None:
        raise records.RecordsError(f'the sender of the flow "{flow.name}" left no records')
    sent = records.packets(written)
    got, echoes = (
        records.Records(data) if (data := trial.files.get(key)) is not None else None
        for key in ((1 - sender, "received", number), (sender, "echoes", number))
    )
    line = lines.get(sender)
    counts: list[Mapping[str, Any]]
    counts = [each.get(place, {}) for each, place in
              ((trial.sent, source), (trial.received, number), (trial.echoed, number))]  # fmt: skip
    # An end that lost records last reports it in its counts only.
    losses = [max(one.lost_records if one is not None else 0, count.get("lost_records", 0))
              for one, count in zip((sent, got, echoes), counts, strict=True)]  # fmt: skip
    both = join.join(sent, got) if got is not None and not losses[0] + losses[1] else None
    back = join.join(sent, echoes) if echoes is not None and not losses[0] + losses[2] else None
    kernel = _stamps(trial, number, source, sender, both)
    further = values.reordering_of(_reordering(both)) if both else {}
    if both is not None and kernel is not None:
        further |= stamps.values(both, kernel, line)
    age_ns = int(counts[1].get("age_ns", 0))
    if both is None:
        found = flow_metrics.sender_only(sent)
    else:
        places = (sender, "sent", source), (1 - sender, "received", number)
        found = _metrics(both, [trial.files[place] for place in places], line)
        found = _with_age(found, age_ns)
    times = sent.time_ns + sent.late_ns
    ends = trial.addresses[::-1] if flow.back else trial.addresses
    return FlowResult(
        number=number,
        flow=flow,
        found=found,
        trips=_trips(back),
        clocks=line,
        sent=sent,
        both=both,
        back=back,
        gap_distance=fit.gap_distance(flow.gap, times, sent.time_ns),
        size_distance=fit.distance(
            sent.length.astype(np.float64),
            flow.size,
            grain=0.5,
            least=distributions.shortest(flow.protocol),
            most=distributions.LONGEST,
        ),
        foreign=int(counts[1].get("foreign", 0)),
        buffer_drops=counts[1].get("buffer_drops"),
        lost_records=sum(losses),
        age_ns=age_ns,
        stale=int(counts[1].get("stale", 0)),
        merges=counts[1].get("merges"),
        addresses=(ends[0], ends[1]),
        port=trial.ports[number],
        stopped=counts[0].get("broken"),
        due=counts[0].get("planned"),
        refused=int(counts[0].get("refused", 0)),
        stamps=kernel,
        further=further,
        jitter=[] if counts[1].get("merges") else _jitter(both, line, trial.transmit_backend),
    )


def _metrics(
    both: join.Joined, ends: list[bytes], line: clocks.ClockDifference | None
) -> flow_metrics.FlowMetrics:
    if len(both.sent) + len(both.received) < MANY:
        return flow_metrics.compute(both, line)
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder, name) for name in ("sent", "received")]
        for file, data in zip(files, ends, strict=True):
            file.write_bytes(data)
        return by_agent.flow_metrics(agent.locate(), files[0], files[1], line)


def _jitter(
    both: join.Joined | None, line: clocks.ClockDifference | None, backend: str
) -> list[tuple[float, float, float]]:
    if both is None or transmit_backends.is_meaningless("jitter", backend):
        return []
    return jitter.series(both, series.arrivals(both, line))


def _with_age(found: flow_metrics.FlowMetrics, age_ns: int) -> flow_metrics.FlowMetrics:
    """The bound of the delays with what the times of arrival can be too old."""
    if found.delay_bound is None:
        return found
    return replace(found, delay_bound=found.delay_bound + age_ns * 1e-9)


def _reordering(both: join.Joined) -> Reordering | None:
    """How far packets were reordered; looked for only where some were."""
    if not both.reordered and len(both.arrival_sequence):
        return Reordering(None, 0.0)
    return reordering(both.arrival_sequence)


def _stamps(
    trial: Trial, number: int, source: int, sender: int, both: join.Joined | None
) -> stamps.Stamps | None:
    """The kernels' times of a flow; None if nobody wrote any down."""
    left = trial.files.get((sender, "left", source))
    heard = trial.files.get((1 - sender, "heard", number))
    if both is None or (left is None and heard is None):
        return None
    times = [records.packets(data) if data is not None else None for data in (left, heard)]
    return stamps.stamps(both, times[0], times[1])


def _trips(back: join.Joined | None) -> flow_metrics.Delay | None:
    if back is None:
        return None
    came = back.arrived
    times = back.arrival_ns[back.first_arrival[came]] - back.sent_ns[came]
    return flow_metrics.delays(flow_metrics.seconds_of(times))


def event_of(result: FlowResult) -> dict[str, Any]:
    """What the `packets` event states of a flow (docs/results.md)."""
    found, line = result.found, result.clocks
    return {
        "flow": result.number,
        "name": result.flow.name,
        "protocol": result.flow.protocol,
        "from": result.addresses[0],
        "to": result.addresses[1],
        "port": result.port,
        "due": result.due,
        "sent": found.sent,
        "refused": result.refused,
        "received": found.received,
        "duplicates": result.both.duplicates if result.both else None,
        "foreign": result.foreign,
        "buffer_drops": result.buffer_drops,
        "lost_records": result.lost_records,
        "age_ns": result.age_ns,
        "stale": result.stale,
        "merges": result.merges,
        "offered_rate": found.offered_rate,
        "sending_rate": found.sending_rate,
        "lateness_p99_s": found.lateness_p99,
        "lateness_max_s": found.lateness_max,
        "gap_distance": result.gap_distance,
        "size_distance": result.size_distance,
        "jitter": [[_short(value) for value in point] for point in result.jitter] or None,
        "broken": result.stopped,
        "clocks": line
        and {
            "origin_ns": line.origin_ns,
            "offset_ns": line.offset_ns,
            "drift": line.drift,
            "bound_ns": line.bound_ns,
            "exchanges": line.exchanges,
            "by": line.by,
        },
    }


def _short(value: float) -> float:
    """Four digits: what a picture can show, and a journal should hold."""
    return float(f"{value:.4g}")


def table_bytes(results: list[FlowResult]) -> bytes:
    """The packets of all flows of a trial, as a Parquet file."""
    nothing = np.empty(0, np.int64)
    empty = records.Packets(nothing, nothing, nothing, nothing, nothing, 0)
    whole = pl.concat(
        [
            stamps.with_columns(
                packets.table(
                    result.number, result.both or join.join(result.sent, empty), result.back,
                    result.clocks,
                ),
                result.stamps,
            )
            for result in results
        ]
    )  # fmt: skip
    out = io.BytesIO()
    whole.write_parquet(out, compression="zstd")
    return out.getvalue()
