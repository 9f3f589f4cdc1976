"""What a host's kernel took of its settings, and what it refused."""

from __future__ import annotations

from ipaddress import ip_address, ip_interface
from typing import TypedDict

from pentathlon.protocol.requests import commands
from pentathlon.testbed.answers.fields import NAME, Fields


class RefusedAddress(TypedDict):
    """An address that the interface does not take."""

    address: str
    reason: str


class Addressed(TypedDict):
    """The `addressed` event."""

    refused: list[RefusedAddress]


class RefusedSetting(TypedDict):
    """A setting that the kernel does not take."""

    setting: str
    reason: str


class Set(TypedDict):
    """The `set` event; `before`: what each setting was."""

    before: dict[str, str]
    refused: list[RefusedSetting]


class RefusedFile(TypedDict):
    """A switch of forwarding that the kernel does not have."""

    file: str
    reason: str


class Forwarding(TypedDict):
    """The `forwarding` event."""

    on: bool
    refused: list[RefusedFile]


def addressed(answer: Fields, command: commands.Address) -> Addressed:
    """Read the answer to `address`; the addresses are those of the command, without prefixes."""
    answer.same("interface", command.interface)
    requested = {ip_interface(one).ip: str(one).partition("/")[0] for one in command.addresses}
    refused = []
    for one in answer.objects("refused", len(requested)):
        try:
            address = requested[ip_address(one.text("address", NAME))]
        except (ValueError, KeyError):
            raise one.wrong("address", "is none of those that were requested") from None
        refused.append(RefusedAddress(address=address, reason=one.text("reason", NAME)))
    return Addressed(refused=refused)


def was_set(answer: Fields, command: commands.Set) -> Set:
    """Read the answer to `set`."""
    requested = command.values
    before = answer.object("before")
    if set(before.names(len(requested))) != set(requested):
        raise answer.wrong("before", "does not hold the settings that were requested")
    return Set(
        before={name: before.text(name) for name in requested},
        refused=[
            RefusedSetting(
                setting=one.one_of("setting", requested), reason=one.text("reason", NAME)
            )
            for one in answer.objects("refused", len(requested))
        ],
    )


def forwarding(answer: Fields, command: commands.Forward) -> Forwarding:
    """Read the answer to `forward`."""
    answer.same("on", command.on)
    return Forwarding(
        on=answer.flag("on"),
        refused=[
            RefusedFile(file=one.text("file", NAME), reason=one.text("reason", NAME))
            for one in answer.objects("refused", 2)
        ],
    )
