"""The study file as typed data: systems, suites, procedure and evaluation.

Every class mirrors one table of the TOML file (docs/study-file.md). The classes hold only what can
be said without a catalog and without a machine; `pentathlon.study.check` compares a study with the
agent's catalog.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal, TypeAlias, TypeGuard

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    SerializerFunctionWrapHandler,
    StringConstraints,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_serializer,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError, PydanticKnownError

from pentathlon.safeio.suggestion import listing
from pentathlon.study.boot import Boot, Power
from pentathlon.study.commands.model import OwnWorkload, Words
from pentathlon.study.exclusion import Exclusion, parse_exclusion
from pentathlon.study.factorial.model import Factor, Fraction
from pentathlon.study.preparation import PreparationStep, from_file
from pentathlon.study.reach import Ssh
from pentathlon.study.stopping import Stopping
from pentathlon.study.sysctl import Sysctl
from pentathlon.study.table import Table
from pentathlon.targets import registry
from pentathlon.targets.descriptor import Kind


@dataclass(frozen=True)
class OneOf:
    """Names that are known only when a study is read, beside the type of a field.

    Attributes:
        names: gives them.
    """

    names: Callable[[], list[str]]

    def check(self, value: Any) -> Any:
        """The value itself; the complaint about another one is that of a `Literal`."""
        names = self.names()
        if value not in names:
            raise PydanticKnownError("literal_error", {"expected": listing(names)})
        return value


KINDS = OneOf(registry.names)
"""The kinds of target that a system can name."""

IMPORTED = {"imported": True}
"""The context in which a plan is read whose systems were measured by another tool; no study file is
read in it."""


IMPORTED_TARGET = registry.IMPORTED.name
"""The kind of these systems, and their layer."""


def _kind(value: Any, info: ValidationInfo) -> Any:
    """The name of a kind."""
    if value == IMPORTED_TARGET and info.context == IMPORTED:
        return value
    return KINDS.check(value)


JOINABLE = OneOf(lambda: registry.names(lambda kind: kind.joinable))
"""Those whose hosts can be of two kinds, and can have an emulated link between them."""

Policy: TypeAlias = Literal["other", "batch", "idle", "fifo", "rr"]
"""Linux scheduling policies, as sched(7) names them."""

Value: TypeAlias = bool | int | float | str | list[int] | list[float] | list[str]
"""A value of a workload parameter, as TOML and JSON can write it."""

Name: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=64)]
SystemName: TypeAlias = Annotated[
    str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._+-]*$", max_length=64)
]
Weight: TypeAlias = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Size: TypeAlias = Annotated[str, StringConstraints(pattern=r"^[1-9][0-9]*[KMG]$")]

OWN_SUITE = "commands"
"""The suite of a study that has commands and names no suite."""

REALTIME_POLICIES: frozenset[str] = frozenset({"fifo", "rr"})


class Settings(Table):
    """Settings of the machine that are changed for one system and put back afterwards."""

    transparent_hugepage: Literal["always", "madvise", "never"] | None = None
    """Value of /sys/kernel/mm/transparent_hugepage/enabled."""
    transparent_hugepage_defrag: (
        Literal["always", "defer", "defer+madvise", "madvise", "never"] | None
    ) = None
    """Value of /sys/kernel/mm/transparent_hugepage/defrag."""
    aslr: Literal[0, 1, 2] | None = None
    """Address space randomisation, /proc/sys/kernel/randomize_va_space."""
    swappiness: int | None = Field(default=None, ge=0, le=200)
    """/proc/sys/vm/swappiness."""
    governor: str | None = Field(default=None, pattern=r"^[a-z_]+$")
    """cpufreq governor of every CPU."""
    turbo: bool | None = None
    """Whether the processor may use its turbo frequencies."""
    irq_affinity: tuple[int, ...] | None = None
    """CPUs that serve interrupts, negative ones counted from the last."""
    tcp_congestion_control: str | None = Field(default=None, pattern=r"^[a-z0-9_]+$")
    """`local`: of the machine; `netns`: of the system's own network namespace."""
    smt: bool | None = None
    """Whether the processor's cores run several hardware threads (smt/control)."""
    sysctl: Sysctl | None = None
    """Other files of /proc/sys by the names that sysctl(8) has for them, and their values."""
    cpu_quota_percent: float | None = Field(default=None, gt=0, le=100_000)
    """CPU bandwidth of the cgroup, in percent of one CPU (100 = one whole CPU)."""
    scheduler: str | None = None
    """Scheduling policy, `other`, `batch`, `idle`, `fifo:PRIORITY` or `rr:PRIORITY` (1 to 99)."""
    nice: int | None = Field(default=None, ge=-20, le=19)
    """Nice value, setpriority(2)."""
    power_plan: str | None = Field(
        default=None,
        pattern=r"^(balanced|high_performance|power_saver|ultimate_performance"
        r"|[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})$",
    )
    """Windows: the power plan, one that Windows comes with or the GUID of another one."""
    core_parking: int | None = Field(default=None, ge=0, le=100)
    """Windows: least share of cores that are not parked, in percent (100: none is parked)."""
    defender: Literal["on", "off", "excluded"] | None = None
    """Windows: real-time protection of Defender, or without the session's own directory."""

    @field_validator("irq_affinity", mode="before")
    @classmethod
    def _irq_affinity(cls, value: Any) -> Any:
        if isinstance(value, list | tuple) and not value:
            raise ValueError("the CPU set is empty; name at least one CPU, or leave the key out")
        return tuple(value) if isinstance(value, list) else value

    @field_validator("scheduler")
    @classmethod
    def _scheduler(cls, text: str | None) -> str | None:
        if text is not None:
            parse_scheduler(text)
        return text

    def changed(self) -> dict[str, Any]:
        """The settings that are named in the file, in the order of the model."""
        return self.model_dump(exclude_none=True)

    def plain(self) -> dict[str, bool | int | float | str]:
        """The same with a single value each: lists as text, variables of sysctl(8) by name."""
        found: dict[str, bool | int | float | str] = {}
        for key, value in self.changed().items():
            if isinstance(value, dict):
                found |= {f"{key}.{name}": one for name, one in value.items()}
            else:
                found[key] = ",".join(map(str, value)) if isinstance(value, tuple) else value
        return found


