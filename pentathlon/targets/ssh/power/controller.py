"""What every power controller does, and the one that a study names."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Protocol

from pentathlon.machine.errors import TargetError
from pentathlon.targets.ssh.boots import own

MOST_PASSWORD = 1024


class PowerSpec(Protocol):
    """What a study says of it (`pentathlon.study.boot.Power`)."""

    @property
    def controller(self) -> str: ...
    @property
    def address(self) -> str | None: ...
    @property
    def port(self) -> int | None: ...
    @property
    def system(self) -> str | None: ...
    @property
    def user(self) -> str | None: ...
    @property
    def password_file(self) -> str | None: ...
    @property
    def verify(self) -> bool | str: ...
    @property
    def command(self) -> str | None: ...


class Supply(ABC):
    """A machine's power."""

    def __init__(self, spec: PowerSpec, host: str) -> None:
        self.spec = spec
        self.host = host

    @abstractmethod
    def cycle(self) -> None:
        """Switch it off and on; where it is off already, on.

        Raises:
            TargetError: the controller cannot be reached, or refuses.
        """

    def check(self) -> str:
        """That the controller answers; the power's state as it reports it. Changes nothing.

        Raises:
            TargetError: it does not.
        """
        return "unknown"

    def password(self) -> str | None:
        """The first line of the file that has it, or None.

        Raises:
            TargetError: the file cannot be read.
        """
        if self.spec.password_file is None:
            return None
        path = Path(self.spec.password_file).expanduser()
        try:
            with path.open(encoding="utf-8") as file:
                return file.readline(MOST_PASSWORD).rstrip("\r\n")
        except (OSError, UnicodeDecodeError) as error:
            why = getattr(error, "strerror", None) or "it is no text"
            raise TargetError(f"the password file {path} cannot be read: {why}") from error


class Command(Supply):
    """A command of the user's own, on this machine."""

    def cycle(self) -> None:
        own.run(self.spec.command or "", self.host)


def controller(spec: PowerSpec, host: str) -> Supply:
    """The controller that a study names."""
    from pentathlon.targets.ssh.power.ipmi import Ipmi  # noqa: PLC0415  both need `Supply`
    from pentathlon.targets.ssh.power.redfish import Redfish  # noqa: PLC0415

    kinds: dict[str, type[Supply]] = {"redfish": Redfish, "ipmi": Ipmi, "command": Command}
    return kinds[spec.controller](spec, host)
