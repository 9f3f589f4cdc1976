"""The same profile by the kernel's own emulator: commands of tc(8) for netem (tc-netem(8)).

It does what ours does, with these differences: it loses, reorders and duplicates before the queue
of its rate, so a lost packet takes no time on the line; its queue counts packets, delayed ones
too, and drops at its tail; its random numbers have no seed (tc(8) before 6.6 knows none). What a
profile requests and netem cannot do is refused, not left out.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy

from pentathlon.study.link_profile import HEADER_BYTES, Profile, Way, jitter_model

TABLE_SCALE = 8192
"""A table's entries are multiples of 1/8192 of the jitter (tc's `maketable`)."""
TABLE_SIZE = 4096
TABLE_NAME = "pentathlon"
LARGEST = 32767


class NotNetem(ValueError):
    """netem cannot do this; the text states what."""


def commands(profile: Profile, way: Way, interface: str) -> list[list[str]]:
    """What makes the interface's outgoing packets cross one direction of the link.

    The words behind `tc`. A table of the jitter (`table`) must lie where tc finds it: in the
    directory that TC_LIB_DIR names, as `pentathlon.dist`.

    Args:
        profile: the link.
        way: one direction of it.
        interface: where the packets leave.

    Raises:
        NotNetem: the profile requests what netem cannot do.
    """
    if way.codel_target_ms is not None:
        raise NotNetem("netem's queue drops at its tail, and the profile asks for CoDel")
    words = [*_delay(way), *_loss(way)]
    if way.duplicate:
        words += ["duplicate", _percent(way.duplicate)]
    if way.reorder:
        if not way.delay_ms:
            raise NotNetem("netem reorders only what it delays, and the profile has no delay")
        words += ["reorder", _percent(way.reorder)]
    netem = ["netem", "limit", str(_limit(profile, way)), *words]
    add = ["qdisc", "add", "dev", interface]
    if way.rate_kbit is not None and way.burst_bytes:
        # netem holds the packets until they may have their tokens; with a constant delay it is the
        # same whether the line comes before the way or behind it.
        return [
            [*add, "root", "handle", "1:", *_bucket(profile, way)],
            [*add, "parent", "1:1", "handle", "10:", *netem],
        ]
    if way.jitter_ms is not None and way.keep_order != (way.rate_kbit is not None):
        raise NotNetem(
            "netem keeps the order of packets with jitter where it has a rate, and only there"
        )
    if way.rate_kbit is not None:
        netem += ["rate", _rate(way)]
        if way.overhead_bytes:
            netem += [str(way.overhead_bytes)]
    return [[*add, "root", "handle", "1:", *netem]]


def table(way: Way) -> str | None:
    """The jitter's table as tc reads it; None if netem has its own or there is no jitter."""
    if way.jitter_ms is None or _own(way) is not None:
        return None
    entries = _table(way)[2]
    return "\n".join(
        " ".join(str(entry) for entry in entries[at : at + 8])
        for at in range(0, len(entries), 8)
    ) + "\n"  # fmt: skip


def _limit(profile: Profile, way: Way) -> int:
    """Packets in netem's queue: those that wait, and those on the way."""
    frame = profile.mtu_bytes + HEADER_BYTES
    room = [way.queue_packets] if way.queue_packets is not None else []
    if way.queue_bytes is not None:
        room.append(math.ceil(way.queue_bytes / frame))
    waiting = min(room) if room else 1000
    if way.rate_kbit is None:
        return max(waiting, 1000)
    # The shortest frames have 60 bytes; with full ones on the way there are fewer.
    on_the_way = math.ceil(way.rate_kbit * way.delay_ms / 8 / frame)
    return waiting + on_the_way + 1


def _own(way: Way) -> list[str] | None:
    """Words of a jitter that netem knows by itself, ms: centre, spread and distribution."""
    assert way.jitter_ms is not None
    word, *numbers = way.jitter_ms.split()
    if word == "uniform":
        low, high = (float(number) for number in numbers)
        return [_ms(way.delay_ms + (low + high) / 2), _ms((high - low) / 2)]
    if word == "normal":
        mean, deviation = (float(number) for number in numbers)
        return [_ms(way.delay_ms + mean), _ms(deviation), "distribution", "normal"]
    return None


def _delay(way: Way) -> list[str]:
    if way.jitter_ms is None:
        return ["delay", _ms(way.delay_ms)] if way.delay_ms else []
    own = _own(way)
    if own is None:
        centre, spread, _ = _table(way)
        own = [_ms(way.delay_ms + centre), _ms(spread), "distribution", TABLE_NAME]
    return ["delay", *own]


def _table(way: Way) -> tuple[float, float, list[int]]:
    """Mean and standard deviation of the jitter, ms, and the table of its quantiles."""
    places = (np.arange(TABLE_SIZE) + 0.5) / TABLE_SIZE
    assert way.jitter_ms is not None
    model = jitter_model(way.jitter_ms)
    if "quantiles" in model:
        even = np.linspace(0, 1, len(model["quantiles"]))
        drawn = np.interp(places, even, model["quantiles"])
    else:
        word = model["model"]
        numbers = [value for key, value in model.items() if key != "model"]
        if word not in QUANTILES:
            raise NotNetem(f'netem cannot draw from the model "{word}" in its order')
        drawn = np.asarray(QUANTILES[word](places, *numbers), dtype=float)
    centre, spread = float(drawn.mean()), float(drawn.std())
    if spread == 0:
        return centre, 0.0, [0] * TABLE_SIZE
    entries = np.rint((drawn - centre) / spread * TABLE_SCALE)
    return centre, spread, [int(entry) for entry in np.clip(entries, -LARGEST, LARGEST)]


QUANTILES: dict[str, Callable[..., Any]] = {
    "constant": np.full_like,
    "exponential": lambda places, mean: scipy.stats.expon.ppf(places, scale=mean),
    "pareto": lambda places, shape, scale: scipy.stats.pareto.ppf(places, shape, scale=scale),
    "gamma": lambda places, shape, scale: scipy.stats.gamma.ppf(places, shape, scale=scale),
    "weibull": lambda places, shape, scale: scipy.stats.weibull_min.ppf(places, shape, scale=scale),
    "poisson": lambda places, mean: scipy.stats.poisson.ppf(places, mu=mean),
}


def _loss(way: Way) -> list[str]:
    if way.loss.chain is not None:
        p, r, bad, good = way.loss.chain
        # tc takes 1-h, the loss in the bad state, and 1-k, that in the good one.
        return ["loss", "gemodel", *(_percent(number) for number in (p, r, bad, good))]
    return ["loss", "random", _percent(way.loss.share)] if way.loss.share else []


def _bucket(profile: Profile, way: Way) -> list[str]:
    room = way.queue_bytes
    if room is None:
        room = (way.queue_packets or 1000) * (profile.mtu_bytes + HEADER_BYTES)
    depth = max(way.burst_bytes, profile.mtu_bytes + HEADER_BYTES)
    if way.overhead_bytes:
        raise NotNetem("a token bucket of tc(8) below netem supports no overhead of each packet")
    return [
        *["tbf", "rate", _rate(way)],
        *["burst", str(depth), "limit", str(room + depth)],
    ]


def _rate(way: Way) -> str:
    return f"{1000 * (way.rate_kbit or 0):.0f}bit"


def _ms(milliseconds: float) -> str:
    return f"{milliseconds * 1000:.0f}us"


def _percent(share: float) -> str:
    return f"{100 * share:.6g}%"


def undo(interface: str) -> list[str]:
    """What takes the link off the interface again."""
    return ["qdisc", "del", "dev", interface, "root"]
