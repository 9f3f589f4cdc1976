"""A link between the two hosts of a system, measured before its use and watched while in use."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from pentathlon.link.profile import DIRECTIONS, ProfileError, load_profile
from pentathlon.target.contract import Target, TargetError
from pentathlon.target.link.bed import LinkBed, open_link
from pentathlon.target.link.calibrate import Calibration, LinkRefused, calibrate
from pentathlon.target.local import LocalTarget
from pentathlon.target.pair.trial import Task


@dataclass
class LinkInUse:
    """A link that is what its profile says.

    Attributes:
        bed: the link and its hosts.
        calibration: what was measured before its use.
    """

    bed: LinkBed
    calibration: Calibration
    _before: dict[str, Any]

    def opening(self) -> dict[str, Any]:
        """The `link` event: profile and calibration."""
        return {
            "event": "link",
            "profile": asdict(self.bed.profile),
            "calibration": self.calibration.as_dict(),
            "t_ns": time.monotonic_ns(),
        }

    def event(self, task: Task, trial: dict[str, Any]) -> dict[str, Any]:
        """The `link` event of a trial: what happened on the link during it."""
        now = self.bed.statistics()
        between = difference(self._before, now)
        self._before = now
        place = {key: trial[key] for key in ("case", "phase", "iteration")}
        return task.event("link", profile=self.bed.profile.name, **place, link=between)


def refused_event(refused: LinkRefused) -> dict[str, Any]:
    """The `link` event of a link that failed its calibration, with what was measured."""
    return {
        "event": "link",
        "profile": refused.found.profile,
        "calibration": refused.found.as_dict(),
        "t_ns": time.monotonic_ns(),
    }


LinkMaker = Callable[[float], LinkInUse]


def link_maker(
    target: Target, name: str, cpus: tuple[tuple[int, ...] | None, tuple[int, ...] | None]
) -> LinkMaker:
    """What makes the link `name` between two hosts of the target's kind, and measures it.

    Raises:
        TargetError: the target or the profile cannot be used.
    """
    if not isinstance(target, LocalTarget) or target.kind != "netns":
        raise TargetError(
            f'system "{target.name}" has a link between its hosts, which targets of the kind '
            f'"{target.kind}" cannot have; use "netns"'
        )
    try:
        profile = load_profile(name)
    except ProfileError as error:
        raise TargetError(str(error)) from error

    def make(timeout_s: float) -> LinkInUse:
        bed = open_link(
            target.agent_path, profile, state_dir=target.state_dir, timeout_s=timeout_s,
            target=target, cpus=cpus,
        )  # fmt: skip
        try:
            calibration = calibrate(bed)
            return LinkInUse(bed, calibration, bed.statistics())
        except BaseException:
            bed.stop()
            raise

    return make


def difference(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """What the emulator counted between two looks.

    What is a greatest value or a momentary one (`queue`, `latest`) is that of the second look.
    """
    found: dict[str, Any] = {
        key: after[key] - before[key] for key in ("elapsed_ns", "cpu_ns", "clock_set")
    }
    for direction in DIRECTIONS:
        old, new = before[direction], after[direction]
        way = {key: value - old[key] for key, value in new.items() if isinstance(value, int)}
        way["drops"] = {cause: count - old["drops"][cause] for cause, count in new["drops"].items()}
        way["queue"] = new["queue"]
        earlier = dict(old["lateness_ns"]["buckets"])
        counts = (
            (value, count - earlier.get(value, 0)) for value, count in new["lateness_ns"]["buckets"]
        )
        way["lateness_ns"] = {
            "latest": new["lateness_ns"]["latest"],
            "buckets": [[value, count] for value, count in counts if count],
        }
        found[direction] = way
    return found
