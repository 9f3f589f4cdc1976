"""`network.traffic`: one flow between two hosts, trial by trial, judged from both ends' records."""

from __future__ import annotations

import itertools
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pentathlon.target.pair import ladder
from pentathlon.target.pair.endpoint import CommandError, Endpoint, Records
from pentathlon.target.pair.trial import Task
from pentathlon.traffic import clocks, join, metrics, models, records

QUIET_MS = 200
"""Time after the last packet in which late ones are waited for, ms."""

HEADER_BYTES = 32
"""The header that every packet carries; the smallest packet."""

UNITS: dict[str, tuple[str, str]] = {
    "throughput": ("kbit/s", "higher"),
    "packet_rate": ("1/s", "higher"),
    "delivered": ("%", "higher"),
    "delay": ("ms", "lower"),
    "delay_p99": ("ms", "lower"),
    "round_trip": ("ms", "lower"),
    "jitter": ("ms", "lower"),
    "ditg_jitter": ("ms", "lower"),
    "cpu_sender": ("%", "lower"),
    "cpu_receiver": ("%", "lower"),
}


@dataclass(frozen=True)
class Trial:
    """What one trial left: both ends' answers and their records, by kind."""

    sent: dict[str, Any]
    received: dict[str, Any]
    files: dict[str, bytes]


def run_traffic(task: Task, first: Endpoint, second: Endpoint) -> Iterator[dict[str, Any]]:
    """Every case of the task: `sample` events for what each trial yields, or an `error`."""
    parameters = task.parameters
    for protocol, version, size, rung in itertools.product(
        parameters["protocols"], parameters["ip_versions"], parameters["size_bytes"],
        parameters["rung"],
    ):  # fmt: skip
        case = {"protocol": protocol, "ip_version": version, "size_bytes": size, "rung": rung}
        yield task.progress("case", case)
        if reason := first.refused.get(version) or second.refused.get(version):
            yield task.error("unsupported", f"IP version {version}: {reason}", case)
            continue
        try:
            for phase, iteration in task.phases():
                trial = _trial(task, case, first, second)
                for name, value in _values(trial, parameters).items():
                    if name in ladder.meaningless(rung):
                        continue
                    unit, direction = UNITS[name]
                    yield task.sample(
                        indicator=name, case=case, unit=unit, direction=direction, phase=phase,
                        iteration=iteration, value=value,
                        batch=trial.sent["flows"][0]["packets"],
                        elapsed_ns=int(parameters["duration_s"] * 1e9),
                        checksum="0x1", counters={},
                    )  # fmt: skip
        except (CommandError, InvalidTrial) as error:
            kind = "invalid" if isinstance(error, InvalidTrial) else error.kind
            yield task.error(kind, str(error), case)


class InvalidTrial(Exception):
    """The trial ran, and what it yielded is not a measurement; one sentence."""


def _trial(task: Task, case: dict[str, Any], first: Endpoint, second: Endpoint) -> Trial:
    parameters = task.parameters
    name = secrets.token_hex(4)
    address = second.addresses[case["ip_version"]]
    common = {"trial": name, "session": task.session[:16]}
    flow = {"flow": 0, "protocol": case["protocol"]}
    ready = second.listen(
        common
        | {
            "address": address,
            "flows": [
                flow | {"address": address} | ladder.receiving(case["rung"], parameters["receiver"])
            ],
        }
    )
    try:
        sent = first.send(
            common
            | {
                "seed": task.seed,
                "quiet_ms": QUIET_MS,
                "exchange": {"address": address, "port": ready["exchange_port"]},
                "flows": [
                    flow
                    | {
                        "peer": address,
                        "port": ready["flows"][0]["port"],
                        "size": {"model": "constant", "value": case["size_bytes"]},
                        "gap": {"of": models.parse(parameters["packet_rate"]), "rate": True},
                        "duration_s": parameters["duration_s"],
                        "echo": True,
                        "rung": case["rung"],
                    }
                ],
            },
            parameters["duration_s"],
        )
    except CommandError:
        # The receivers wait for their end; nobody wants their records.
        second.finish(name, 0)
        second.fetch(name)
        raise
    received = second.finish(name, QUIET_MS)
    files = _by_kind(first.fetch(name)) | _by_kind(second.fetch(name))
    if broken := sent["flows"][0]["broken"]:
        raise InvalidTrial(f"the sender stopped before its time: {broken}")
    return Trial(sent, received, files)


def _by_kind(files: list[Records]) -> dict[str, bytes]:
    return {file.kind: file.data for file in files}


def _values(trial: Trial, parameters: dict[str, Any]) -> dict[str, float]:
    sent = records.packets(trial.files["sent"])
    both = join.join(sent, records.packets(trial.files["received"]))
    found = metrics.flow_metrics(
        both, clocks.difference(records.exchanges(trial.files["exchange"]))
    )
    limit = parameters["lateness_limit_ms"] * 1e-3
    if found.lateness_p99 is not None and found.lateness_p99 > limit:
        raise InvalidTrial(
            f"the generator missed its schedule: 1 % of the packets left more than "
            f"{found.lateness_p99 * 1e3:.3g} ms late, and {limit * 1e3:g} ms are allowed"
        )
    back = join.join(sent, records.packets(trial.files["echoes"]))
    came = back.arrived
    trips = metrics.delays(
        metrics.seconds_of(back.arrival_ns[back.first_arrival[came]] - back.sent_ns[came])
    )
    delay = found.delay
    values = {
        "throughput": found.throughput and found.throughput / 1e3,
        "packet_rate": found.throughput and found.received and found.sending_rate,
        "delivered": None if found.lost_ratio is None else 100 * (1 - found.lost_ratio),
        "delay": delay and delay.mean * 1e3,
        "delay_p99": delay and "p99" in delay.quantiles and delay.quantiles["p99"] * 1e3,
        "round_trip": trips and trips.mean * 1e3,
        "jitter": found.jitter_mean and found.jitter_mean * 1e3,
        "ditg_jitter": found.ditg_jitter and found.ditg_jitter * 1e3,
        "cpu_sender": _busy_percent(trial.sent["host"]),
        "cpu_receiver": _busy_percent(trial.received["host"]),
    }
    return {name: float(value) for name, value in values.items() if value}


def _busy_percent(host: dict[str, Any]) -> float | None:
    """Busy share of all CPUs, %: all but idle and iowait (proc(5), /proc/stat)."""
    ticks = (host.get("cpus") or {}).get("cpu")
    if not ticks or not sum(ticks[:8]):
        return None
    user, nice, system, idle, iowait, irq, softirq, steal = ticks[:8]
    busy = user + nice + system + irq + softirq + steal
    return float(100 * busy / (busy + idle + iowait))
