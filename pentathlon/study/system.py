"""The systems of a study (`[[system]]`), each with the keys that its kind of target takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_core import InitErrorDetails, PydanticCustomError

from pentathlon.safeio.suggestion import listing
from pentathlon.study.boot import Boot, Power
from pentathlon.study.commands.model import Words
from pentathlon.study.later import Later
from pentathlon.study.names import (
    IMPORTED_TARGET,
    JOINABLE,
    KINDS,
    Size,
    SystemName,
    Value,
    target_kind,
)
from pentathlon.study.preparation import PreparationStep, from_file
from pentathlon.study.reach import Ssh
from pentathlon.study.settings import Settings
from pentathlon.study.table import Table
from pentathlon.targets import registry
from pentathlon.targets.descriptor import Kind


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


class System(Later, Table):
    """One operating system in one configuration on one machine (`[[system]]`).

    Keys that only one kind of target knows (`Kind.own_keys`) are attributes too.
    """

    LATER = ("userland", "commands", "boot", "power")

    model_config = ConfigDict(extra="allow")

    name: SystemName
    target: Annotated[str, KINDS, BeforeValidator(target_kind)]
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
