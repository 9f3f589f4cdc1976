"""`forwarding.sweep`: every offered load, with and without a competitor, trial by trial."""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pentathlon.target.forwarding import beside
from pentathlon.target.forwarding.bed import Bed, Unsupported
from pentathlon.target.forwarding.flow import HEADER_BYTES, InvalidTrial, overhead, run_flow
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


FACTORS = {
    "ip_version": "ip_versions", "steering": "steering", "routes": "routes",
    "firewall_rules": "firewall_rules", "budget": "budgets",
}  # fmt: skip
"""Factor -> parameter. A case names them only where the study sets them."""

DEFAULTS: dict[str, Any] = {
    "ip_version": 4, "steering": "own", "routes": 0, "firewall_rules": 0, "budget": 0,
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """A case but for its load.

    Attributes:
        case: its factors, as the results name them.
        values: of all factors, those of the forwarder.
        competitor: what runs beside the flow.
    """

    case: dict[str, Any]
    values: dict[str, Any]
    competitor: beside.Competitor

    @property
    def version(self) -> int:
        """Of the Internet Protocol."""
        return int(self.values["ip_version"])


def settings(parameters: dict[str, Any]) -> Iterator[Setting]:
    """The cases but for the load: what takes long to change comes first."""
    values_of = {name: _listed(parameters, FACTORS[name], DEFAULTS[name]) for name in FACTORS}
    named = [name for name, values in values_of.items() if values != [DEFAULTS[name]]]
    order = ("budget", "firewall_rules", "routes", "steering", "ip_version")
    competitors = list(_competitors(parameters))
    for *chosen, frame, competitor in itertools.product(
        *(values_of[name] for name in order), parameters["frame_bytes"], competitors
    ):
        values = dict(zip(order, chosen, strict=True))
        case = {"frame_bytes": frame, "competitor": competitor.label}
        case |= {name: values[name] for name in named}
        yield Setting(case, values, competitor)


def _listed(parameters: dict[str, Any], name: str, default: Any) -> list[Any]:
    """The values of a parameter, which the catalogs of some agents have as a single one or lack."""
    value = parameters.get(name, default)
    return list(value) if isinstance(value, list | tuple) else [value]


def _competitors(parameters: dict[str, Any]) -> Iterator[beside.Competitor]:
    for workload in parameters["competitor"]:
        if workload == "none":
            yield beside.Competitor(workload)
            continue
        for copies, nice, scheduler in itertools.product(
            _listed(parameters, "copies", 1),
            _listed(parameters, "nice", 0),
            _listed(parameters, "scheduler", "other"),
        ):
            yield beside.Competitor(workload, copies, nice, scheduler)


def set_up(bed: Bed, parameters: dict[str, Any], setting: Setting) -> None:
    """Give the forwarder what a case asks for.

    Raises:
        Unsupported: it cannot have it.
    """
    values = setting.values
    bed.need(setting.version)
    shortest = HEADER_BYTES + overhead(setting.version)
    if setting.case["frame_bytes"] < shortest:
        raise Unsupported(
            f"a frame of {setting.case['frame_bytes']} B is too short for IP version "
            f"{setting.version}; the least is {shortest} B"
        )
    bed.tune(
        budget=values["budget"], routes=values["routes"],
        firewall_rules=values["firewall_rules"], ip_version=setting.version,
    )  # fmt: skip
    bed.steer(values["steering"], live=parameters["rung"] == "live")


def run_sweep(task: Task, bed: Bed) -> Iterator[dict[str, Any]]:
    """Every case of the task: `sample` events for what each trial yields, or an `error`."""
    parameters = task.parameters
    policy = parameters["soaker"]
    idle_units = None
    for setting in settings(parameters):
        for kpps in parameters["offered_kpps"]:
            case = {"offered_kpps": kpps, **setting.case}
            yield task.progress("case", case)
            try:
                set_up(bed, parameters, setting)
                if policy != "none" and idle_units is None:
                    idle_units = beside.calibrate(bed, policy)
                for phase, iteration in task.phases():
                    values = _valid(task, bed, kpps, setting, idle_units)
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
    task: Task, bed: Bed, kpps: float, setting: Setting, idle_units: float | None
) -> dict[str, float]:
    """What a trial yields; one that is invalid is made again, `TRIES` times in all.

    Raises:
        InvalidTrial: the last one was invalid too.
    """
    for _ in range(TRIES - 1):
        try:
            return _trial(task, bed, kpps, setting, idle_units)
        except InvalidTrial:
            continue
    return _trial(task, bed, kpps, setting, idle_units)


def _trial(
    task: Task, bed: Bed, kpps: float, setting: Setting, idle_units: float | None
) -> dict[str, float]:
    parameters = task.parameters
    with beside.competing(bed, setting.competitor, parameters["lead_s"]) as competition:
        with beside.watching(
            bed, parameters, idle_units, competitor=setting.competitor, version=setting.version
        ) as read:
            began = time.monotonic()
            flow = run_flow(
                bed, task, packet_rate=1e3 * kpps, frame_bytes=setting.case["frame_bytes"],
                version=setting.version,
            )  # fmt: skip
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
