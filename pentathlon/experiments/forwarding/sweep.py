"""`forwarding.sweep`: every offered load, with and without a competitor, trial by trial."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pentathlon.experiments.forwarding import background_load, loads
from pentathlon.experiments.forwarding.fastest_backend import FastestBackend, altered
from pentathlon.experiments.forwarding.flow import run_flow
from pentathlon.experiments.forwarding.setting import FAILURES, Setting, set_up, settings
from pentathlon.experiments.forwarding.testbed import Testbed
from pentathlon.experiments.forwarding.trials import Offers, valid
from pentathlon.protocol.events import Case, JsonObject, Message
from pentathlon.testbed.endpoint import CommandError
from pentathlon.testbed.trial import InvalidTrial, Task, When


@dataclass(frozen=True)
class Yield:
    """What one trial yields.

    Attributes:
        values: by metric.
        refused: what could not be read beside the flow, and why; a sentence each.
    """

    values: dict[str, float]
    refused: list[str]


def run_sweep(task: Task, bed: Testbed) -> Iterator[Message]:
    """Every case of the task: `sample` events for what each trial yields, or an `error`."""
    parameters = task.parameters
    policy = parameters["cpu_hog"]
    idle_units, no_cpu_hog = None, list[str]()
    backend = FastestBackend(task)
    knees: dict[str, loads.Knee] = {}
    for requested in settings(parameters):
        try:
            yield from backend.settle(bed, requested)
            task, setting = backend.task, backend.named(requested)
            parameters = task.parameters
            if parameters["loads"] == "automatic":
                yield from _search(task, bed, setting, knees)
            chosen = _loads(parameters, setting, knees)
        except FAILURES as error:
            yield task.failure(error, requested.case)
            continue
        for load, rate in chosen:
            case = {**load, **setting.case}
            yield task.progress("case", case)
            if beyond := _beyond(load, setting, knees):
                yield task.error("unsupported", beyond, case)
                continue
            try:
                set_up(bed, parameters, setting)
                if policy != "none" and idle_units is None and not no_cpu_hog:
                    try:
                        idle_units = background_load.calibrate(bed, policy)
                    except CommandError as error:
                        no_cpu_hog = [background_load.lacking("soak", error)]
                refused = dict.fromkeys(no_cpu_hog)  # In their order, each reason once a case.
                for phase, iteration in task.phases():
                    found = _measured(task, bed, rate, setting, idle_units)
                    refused |= dict.fromkeys(found.refused)
                    for measured in found.values.items():
                        yield _sample(task, case, (phase, iteration), rate, measured)
                for reason in refused:
                    yield task.error("unsupported", reason, case)
            except FAILURES as error:
                yield task.failure(error, case)


def _sample(
    task: Task,
    case: Case,
    when: When,
    rate: float,
    measured: tuple[str, float],
) -> Message:
    seconds = task.parameters["duration_s"]
    name, value = measured
    return task.sample(name, case, when, value, batch=round(rate * seconds), seconds=seconds)


def _alone(setting: Setting) -> Case:
    """The case of the search, which all competitors share: it is made without one."""
    return setting.case | {"competitor": "none"}


def _search(
    task: Task, bed: Testbed, setting: Setting, knees: dict[str, loads.Knee]
) -> Iterator[Message]:
    """Search for the load of 100 % once for all competitors; put it into `knees`.

    Raises:
        InvalidTrial: no load passed.
        Unsupported, CommandError: the forwarder cannot have the setting.
    """
    case = _alone(setting)
    if str(case) not in knees:
        yield task.progress("case", case)
        set_up(bed, task.parameters, setting)
        short = altered(task, duration_s=loads.SEARCH_S)

        offers = Offers(
            lambda rate: run_flow(
                bed, short, packet_rate=rate, frame_bytes=setting.frame_bytes,
                version=setting.version,
            )
        )  # fmt: skip
        knee = knees[str(case)] = loads.find(offers, 1e3 * task.parameters["highest_kpps"])
        for message in offers.words():
            yield task.event("log", level="info", message=f"loads of {case}: {message}")
        yield task.event("log", level="info", message=f"loads of {case}: {knee.words}")
        if knee.rate:
            yield _sample(short, case, ("measure", 0), knee.rate, ("knee", knee.rate))
    knee = knees[str(case)]
    if not knee.rate:
        raise InvalidTrial(f"there is no load to begin with: {knee.words}")


def _loads(
    parameters: JsonObject, setting: Setting, knees: dict[str, loads.Knee]
) -> list[tuple[dict[str, int], float]]:
    """Factor of each load, and its packets/s."""
    if parameters["loads"] == "listed":
        return [({"offered_kpps": kpps}, 1e3 * kpps) for kpps in parameters["offered_kpps"]]
    rate = knees[str(_alone(setting))].rate
    return [({"load_percent": share}, rate * share / 100) for share in loads.SHARES]


def _beyond(load: dict[str, int], setting: Setting, knees: dict[str, loads.Knee]) -> str | None:
    """Why the generator cannot offer this load; None: it can, or was not tried."""
    if load.get("load_percent", 0) <= 100:
        return None
    knee = knees[str(_alone(setting))]
    return knee.beyond and f"the generator offers no more than {knee.rate:.6g}/s: {knee.beyond}"


def _measured(
    task: Task, bed: Testbed, rate: float, setting: Setting, idle_units: float | None
) -> Yield:
    """What a flow yields, and a second one with the CPU hog beside it, where the study has it.

    Each is made again where it was invalid. What the second one lacks costs the first one nothing.
    """
    first = valid(lambda: _trial(task, bed, rate, setting, None))
    if idle_units is None:
        return first
    if not idle_units:
        reason = background_load.lacking(
            "soak", "with nothing beside it the CPU hog got no time to compare"
        )
        return Yield(first.values, [*first.refused, reason])
    try:
        second = valid(lambda: _trial(task, bed, rate, setting, idle_units))
    except InvalidTrial as error:
        reason = background_load.lacking("soak", f"the flow with the CPU hog was invalid: {error}")
        return Yield(first.values, [*first.refused, reason])
    own = {
        name: value
        for name, value in second.values.items()
        if name in background_load.YIELDS["soak"]
    }
    return Yield(first.values | own, first.refused + second.refused)


def _trial(
    task: Task, bed: Testbed, rate: float, setting: Setting, idle_units: float | None
) -> Yield:
    parameters = task.parameters
    with (
        background_load.competing(bed, setting.competitor, parameters["lead_s"]) as competition,
        background_load.watching(
            bed, parameters, idle_units, competitor=setting.competitor, version=setting.version
        ) as read,
    ):
        flow = run_flow(
            bed, task, packet_rate=rate, frame_bytes=setting.frame_bytes,
            version=setting.version,
        )  # fmt: skip
        read.flow = competition.flow = flow.times
    values: dict[str, float | None] = {
        "throughput": flow.throughput,
        "lost": 100 * flow.lost_ratio,
        "competitor_speed": competition.speed_percent(),
    }
    values |= flow.round_trips() | flow.generator() | read.values
    known = {name: float(value) for name, value in values.items() if value is not None}
    return Yield(known, read.refused)
