"""The agent's emulated link beside the kernel's own emulator, netem: same profile, same probes.

    sudo python benches/link_netem.py [PROFILE ...]

For each profile and engine: client and server in two namespaces, 200 sparse probes in each
direction for the delay and a train at 1.25 times the rate for the rate, three times in turn.
Printed are what the profile asks for, the medians of what both engines gave, and ours over
netem's. The CPU time is that of the whole machine, so run it on one that does nothing else.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from pentathlon import agent
from pentathlon.link import netem
from pentathlon.link.probes import delays, rate_kbit
from pentathlon.link.profile import HEADER_BYTES, Profile, load_profile
from pentathlon.target import launch
from pentathlon.target.files.ground import without_offload
from pentathlon.target.forwarding.links import within
from pentathlon.target.link import namespaces
from pentathlon.target.link.bed import INTERFACE, SIDES, LinkBed, Side, open_link
from pentathlon.target.link.calibrate import HEADERS, OFFERED, RECEIVER, SENDER, SMALL, exchange
from pentathlon.target.link.namespaces import Namespace
from pentathlon.target.pair import hosts
from pentathlon.target.pair.endpoint import Endpoint

PROFILES = ("wan-10m-50ms", "wan-512k-300ms", "lan-100m-5ms")
ROUNDS = 3
PROBES, PERIOD_MS = 200, 5.0
TRAIN_S, TRAIN_PACKETS = 1.0, 80

Figures = dict[str, float]


@dataclass
class Between:
    """Two namespaces with netem on both interfaces; what `exchange` needs of a `LinkBed`."""

    profile: Profile
    ends: tuple[Endpoint, Endpoint]

    def host(self, side: Side) -> Endpoint:
        return self.ends[SIDES.index(side)]


def main() -> None:
    names = sys.argv[1:] or PROFILES
    if os.geteuid() != 0:
        sys.exit("root is needed, for network namespaces and packet rings")
    if lack := no_netem():
        print(f"netem cannot be tried here: {lack}")
        return
    print(f"{'profile':18}{'figure':22}{'asked':>10}{'ours':>10}{'netem':>10}{'ratio':>8}")
    for name in names:
        profile = load_profile(name)
        ours: list[Figures] = []
        theirs: list[Figures] = []
        for _ in range(ROUNDS):
            with open_link(agent.locate(), profile) as bed:
                ours.append(measure(bed))
            with by_netem(profile) as between:
                theirs.append(measure(cast(LinkBed, between)))
        for figure, asked in wanted(profile).items():
            own, other = (statistics.median(one[figure] for one in all_) for all_ in (ours, theirs))
            text = "" if asked is None else f"{asked:,.2f}"
            share = own / other if other else float("nan")
            print(f"{name:18}{figure:22}{text:>10}{own:>10,.2f}{other:>10,.2f}{share:>8.3f}")


def no_netem() -> str | None:
    """Why the kernel's emulator cannot be had; None if it can."""
    tc = str(launch.need("tc", "iproute2"))
    words = ["unshare", "--net", tc, "qdisc", "add", "dev", "lo", "root", "netem", "delay", "1ms"]
    done = subprocess.run(words, capture_output=True, text=True, check=False, timeout=20)
    said = done.stderr.strip().splitlines() or ["tc gave no reason"]
    return None if done.returncode == 0 else f"{said[-1]} (the kernel needs sch_netem)"


def wanted(profile: Profile) -> dict[str, float | None]:
    found: dict[str, float | None] = {}
    for direction in SENDER:
        way = profile.way(direction)
        found[f"{direction} delay, ms"] = way.delay_ms
        if way.rate_kbit is not None:
            found[f"{direction} rate, kbit/s"] = way.rate_kbit
    return found | {"CPU time, s": None}


def measure(bed: LinkBed) -> Figures:
    """What one link does, and the machine's CPU time for it."""
    begun = busy_s()
    found: Figures = {}
    probe = {"count": PROBES, "size_bytes": SMALL}
    for direction, sender in SENDER.items():
        way, receiver = bed.profile.way(direction), RECEIVER[direction]
        period = max(PERIOD_MS, 10 * way.line_ms(SMALL))
        sparse = exchange(bed, {sender: {**probe, "period_ns": round(period * 1e6)}})
        found[f"{direction} delay, ms"] = delays(
            sparse[receiver]["came"], way.line_ms(SMALL)
        ).median
        if way.rate_kbit is None:
            continue
        payload = bed.profile.mtu_bytes - HEADERS
        frame_ms = way.line_ms(payload)
        count = round(OFFERED * max(TRAIN_S * 1e3 / frame_ms, TRAIN_PACKETS))
        train = {
            "count": count, "size_bytes": payload, "period_ns": round(frame_ms * 1e6 / OFFERED)
        }  # fmt: skip
        came = exchange(bed, {sender: train})[receiver]["came"]
        size = bed.profile.mtu_bytes + HEADER_BYTES + way.overhead_bytes
        found[f"{direction} rate, kbit/s"] = rate_kbit(came, size)
    return found | {"CPU time, s": busy_s() - begun}


def busy_s() -> float:
    """CPU time of the whole machine, in seconds (proc(5), the first line of /proc/stat)."""
    user, nice, system, _idle, _waiting, irq, softirq = map(
        int, Path("/proc/stat").read_text().split()[1:8]
    )
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


@contextmanager
def by_netem(profile: Profile) -> Iterator[Between]:
    """Two namespaces whose outgoing packets netem keeps."""
    with tempfile.TemporaryDirectory() as place:
        wanted_ends = [
            Namespace(side, own) for side, own in zip(SIDES, hosts.ADDRESSES, strict=True)
        ]
        made = namespaces.start(agent.locate(), wanted_ends, Path(place), 30.0)
        try:
            hosts.join_by_veth(made[0].session.pid, made[1].session.pid)
            tc = str(launch.need("tc", "iproute2"))
            for side, host, direction in zip(SIDES, made, SENDER, strict=True):
                without_offload(host, INTERFACE[side])
                for words in netem.commands(profile, profile.way(direction), INTERFACE[side]):
                    within(host.session.pid, [tc, *words])
            yield Between(profile, (made[0], made[1]))
        finally:
            hosts.stop(made)


if __name__ == "__main__":
    main()
