"""`forwarding.sweep`: every offered load, with and without a competitor, trial by trial."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from typing import Any

from pentathlon.target.forwarding import beside
from pentathlon.target.forwarding.bed import Bed, Unsupported
from pentathlon.target.forwarding.flow import InvalidTrial, run_flow
from pentathlon.target.pair.endpoint import CommandError
from pentathlon.target.pair.trial import Task

TRIES = 3
"""A generator on a busy machine misses its schedule now and then: so often a trial is made."""

UNITS: dict[str, tuple[str, str]] = {
    "throughput": ("1/s", "higher"),
    "lost": ("%", "lower"),
    "round_trip": ("us", "lower"),
    "round_trip_median": ("us", "lower"),
    "round_trip_p99": ("us", "lower"),
    "ping_round_trip": ("us", "lower"),
    "cpu_available": ("%", "higher"),
    "cpu_idle": ("%", "higher"),
    "softirq_rate": ("1/s", "lower"),
    "interrupts_in": ("1/s", "lower"),
    "interrupts_out": ("1/s", "lower"),
    "competitor_speed": ("%", "higher"),
}


def settings(parameters: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The cases' factors but for the load: those that take long to change come first."""
    for routes, steering, frame, competitor in itertools.product(
        *(parameters[name] for name in ("routes", "steering", "frame_bytes", "competitor"))
    ):
        yield {
            "frame_bytes": frame, "competitor": competitor, "steering": steering, "routes": routes,
        }  # fmt: skip


def set_up(bed: Bed, case: dict[str, Any]) -> None:
    """Give the forwarder what a case asks for.

    Raises:
        Unsupported: it cannot have it.
    """
    bed.set_routes(case["routes"])
    bed.steer(case["steering"])


def run_sweep(task: Task, bed: Bed) -> Iterator[dict[str, Any]]:
    """Every case of the task: `sample` events for what each trial yields, or an `error`."""
    parameters = task.parameters
    policy = parameters["soaker"]
    idle_units = None
    for setting in settings(parameters):
        for kpps in parameters["offered_kpps"]:
            case = {"offered_kpps": kpps, **setting}
            yield task.progress("case", case)
            try:
                set_up(bed, case)
                if policy != "none" and idle_units is None:
                    idle_units = beside.calibrate(bed, policy)
                for phase, iteration in task.phases():
                    values = _valid(task, bed, case, idle_units)
                    for name, value in values.items():
                        unit, direction = UNITS[name]
                        yield task.sample(
                            indicator=name, case=case, unit=unit, direction=direction,
                            phase=phase, iteration=iteration, value=value,
                            batch=round(1e3 * kpps * parameters["duration_s"]),
                            elapsed_ns=int(parameters["duration_s"] * 1e9),
                            checksum="0x1", counters={},
                        )  # fmt: skip
            except Unsupported as error:
                yield task.error("unsupported", str(error), case)
            except (CommandError, InvalidTrial) as error:
                kind = error.kind if isinstance(error, CommandError) else "invalid"
                yield task.error(kind, str(error), case)


def _valid(
    task: Task, bed: Bed, case: dict[str, Any], idle_units: float | None
) -> dict[str, float]:
    """What a trial yields; one that is invalid is made again, `TRIES` times in all.

    Raises:
        InvalidTrial: the last one was invalid too.
    """
    for _ in range(TRIES - 1):
        try:
            return _trial(task, bed, case, idle_units)
        except InvalidTrial:
            continue
    return _trial(task, bed, case, idle_units)


def _trial(
    task: Task, bed: Bed, case: dict[str, Any], idle_units: float | None
) -> dict[str, float]:
    parameters = task.parameters
    with beside.competing(bed, parameters, case["competitor"]) as competition:
        with beside.watching(bed, parameters, idle_units) as read:
            began = time.monotonic()
            rate, frame = 1e3 * case["offered_kpps"], case["frame_bytes"]
            flow = run_flow(bed, task, packet_rate=rate, frame_bytes=frame)
        competition.flow = (began, began + parameters["duration_s"])
    values: dict[str, float | None] = {
        "throughput": flow.throughput,
        "lost": 100 * flow.lost_ratio,
        "competitor_speed": competition.speed_percent(),
    }
    if trips := flow.trips:
        values["round_trip"] = 1e6 * trips.mean
        for name, quantile in (("round_trip_median", "p50"), ("round_trip_p99", "p99")):
            if quantile in trips.quantiles:
                values[name] = 1e6 * trips.quantiles[quantile]
    values |= read.values
    return {name: float(value) for name, value in values.items() if value is not None}
