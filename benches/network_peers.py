"""UDP of 64 bytes over one veth pair between two namespaces: our backends and other generators.

All take turns in one run, and the order changes from round to round, so that a neighbour's load
hits all alike. Printed are, each beside its target:

* turns in which every tool sends as much as it can: packets sent and received per second, and CPU
  time per received packet, once as the programs of both ends and ksoftirqd were charged for
  ("own": what the kernel does in a program's name is with it), once as all CPUs were busy
  (/proc/stat, all interrupts and other programs with it);
* with --lossless the highest rate without a lost packet, as it was sent: that of the round's turn
  above if it lost none, or a higher one found by halving; a rate that fails is tried once more,
  because one wait for a neighbour loses packets of any tool. Each round has a search of its own,
  because chance decides where a halving turns, and the median counts;
* with --paced how exactly asked rates are held, and how much later than intended packets leave.

All of them, and the bench itself, go before other programs (nice -20 of their sessions, sched(7)).
Receivers have a buffer of 8 MiB or of what net.core.rmem_max allows, whichever is less; D-ITG,
which cannot be told, has net.core.rmem_default. iperf3 sends with `-u -l 64 -b 0`, D-ITG with logs
at both ends, as our records are, once as it comes and once waiting actively (`-poll`), sockperf in
its throughput mode, which does not tell what arrived.
Peers are Debian's packages iperf3, d-itg and sockperf, taken from the directory that
PENTATHLON_PEERS names, or from PATH; what is missing is named. Exit status: 0 compared, 1 no peer
was found or nothing ran. Needs root.

    python benches/network_peers.py --rounds 3 --seconds 1 --lossless --paced
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from network_tools import Failed, Tool, Turn, bed, segment_before_the_link, tools

from pentathlon.machine.errors import TargetError
from pentathlon.testbed.endpoint import CommandError

STEPS = 6
"""Halvings of the search for the lossless rate."""

PACED = (
    ("live, xdp", 10_000), ("live, xdp", 100_000), ("live, xdp", 1_000_000),
    ("live, xdp", 3_000_000), ("send, blocking", 10_000), ("send, blocking", 100_000),
    ("iperf3", 10_000), ("iperf3", 100_000), ("D-ITG", 10_000),
    ("D-ITG -poll", 10_000),
)  # fmt: skip
"""Rates that are requested, packets/s."""

TARGETS = (
    ("live frames", ("live",), (("iperf3", 10.0), ("D-ITG", 100.0), ("D-ITG -poll", 100.0))),
    ("AF_PACKET", ("packet",), (("iperf3", 2.0),)),
    (
        "ordinary sockets",
        ("send", "sendmmsg", "gso"),
        (("iperf3", 1.0), ("D-ITG", 10.0), ("D-ITG -poll", 10.0)),
    ),
)
"""Of the lossless rates: the best of these transmit backends over the peer's."""

PEERS = ("iperf3", "D-ITG", "D-ITG -poll")
PROBLEMS = (Failed, CommandError, TargetError)


@dataclass
class Measured:
    """All turns of one tool, and the lossless rates of its searches."""

    turns: list[Turn] = field(default_factory=list)
    searched: list[float] = field(default_factory=list)
    paced: dict[int, list[Turn]] = field(default_factory=dict)

    @property
    def sent(self) -> float:
        return statistics.median(turn.rate for turn in self.turns)

    @property
    def received(self) -> float | None:
        got = [t.received / t.seconds for t in self.turns if t.received is not None]
        return statistics.median(got) if got else None

    @property
    def lossless(self) -> float | None:
        """The median of the searches, packets/s."""
        return statistics.median(self.searched) if self.searched else None

    def cost(self, name: str) -> float | None:
        """CPU time per received packet, ns."""
        costs = [getattr(turn, name) / turn.received for turn in self.turns if turn.received]
        return statistics.median(costs) if costs else None


def busy_ns() -> float:
    """Busy time of all CPUs since the machine started, ns (proc(5), /proc/stat)."""
    user, nice, system, _, _, irq, softirq, *_ = (
        int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    )
    return (user + nice + system + irq + softirq) * 1e9 / os.sysconf("SC_CLK_TCK")


def lossless(tool: Tool, highest: float, seconds: float, shown: float) -> float | None:
    """The highest rate without a lost packet, by halving; none if the tool does not report.

    Args:
        shown: the rate of a turn that lost nothing, which needs no search, or 0.
    """
    best = low = shown
    high = highest
    for _ in range(STEPS if low < high else 0):
        middle = (low + high) / 2
        for _ in range(2):
            turn = tool.run(middle, seconds)
            if turn.received is None:
                return None
            if turn.sent and turn.received == turn.sent:
                # A tool that sends less than requested has shown that rate and no more.
                best, low = max(best, min(middle, turn.rate)), middle
                break
        else:
            high = middle
    return best


def print_turns(found: dict[str, Measured]) -> None:
    """Medians of all turns."""
    print(f"\n{'by, receiver':<20}{'sent':>9}{'received':>10}"
          f"{'CPU/packet: own':>17}{'busy':>9}")  # fmt: skip
    print(f"{'':<20}{'Kpps':>9}{'Kpps':>10}{'ns':>17}{'ns':>9}")
    for name, one in found.items():
        cells = (
            text(one.sent, 1e3), text(one.received, 1e3, "unknown"),
            text(one.cost("own_ns"), 1.0, "unknown"), text(one.cost("busy_ns"), 1.0, "unknown"),
        )  # fmt: skip
        widths = (9, 10, 17, 9)
        print(f"{name:<20}" + "".join(f"{c:>{w}}" for c, w in zip(cells, widths, strict=True)))


