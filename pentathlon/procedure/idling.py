"""Whether the CPUs of this machine may enter idle states while a study is measured.

While systems take turns, the CPUs would be idle between the batches, which they are not while one
system is measured alone. A CPU that comes out of an idle state is slower at first, and on a virtual
machine it has to wait for the host.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from pentathlon.machine.cpu_latency import DEVICE, lack
from pentathlon.machine.errors import TargetError
from pentathlon.machine.whole_machine import everything
from pentathlon.study.plan import Plan
from pentathlon.targets.contract import Target


class Limit(NamedTuple):
    """Limit of the exit latency of idle states.

    Attributes:
        us: the limit, in µs; None for none.
        reason: why there is none, as a sentence, where there should be one.
    """

    us: int | None = None
    reason: str | None = None


def choose(plan: Plan, targets: Mapping[str, Target], device: Path = DEVICE) -> Limit:
    """The limit that the study requests; else that of cases with turns, if this user may.

    Raises:
        TargetError: the study requests a limit that cannot be had.
    """
    requested = plan.study.procedure.cpu_latency_us
    if requested == "any" or (requested is None and plan.pairing != "turns"):
        return Limit()
    reason = lack(device)
    if requested is None:
        if reason is None:
            return Limit(0)
        return Limit(
            reason=f"The CPUs may become idle between batches that take turns, because {reason}, "
            "so the measured values vary more."
        )
    for name, target in targets.items():
        if elsewhere := target.occupies() - everything():
            reason = f'system "{name}" is measured on another machine ({min(elsewhere)})'
    if reason is not None:
        raise TargetError(
            f"[procedure] has cpu_latency_us = {requested}, and {reason}; leave out cpu_latency_us"
            + (" or run the study as root" if reason.startswith(str(device)) else "")
        )
    return Limit(requested)
