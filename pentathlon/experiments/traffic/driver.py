"""`network.traffic`: flows between two hosts, trial by trial, judged from both ends' records."""

from __future__ import annotations

from collections.abc import Iterator

from pentathlon.experiments import transmit_backends
from pentathlon.experiments.traffic import values
from pentathlon.experiments.traffic.flow_analysis import FlowResult, event_of, judge, table_bytes
from pentathlon.experiments.traffic.trials import Trial, run_trial
from pentathlon.packets.records import RecordsError
from pentathlon.protocol.events import Case, Error, JsonObject, Message, Sample
from pentathlon.study import flows
from pentathlon.study.distributions import ModelError
from pentathlon.testbed import availability
from pentathlon.testbed.availability import CpuHogs
from pentathlon.testbed.endpoint import CommandError, Endpoint
from pentathlon.testbed.trial import InvalidTrial, Task, When

SMALL = 200_000
"""Packets of a trial up to which they are kept by default."""

LATE_LEAST_S, LATE_MOST_S = 0.01, 0.05
LATE_SHARE = 0.01
LATE_GAP = 0.1
"""How late 1 % of a flow's packets may be where the study does not say (`lateness_limit`)."""


def run_traffic(task: Task, first: Endpoint, second: Endpoint) -> Iterator[Message]:
    """Every case of the task: `sample` events for what each trial yields, or an `error`."""
    parameters = task.parameters
    for case in flows.cases(parameters):
        yield task.progress("case", case)
        version = int(case["ip_version"])
        if reason := first.refused.get(version) or second.refused.get(version):
            yield task.error("unsupported", f"IP version {version}: {reason}", case)
            continue
        for one in transmit_backends.cases(case):
            refused = measured = False
            for message in _trials(task, one, first, second):
                event = message.event
                refused |= isinstance(event, Error) and event.kind == "unsupported"
                measured |= isinstance(event, Sample)
                yield message
            # What only lacks some metrics is not refused.
            if measured or not refused:
                break


def _trials(task: Task, case: Case, first: Endpoint, second: Endpoint) -> Iterator[Message]:
    parameters = task.parameters
    try:
        requested = flows.flows(parameters, case)
        refused: dict[str, None] = {}  # In their order, each reason once.
        for phase, iteration in task.phases():
            with availability.cpu_hogs_on(parameters["cpu_hog"], (first, second)) as cpu_hogs:
                trial = run_trial(task, case, requested, first, second)
            results = judge(trial)
            yield from _kept(task, case, (phase, iteration), trial, results)
            _check(results, parameters)
            yield from _samples(task, case, (phase, iteration), trial, results)
            yield from _available(task, case, (phase, iteration), trial, cpu_hogs)
            refused |= dict.fromkeys(one.merges for one in results if one.merges)
            refused |= dict.fromkeys(_unread(trial, cpu_hogs))
        for reason in refused:
            yield task.error("unsupported", reason, case)
    except (ModelError, InvalidTrial, CommandError, RecordsError) as error:
        yield task.failure(error, case)


def _samples(
    task: Task,
    case: Case,
    when: When,
    trial: Trial,
    results: list[FlowResult],
) -> Iterator[Message]:
    """One sample for each metric: of each flow, and of the hosts."""
    for result in results:
        own = case | {"flow": result.flow.name} if len(results) > 1 else case
        found = values.of_flow(result.found, result.trips) | result.further
        if result.flow.protocol == "tcp":
            host = trial.hosts[int(result.flow.back)]
            found |= values.of_tcp(trial.sent[result.number], host, result.trips)
        backend = str(case.get("transmit_backend", "send"))
        for name, value in found.items():
            merged = result.merges and name in transmit_backends.MERGED
            if merged or transmit_backends.is_meaningless(name, backend):
                continue
            yield task.sample(
                name, own, when, value, batch=result.found.sent, seconds=trial.seconds
            )
    packets = _packets(results)
    for end, host in zip(_ends(trial), trial.hosts, strict=True):
        spoilt = values.spoilt_by_cpu_hog(end) if task.parameters["cpu_hog"] != "none" else ()
        found = values.of_host(host, end, packets)
        if trial.one_kernel:
            # Its CPU time is that of both hosts: the sender's window tells it once.
            busy = found.pop(f"packet_busy_{end}", None)
            if busy is not None and end == "sender" and not spoilt:
                found["packet_busy_both"] = busy
        for name, value in found.items():
            if name in spoilt:
                continue
            seconds = values.window_s(host)
            yield task.sample(name, case, when, value, batch=packets, seconds=seconds)


