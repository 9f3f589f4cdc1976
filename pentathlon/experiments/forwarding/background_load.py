"""What runs on the forwarder beside a flow: the CPU hog, the watcher, the competitor, and pings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from statistics import median

from pentathlon.experiments.forwarding import counters
from pentathlon.experiments.forwarding.testbed import Testbed
from pentathlon.protocol.events import JsonObject
from pentathlon.protocol.requests.session import Placement
from pentathlon.protocol.requests.works import Compete, Ping, Watch, Work
from pentathlon.testbed.availability import cpu_hog, units_per_second
from pentathlon.testbed.cables import BACK
from pentathlon.testbed.endpoint import CommandError, Endpoint
from pentathlon.testbed.replies.counters import Reading
from pentathlon.testbed.replies.jobs import Batch, Pinged, Stopped, Watched

READING_S = 2.0
"""Time between two readings of the counters, as salah2010 §2.2 has it (sar -P ALL 2 3)."""

CALIBRATION_S = 1.0
CALIBRATIONS = 5
PING_MS = 20


@dataclass
class Beside:
    """What was read beside one flow; by metric.

    Attributes:
        flow: the flow's beginning and end, time.monotonic(), from who sent it.
        values: metrics of `forwarding.sweep` that could be read.
        refused: what could not, and why; a sentence each.
    """

    flow: tuple[float, float] = (0.0, 0.0)
    values: dict[str, float] = field(default_factory=dict)
    refused: list[str] = field(default_factory=list)

    def lacks(self, job: str, reason: object) -> None:
        """Note that a job that reads beside the flow yields nothing."""
        self.refused.append(lacking(job, reason))


YIELDS = {
    "watch": ("cpu_idle", "softirq_rate", "interrupts_in", "interrupts_out"),
    "ping": ("ping_round_trip",),
    "soak": ("cpu_available",),
}
"""Job -> the metrics that come from it."""


def lacking(job: str, reason: object) -> str:
    """What a job that cannot be done leaves unread, and why."""
    return f"{', '.join(YIELDS[job])}: {reason}"


def calibrate(bed: Testbed, policy: str) -> float:
    """Units per second of the CPU hog on the forwarder with nothing beside it.

    The policy "idle" takes what nobody wants, which on a machine with other work can be nothing for
    a while: it is measured several times. 0: there was none, and what is left is unknown.
    """
    for _ in range(CALIBRATIONS):
        bed.forwarder.start("soak", cpu_hog(policy))
        bed.weigh(Competitor("none").weight(policy))
        time.sleep(CALIBRATION_S)
        bed.weigh(0)
        if units := units_per_second(bed.forwarder.finish_job("soak")):
            return units
    return 0.0


@dataclass(frozen=True)
class Competitor:
    """A program that wants the forwarder's CPU.

    Attributes:
        workload: its id; "none": there is none.
        copies: processes at once.
        nice: nice value.
        scheduler: policy (sched(7)).
    """

    workload: str
    copies: int = 1
    nice: int = 0
    scheduler: str = "other"

    @property
    def present(self) -> bool:
        return self.workload != "none"

    @property
    def label(self) -> str:
        """Its name in cases, such as "cpu.simplex" or "cpu.simplex x2 nice 10 idle"."""
        words = [self.workload]
        if self.copies != 1:
            words.append(f"x{self.copies}")
        if self.nice:
            words.append(f"nice {self.nice}")
        if self.scheduler != "other":
            words.append(self.scheduler)
        return " ".join(words)

    def order(self) -> Compete:
        """The order for an endpoint."""
        placement = Placement(
            nice=self.nice or None, policy=None if self.scheduler == "other" else self.scheduler
        )
        return Compete(workload=self.workload, copies=self.copies, placement=placement)

    def weight(self, cpu_hog: str) -> int:
        """The nice value of the forwarder's programs together (`Testbed.weigh`)."""
        if not self.present:
            return IDLE_NICE if cpu_hog == "idle" else 0
        return IDLE_NICE if self.scheduler == "idle" else self.nice


IDLE_NICE = 19
"""What comes closest to the policy "idle" for a whole group."""


