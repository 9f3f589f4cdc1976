"""What runs on the forwarder beside a flow: the soaker, the watcher, the competitor, and pings."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from pentathlon.target.forwarding import counters
from pentathlon.target.forwarding.bed import BACK, Bed
from pentathlon.target.pair.endpoint import CommandError, Endpoint

READING_S = 2.0
"""Time between two readings of the counters, as salah2010 §2.2 has it (sar -P ALL 2 3)."""

CALIBRATION_S = 1.0
PING_MS = 20


@dataclass
class Beside:
    """What was read beside one flow; by indicator.

    Attributes:
        values: indicators of `forwarding.sweep` that could be read.
        remarks: what could not, and why.
    """

    values: dict[str, float] = field(default_factory=dict)
    remarks: list[str] = field(default_factory=list)


def calibrate(bed: Bed, policy: str) -> float:
    """Units per second of the soaker on the forwarder with nothing beside it."""
    bed.forwarder.start("soak", soaker(policy))
    time.sleep(CALIBRATION_S)
    return units_per_second(bed.forwarder.finish_job("soak"))


def soaker(policy: str) -> dict[str, Any]:
    """The order for a soaker on every CPU of the forwarder."""
    placement = {} if policy == "other" else {"policy": policy}
    return {"work": "soak", "placement": placement}


def units_per_second(stopped: dict[str, Any]) -> float:
    """Of all threads of a soaker together."""
    return float(sum(one["units"] / (one["elapsed_ns"] * 1e-9) for one in stopped["yields"]))


@contextmanager
def competing(bed: Bed, parameters: dict[str, Any], competitor: str) -> Iterator[Competition]:
    """Run the competitor on the forwarder for as long as the context lasts."""
    if competitor == "none":
        yield Competition()
        return
    placement = {"nice": parameters["nice"]} if parameters["nice"] else {}
    order = {
        "work": "compete", "workload": competitor, "copies": parameters["copies"],
        "placement": placement,
    }  # fmt: skip
    bed.forwarder.start("competitor", order)
    found = Competition(started=time.monotonic())
    try:
        time.sleep(parameters.get("lead_s", 0.0))
        yield found
    finally:
        stopped = bed.forwarder.finish_job("competitor")
        found.samples = [one for copy in stopped["yields"] for one in copy["samples"]]


@dataclass
class Competition:
    """The competitor's own samples; times count from its start.

    Attributes:
        started: reading of time.monotonic() at its start; None: there is no competitor.
        flow: the flow's beginning and end, time.monotonic().
        samples: batches, with their end `t_ns`, `elapsed_ns` and number of operations `batch`.
    """

    started: float | None = None
    flow: tuple[float, float] = (0.0, 0.0)
    samples: list[dict[str, Any]] = field(default_factory=list)

    def speed_percent(self) -> float | None:
        """Work done during the flow against that of the seconds before it, per time, %.

        A batch counts as the time that its like took before the flow, with the share of it that
        lies inside the flow: so neither a workload of several cases nor batches that are cut by
        the flow's ends distort it. None: no batch ended before the flow.
        """
        if self.started is None:
            return None
        begin, end = (moment - self.started for moment in self.flow)
        batches = [
            (
                f"{one['indicator']} {one['case']}",
                (one["t_ns"] - one["elapsed_ns"]) * 1e-9,
                one["t_ns"] * 1e-9,
                one["batch"],
            )
            for one in self.samples
        ]
        alone: dict[str, list[float]] = {}
        for name, began, ended, count in batches:
            if ended <= begin:
                alone.setdefault(name, []).append((ended - began) / count)
        if not alone:
            return None
        usual = {name: median(times) for name, times in alone.items()}
        first = min(began for _, began, _, _ in batches)

        def progress(low: float, high: float) -> float:
            """Time that the work between two moments would have taken alone, per time."""
            done = 0.0
            for name, began, ended, count in batches:
                inside = max(0.0, min(ended, high) - max(began, low))
                if name in usual and inside > 0:
                    done += usual[name] * count * inside / (ended - began)
            return done / (high - low)

        before = progress(first, begin)
        return 100 * progress(begin, end) / before if before else None


@contextmanager
def watching(bed: Bed, parameters: dict[str, Any], idle_units: float | None) -> Iterator[Beside]:
    """Read everything beside a flow for as long as the context lasts."""
    found = Beside()
    stopped: dict[str, dict[str, Any]] = {}

    def finish(host: Endpoint, job: str) -> None:
        stopped[job] = host.finish_job(job)

    period_s = min(READING_S, parameters["duration_s"] / 5)
    with ExitStack() as stack:
        jobs: list[tuple[Endpoint, str, dict[str, Any]]] = [
            (bed.forwarder, "watch", {"work": "watch", "period_ms": round(1e3 * period_s)}),
            (bed.generator, "ping", {"work": "ping", "peer": BACK, "period_ms": PING_MS}),
        ]
        if idle_units is not None:
            jobs.append((bed.forwarder, "soak", soaker(parameters["soaker"])))
        for host, job, order in jobs:
            try:
                host.start(job, order)
            except CommandError as error:
                found.remarks.append(f"{job}: {error}")
                continue
            stack.callback(finish, host, job)
        yield found
    watch = counters.middle(stopped["watch"]["yields"][0]["readings"])
    values: dict[str, float | None] = {
        "cpu_idle": _mean(counters.idle_percent(one["host"], bed.forwarder_cpus) for one in watch),
        "softirq_rate": counters.rate(
            watch, ("host", "softirqs"), counters.RECEIVE, bed.forwarder_cpus
        ),
        "interrupts_in": _device_rate(watch, bed.incoming),
        "interrupts_out": _device_rate(watch, bed.outgoing),
    }
    if idle_units and "soak" in stopped:
        values["cpu_available"] = 100 * units_per_second(stopped["soak"]) / idle_units
        # The soaker takes what would be idle: to /proc/stat that is busy.
        values["cpu_idle"] = _with_soaker(values["cpu_idle"], stopped["soak"])
    if "ping" in stopped:
        answered = [t for t in stopped["ping"]["yields"][0]["round_trip_ns"] if t is not None]
        values["ping_round_trip"] = _mean(t / 1e3 for t in answered)
    found.values = {name: value for name, value in values.items() if value is not None}


def _with_soaker(idle: float | None, stopped: dict[str, Any]) -> float | None:
    """The idle share with what a soaker on each CPU had, by the scheduler's account, %."""
    if idle is None or any(one["cpu_ns"] is None for one in stopped["yields"]):
        return None
    taken = _mean(100 * one["cpu_ns"] / one["elapsed_ns"] for one in stopped["yields"])
    return None if taken is None else min(100.0, idle + taken)


def _device_rate(readings: list[dict[str, Any]], device: str) -> float | None:
    """Interrupts of one device per second; None where it has none, as a veth(4)."""
    seen = any(device in (one.get("lines") or {}) for one in readings)
    return counters.rate(readings, ("lines",), device, None) if seen else None


def _mean(values: Iterable[float | None]) -> float | None:
    """None also if any of them is unknown."""
    found: list[float] = []
    for value in values:
        if value is None:
            return None
        found.append(value)
    return sum(found) / len(found) if found else None