def _available(
    task: Task, case: Case, when: When, trial: Trial, cpu_hogs: CpuHogs
) -> Iterator[Message]:
    """What the CPU hogs of both hosts got of what they get with nothing beside them."""
    for end, percent, host in zip(
        _ends(trial), cpu_hogs.percent(trial.hosts), trial.hosts, strict=False
    ):
        if not isinstance(percent, str):
            seconds = values.window_s(host)
            yield task.sample(f"cpu_available_{end}", case, when, percent, seconds=seconds)


def _unread(trial: Trial, cpu_hogs: CpuHogs) -> list[str]:
    """What the CPU hogs could not measure, and why; a sentence each."""
    return [
        f"cpu_available_{end}: {why}"
        for end, why in zip(_ends(trial), cpu_hogs.percent(trial.hosts), strict=False)
        if isinstance(why, str)
    ]


def _ends(trial: Trial) -> tuple[str, str]:
    """What the first and the second host are."""
    return ("sender", "receiver") if trial.sends(0) else ("receiver", "sender")


def _packets(results: list[FlowResult]) -> int:
    """Packets that were sent; a further receiver of a group hears those of another flow."""
    return sum(result.found.sent for result in results if result.flow.hears is None)


def lateness_limit(result: FlowResult, parameters: JsonObject) -> float:
    """How late 1 % of a flow's packets may be, in seconds: what the study states, else by the flow.

    A generator that is put aside by other programs for a while catches up: its packets are late by
    no more than a scheduler lets programs wait. One that cannot keep up is late by more and more,
    and 1 % of the flow's length is what it is late by at the end if it is 1 % too slow. Few packets
    a second may be late by a part of the time between them.
    """
    if asked_ms := parameters["lateness_limit_ms"]:
        return float(asked_ms) * 1e-3
    rate = result.found.offered_rate
    apart = LATE_GAP / rate if rate else 0.0
    return min(LATE_MOST_S, max(LATE_LEAST_S, apart, LATE_SHARE * result.flow.duration_s))


def short_of_load(result: FlowResult, least_percent: float) -> str | None:
    """Why what was sent is not the load that was requested; None: it is.

    Args:
        least_percent: least share of the packets that were due. A flow without a schedule, and one
            of which anything is enough, has to have sent at all.
    """
    sent, due = result.found.sent, result.due
    if sent and (not due or 100 * sent >= least_percent * due):
        return None
    words = f"the generator sent {sent:,} packets" if sent else "the generator sent no packet"
    if due:
        words += f" of {due:,} that were due"
    if sent and due:
        words += f" ({100 * sent / due:.2g} %), and at least {least_percent:g} % are requested"
    if result.refused:
        words += f"; its system refused {result.refused:,}"
    return words


def _check(results: list[FlowResult], parameters: JsonObject) -> None:
    """Refuse a trial whose generator missed what was asked of it.

    What a stream cannot send on time is due to its receiver or the network (flow control), and
    is measured: only datagrams are checked.
    """
    for result in results:
        limit_s = lateness_limit(result, parameters)
        if result.stopped:
            raise InvalidTrial(f"the sender stopped before its time: {result.stopped}")
        if result.flow.hears is not None:
            continue
        name = f'flow "{result.flow.name}": ' if len(results) > 1 else ""
        stream = result.flow.protocol in ("tcp", "sctp")
        least = 0.0 if stream else parameters["least_sent_percent"]
        if lacking := short_of_load(result, least):
            raise InvalidTrial(name + lacking)
        if stream:
            continue
        late, far = result.found.lateness_p99, result.gap_distance
        if late is not None and late > limit_s:
            raise InvalidTrial(
                f"{name}the generator missed its schedule: 1 % of the packets left more than "
                f"{late * 1e3:.3g} ms late, and {limit_s * 1e3:g} ms are allowed"
            )
        if far is not None and far > parameters["fit_limit"]:
            raise InvalidTrial(
                f"{name}the times between packets are not those that were requested: their "
                f"distribution is {far:.3g} away from the model's (Kolmogorov's distance), and "
                f"{parameters['fit_limit']:g} is allowed"
            )


def _kept(
    task: Task,
    case: Case,
    when: When,
    trial: Trial,
    results: list[FlowResult],
) -> Iterator[Message]:
    """The `packets` event of a trial, with its packets where they are kept."""
    packets = _packets(results)
    keep = task.parameters["keep"]
    kept = keep == "always" or (keep == "small" and packets <= SMALL)
    phase, iteration = when
    yield task.event(
        "packets", case=case, phase=phase, iteration=iteration,
        flows=[event_of(result) for result in results], hosts=trial.hosts,
        **({"table": table_bytes(results)} if kept else {}),
    )  # fmt: skip