def text(value: float | None, unit: float, missing: str = "-") -> str:
    return missing if value is None else f"{value / unit:.0f}"


def print_targets(found: dict[str, Measured]) -> None:
    """The best lossless rate of each height over those of the peers, and CPU time per packet."""
    for what, backends, peers in TARGETS:
        rates = {
            name: one.lossless
            for name, one in found.items()
            if name.split(",")[0] in backends and one.lossless
        }
        if not rates:
            continue
        best = max(rates, key=lambda name: rates[name] or 0.0)
        for peer, target in peers:
            other = found.get(peer)
            if other and other.lossless:
                ratio = (rates[best] or 0.0) / other.lossless
                print(f"lossless, {what} ({best}) / {peer}: {ratio:.1f} (target {target:g})")
    for name, one in found.items():
        cost = one.cost("own_ns")
        peers_cost = {peer: found[peer].cost("own_ns") for peer in PEERS if peer in found}
        if name not in PEERS and cost:
            ratios = [f"{cost / c:.2f} of {peer}'s" for peer, c in peers_cost.items() if c]
            print(f"CPU per packet, {name}: {', '.join(ratios)} (target below 1)")


def print_paced(found: dict[str, Measured]) -> None:
    """How exactly rates were held, and when packets left."""
    print(f"\n{'by, receiver':<20}{'asked':>9}{'off by':>10}{'lost':>9}   later than intended, us")
    print(f"{'':<20}{'Kpps':>9}{'%':>10}{'':>9}   p50 / p99 / max: medians of the turns")
    for name, one in found.items():
        for rate, turns in one.paced.items():
            off = statistics.median(100 * abs(turn.rate / rate - 1) for turn in turns)
            lost = sum(turn.sent - (turn.received or 0) for turn in turns)
            late = [
                [*np.quantile(turn.late_ns, (0.5, 0.99), method="inverted_cdf"),
                 turn.late_ns.max()]
                for turn in turns if turn.late_ns is not None and len(turn.late_ns)
            ]  # fmt: skip
            spread = " / ".join(f"{v / 1e3:.1f}" for v in np.median(late, axis=0)) if late else "-"
            print(f"{name:<20}{rate / 1e3:>9.0f}{off:>10.4f}{lost:>9}   {spread}")
    print("targets: off by 0.1 % at most to 3 Mpps; p99 below 50 us at 100 Kpps with a free core")


def searched(tool: Tool, measured: Measured, number: int, seconds: float) -> list[float]:
    """The search of one round; none, and the reason on the screen, if there is no result."""
    # A tool that loses much when it is not held back is not searched far above that.
    received = measured.received or measured.sent
    highest = min(measured.sent, 1.2 * received)
    turn = measured.turns[number % len(measured.turns)]
    shown = turn.rate if turn.received == turn.sent else 0.0
    try:
        found = lossless(tool, highest, seconds, shown)
    except PROBLEMS as error:
        print(f"{tool.name}, lossless: {error}", flush=True)
        return []
    return [] if found is None else [found]


def print_lossless(found: dict[str, Measured]) -> None:
    """The highest rates without a lost packet."""
    print("\nKpps without loss: median of the searches, and each")
    for name, one in found.items():
        each = ", ".join(text(rate, 1e3) for rate in one.searched) or "unknown"
        print(f"{name:<20}{text(one.lossless, 1e3, 'unknown'):>9}   {each}")


def turn_of(tool: Tool, rate: float, seconds: float) -> list[Turn]:
    """One turn; none, and the reason on the screen, if it failed."""
    try:
        before = busy_ns()
        turn = tool.run(rate, seconds)
        return [replace(turn, busy_ns=busy_ns() - before)]
    except PROBLEMS as error:
        print(f"{tool.name}: {error}", flush=True)
        return []


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5, help="turns of each tool")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a turn, whole s")
    parser.add_argument("--lossless", action="store_true", help="search the lossless rates too")
    parser.add_argument("--paced", action="store_true", help="ask for rates too")
    parser.add_argument("--only", nargs="+", default=[""], help="tools whose names begin so")
    arguments = parser.parse_args()
    if os.geteuid():
        print("this needs root: the transmit backends below the sockets are refused to others")
        return 1
    with bed() as made:
        segment_before_the_link(made)
        running = {tool.name: tool for tool in tools(made)}
        running = {n: tool for n, tool in running.items() if n.startswith(tuple(arguments.only))}
        found = {name: Measured() for name in running}
        for number in range(arguments.rounds):
            for name, tool in list(running.items())[:: 1 if number % 2 == 0 else -1]:
                found[name].turns += turn_of(tool, 0.0, arguments.seconds)
        found = {name: one for name, one in found.items() if one.turns}
        print_turns(found)
        for number in range(arguments.rounds if arguments.paced else 0):
            for name, rate in PACED[:: 1 if number % 2 == 0 else -1]:
                if name in found:
                    turns = found[name].paced.setdefault(rate, [])
                    turns += turn_of(running[name], rate, arguments.seconds)
        if arguments.paced:
            print_paced(found)
        for number in range(arguments.rounds if arguments.lossless else 0):
            for name, one in list(found.items())[:: 1 if number % 2 == 0 else -1]:
                one.searched += searched(running[name], one, number, arguments.seconds)
        if arguments.lossless:
            print_lossless(found)
    if not {"iperf3", "D-ITG", "sockperf"} & found.keys():
        print("no peer could be compared with")
        return 1
    print_targets(found)
    return 0


if __name__ == "__main__":
    sys.exit(main())
