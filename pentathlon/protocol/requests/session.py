"""The request of a session on a system: its workloads, and what is done before them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypeAlias

from pydantic import Field, TypeAdapter

from pentathlon.protocol.requests.base import RequestPart
from pentathlon.protocol.requests.own_command import OwnCommand
from pentathlon.protocol.version import PROTOCOL


class Placement(RequestPart):
    """Where and with which priority workloads run; what is None stays as it is.

    Attributes:
        cpus: those that they may run on.
        policy: `other`, `batch`, `idle`, `fifo` or `rr` (sched(7)).
        priority: static priority of `fifo` and `rr`, 1 to 99.
        nice: -20 to 19.
    """

    cpus: list[int] | None = None
    policy: str | None = None
    priority: int | None = None
    nice: int | None = None


class SizedBatch(RequestPart):
    """How many operations took `sample_ms` in an earlier boot of a system."""

    metric: str
    case: dict[str, int | float | str]
    operations: int


class WorkloadRequest(RequestPart):
    """One workload with its parameters and repetitions.

    Attributes:
        parameters: as its entry in the catalog declares them.
        iterations: samples of each case in each process.
        warmup: samples before these, which are reported and never averaged in.
        sample_ms: wanted length of one timed batch.
        processes: fresh processes that each repeat the whole workload.
        timeout_s: longest time of one of them.
        command: of the user's own, which is then what the workload runs.
        batches: what an earlier boot of the system has sized.
    """

    id: str
    parameters: dict[str, Any] = Field({})
    iterations: int = 5
    warmup: int = 1
    sample_ms: float = 5.0
    processes: int = 1
    timeout_s: float = 120.0
    command: OwnCommand | None = None
    batches: list[SizedBatch] | None = None


class Record(RequestPart):
    """List the installed software, and whether the system learns from use."""

    do: Literal["record"] = "record"


class Idle(RequestPart):
    """Run tasks that the system keeps for idle moments."""

    do: Literal["idle"] = "idle"
    tasks: list[Literal["sync", "fstrim", "drop_caches", "process_idle_tasks"]]


class Settle(RequestPart):
    """Wait until the system is quiet.

    Attributes:
        after_boot_s: the system is up for so long before quiet is looked for.
        quiet_s: it is quiet for so long without a break.
        limit_s: longest wait, from `after_boot_s` on.
        cpu_percent: CPU time of all CPUs.
        disk_kb_per_s: to and from block devices.
        network_packets_per_s: of all interfaces but loopback.
        temperature_c, frequency_percent: changes over the quiet time.
        users: people logged in.
    """

    do: Literal["settle"] = "settle"
    after_boot_s: float
    quiet_s: float
    limit_s: float
    cpu_percent: float
    disk_kb_per_s: float
    network_packets_per_s: float
    temperature_c: float
    frequency_percent: float
    users: int


PrepareStep: TypeAlias = Annotated[Record | Idle | Settle, Field(discriminator="do")]
_STEP: TypeAdapter[PrepareStep] = TypeAdapter(PrepareStep)


def prepare_step(do: str, options: dict[str, Any]) -> PrepareStep:
    """The step of that name."""
    return _STEP.validate_python({"do": do, **options})


class Gate(RequestPart):
    """What waits until it is released: each workload, and in it each case.

    Attributes:
        batches_up_to_bytes: each measured batch waits too, before a part of it that is not timed,
            where the workload has `buffers` in the catalog, and these, as large as the factors of
            the case that are bytes, hold at most so many; each measured run of a command waits too,
            whatever the number. None: no batch does.
    """

    batches_up_to_bytes: int | None = None


class Request(RequestPart):
    """One session: several workloads, in their order.

    Attributes:
        session: its random id, hex digits.
        seed: of every pseudo-random input.
        scratch: directory for the workloads' files.
        files: directory with the files of commands, only for reading.
        inventory: whether the first event carries the full inventory.
        prepare: what is done before the first workload.
        gate: what waits for a `Release` after the event `ready`; None: nothing.
        at: a file on the system that holds the request in place of this one.
    """

    protocol: int = PROTOCOL
    session: str = ""
    seed: int = 0
    scratch: str | None = None
    files: str | None = None
    inventory: bool = False
    placement: Placement | None = None
    prepare: list[PrepareStep] = Field([])
    gate: Gate | None = None
    at: str | None = None
    workloads: list[WorkloadRequest]


class Release(RequestPart):
    """Lets one workload, case or batch of a request with a gate begin.

    Attributes:
        release: the workload's place in the request.
    """

    release: int
