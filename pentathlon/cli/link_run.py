"""`pentathlon link run`: a link between two interfaces that are there."""

from __future__ import annotations

import time

import typer

from pentathlon.cli.exits import Exit, InputError, Interrupted, StopSignals, of_input
from pentathlon.cli.screen import err, out, seconds
from pentathlon.protocol import agent
from pentathlon.protocol.events import JsonObject
from pentathlon.protocol.lateness import quantile_ns
from pentathlon.study.link_profile import DIRECTIONS, ProfileError, Way, load_profile
from pentathlon.testbed.link.interface_ends import EndError
from pentathlon.testbed.link.interfaces import Between, open_between

LOOK_S = 0.5
"""How often the interfaces are looked after, in seconds."""

CAUSES = {
    "mtu": "longer than the MTU",
    "queue": "no room in the queue",
    "codel": "dropped by CoDel",
    "loss": "lost on the line",
    "cut": "cut",
    "refused": "not taken by the far interface",
    "ring": "not taken in time by the emulator",
}
"""Why a frame did not come through, as the agent counts it."""


def run(
    profile: str, first: str, second: str, *, duration: float | None, seed: int, as_json: bool
) -> None:
    with StopSignals():
        if duration is not None and not duration > 0:
            raise InputError(f"--seconds is {duration:g}, it must be more than 0")
        with of_input(ProfileError, EndError):
            chosen = load_profile(profile)
            link = open_between(agent.locate(), chosen, [first, second], seed=seed)
        with link:
            _announce(link, duration)
            stopped = _wait(link, duration)
            found = link.statistics()
        if as_json:
            head = {"profile": chosen.name, "interfaces": [first, second], "seed": seed}
            out.print_json(data=head | found)
        else:
            for line in use_text(found):
                out.print(line, soft_wrap=True)
        if found["gone"]:
            _note(f"error: the interface {found['gone'][0]} was removed, which ended the link")
            raise typer.Exit(Exit.FAILURES)
        if stopped and duration is not None:
            raise typer.Exit(Exit.INTERRUPTED)


def _announce(link: Between, duration: float | None) -> None:
    first, second = (end.text for end in link.ends)
    for direction, way in zip(DIRECTIONS, ((first, second), (second, first)), strict=True):
        what = way_text(link.profile.way(direction))
        _note(f"{link.profile.name} {direction}: {' to '.join(way)}, {what}")
    for remark in link.remarks:
        _note(f"remark: {remark}")
    until = "until Ctrl-C" if duration is None else f"for {seconds(duration)}"
    _note(f"frames pass {until}")


def _note(text: str) -> None:
    err.print(text, soft_wrap=True)


def _wait(link: Between, duration: float | None) -> bool:
    """Wait for the end; whether it was a signal."""
    until = float("inf") if duration is None else time.monotonic() + duration
    try:
        while (left := until - time.monotonic()) > 0:
            time.sleep(min(LOOK_S, left))
            if link.statistics()["gone"]:
                return False
    except Interrupted:
        return True
    return False


def way_text(way: Way) -> str:
    """One direction of a profile in words."""
    rate = "no limit" if way.rate_kbit is None else f"{way.rate_kbit:,.10g} kbit/s"
    more = [
        f"jitter {way.jitter_ms} ms" if way.jitter_ms else "",
        f"loss {100 * way.loss.mean:.2g} %" if way.loss.mean else "",
    ]
    return ", ".join([f"{rate}, {way.delay_ms:g} ms", *filter(None, more)])


def use_text(found: JsonObject) -> list[str]:
    """What happened on a link, in lines."""
    lines = [line for direction in DIRECTIONS for line in _way(direction, found[direction])]
    took = found["elapsed_ns"] / 1e9
    cpu = 100 * found["cpu_ns"] / found["elapsed_ns"]
    return [*lines, f"in use for {seconds(took)}; the emulator took {cpu:.1f} % of a CPU"]


def _way(direction: str, way: JsonObject) -> list[str]:
    lines = [
        f"{direction}: {way['frames_in']:,} frames ({way['bytes_in']:,} bytes) came, "
        f"{way['frames_out']:,} ({way['bytes_out']:,} bytes) were handed over"
    ]
    dropped = [f"{count:,} {CAUSES[why]}" for why, count in way["drops"].items() if count]
    more = [
        f"{way[key]:,} {what}"
        for key, what in (("duplicated", "came twice"), ("ahead", "overtook others"))
        if way[key]
    ]
    queue = way["queue"]
    if left := queue["frames"] + queue["on_the_way"]:
        more.append(f"{left:,} still on the link")
    lines.append(f"    dropped: {', '.join(dropped) or 'none'}{''.join(f'; {m}' for m in more)}")
    lines.append(
        f"    greatest length of the queue: {queue['high_bytes']:,} bytes, "
        f"{queue['high_frames']:,} frames"
    )
    late = way["lateness_ns"]
    if late["buckets"]:
        median, most = (quantile_ns(late["buckets"], share) / 1e3 for share in (0.5, 0.99))
        lines.append(
            f"    handed over {median:.0f} µs late (median; 99 %: {most:.0f} µs; "
            f"latest: {late['latest'] / 1e3:.0f} µs)"
        )
    if way["drops"]["mtu"] or way["unchecked"]:
        lines.append(
            f"    {way['unchecked']:,} frames came without a checksum and "
            f"{way['drops']['mtu']:,} too long: their host leaves that to its device; there: "
            "ethtool -K NAME tx off tso off gso off"
        )
    return lines
