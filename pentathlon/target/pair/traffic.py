"""`network.traffic`: flows between two hosts, trial by trial, judged from both ends' records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pentathlon.target.pair import ladder
from pentathlon.target.pair.endpoint import CommandError, Endpoint
from pentathlon.target.pair.judged import FlowResult, event_of, judge, table_bytes
from pentathlon.target.pair.trial import Task
from pentathlon.target.pair.trials import Trial, run_trial
from pentathlon.traffic import flows, values
from pentathlon.traffic.models import ModelError
from pentathlon.traffic.records import RecordsError

SMALL = 200_000
"""Packets of a trial up to which they are kept by default."""


class InvalidTrial(Exception):
    """The trial ran, and what it yielded is not a measurement; one sentence."""


def run_traffic(task: Task, first: Endpoint, second: Endpoint) -> Iterator[dict[str, Any]]:
    """Every case of the task: `sample` events for what each trial yields, or an `error`."""
    parameters = task.parameters
    for case in flows.cases(parameters):
        yield task.progress("case", case)
        version = case["ip_version"]
        if reason := first.refused.get(version) or second.refused.get(version):
            yield task.error("unsupported", f"IP version {version}: {reason}", case)
            continue
        try:
            asked = flows.flows(parameters, case)
            for phase, iteration in task.phases():
                trial = run_trial(task, case, asked, first, second)
                results = judge(trial)
                yield from _kept(task, case, (phase, iteration), trial, results)
                _check(results, parameters)
                yield from _samples(task, case, (phase, iteration), trial, results)
        except ModelError as error:
            yield task.error("request", str(error), case)
        except InvalidTrial as error:
            yield task.error("invalid", str(error), case)
        except CommandError as error:
            yield task.error(error.kind, str(error), case)
        except RecordsError as error:
            yield task.error("failed", str(error), case)


def _samples(
    task: Task,
    case: dict[str, Any],
    when: tuple[str, int],
    trial: Trial,
    results: list[FlowResult],
) -> Iterator[dict[str, Any]]:
    """One sample for each indicator: of each flow, and of the hosts."""
    for result in results:
        own = case | {"flow": result.flow.name} if len(results) > 1 else case
        found = values.of_flow(result.found, result.trips)
        if result.flow.protocol == "tcp":
            efficiency = values.tcp_efficiency(trial.hosts[int(result.flow.back)])
            found |= {} if efficiency is None else {"tcp_efficiency": efficiency}
        for name, value in found.items():
            if name in ladder.meaningless(case.get("rung", "send")):
                continue
            yield _sample(task, own, when, (name, value, result.found.sent, trial.seconds))
    packets = sum(result.found.sent for result in results)
    ends = ("sender", "receiver") if trial.sends(0) else ("receiver", "sender")
    for end, host in zip(ends, trial.hosts, strict=True):
        for name, value in values.of_host(host, end, packets, trial.seconds).items():
            yield _sample(task, case, when, (name, value, packets, trial.seconds))


def _sample(
    task: Task, case: dict[str, Any], when: tuple[str, int], measured: tuple[str, float, int, float]
) -> dict[str, Any]:
    name, value, packets, seconds = measured
    unit, direction = values.UNITS[name]
    phase, iteration = when
    return task.sample(
        indicator=name, case=case, unit=unit, direction=direction, phase=phase,
        iteration=iteration, value=value, batch=packets, elapsed_ns=int(seconds * 1e9),
        checksum="0x1", counters={},
    )  # fmt: skip


def _check(results: list[FlowResult], parameters: dict[str, Any]) -> None:
    """Refuse a trial whose generator missed what was asked of it.

    What a stream cannot send on time is due to its receiver or the network (flow control), and
    is measured: only datagrams are checked.
    """
    limit_s = parameters["lateness_limit_ms"] * 1e-3
    for result in results:
        if result.stopped:
            raise InvalidTrial(f"the sender stopped before its time: {result.stopped}")
        if result.flow.protocol == "tcp":
            continue
        name = f'flow "{result.flow.name}": ' if len(results) > 1 else ""
        late, far = result.found.lateness_p99, result.gap_distance
        if late is not None and late > limit_s:
            raise InvalidTrial(
                f"{name}the generator missed its schedule: 1 % of the packets left more than "
                f"{late * 1e3:.3g} ms late, and {limit_s * 1e3:g} ms are allowed"
            )
        if far is not None and far > parameters["fit_limit"]:
            raise InvalidTrial(
                f"{name}the times between packets are not those that were asked for: their "
                f"distribution is {far:.3g} away from the model's (Kolmogorov's distance), and "
                f"{parameters['fit_limit']:g} is allowed"
            )


def _kept(
    task: Task,
    case: dict[str, Any],
    when: tuple[str, int],
    trial: Trial,
    results: list[FlowResult],
) -> Iterator[dict[str, Any]]:
    """The `packets` event of a trial, with its packets where they are kept."""
    packets = sum(result.found.sent for result in results)
    keep = task.parameters["keep"]
    kept = keep == "always" or (keep == "small" and packets <= SMALL)
    phase, iteration = when
    yield task.event(
        "packets", case=case, phase=phase, iteration=iteration,
        flows=[event_of(result) for result in results], hosts=trial.hosts,
        **({"table": table_bytes(results)} if kept else {}),
    )  # fmt: skip
