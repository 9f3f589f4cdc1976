"""The agent's emulated link beside the kernel's own emulator, netem: same profile, same probes.

    sudo python benches/link_netem.py [PROFILE ...]

For each profile and engine: client and server in two namespaces, 200 sparse probes in each
direction for the delay and a train at 1.25 times the rate for the rate, three times in turn.
Printed are what the profile requests, the medians of what both engines gave, and ours over
netem's. Where this machine's kernel has no netem, that of a kernel of user-mode Linux is taken. The
CPU time is that of the whole machine, so run it on one that does nothing else.
"""

from __future__ import annotations

import os
import statistics
import sys
from pathlib import Path

from pentathlon.protocol import agent
from pentathlon.study.link_profile import HEADER_BYTES, load_profile
from pentathlon.testbed.link.calibrate import HEADERS, OFFERED, RECEIVER, SENDER, SMALL, exchange
from pentathlon.testbed.link.netem_engine import lacking
from pentathlon.testbed.link.probes import delays, rate_kbit
from pentathlon.testbed.link.testbed import EngineName, LinkTestbed, open_link

PROFILES = ("wan-10m-50ms", "wan-512k-300ms", "lan-100m-5ms")
ROUNDS = 3
PROBES, PERIOD_MS = 200, 5.0
TRAIN_S, TRAIN_PACKETS = 1.0, 80

Figures = dict[str, float | None]


def main() -> None:
    names = sys.argv[1:] or PROFILES
    if os.geteuid() != 0:
        sys.exit("root is needed, for network namespaces and packet rings")
    other: EngineName = "netem"
    if lack := lacking():
        print(f"{lack}; netem is that of a guest, whose work costs more CPU time")
        other = "netem-uml"
    print(f"{'profile':18}{'figure':22}{'asked':>10}{'ours':>10}{'netem':>10}{'ratio':>8}")
    engines: tuple[EngineName, EngineName] = ("agent", other)
    for name in names:
        profile = load_profile(name)
        found: dict[EngineName, list[Figures]] = {engine: [] for engine in engines}
        for _ in range(ROUNDS):
            for engine in engines:
                with open_link(agent.locate(), profile, engine=engine) as bed:
                    found[engine].append(measure(bed))
                    requested = wanted(bed)
        for figure, aim in requested.items():
            own, others = (
                statistics.median(one[figure] or 0.0 for one in found[engine]) for engine in engines
            )
            text = "" if aim is None else f"{aim:,.2f}"
            share = own / others if others else float("nan")
            print(f"{name:18}{figure:22}{text:>10}{own:>10,.2f}{others:>10,.2f}{share:>8.3f}")


def wanted(bed: LinkTestbed) -> Figures:
    """What the profile requests; None where there is none."""
    found: Figures = {}
    for direction in SENDER:
        way = bed.profile.way(direction)
        found[f"{direction} delay, ms"] = way.delay_ms
        if way.rate_kbit is not None:
            found[f"{direction} rate, kbit/s"] = way.rate_kbit
    return found | {"CPU time, s": None}


def measure(bed: LinkTestbed) -> Figures:
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


if __name__ == "__main__":
    main()
