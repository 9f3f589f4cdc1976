"""What a kind of target is: everything that other packages have to know about it.

A kind is described in the `descriptor.py` of its folder. A description is data: it imports none of
the kind's own code, which is loaded on demand, so a study of the host does not load that of guests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, cast

from pentathlon.machine.choices import Choice, choices
from pentathlon.machine.finding import Finding
from pentathlon.targets.plain import PlainSystem

if TYPE_CHECKING:
    from pentathlon.machine.system import SystemSpec
    from pentathlon.targets.contract import Target

Place: TypeAlias = Literal["here", "guest", "elsewhere"]
"""Where its systems are: this machine itself, a guest of it that is new in each boot, or another
machine. What a system of the first and the last has learned is still there in its next boot."""

Pair: TypeAlias = Literal["loopback", "veth", "sockets"]
"""What joins two systems of a kind without an emulated link: this machine's loopback device, a
veth(4) pair between two namespaces, or a pair of sockets as the cable of two guests."""

Link: TypeAlias = Literal["namespace", "packets", "tap", "cable"]
"""How a system becomes an end of an emulated link: it is the namespace at that end, a packet
socket or a TAP device of that namespace is its card's other end, or a real cable leads to it."""

EVERY: tuple[str, ...] = ("*",)
"""Every setting of the machine."""

Log: TypeAlias = Callable[[str], None]
"""Is called with one line of text for each step."""


@dataclass(frozen=True)
class End:
    """What a system of a kind can be as one of two hosts.

    Attributes:
        pair: what joins two of them; None: nothing but an emulated link.
        link: how it becomes an end of an emulated link; None: it cannot.
        forwards: whether it can stand between two cables as a forwarder.
    """

    pair: Pair | None = None
    link: Link | None = None
    forwards: bool = False


@dataclass(frozen=True)
class Program:
    """A program of this machine that a kind needs.

    Attributes:
        package: the Debian packages that have it, as apt-get takes them.
        use: what needs it; None: every system of the kind.
    """

    name: str
    package: str
    use: str | None = None


@dataclass(frozen=True)
class Install:
    """Something that `pentathlon doctor --install` can get without root.

    Attributes:
        name: how the user names it, such as "uml 6.1".
        get: gets it if it is missing, and returns what is there then, in words. Raises TargetError
            or OSError.
        unasked: whether it is wanted where the user names nothing.
    """

    name: str
    get: Callable[[Log], str]
    unasked: Callable[[], bool] = lambda: True


class Doctor:
    """What is looked at and got for a kind; one that has more to look at overrides it."""

    def __init__(self, kind: Kind) -> None:
        self.kind = kind

    def trials(self) -> Iterator[PlainSystem | Finding]:
        """Systems to try, or why there is none to try."""
        # A key that has to be named has no value that fits every machine.
        if not self.kind.required:
            yield PlainSystem(self.kind.name, self.kind.name)

    def helpers(self) -> Iterator[Finding]:
        """What its systems need beside programs."""
        return iter(())

    def installs(self) -> Iterator[Install]:
        """What can be got for it."""
        return iter(())

    def settings(self, system: SystemSpec) -> list[Choice]:
        """What its systems let be set, with the present values; nothing is changed.

        Raises:
            TargetError: a machine cannot be asked.
        """
        if self.kind.settings == EVERY:
            return choices()
        return [Choice(key, None, "", ()) for key in self.kind.settings]

    def put_back(self, state_dir: Path) -> list[str]:
        """Put back what crashed sessions left changed on other machines.

        Returns:
            A sentence for each change.

        Raises:
            TargetError: something could not be put back; the undo journal still has it.
        """
        return []


@dataclass(frozen=True)
class Kind:
    """One kind of target.

    Attributes:
        name: as a study names it, `target = "NAME"`.
        target: what makes its targets, "MODULE:CLASS" or "MODULE:FUNCTION", called with the system,
            the agent's file and the directory of the undo journal.
        layers: what can lie under its systems (`Target.layer`).
        place: where its systems are.
        renews: what is new in a boot, for the table of docs/targets.md.
        needs: who may use it, for the same table.
        keys: keys of [[system]] that not every kind has, and that it takes.
        own_keys: keys of [[system]] that only this kind knows, with the types of their values as
            TOML has them, such as `str` or `list[int]`.
        alone: key that a command line means by a value that stands alone behind the kind, such as
            "kernel" in uml:6.1; with a dot a key of a table.
        required: those of all these keys that a system has to name, each with an example.
        instead: a required key -> one that a system can name in its place.
        settings: settings of the machine that its systems may change; `EVERY` for all of them.
        forgets: for a guest, whether it finds in no boot what it wrote in an earlier one, not even
            in the boots of one install.
        idle_tasks: tasks of the step `idle` that its systems have; None: those of its place.
        end: what it can be as one of two hosts; None: its systems have no second host.
        concurrent: whether several of its systems can be alive at once on this machine, of which
            only one works at a time.
        programs: programs of this machine that it needs.
        movable: whether its systems are the machine itself, so that in a campaign they can be
            those of another machine, reached in another way.
        scheduled: what makes the target of a system that a batch scheduler booted for one job,
            as `target`; None: its systems are no machines, so the same.
        doctor: the class of what is looked at and got for it, "MODULE:CLASS".
    """

    name: str
    target: str
    layers: tuple[str, ...]
    place: Place
    renews: str
    needs: str
    keys: tuple[str, ...] = ()
    own_keys: Mapping[str, Any] = field(default_factory=dict)
    alone: str | None = None
    required: Mapping[str, str] = field(default_factory=dict)
    instead: Mapping[str, str] = field(default_factory=dict)
    settings: tuple[str, ...] = ()
    forgets: bool = False
    idle_tasks: tuple[str, ...] | None = None
    end: End | None = None
    concurrent: bool = False
    programs: tuple[Program, ...] = ()
    movable: bool = False
    scheduled: str | None = None
    doctor: str = "pentathlon.targets.descriptor:Doctor"

    @property
    def is_guest(self) -> bool:
        """Whether its systems are new in each boot, with nothing beside the agent in them."""
        return self.place == "guest"

    @property
    def elsewhere(self) -> bool:
        """Whether its systems are other machines."""
        return self.place == "elsewhere"

    @property
    def joinable(self) -> bool:
        """Whether an emulated link can join its systems."""
        return self.end is not None and self.end.link is not None

    def takes(self, key: str) -> bool:
        """Whether its systems may have a key that not every kind has."""
        return key in self.keys or key in self.own_keys

    def make(
        self, system: SystemSpec, agent_path: Path, state_dir: Path, *, scheduled: bool = False
    ) -> Target:
        """The target of one system; its module is loaded now.

        Args:
            scheduled: whether a batch scheduler booted the machine for what is measured now.

        Raises:
            TargetError: the study requests something that the kind does not have.
        """
        place = (self.scheduled if scheduled else None) or self.target
        maker = cast("Callable[[SystemSpec, Path, Path], Target]", _named(place))
        return maker(system, agent_path, state_dir)

    def look(self) -> Doctor:
        """What is looked at and got for it; its module is loaded now."""
        return cast("Callable[[Kind], Doctor]", _named(self.doctor))(self)


def _named(place: str) -> Any:
    module, _, name = place.partition(":")
    return getattr(import_module(module), name)
