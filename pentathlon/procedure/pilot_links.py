"""The pilot of tasks over links: it uses one link, and what crossed that tells about the others.

A task over a slow link takes minutes, and a study has it over seven: a pilot of them all would
take as long as half a block. A task's round trips and bytes hardly depend on the link, so that
round trips x propagation delay + bytes / rate, the least time of the report's tables, is a fair
guess of its time.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from pentathlon.protocol.events import AnyEvent, CaseValue, Sample
from pentathlon.study.link_profile import DIRECTIONS, Profile, ProfileError, load_profile

HARD_KBIT = 300_000.0
"""A link this fast may be refused on a busy machine: the pilot takes a slower one if it can."""

QUICK_S = 5.0
"""A document that a link carries in this time is fetched whole."""

TYPICAL = (20.0, 1e6)
"""Round trips and bytes of a task, by which links are put in order."""


def one_of(links: Sequence[str]) -> list[str]:
    """The links that the pilot uses: one of several, all if one of them is no profile."""
    profiles = _profiles(links)
    if profiles is None or len(links) < 2:
        return list(links)
    easy = [link for link in links if _rate_kbit(profiles[link]) < HARD_KBIT] or links
    return [min(easy, key=lambda link: _least_s(profiles[link], *TYPICAL))]


def is_quick(links: Sequence[str], size_bytes: int) -> bool:
    """Whether each of the links carries so many bytes in a time that a pilot has."""
    profiles = _profiles(links)
    return profiles is not None and all(
        _least_s(profile, 0.0, size_bytes) <= QUICK_S for profile in profiles.values()
    )


def others_s(
    links: Sequence[str], used: CaseValue | None, events: Sequence[AnyEvent], grown: float
) -> list[float]:
    """Seconds of one task over each of the links that the pilot left out.

    Args:
        links: all of the study.
        used: the link of these events.
        events: of one case.
        grown: how many times as much the study's task moves.
    """
    profiles = _profiles(links)
    if profiles is None or used is None or one_of(links) != [used]:
        return []
    trips, moved = (_median(events, name) for name in ("round_trips", "wire_bytes"))
    return [
        _least_s(profiles[link], trips * grown, moved * grown) for link in links if link != used
    ]


def _profiles(links: Sequence[str]) -> dict[str, Profile] | None:
    try:
        return {link: load_profile(link) for link in links}
    except ProfileError:
        return None


def _rate_kbit(profile: Profile) -> float:
    return min(profile.way(direction).rate_kbit or float("inf") for direction in DIRECTIONS)


def _least_s(profile: Profile, trips: float, moved_bytes: float) -> float:
    return trips * profile.round_trip_ms / 1e3 + moved_bytes * 8 / (1e3 * _rate_kbit(profile))


def _median(events: Sequence[AnyEvent], metric: str) -> float:
    values = [e.value for e in events if isinstance(e, Sample) and e.metric == metric]
    return statistics.median(values) if values else 0.0
