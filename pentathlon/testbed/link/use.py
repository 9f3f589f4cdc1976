"""A link between the two hosts of a system, measured before its use and watched while in use."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

from pentathlon.machine.errors import TargetError
from pentathlon.machine.on_error import on_error
from pentathlon.protocol.events import AnyEvent, Case, JsonObject, Message, Sample, read
from pentathlon.study.link_profile import DIRECTIONS, ProfileError, load_profile
from pentathlon.testbed import hosts
from pentathlon.testbed.ends import Ends, joinable
from pentathlon.testbed.link.calibrate import Calibration, LinkRefused, calibrate
from pentathlon.testbed.link.guest_end import knows, put_behind
from pentathlon.testbed.link.remote_end import (
    check_cable,
    forget_neighbours,
    hardware_address,
    put_beyond,
    reached,
)
from pentathlon.testbed.link.statistics import Statistics
from pentathlon.testbed.link.testbed import (
    INTERFACE,
    MAC,
    SIDES,
    EngineName,
    LinkTestbed,
    Side,
    has_own_cpu,
    open_link,
    places,
)
from pentathlon.testbed.remote_host import RemoteEndpoint
from pentathlon.testbed.trial import Task, When


@dataclass
class LinkInUse:
    """A link that is what its profile states.

    Attributes:
        bed: the link and its hosts.
        calibration: what was measured before its use.
    """

    bed: LinkTestbed
    calibration: Calibration
    _before: Statistics

    def opening(self) -> Message:
        """The `link` event: profile and calibration."""
        return _calibrated(asdict(self.bed.profile), self.calibration)

    def hides(self, event: AnyEvent) -> bool:
        """Whether an event is a sample of what cannot be measured over this link.

        The shortest round trip stands for the baseline of the buffer delay (RFC 6349). Packets that
        skip the propagation delay have shorter ones than the path.
        """
        skips = any(self.bed.profile.way(direction).reorder for direction in DIRECTIONS)
        return skips and isinstance(event, Sample) and event.metric == "buffer_delay"

    def event(self, task: Task, case: Case, when: When) -> Message:
        """The `link` event of a trial: what happened on the link during it."""
        now = self.bed.statistics()
        between = difference(self._before, now)
        self._before = now
        phase, iteration = when
        return task.event(
            "link", profile=self.bed.profile.name, case=case, phase=phase, iteration=iteration,
            link=between,
        )  # fmt: skip


def refused_event(refused: LinkRefused) -> Message:
    """The `link` event of a link that failed its calibration, with what was measured."""
    return _calibrated(refused.found.profile, refused.found)


def _calibrated(profile: JsonObject | str, found: Calibration) -> Message:
    return read(
        {
            "event": "link",
            "profile": profile,
            "calibration": asdict(found),
            "t_ns": time.monotonic_ns(),
        }
    )


class LinkMaker(Protocol):
    """Makes a link with its hosts, each agent within so many seconds, and measures it.

    Where a host is a guest, `writable` are the directories of this machine that its programs may
    write to (`put_behind`).

    Raises:
        TargetError: it cannot be made, or (`LinkRefused`) does not do what its profile states.
    """

    def __call__(self, timeout_s: float, writable: Sequence[Path] = ()) -> LinkInUse: ...


def link_maker(ends: Ends, name: str, engine: EngineName = "agent") -> LinkMaker:
    """What makes the link `name` between two hosts, and measures it.

    It is measured between the namespaces at its ends; a guest is put behind one afterwards.

    Raises:
        TargetError: the hosts or the profile cannot be used.
    """
    system = ends.targets[0]
    if not ends.joinable:
        raise TargetError(
            f'system "{system.name}" has a link between its hosts, which targets of the kind '
            f'"{system.kind}" cannot have; a link joins {", ".join(joinable())}'
        )
    try:
        profile = load_profile(name)
    except ProfileError as error:
        raise TargetError(str(error)) from error

    def make(timeout_s: float, writable: Sequence[Path] = ()) -> LinkInUse:
        local = ends.local(0), ends.local(1)
        # What cannot be had over there is reported before anything is measured here.
        far = reached(ends, timeout_s)
        with on_error(hosts.stop, list(far.values())):
            bed = open_link(
                system.agent_path, profile, state_dir=system.state_dir, timeout_s=timeout_s,
                targets=local,
                cpus=(ends.cpus[0] if local[0] else None, ends.cpus[1] if local[1] else None),
                engine=engine,
            )  # fmt: skip
        bed.guests |= far
        with on_error(bed.stop):
            calibration = calibrate(bed)
            taken = places(has_own_cpu(profile))[0] or ()
            for number, side in enumerate(SIDES):
                if guest := ends.guest(number):
                    bed.guests[side] = put_behind(
                        bed.host(side), INTERFACE[side], guest, MAC[side],
                        cpus=ends.guest_cpus(number, taken), timeout_s=timeout_s,
                        mtu=profile.mtu_bytes, writable=writable,
                    )  # fmt: skip
                elif (machine := far.get(side)) and (cable := ends.cables[number]):
                    put_beyond(bed.host(side), INTERFACE[side], machine, cable, profile.mtu_bytes)
            _acquaint(bed, far, bool(writable))
            return LinkInUse(bed, calibration, bed.statistics())

    return make


def _acquaint(bed: LinkTestbed, far: Mapping[Side, RemoteEndpoint], guests: bool) -> None:
    """Tell the hosts each other's hardware addresses; namespaces know those of guests already.

    Args:
        far: those that are other machines.
        guests: guests have this machine's programs, so they can be told too.
    """
    for side, other in zip(SIDES, reversed(SIDES), strict=True):
        host = bed.system(side)
        able = side in far or guests or not host.apart
        if able and (far or host.apart):
            mac = hardware_address(far[other]) if other in far else MAC[other]
            known = list(bed.addresses[other].values())
            if side in far:
                forget_neighbours(far[side], known)
            knows(host, host.device or INTERFACE[side], known, mac)
    for side, machine in far.items():
        other = SIDES[1 - SIDES.index(side)]
        check_cable(machine, bed.addresses[other][4], bed.profile.round_trip_ms / 1e3)


def difference(before: Statistics, after: Statistics) -> JsonObject:
    """What the emulator counted between two looks.

    What is a greatest value or a momentary one (`queue`, `latest`) is that of the second look.
    """
    old_cpu_ns, new_cpu_ns = before["cpu_ns"], after["cpu_ns"]
    found: JsonObject = {
        "elapsed_ns": after["elapsed_ns"] - before["elapsed_ns"],
        "cpu_ns": None if old_cpu_ns is None or new_cpu_ns is None else new_cpu_ns - old_cpu_ns,
        "clock_set": after["clock_set"] - before["clock_set"],
    }
    for direction in DIRECTIONS:
        old, new = before[direction], after[direction]
        counts_before: Mapping[str, Any] = old
        way: JsonObject = {
            key: value - counts_before[key] for key, value in new.items() if isinstance(value, int)
        }
        way["drops"] = {cause: count - old["drops"][cause] for cause, count in new["drops"].items()}
        way["queue"] = new["queue"]
        found[direction] = way
        if "lateness_ns" not in new:
            continue
        earlier: dict[int, int] = {one[0]: one[1] for one in old["lateness_ns"]["buckets"]}
        counts = (
            (value, count - earlier.get(value, 0)) for value, count in new["lateness_ns"]["buckets"]
        )
        way["lateness_ns"] = {
            "latest": new["lateness_ns"]["latest"],
            "buckets": [[value, count] for value, count in counts if count],
        }
    return found
