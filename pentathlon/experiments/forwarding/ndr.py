"""`forwarding.ndr`: the highest rate without loss, that with little, and the delays below it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from pentathlon.experiments.forwarding import background_load, search
from pentathlon.experiments.forwarding.fastest_backend import FastestBackend
from pentathlon.experiments.forwarding.flow import Flow, run_flow
from pentathlon.experiments.forwarding.setting import FAILURES, Setting, set_up, settings
from pentathlon.experiments.forwarding.testbed import Testbed
from pentathlon.experiments.forwarding.trials import Offers, valid
from pentathlon.protocol.events import Case, CaseValue, Message
from pentathlon.testbed.trial import InvalidTrial, Task, When

LEAD_S = 2.0
"""How long before the search the competitor starts, s."""

ROUNDS = 3
"""Searches for one rate, each of which knows the trials of those before it: so often may what one
trial decided turn out to be wrong."""

LOADS = (50, 90, 100)
"""Of the rate without loss, % (as RFC 2544, section 26.2, requests the delay at that rate)."""


def run_ndr(task: Task, bed: Testbed) -> Iterator[Message]:
    """Every case of the task: `sample` events for each repetition of the search, or an `error`."""
    backend = FastestBackend(task)
    for requested in settings(task.parameters):
        case = requested.case
        yield task.progress("case", case)
        try:
            yield from backend.settle(bed, requested)
            task, setting = backend.task, backend.named(requested)
            case = setting.case
            set_up(bed, task.parameters, setting)
            with background_load.competing(bed, setting.competitor, LEAD_S):
                for when in task.phases():
                    yield from _search(task, bed, setting, when)
        except FAILURES as error:
            yield task.failure(error, case)


def _search(task: Task, bed: Testbed, setting: Setting, when: When) -> Iterator[Message]:
    parameters = task.parameters
    highest = 1e3 * parameters["highest_kpps"]
    tried: dict[float, list[float]] = {}
    offer = Offers(lambda rate: _flow(task, bed, setting, rate))

    def sample(metric: str, value: float, **factors: CaseValue) -> Message:
        case = {**factors, **setting.case}
        return task.sample(metric, case, when, value, seconds=parameters["duration_s"])

    without_loss = 0.0
    for criterion, allowed in (("no loss", 0.0), ("little", parameters["partial_percent"] / 100)):
        for _ in range(ROUNDS):
            found = search.highest_rate(
                offer,
                highest,
                highest * parameters["resolution_percent"] / 100,
                allowed=allowed,
                trials=parameters["trials"],
                tried=tried,
            )
            between = found.passed and found.failed is not None
            wrong = search.contradiction(offer, found, allowed=allowed) if between else None
            if wrong is None:
                break
            message = f"search of {setting.case} ({criterion}): {wrong}"
            yield task.event("log", level="warning", message=message)
        case: Case = {"criterion": criterion, **setting.case}
        if found.failed is None:
            reason = found.reason or f"the search began at {highest:g} packets/s, which passed"
            yield task.error(
                "invalid",
                f"the limit is above {found.passed:.6g} packets/s, and no more was offered: "
                f"{reason}",
                case,
            )
        elif not found.passed:
            yield task.error(
                "invalid", f"even {found.failed:.6g} packets/s did not pass", case
            )  # fmt: skip
        elif wrong:
            yield task.error("invalid", wrong, case)
        else:
            yield sample("rate", found.passed, criterion=criterion)
            yield sample("rate_above", found.failed, criterion=criterion)
        if criterion == "no loss":
            without_loss = found.passed if found.failed is not None and not wrong else 0.0
    for message in offer.words():
        yield task.event("log", level="info", message=f"search of {setting.case}: {message}")
    for percent in LOADS if without_loss else ():
        try:
            flow = valid(partial(_flow, task, bed, setting, without_loss * percent / 100))
        except InvalidTrial as error:
            yield task.error("invalid", str(error), {"load_percent": percent, **setting.case})
            continue
        for name, value in flow.round_trips().items():
            yield sample(name, value, load_percent=percent)


def _flow(task: Task, bed: Testbed, setting: Setting, rate: float) -> Flow:
    return run_flow(
        bed, task, packet_rate=rate, frame_bytes=setting.frame_bytes, version=setting.version
    )