class Peer(Table):
    """The second host of a system, for the workloads between hosts (`[system.peer]`)."""

    target: Annotated[str, JOINABLE, BeforeValidator(JOINABLE.check)] | None = None
    """Its kind, where that is another one than the system's (docs/targets.md)."""
    kernel: str | None = None
    """`uml`, `qemu`: its kernel; None: the system's, where that is of its kind."""
    cpus: tuple[int, ...] | None = None
    """CPUs that its agent may run on, negative ones counted from the last; None means any."""
    link: str | None = None
    """`netns`, `uml`, `qemu`: profile of the link between both hosts, a name or the path of a file;
    None: a plain cable."""
    link_engine: Literal["agent", "netem", "netem-uml"] = "agent"
    """`netns`, `uml`, `qemu`: what emulates links between both hosts (docs/link.md)."""
    behaves: str = "own"
    """How it behaves as a server of files (docs/files.md)."""

    ssh: Ssh | None = None
    """`ssh`: how to reach the machine."""
    interfaces: tuple[str, ...] | None = None
    """`ssh`: interfaces of this machine, each joined to another one. Forwarding: two, joined to the
    system, the receiving side first; between hosts: one for each that is another machine, the
    system's first."""
    joined_to: tuple[str, ...] | None = None
    """`ssh`: the other machines' interfaces at the other ends, in the same order."""

    @field_validator("cpus", "interfaces", "joined_to", mode="before")
    @classmethod
    def _lists(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value


class System(Table):
    """One operating system in one configuration on one machine (`[[system]]`).

    Keys that only one kind of target knows (`Kind.own_keys`) are attributes too.
    """

    model_config = ConfigDict(extra="allow")

    name: SystemName
    target: Annotated[str, KINDS, BeforeValidator(_kind)]
    title: str | None = None
    """Text for reports; the name if it is missing."""
    cpus: tuple[int, ...] | None = None
    """CPUs that the agent may run on, negative ones counted from the last; None means any."""
    scratch: str | None = None
    """Directory on the system under test for file workloads; None lets the target choose."""
    kernel: str | None = None
    """`uml`, `qemu`: version of the kernel, such as "6.1", or the path of a kernel file."""
    memory: Size | None = None
    """`uml`, `qemu`: memory of the guest, such as "640M"."""
    accelerator: Literal["tcg", "kvm"] | None = None
    """`qemu`: `tcg` translates the guest's instructions, with `kvm` the processor runs them."""
    ssh: Ssh | None = None
    """`ssh`: how to reach the machine."""
    boot: Boot | None = None
    """`ssh`: which of the machine's kernels each boot starts (docs/real-machines.md)."""
    power: Power | None = None
    """`ssh`: what switches the machine off and on if it does not come back."""
    uml_args: tuple[str, ...] = ()
    """`uml`: more words for the kernel's command line, such as "seccomp=on"."""
    userland: str | None = None
    """`uml`, `gvisor`, `qemu`, `oci`: what commands find beside their files: "host" for this
    machine's root directory, or the absolute path of another one, of an archive of one, or of an
    OCI image ("oci:PATH[:TAG]"); only for reading."""
    agent: str | None = None
    """`wine`: path of the agent's Windows build, if it does not lie where the target looks.
    `command`: path of another build of the agent."""
    steps: tuple[PreparationStep, ...] | None = None
    """What is done before this system is measured, instead of the procedure's steps."""
    behaves: str = "own"
    """How it behaves as a client of files, by name or as the path of a file (docs/files.md)."""
    peer: Peer | None = None
    """A second host, joined to the first by a link."""
    settings: Settings = Settings()
    """`local`, `netns`, `ssh`: settings of the machine for this system."""
    parameters: dict[str, dict[str, Value]] = Field(default_factory=dict)
    """Workload id -> parameters that hold for this system only. Its rows are qualified as such."""
    commands: dict[str, Words] = Field(default_factory=dict)
    """Id of a workload of the study's own -> the command that runs it on this system."""

    @field_validator("cpus", mode="before")
    @classmethod
    def _cpus(cls, value: Any) -> Any:
        if not isinstance(value, list | tuple):
            return value
        if not value:
            raise ValueError("the CPU set is empty; name at least one CPU, or leave the key out")
        if len(set(value)) != len(value):
            raise ValueError("a CPU is named twice")
        return tuple(value)

    @field_validator("uml_args", mode="before")
    @classmethod
    def _uml_args(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("steps", mode="before")
    @classmethod
    def _steps(cls, value: Any) -> Any:
        return from_file(value)

    @field_validator("userland")
    @classmethod
    def _userland(cls, value: str | None) -> str | None:
        if value is not None and value != "host" and not value.startswith(("/", "oci:/")):
            raise ValueError(
                'must be "host", or an absolute path of a directory, of an archive (.tar, .tar.gz, '
                '.tar.xz, .tar.zst), or behind "oci:" of an OCI image'
            )
        return value

    @model_serializer(mode="wrap")
    def _without_new_keys(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A system without these keys is written as before there were any."""
        written: dict[str, Any] = handler(self)
        for name in ("userland", "commands", "boot", "power"):
            if name in written and not written[name]:
                del written[name]
        return written

    @field_validator("commands", mode="before")
    @classmethod
    def _commands(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {k: tuple(words) if isinstance(words, list) else words for k, words in value.items()}

    @field_validator("scratch", "agent")
    @classmethod
    def _absolute(cls, value: str | None, info: ValidationInfo) -> str | None:
        # A Windows machine has its directories on drives.
        on_drive = (
            info.field_name == "scratch" and value is not None and value[1:3] in (":/", ":\\")
        )
        if value is not None and not value.startswith("/") and not on_drive:
            raise ValueError('must be an absolute path, such as "/tmp"')
        return value

    @model_validator(mode="after")
    def _own_keys(self) -> System:
        wrong = [
            problem
            for key, value in (self.model_extra or {}).items()
            for problem in _wrong(self.kind, key, value)
        ]
        if wrong:
            raise ValidationError.from_exception_data("System", wrong)
        return self

    @property
    def kind(self) -> Kind:
        """Its kind of target."""
        return registry.kind_of(self.target)

    @property
    def imported(self) -> bool:
        """Whether another tool measured it: it has figures, and nothing that can be booted."""
        return self.target == IMPORTED_TARGET

    @property
    def peer_kind(self) -> Kind:
        """The kind of its second host: its own, unless the peer names another one."""
        named = self.peer.target if self.peer is not None else None
        return registry.kind_of(named or self.target)


def _wrong(kind: Kind, key: str, value: Any) -> Iterator[InitErrorDetails]:
    """What is wrong with a key of a system that is no field of the model."""
    if key not in kind.own_keys:
        takers = registry.names(lambda other: key in other.own_keys)
        text = f'is for target {listing(takers)}; this system\'s target is "{kind.name}"'
        unknown: PydanticCustomError | str = "extra_forbidden"
        if takers:
            unknown = PydanticCustomError("value_error", "{text}", {"text": text})
        yield InitErrorDetails(type=unknown, loc=(key,), input=value)
        return
    try:
        TypeAdapter(kind.own_keys[key]).validate_python(value, strict=True)
    except ValidationError as error:
        for one in error.errors(include_url=False):
            yield InitErrorDetails(
                type=one["type"], loc=(key, *one["loc"]), input=one["input"],
                ctx=one.get("ctx", {}),
            )  # fmt: skip


class Procedure(Table):
    """How often and how long is measured (`[procedure]`)."""

    blocks: int = Field(default=10, ge=1, le=10_000)
    """Blocks; each block boots every system once, in a balanced order. A stopping rule other than
    `fixed` states it itself: it is then the most that the rule can take."""
    stopping: Stopping = Stopping()
    """When the study has measured enough."""
    installs: int = Field(default=1, ge=1, le=1_000)
    """How often every system is made anew, with its share of the blocks after each time."""
    iterations: int = Field(default=3, ge=1, le=100_000)
    """Measured samples of each case in each process."""
    warmup: int = Field(default=1, ge=0, le=100_000)
    """Samples of each case before the measured ones; reported, never counted."""
    processes: int = Field(default=1, ge=1, le=1_000)
    """Worker processes in which a workload is repeated in each boot."""
    sample_ms: float = Field(default=5.0, gt=0, le=60_000)
    """Wanted length of one timed batch, in milliseconds."""
    boot_timeout_s: float = Field(default=60.0, gt=0, le=86_400)
    """Longest time from the start of a boot to the agent's first event, in seconds."""
    step_timeout_s: float = Field(default=120.0, gt=0, le=86_400)
    """Longest time of one workload in one boot, in seconds."""
    retries: int = Field(default=1, ge=0, le=100)
    """How often a boot that failed is tried again."""
    pairing: Literal["turns", "steps", "none"] | None = None
    """Whether the systems of a block are alive at once and take each step one after the other
    ("steps"), each batch besides where its working set is small ("turns"), or are booted one after
    the other ("none"); None: "steps" where they can."""
    steps: tuple[PreparationStep, ...] = ()
    """What is done before a system is measured: nothing ("fast"), the whole published process
    ("published"), or steps."""

    @model_serializer(mode="wrap")
    def _without_pairing(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A procedure that states no pairing is written as before there was any."""
        written: dict[str, Any] = handler(self)
        if written.get("pairing", "") is None:
            del written["pairing"]
        return written

    @field_validator("steps", mode="before")
    @classmethod
    def _steps(cls, value: Any) -> Any:
        return from_file(value)

    @model_validator(mode="after")
    def _installs_and_blocks(self) -> Procedure:
        if self.installs > 1:
            if self.stopping.rule != "fixed":
                raise ValueError(
                    "installs are the units of the judgement, and the stopping rules count "
                    'blocks; leave out installs, or take the rule "fixed"'
                )
            if self.blocks < self.installs:
                raise ValueError(
                    f"{self.blocks} blocks are too few for {self.installs} installs; each needs "
                    "one or more"
                )
        return self

    @model_validator(mode="after")
    def _most_blocks(self) -> Procedure:
        most = self.stopping.most
        if most is not None and self.blocks != most:
            if "blocks" in self.model_fields_set:
                raise ValueError(
                    f"the stopping rule states how many blocks there are (at most {most}); "
                    "leave out blocks"
                )
            # The model is frozen for everybody else; this is still its making.
            object.__setattr__(self, "blocks", most)
        return self

    def with_blocks(self, blocks: int) -> Procedure:
        """The same procedure with another (greatest) number of blocks.

        Raises:
            ValueError: the stopping rule cannot work with so few.
        """
        if blocks < self.installs:
            raise ValueError(f"{blocks} blocks are too few for {self.installs} installs")
        stopping = self.stopping.limited(blocks)
        return self.model_copy(update={"blocks": blocks, "stopping": stopping})


class Evaluation(Table):
    """How the results are judged (`[evaluation]`)."""

    delta_percent: float = Field(default=1.0, gt=0, lt=100)
    """Half width of the region of equivalence, in percent: ±δ."""
    confidence: float = Field(default=0.95, gt=0.5, lt=1)
    """Confidence of the intervals, as a fraction."""
    declared: tuple[str, ...] | None = None
    """Workloads, or WORKLOAD.METRIC, with patterns, or whole keys of single rows, that the study is
    about; the others are exploratory. None declares everything."""
    headlines: bool = False
    """Instead of `declared`: the study is about one metric of each workload."""
    exclude: tuple[str, ...] = ()
    """Rules that leave samples out by the counters beside them, such as "steal_percent > 2"."""
    moderated: bool = False
    """Rows of a workload or an area lend each other strength (docs/evaluation.md). A study file
    without the key has it; a plan without it is of a version that could not."""

    @model_serializer(mode="wrap")
    def _without_moderated(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """Rules without it are written as before there was any: plans keep their hash."""
        written: dict[str, Any] = handler(self)
        for name in ("moderated", "headlines"):
            if written.get(name) is False:
                del written[name]
        return written

    @model_validator(mode="after")
    def _one_of_both(self) -> Evaluation:
        if self.headlines and self.declared is not None:
            raise ValueError(
                "headlines choose what is declared themselves; leave out headlines, or declared"
            )
        return self

    @field_validator("exclude", mode="before")
    @classmethod
    def _exclude(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @field_validator("exclude")
    @classmethod
    def _rules(cls, rules: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(parse_exclusion(rule).text for rule in rules)

    def exclusions(self) -> tuple[Exclusion, ...]:
        """The rules, read."""
        return tuple(parse_exclusion(rule) for rule in self.exclude)

    @field_validator("declared", mode="before")
    @classmethod
    def _declared(cls, value: Any) -> Any:
        if isinstance(value, list | tuple) and not value:
            raise ValueError("the list is empty; name what is declared, or leave the key out")
        return tuple(value) if isinstance(value, list) else value

    def declares(self, workload: str, metric: str, *, key: str = "", context: bool = False) -> bool:
        """Whether a metric is one of those that the study is about.

        Args:
            key: of the row, such as `memory.read.bandwidth[block_bytes=65536,variant=vector]`.
            context: it is no score; a study is about it only where it is named itself.
        """
        if key and key in (self.declared or ()):
            return True
        if context:
            return f"{workload}.{metric}" in (self.declared or ())
        if self.declared is None:
            return True
        names = (workload, f"{workload}.{metric}")
        return any(fnmatchcase(name, pattern) for pattern in self.declared for name in names)


class WorkloadChoice(Table):
    """One entry of a suite: a workload id or a pattern, with what differs from the default."""

    id: str = Field(min_length=1)
    """Workload id, such as `memory.read`, or a pattern with `*`, `?` or `[...]`."""
    parameters: dict[str, Value] = Field(default_factory=dict)
    iterations: int | None = Field(default=None, ge=1, le=100_000)
    warmup: int | None = Field(default=None, ge=0, le=100_000)
    processes: int | None = Field(default=None, ge=1, le=1_000)
    sample_ms: float | None = Field(default=None, gt=0, le=60_000)
    timeout_s: float | None = Field(default=None, gt=0, le=86_400)

    @model_validator(mode="before")
    @classmethod
    def _from_text(cls, value: Any) -> Any:
        return {"id": value} if isinstance(value, str) else value

    @property
    def is_pattern(self) -> bool:
        """Whether the id stands for several workloads."""
        return any(character in self.id for character in "*?[")


class Suite(Table):
    """A named set of workloads (`[[suite]]`)."""

    name: Name
    title: str | None = None
    workloads: tuple[WorkloadChoice, ...]

    @field_validator("workloads", mode="before")
    @classmethod
    def _workloads(cls, value: Any) -> Any:
        if isinstance(value, list | tuple) and not value:
            raise ValueError('the list is empty; name at least one workload, such as "process.*"')
        return tuple(value) if isinstance(value, list) else value


class Study(Table):
    """A whole study file: systems x suites x procedure."""

    name: Name
    title: str = ""
    question: str = ""
    reference: SystemName
    """Name of the system that the others are compared with."""
    seed: int = Field(default=1, ge=0, lt=2**63)
    """Seed of every random order of the plan."""
    fallback: str | None = None
    """Study file, relative to this one, that runs instead when a target cannot be prepared."""
    design: Literal["comparison", "factorial"] = "comparison"
    """What is asked: how systems compare with the reference, or which settings of one system
    matter."""
    factors: tuple[Factor, ...] = Field(alias="factor", default=())
    """Settings of the one system of a factorial design; when it is loaded, each combination of
    their levels becomes a system."""
    fraction: Fraction | None = None
    """Which part of all combinations is measured; None: all of them."""
    procedure: Procedure = Procedure()
    evaluation: Evaluation = Evaluation()
    weights: dict[str, Weight] = Field(default_factory=dict)
    """Area or workload id -> its weight in the answer; what is not named has 1."""
    systems: tuple[System, ...] = Field(alias="system")
    suites: tuple[Suite, ...] = Field(alias="suite")
    include: tuple[str, ...] = ()
    """Files, relative to this one, whose `[[workload]]` tables belong to the study."""
    workloads: tuple[OwnWorkload, ...] = Field(alias="workload", default=())
    """Commands of the user's own, those of included files too."""

    @model_validator(mode="before")
    @classmethod
    def _suite_of_own(cls, value: Any) -> Any:
        """A study that names no suite measures every command that it has."""
        if not isinstance(value, dict) or "suite" in value or "suites" in value:
            return value
        own = value.get("workload")
        ids = [one.get("id") for one in own if isinstance(one, dict)] if _is_list(own) else []
        if not ids or not all(isinstance(one, str) for one in ids):
            return value
        return {**value, "suite": [{"name": OWN_SUITE, "workloads": list(dict.fromkeys(ids))}]}

    @field_validator("include", "workloads", "factors", mode="before")
    @classmethod
    def _tuples(cls, value: Any) -> Any:
        return tuple(value) if isinstance(value, list) else value

    @model_serializer(mode="wrap")
    def _without_commands(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A study without commands or factors is written as before there were any: plans keep their
        hash."""
        written: dict[str, Any] = handler(self)
        for name in ("include", "workload", "workloads", "factor", "factors", "fraction"):
            if name in written and not written[name]:
                del written[name]
        if written.get("design") == "comparison":
            del written["design"]
        return written

    @field_validator("systems", "suites", mode="before")
    @classmethod
    def _not_empty(cls, value: Any) -> Any:
        if isinstance(value, list | tuple) and not value:
            raise ValueError("the list is empty; at least one is needed")
        return tuple(value) if isinstance(value, list) else value

    @property
    def imported(self) -> bool:
        """Whether its systems were measured by other tools; nothing of it is a procedure then."""
        return all(system.imported for system in self.systems)

    def command(self, workload: str) -> OwnWorkload | None:
        """The command of that id; None: the workload is the agent's."""
        return next((one for one in self.workloads if one.id == workload), None)

    def system(self, name: str) -> System:
        """The system of that name.

        Raises:
            KeyError: no system has the name.
        """
        for system in self.systems:
            if system.name == name:
                return system
        raise KeyError(name)


def _is_list(value: Any) -> TypeGuard[list[Any]]:
    return isinstance(value, list)


def parse_scheduler(text: str) -> tuple[Policy, int]:
    """Policy and priority of a `scheduler` setting; the priority is 0 where sched(7) has none.

    Raises:
        ValueError: the text names no policy, or the priority is missing, superfluous or not 1-99.
    """
    policy, colon, priority = text.partition(":")
    policies: tuple[Policy, ...] = ("other", "batch", "idle", "fifo", "rr")
    for known in policies:
        if known != policy:
            continue
        if known not in REALTIME_POLICIES:
            if colon:
                raise ValueError(f'"{known}" takes no priority; write "{known}"')
            return known, 0
        if not priority.isascii() or not priority.isdigit() or not 1 <= int(priority) <= 99:
            raise ValueError(f'"{known}" needs a priority from 1 to 99, such as "{known}:10"')
        return known, int(priority)
    raise ValueError(
        f'"{policy}" is no scheduling policy; use "other", "batch", "idle", "fifo:10" or "rr:10"'
    )