@contextmanager
def competing(bed: Testbed, competitor: Competitor, lead_s: float) -> Iterator[Competition]:
    """Run the competitor on the forwarder for as long as the context lasts."""
    if not competitor.present:
        yield Competition()
        return
    bed.forwarder.start("competitor", competitor.order())
    found = Competition(started=time.monotonic())
    bed.weigh(competitor.weight(""))
    try:
        time.sleep(lead_s)
        yield found
    finally:
        bed.weigh(0)
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
    samples: list[Batch] = field(default_factory=list)

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
                f"{one['metric']} {one['case']}",
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
            if high <= low:
                return 0.0
            done = 0.0
            for name, began, ended, count in batches:
                inside = max(0.0, min(ended, high) - max(began, low))
                if name in usual and inside > 0:
                    done += usual[name] * count * inside / (ended - began)
            return done / (high - low)

        before = progress(first, begin)
        return 100 * progress(begin, end) / before if before else None


@contextmanager
def watching(
    bed: Testbed,
    parameters: JsonObject,
    idle_units: float | None,
    *,
    competitor: Competitor,
    version: int,
) -> Iterator[Beside]:
    """Read beside a flow for as long as the context lasts.

    Args:
        idle_units: what the CPU hog does with nothing beside it, `calibrate`: it runs beside this
            flow, and nothing else is read, since to the system's counters its time is busy time.
            None: it does not run, and everything else is read.
    """
    found = Beside()
    stopped: dict[str, Stopped] = {}

    def finish(host: Endpoint, job: str) -> None:
        try:
            stopped[job] = host.finish_job(job)
        except CommandError as error:  # A thread's placement is refused after its start.
            found.lacks(job, error)

    period_s = min(READING_S, parameters["duration_s"] / 5)
    with ExitStack() as stack:
        jobs: list[tuple[Endpoint, str, Work]] = [
            (bed.forwarder, "watch", Watch(period_ms=round(1e3 * period_s))),
            (bed.generator, "ping", Ping(peer=BACK[version], period_ms=PING_MS)),
        ]
        if idle_units is not None:
            jobs = [(bed.forwarder, "soak", cpu_hog(parameters["cpu_hog"]))]
        for host, job, order in jobs:
            try:
                host.start(job, order)
            except CommandError as error:
                found.lacks(job, error)
                continue
            stack.callback(finish, host, job)
        bed.weigh(competitor.weight("none" if idle_units is None else parameters["cpu_hog"]))
        try:
            yield found
        finally:
            # The forwarder's endpoint belongs to the group too, and has to hear what follows.
            bed.weigh(0)
    # The flow on the forwarder's timer: to within what its quickest answers took.
    begin, end = (1e9 * (moment - bed.forwarder.zero_s) for moment in found.flow)
    values: dict[str, float | None] = {}
    if "watch" in stopped:
        watched: Watched = stopped["watch"]["yields"][0]
        inside = counters.within(watched["readings"], begin, end)
        # A watcher that got no CPU while packets were forwarded knows the flow as a whole only.
        watch = counters.middle(inside) or inside or [watched["whole"]]
        values |= {
            "cpu_idle": counters.idle_percent(
                counters.together([one["host"] for one in watch]), bed.forwarder_cpus
            ),
            "softirq_rate": counters.rate(
                watch, ("host", "softirqs"), counters.RECEIVE, bed.forwarder_cpus
            ),
            "interrupts_in": _device_rate(watch, bed.incoming),
            "interrupts_out": _device_rate(watch, bed.outgoing),
        }
    if idle_units and "soak" in stopped:
        values["cpu_available"] = 100 * units_per_second(stopped["soak"], begin, end) / idle_units
    if "ping" in stopped:
        pinged: Pinged = stopped["ping"]["yields"][0]
        round_trips = pinged["round_trip_ns"]
        if answered := [t / 1e3 for t in round_trips if t is not None]:
            values["ping_round_trip"] = sum(answered) / len(answered)
        else:
            found.lacks("ping", f"none of {len(round_trips)} echo requests was answered")
    found.values = {name: value for name, value in values.items() if value is not None}


def _device_rate(readings: list[Reading], device: str) -> float | None:
    """Interrupts of one device per second; None where it has none, as a veth(4)."""
    seen = any(device in (one.get("lines") or {}) for one in readings)
    return counters.rate(readings, ("lines",), device, None) if seen else None
