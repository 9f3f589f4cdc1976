"""What the two hosts of a system are: of one kind or of two, with one kernel or with two."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any, Protocol

from pentathlon.machine.cpus import AVAILABLE, resolve
from pentathlon.machine.errors import TargetError
from pentathlon.machine.system import SystemSpec
from pentathlon.targets import registry
from pentathlon.targets.capabilities import CardTarget, PlacedTarget, RemoteTarget
from pentathlon.targets.contract import Target
from pentathlon.targets.descriptor import End
from pentathlon.targets.plain import NoSettings

MakeTarget = Callable[[SystemSpec, Path, Path], Target]


class PeerSpec(Protocol):
    """What a study states of the second host."""

    @property
    def target(self) -> str | None: ...

    @property
    def kernel(self) -> str | None: ...

    @property
    def cpus(self) -> Sequence[int] | None: ...
    @property
    def interfaces(self) -> Sequence[str] | None: ...
    @property
    def joined_to(self) -> Sequence[str] | None: ...


@dataclass(frozen=True)
class Cable:
    """What joins this machine to another one.

    Attributes:
        own: interface of this machine.
        theirs: interface of the other one.
    """

    own: str
    theirs: str


def joinable() -> list[str]:
    """Kinds of hosts that an emulated link can join."""
    return registry.names(lambda kind: kind.joinable)


def reached_by() -> str:
    """Kinds of hosts that are other machines, in quotes."""
    return " or ".join(f'"{name}"' for name in registry.names(lambda kind: kind.elsewhere))


def end_of(target: Target) -> End:
    """What a target can be as one of two hosts, as its kind describes it."""
    kind = registry.find(target.kind)
    return kind.end if kind is not None and kind.end is not None else End()


@dataclass(frozen=True)
class Ends:
    """The hosts of a system, the first (client) and the second (server).

    Attributes:
        targets: how each of them is started.
        cpus: CPUs of this machine that the study names for each; None: it names none.
        cables: what joins each to this machine, if it is another one.
    """

    targets: tuple[Target, Target]
    cpus: tuple[tuple[int, ...] | None, tuple[int, ...] | None]
    cables: tuple[Cable | None, Cable | None] = (None, None)

    @property
    def alike(self) -> bool:
        """Whether both are of one kind with one kernel."""
        return self.targets[0] is self.targets[1]

    @property
    def mixed(self) -> bool:
        """Whether one is a guest and the other is not."""
        return self.targets[0].kind != self.targets[1].kind

    @property
    def persistent(self) -> bool:
        """Whether a boot of either finds what the one before has left."""
        return any(target.persistent for target in self.targets)

    def renew(
        self, command: str | None, timeout_s: float, install: int | None
    ) -> tuple[str, str | None]:
        """Make both anew, each as its target does (`Target.renew`).

        The command is for the end that is persistent: there is one at most where they differ.
        """
        answers = [
            (target.persistent, target.renew(command, timeout_s, install))
            for target in dict.fromkeys(self.targets)
        ]
        return next((answer for lasts, answer in answers if lasts), answers[0][1])

    def forgets(self) -> str | None:
        """Why neither finds in a boot what it learned in the one before; None if one does."""
        reasons = [target.forgets() for target in self.targets]
        return None if None in reasons else reasons[0]

    def lost(self, install: int) -> bool:
        """Whether what made this install of one of them was lost with an earlier run."""
        return any(target.lost(install) for target in self.targets)

    def discard(self) -> None:
        """Remove what they keep between boots."""
        with ExitStack() as stack:
            for target in dict.fromkeys(self.targets):
                stack.callback(target.discard)

    @property
    def joinable(self) -> bool:
        """Whether an emulated link can join them."""
        # One other machine is no two hosts.
        alone = self.alike and self.far(0) is not None
        return all(end_of(target).link for target in self.targets) and not alone

    @property
    def layer(self) -> str:
        """What lies under them; both, where they differ."""
        return "+".join(dict.fromkeys(target.layer for target in self.targets))

    def local(self, number: int) -> PlacedTarget | None:
        """The target of the first or second host, if it is a namespace of this machine."""
        target = self.targets[number]
        return target if isinstance(target, PlacedTarget) else None

    def guest(self, number: int) -> CardTarget | None:
        """The target of the first or second host, if it is a guest."""
        target = self.targets[number]
        return target if isinstance(target, CardTarget) else None

    def far(self, number: int) -> RemoteTarget | None:
        """The target of the first or second host, if it is another machine."""
        target = self.targets[number]
        return target if isinstance(target, RemoteTarget) else None

    def guest_cpus(self, number: int, taken: Sequence[int] = ()) -> tuple[int, ...]:
        """The CPU of a guest: the one that the study names, or one that nothing else has.

        Args:
            taken: CPUs that something else needs for itself.
        """
        named = self.cpus[number]
        if named is not None:
            return named
        others = set(taken)
        if number and self.guest(0) is not None:
            others |= set(self.guest_cpus(0, taken))
        free = sorted(AVAILABLE - others) or sorted(AVAILABLE - set(taken)) or sorted(AVAILABLE)
        return (free[-1],)


def ends_of(inner: Target, peer: PeerSpec, make: MakeTarget) -> Ends:
    """The hosts of a system with a peer.

    Args:
        inner: the system itself, which is the first host.
        make: makes a target of a system without a peer.

    Raises:
        TargetError: the peer is of a kind that it cannot be, or lacks its kernel.
    """
    own = inner.system
    cpus = (resolve(own.cpus), resolve(peer.cpus))
    name = peer.target or inner.kind
    kind = registry.kind_of(name)
    other_machine = peer.target is not None and kind.elsewhere
    if name == inner.kind and peer.kernel in (None, own.kernel) and not other_machine:
        return Ends((inner, inner), cpus)
    if end_of(inner).link is None or not kind.joinable:
        raise TargetError(
            f'system "{inner.name}": [system.peer] is of the kind "{name}" and the system of the '
            f'kind "{inner.kind}"; hosts of two kinds or kernels are {", ".join(joinable())} only'
        )
    if peer.kernel is not None and not kind.takes("kernel"):
        raise TargetError(
            f'system "{inner.name}": [system.peer] names a kernel, which the target "{name}" does '
            "not have; leave it out"
        )
    keys: dict[str, Any] = {"kernel": None, "memory": None}
    if name == inner.kind:
        keys = {key: getattr(own, key, None) for key in (*keys, *kind.keys, *kind.own_keys)}
    keys |= {"kernel": peer.kernel or keys["kernel"], "ssh": getattr(peer, "ssh", None)}
    # The second host as a system of its own (`SystemSpec`).
    other: Any = SimpleNamespace(
        name=inner.name, target=name, cpus=peer.cpus, scratch=None, settings=NoSettings(), **keys
    )
    targets = inner, make(other, inner.agent_path, inner.state_dir)
    return Ends(targets, cpus, _cables(inner.name, targets, peer))


def _cables(
    name: str, targets: tuple[Target, Target], peer: PeerSpec
) -> tuple[Cable | None, Cable | None]:
    """The cable of each host that is another machine, the client's before the server's."""
    far = [isinstance(target, RemoteTarget) for target in targets]
    own, theirs = list(peer.interfaces or ()), list(peer.joined_to or ())
    if not len(own) == len(theirs) == sum(far):
        raise TargetError(
            f'system "{name}": "interfaces" and "joined_to" of [system.peer] name the cables '
            f"between this machine and those reached by {reached_by()}: {sum(far)} here, one for "
            "each"
        )
    if len(set(own)) < len(own):
        raise TargetError(
            f'system "{name}": "interfaces" of [system.peer] names {own[0]} twice; each machine '
            "has a cable of its own"
        )
    found = [Cable(own.pop(0), theirs.pop(0)) if one else None for one in far]
    return found[0], found[1]
