"""Which systems are alive at once in a block, so that each step is taken by one after the other."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Literal, NamedTuple

from pentathlon.machine.cpu_caches import second_cache_bytes
from pentathlon.machine.errors import TargetError
from pentathlon.study.plan import Pairing
from pentathlon.targets.contract import Target


class Chosen(NamedTuple):
    """How boots are paired.

    Attributes:
        reason: why they are not; None where they are or need not be.
        turns_up_to_bytes: the largest working set that is measured in turns.
    """

    pairing: Pairing
    reason: str | None = None
    turns_up_to_bytes: int | None = None


def choose(
    requested: Literal["turns", "steps", "none"] | None, targets: Mapping[str, Target]
) -> Chosen:
    """How the boots of a block are paired: step by step where all systems can be alive at once.

    The choice depends on the study and on the machine's size, so that a run that was cut off goes
    on in the same way.

    Raises:
        TargetError: the study requests pairs, and its systems cannot have them.
    """
    if len(targets) < 2 or requested == "none":
        return Chosen("none")
    reason = _apart(targets)
    if reason is None and requested == "turns":
        # Where the cache is not known, cases that state a size in bytes do not take turns.
        return Chosen("turns", None, (second_cache_bytes() or 0) // len(targets))
    if reason is None:
        return Chosen("steps")
    if requested is not None:
        raise TargetError(
            f'[procedure] has pairing = "{requested}", and {reason}; leave out pairing, or take '
            '"none"'
        )
    return Chosen("none", reason)


def _apart(targets: Mapping[str, Target]) -> str | None:
    """Why the systems are not alive at once, or None."""
    for name, target in targets.items():
        if (reason := target.alone()) is not None:
            return f'system "{name}" is booted alone: {reason}'
    held = sum(target.held_bytes for target in targets.values())
    own = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if held > own / 2:
        return (
            f"the systems have {held >> 20:,} MiB of memory together, more than half of the "
            f"{own >> 20:,} MiB of this machine"
        )
    return None
