"""What the procedure says of a run, record by record (docs/results.md lists the fields).

A record is plain data. Whoever listens (the journal, a progress display) is a callable that takes
one; the procedure knows nothing else of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from datetime import UTC, datetime
from typing import Any, ClassVar, TypeAlias

from pentathlon.procedure import imported
from pentathlon.protocol.events import AnyEvent, JsonObject, Message, WrongEvent, read
from pentathlon.safeio.clipping import described


def utc_now() -> str:
    """The wall clock, as ISO 8601 in UTC with microseconds."""
    return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """Base of all records. `utc` is the experimenter's wall clock."""

    kind: ClassVar[str]
    utc: str = field(default_factory=utc_now)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStart(Record):
    """A run begins. `blocks` is the number requested on the command line, or None.

    `catalog_sha256` is that of `catalog.json` (without the final newline); None in older results.
    `cpu_latency_us` limits the idle states of this machine's CPUs, in cases whose batches take
    turns or in the whole run; None where nothing does.
    """

    kind: ClassVar[str] = "run-start"
    plan_hash: str
    study_file: str
    study_sha256: str
    blocks: int | None
    version: str
    pid: int
    notes: list[str]
    catalog_sha256: str | None = None
    cpu_latency_us: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resume(Record):
    """A run that was cut off goes on."""

    kind: ClassVar[str] = "resume"
    plan_hash: str
    version: str
    pid: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Preparation(Record):
    """A piece of what is done once for a system begins or ends. state: "start" or "end".

    Attributes:
        number: the step's place in the plan's preparation of the system.
        do: what the step does: "fresh", "record" or "train".
        unit: the piece, such as "memory.read#2", the second training of that workload.
        outcome: "done", "unsupported", "not needed", "failed", "again" (failed, will be tried
            again), "interrupted"; None at the start.
        seconds: time since the start.
        detail: what the step found.
    """

    kind: ClassVar[str] = "preparation"
    system: str
    number: int
    do: str
    unit: str
    state: str
    outcome: str | None
    reason: str | None
    seconds: float
    detail: JsonObject


@dataclass(frozen=True, slots=True, kw_only=True)
class BootStart(Record):
    """A boot begins. `steps` are the numbers of the plan's steps, in the order of the request.

    `install` names the install that is booted: "0", "1", ...; "1.2" is the second making of install
    1, after a cut in which the first was lost.
    """

    kind: ClassVar[str] = "boot-start"
    block: int
    order: int
    system: str
    attempt: int
    target: str
    layer: str
    session: str
    steps: list[int]
    settings: list[JsonObject]
    install: str = "0"


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEvent(Record):
    """One event of the agent. The journal has its JSON object, unchanged, as `event`."""

    kind: ClassVar[str] = "event"
    block: int
    system: str
    attempt: int
    event: Message

    @property
    def message(self) -> AnyEvent:
        """The event by its type."""
        return self.event.event


@dataclass(frozen=True, slots=True, kw_only=True)
class BootEnd(Record):
    """A boot has ended. outcome: "ok", "failed" or "interrupted".

    Attributes:
        boot_seconds: time to boot, in seconds; None if the system did not come up.
        log: the last lines of what the system printed, where the boot failed.
    """

    kind: ClassVar[str] = "boot-end"
    block: int
    system: str
    attempt: int
    outcome: str
    reason: str | None
    boot_seconds: float | None
    log: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported(Record):
    """What one boot of a system was in a file of another tool.

    Attributes:
        tool: its name, such as "fio".
        tool_version: None where the file does not name it.
        file: the file's name, without its folder.
        sha256: of the file's bytes.
        part: which part of the file it is, such as one system of several; "" for all of it.
        in_blocks: the user states that the boot is one of a block, with the same of other systems.
        values: for each metric and case an object with `workload`, `workload_title`, `metric`,
            `title`, `unit`, `direction`, `role`, `zero_allowed`, `case`, `values` and `place`.
    """

    kind: ClassVar[str] = "imported"
    block: int
    system: str
    tool: str
    tool_version: str | None
    file: str
    sha256: str
    part: str
    in_blocks: bool
    values: list[JsonObject]


@dataclass(frozen=True, slots=True, kw_only=True)
class StoppedEarly(Record):
    """The stopping rule is met: the blocks from number `blocks` (counted from 0) are not needed."""

    kind: ClassVar[str] = "enough"
    blocks: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided(Record):
    """All rows of these workloads were decided at a look: their steps are left out of the blocks
    from number `blocks` (counted from 0) on.
    """

    kind: ClassVar[str] = "decided"
    blocks: int
    workloads: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnd(Record):
    """The run has ended. outcome: "finished", "interrupted" or "part": one boot of it was run."""

    kind: ClassVar[str] = "run-end"
    outcome: str
    failures: int


def _required(one: Field[Any]) -> bool:
    return one.default is MISSING and one.default_factory is MISSING


Sink: TypeAlias = Callable[[Record], None]

KINDS: Mapping[str, type[Record]] = {
    record.kind: record
    for record in (
        RunStart,
        Resume,
        Preparation,
        BootStart,
        AgentEvent,
        BootEnd,
        Imported,
        StoppedEarly,
        Decided,
        RunEnd,
    )
}
FIELDS = {record: tuple(f.name for f in fields(record)) for record in KINDS.values()}
"""Fields of each kind of record, in order."""
NEEDED = {
    record: tuple(f.name for f in fields(record) if f.name == "utc" or _required(f))
    for record in KINDS.values()
}
"""Fields that every record has; the others came later and have a default."""


def to_json(record: Record) -> JsonObject:
    """The record as a JSON object, `record` being its kind."""
    document: JsonObject = {"record": record.kind}
    for name in FIELDS[type(record)]:
        document[name] = getattr(record, name)
    if isinstance(record, AgentEvent):
        document["event"] = record.event.document
    return document


def from_json(document: Mapping[str, Any]) -> Record:
    """The record of a JSON object.

    Raises:
        ValueError: the kind is unknown, or fields are missing.
    """
    kind = document.get("record")
    record = KINDS.get(kind) if isinstance(kind, str) else None
    if record is None:
        raise ValueError(f'unknown record "{kind}"')
    names = FIELDS[record]
    missing = [name for name in NEEDED[record] if name not in document]
    if missing:
        raise ValueError(f'record "{kind}" lacks {", ".join(missing)}')
    members = {name: document[name] for name in names if name in document}
    if record is Imported:
        imported.check(members)
    if record is AgentEvent:
        members["event"] = _message(document["event"])
    return record(**members)


def _message(document: Any) -> Message:
    if not isinstance(document, dict):
        raise ValueError(f"its event is {described(document)}, expected an object")
    try:
        return read(document)
    except WrongEvent as error:
        raise ValueError(f'the event "{document["event"]}" is damaged: {error}') from error
