"""An agent of this machine that obeys commands, with the settings of its system.

One host of several gets no request, which would tell its agent where to run: policy and nice value
are set from here. Every setting is read back on the host that it is for, and what was read goes
into the inventory.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from typing import Any

from pentathlon.machine import launch
from pentathlon.machine.errors import TargetError
from pentathlon.machine.on_error import on_error
from pentathlon.machine.settings import TCP_CONGESTION_CONTROL, scheduler_of
from pentathlon.machine.undo_journal import UndoJournal
from pentathlon.protocol.events import Message, read
from pentathlon.targets.capabilities import PlacedTarget
from pentathlon.targets.session import Launch, ProcessSession
from pentathlon.testbed.endpoint import Endpoint

LOOK_S = 10.0
"""Longest time of a look at a host's settings, in seconds."""


def start(
    target: PlacedTarget,
    command: Sequence[str],
    addresses: dict[int, str],
    cpus: Sequence[int] | None,
) -> Endpoint:
    """Start an agent with the settings of a system; it has not been asked anything yet.

    Args:
        target: the system.
        command: what starts its agent, in the namespace that it is going to have.
        addresses: IP version -> address that the host is going to have.
        cpus: where it may run; None: anywhere.

    Raises:
        TargetUnavailable: a setting cannot be made here.
        TargetError: it does not start.
    """
    journal = UndoJournal(target.state_dir)
    settings = target.settings
    with on_error(journal.undo):
        group = settings.apply(journal)
        words = launch.wrap(command, group=group, nice=settings.nice, cpus=cpus)
        session = ProcessSession(target.name, Launch(command=words), journal)
    with on_error(session.stop):
        # The words in front of the agent replace themselves by it, and its threads inherit this.
        settings.place(session.pid)
    return Endpoint(session, addresses, settings_of=target, group=group)


def read_back(host: Endpoint) -> None:
    """Read the settings of a host that takes commands, into `host.found`.

    Raises:
        TargetError: one is not what the study requests.
    """
    if (target := host.settings_of) is None:
        return
    pid, settings = host.session.pid, target.settings
    requested = dict(target.system.settings.changed())
    found: dict[str, Any] = {
        "cpus": sorted(os.sched_getaffinity(pid)),
        "scheduler": scheduler_of(pid),
        "nice": os.getpriority(os.PRIO_PROCESS, pid),
        "tcp_congestion_control": _congestion_control(host),
        **settings.present(pid, host.group),
    }
    host.found = found
    for name, value in requested.items():
        if name in found and not settings.agrees(name, found[name]):
            raise TargetError(
                f'system "{target.name}" has the setting {name} = {value}, and one of its hosts '
                f"has {_text(found[name])} after it was set"
            )


def _congestion_control(host: Endpoint) -> str | dict[str, str]:
    done = host.perform(["/bin/cat", str(TCP_CONGESTION_CONTROL)], LOOK_S)
    if done["status"] != 0:
        return {"unsupported": str(done["error"]).strip() or "the file could not be read"}
    return str(done["output"]).strip()


def _text(value: Any) -> str:
    return str(value["unsupported"]) if isinstance(value, dict) else str(value)


def inventory(hosts: Mapping[str, Endpoint]) -> list[Message]:
    """An `inventory` event with what was read of these hosts, by their names; none if nothing was.

    Its paths are such as `hosts.client.tcp_congestion_control`.
    """
    values = {name: host.found for name, host in hosts.items() if host.found}
    event = {"event": "inventory", "system": {"hosts": values}, "t_ns": time.monotonic_ns()}
    return [read(event)] if values else []
