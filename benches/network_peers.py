"""UDP of 64 bytes over one veth pair between two namespaces: every rung beside other generators.

All take turns in one run, and the order changes from round to round, so that a neighbour's load
hits all alike. Each turn asks for as many packets as the tool sends, and yields packets sent and
received per second and CPU time per received packet: the busy time of all CPUs (/proc/stat, so
also what the kernel does in interrupts) over packets received. On a machine that does other work
this time is too long for all. With --lossless the highest rate without a lost packet is searched
by halving, for each tool that can be asked for a rate and knows what arrived.

Receivers have a buffer of 8 MiB or of what net.core.rmem_max allows, whichever is less; D-ITG,
which cannot be told, has net.core.rmem_default. iperf3 sends with `-u -l 64 -b 0`, D-ITG with logs
at both ends, as our records are, sockperf in its throughput mode, which does not tell what arrived.
Peers are Debian's packages iperf3, d-itg and sockperf, taken from the directory that
PENTATHLON_PEERS names, or from PATH; what is missing is named. Exit status: 0 compared, 1 no peer
was found or nothing ran. Needs root.

    python benches/network_peers.py --rounds 5 --seconds 2
"""

from __future__ import annotations

import argparse
import json
import os
import re
import secrets
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pentathlon import agent
from pentathlon.target.contract import TargetError
from pentathlon.target.local import LocalTarget
from pentathlon.target.netns import NetnsTarget
from pentathlon.target.pair import hosts, ladder
from pentathlon.target.pair.endpoint import CommandError, Endpoint

SIZE = 64
"""Payload of a packet in every tool, in bytes."""
STEPS = 7
"""Halvings of the search for the lossless rate."""
RUNGS = (
    ("send", "blocking"),
    ("send", "spinning"),
    ("sendmmsg", "blocking"),
    ("sendmmsg", "spinning"),
    ("gso", "blocking"),
    ("packet", "blocking"),
    ("packet", "xdp"),
    ("live", "blocking"),
    ("live", "xdp"),
)


def buffer_bytes() -> int:
    """The receivers' buffer, in bytes (SO_RCVBUF)."""
    allowed = int(Path("/proc/sys/net/core/rmem_max").read_text())
    return min(ladder.BUFFER_BYTES, allowed)


class Failed(Exception):
    """A turn yielded nothing; one sentence."""


@dataclass(frozen=True)
class Turn:
    """What one tool did in one turn: packets, and seconds of sending; received: none if unknown."""

    sent: int
    received: int | None
    seconds: float
    cpu_ns: float = 0.0


@dataclass(frozen=True)
class Tool:
    """A generator: `run(rate, seconds)`, where rate 0 asks for as much as it can."""

    name: str
    run: Callable[[float, float], Turn]


@dataclass(frozen=True)
class Bed:
    """Two namespaces with an endpoint in each."""

    pair: tuple[Endpoint, Endpoint]
    folder: Path

    @property
    def address(self) -> str:
        """Where receivers are."""
        return self.pair[1].addresses[4]

    def inside(self, place: int, *words: str) -> list[str]:
        """The command that runs in one of the namespaces."""
        target = str(self.pair[place].session.pid)
        return ["nsenter", "--target", target, "--net", "--", *words]


@contextmanager
def bed() -> Iterator[Bed]:
    """Make both namespaces, and take them away."""
    with tempfile.TemporaryDirectory() as folder:
        target: LocalTarget = NetnsTarget(System(), agent.locate(), Path(folder, "state"))
        pair = hosts.netns_hosts(target, (None, None))(30.0)
        try:
            yield Bed(pair, Path(folder))
        finally:
            hosts.stop(pair)


@dataclass(frozen=True)
class Settings:
    """Nothing is changed."""

    def changed(self) -> dict[str, Any]:
        return {}


@dataclass(frozen=True)
class System:
    """The namespace as a study would name it."""

    name: str = "bench"
    target: str = "netns"
    kernel: None = None
    memory: None = None
    cpus: None = None
    scratch: None = None
    settings: Any = Settings()


def ours(made: Bed, rung: str, receiver: str) -> Tool:
    """One rung of the ladder."""

    def run(rate: float, seconds: float) -> Turn:
        first, second = made.pair
        common = {"trial": secrets.token_hex(4), "session": secrets.token_hex(8)}
        flow = {"flow": 0, "protocol": "udp"}
        told = ladder.receiving(rung, receiver) | {"role": "receive"}
        told["buffer_bytes"] = buffer_bytes()
        ready = second.listen(
            common | {"address": made.address, "flows": [flow | {"address": made.address} | told]}
        )
        port = ready["flows"][0]["port"]
        sending = {
            "peer": made.address,
            "port": port,
            "size": {"model": "constant", "value": SIZE},
            "gap": {"of": {"model": "constant", "value": rate}, "rate": True},
            "duration_s": seconds,
            "rung": rung,
        }
        exchange = {"address": made.address, "port": ready["exchange_port"]}
        try:
            answer = first.send(common | {"exchange": exchange, "flows": [flow | sending]}, seconds)
        finally:
            received = second.finish(common["trial"], 200)
            for endpoint in made.pair:
                endpoint.fetch(common["trial"])
        sent, came = answer["flows"][0], received["flows"][0]
        return Turn(sent["packets"], came["packets"], (sent["last_ns"] - sent["first_ns"]) / 1e9)

    return Tool(f"{rung}, {receiver}", run)


def iperf3(made: Bed, program: str) -> Tool:
    """Both ends of iperf3; the receiver counts."""

    def run(rate: float, seconds: float) -> Turn:
        bits = str(int(rate * SIZE * 8))
        with serving(made.inside(1, program, "-s", "-1")):
            words = ["-c", made.address, "-u", "-l", str(SIZE), "-b", bits, "-t", f"{seconds:.0f}"]
            words += ["-w", str(buffer_bytes())]
            said = json.loads(output(made.inside(0, program, *words, "-J"), seconds))
        if "error" in said:
            raise Failed(f"iperf3: {said['error']}")
        total = said["end"]["sum"]
        return Turn(
            int(total["packets"]), int(total["packets"] - total["lost_packets"]), total["seconds"]
        )

    return Tool("iperf3", run)


def ditg(made: Bed, program: str) -> Tool:
    """D-ITG with logs at both ends, read by ITGDec. It has no 'as fast as possible'."""

    def run(rate: float, seconds: float) -> Turn:
        place = Path(program).parent
        logs = [made.folder / "sent.log", made.folder / "received.log"]
        for log in logs:
            log.unlink(missing_ok=True)
        packets = str(int(rate or 1_000_000))
        words = ["-a", made.address, "-T", "UDP", "-C", packets, "-c", str(SIZE)]
        words += ["-t", str(int(seconds * 1e3)), "-l", str(logs[0]), "-x", str(logs[1])]
        with serving(made.inside(1, str(place / "ITGRecv"))):
            output(made.inside(0, program, *words), seconds)
        counts = []
        for log in logs:
            text = output([str(place / "ITGDec"), str(log)], seconds)
            total = text[text.rfind("TOTAL RESULTS") :]
            counts.append(int(number(r"Total packets\s*=\s*(\d+)", total, "ITGDec")))
            taken = number(r"Total time\s*=\s*([\d.]+)", total, "ITGDec")
        return Turn(counts[0], counts[1], taken)

    return Tool("D-ITG", run)


def sockperf(made: Bed, program: str) -> Tool:
    """The throughput mode of sockperf, which does not say what arrived."""

    def run(rate: float, seconds: float) -> Turn:
        room = ["--buffer-size", str(buffer_bytes())]
        with serving(made.inside(1, program, "sr", "-i", made.address, *room)):
            words = ["throughput", "-i", made.address, "-m", str(SIZE), "-t", f"{seconds:.0f}"]
            words += ["--mps", str(int(rate))] if rate else []
            said = output(made.inside(0, program, *words), seconds)
        found = number(r"Message Rate is ([\d.]+)", said, "sockperf")
        return Turn(round(found * seconds), None, seconds)

    return Tool("sockperf", run)


@contextmanager
def serving(command: list[str]) -> Iterator[None]:
    """A peer's receiver, for as long as it is needed."""
    silent = subprocess.DEVNULL
    server = subprocess.Popen(command, stdin=silent, stdout=silent, stderr=silent)
    try:
        time.sleep(0.5)
        yield
    finally:
        server.send_signal(signal.SIGINT)
        try:
            server.wait(5)
        except subprocess.TimeoutExpired:
            server.kill()
            server.wait()


def output(command: list[str], seconds: float) -> str:
    """What a program printed.

    Raises:
        Failed: it took far too long.
    """
    try:
        done = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
            timeout=60 + 10 * seconds,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise Failed(f"{command[-1]} did not end within {error.timeout:.0f} s") from None
    return done.stdout + (done.stderr if done.returncode else "")


def number(pattern: str, text: str, program: str) -> float:
    """The number in a program's answer.

    Raises:
        Failed: there is none.
    """
    found = re.search(pattern, text)
    if not found:
        raise Failed(f"{program} did not answer as expected: {text.strip()[-200:] or 'nothing'}")
    return float(found[1])


def busy_ns() -> float:
    """Busy time of all CPUs since the machine started, ns (proc(5), /proc/stat)."""
    user, nice, system, _, _, irq, softirq, *_ = (
        int(word) for word in Path("/proc/stat").read_text().split("\n", 1)[0].split()[1:]
    )
    return (user + nice + system + irq + softirq) * 1e9 / os.sysconf("SC_CLK_TCK")


def measured(tool: Tool, rate: float, seconds: float) -> Turn:
    """One turn with the CPU time that it took, the tool's start and end with it."""
    before = busy_ns()
    turn = tool.run(rate, seconds)
    return Turn(turn.sent, turn.received, turn.seconds, busy_ns() - before)


def lossless(tool: Tool, highest: float, seconds: float) -> float | None:
    """The highest rate without a lost packet, by halving; none if the tool does not tell."""
    low, high = 0.0, highest
    for _ in range(STEPS):
        middle = (low + high) / 2
        turn = tool.run(middle, seconds)
        if turn.received is None:
            return None
        held = turn.sent >= 0.99 * middle * turn.seconds
        if held and turn.received == turn.sent:
            low = middle
        else:
            high = middle
    return low


def tools(made: Bed) -> list[Tool]:
    """Every rung that works here, and every peer that is installed."""
    found = [ours(made, rung, receiver) for rung, receiver in RUNGS]
    where = os.environ.get("PENTATHLON_PEERS")
    for program, peer in (("iperf3", iperf3), ("ITGSend", ditg), ("sockperf", sockperf)):
        path = shutil.which(program, path=where) if where else shutil.which(program)
        if path:
            found.append(peer(made, path))
        else:
            print(f"{program} was not found")
    return found


def segment_before_the_link(made: Bed) -> None:
    """A virtual link that takes super-packets whole would count what no wire carries."""
    if ethtool := shutil.which("ethtool"):
        for place, device in enumerate(("pent0", "pent1")):
            words = [ethtool, "-K", device, "tx-udp-segmentation", "off"]
            subprocess.run(made.inside(place, *words), capture_output=True, check=False)


def print_table(turns: dict[str, list[Turn]], rates: dict[str, float | None]) -> None:
    """Medians of all turns, and the ratio of the received rates of the same round to iperf3's."""
    print(f"\n{'by, receiver':<20}{'sent':>11}{'received':>11}{'lossless':>11}{'CPU/packet':>12}  "
          "received / iperf3")  # fmt: skip
    print(f"{'':<20}{'Kpps':>11}{'Kpps':>11}{'Kpps':>11}{'ns':>12}")
    for name, all_of_it in turns.items():
        sent = statistics.median(turn.sent / turn.seconds for turn in all_of_it)
        got = [t.received / t.seconds for t in all_of_it if t.received is not None]
        cost = [t.cpu_ns / t.received for t in all_of_it if t.received]
        ratios = [
            (mine.received / mine.seconds) / (peer.received / peer.seconds)
            for mine, peer in zip(all_of_it, turns.get("iperf3", []), strict=False)
            if mine.received is not None and peer.received
        ]
        rate = rates.get(name)
        cells = [
            f"{sent / 1e3:.0f}",
            f"{statistics.median(got) / 1e3:.0f}" if got else "unknown",
            f"{rate / 1e3:.0f}" if rate is not None else "-",
            f"{statistics.median(cost):.0f}" if cost else "unknown",
        ]
        ratio = f"{statistics.median(ratios):.2f}" if ratios else "-"
        widths = (11, 11, 11, 12)
        row = "".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
        print(f"{name:<20}{row}  {ratio}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--rounds", type=int, default=5, help="turns of each tool")
    parser.add_argument("--seconds", type=float, default=2.0, help="length of a turn, whole s")
    parser.add_argument("--lossless", action="store_true", help="search the lossless rates too")
    asked = parser.parse_args()
    if os.geteuid():
        print("this needs root: the rungs below the sockets are refused to others")
        return 1
    with bed() as made:
        segment_before_the_link(made)
        running = tools(made)
        turns: dict[str, list[Turn]] = {tool.name: [] for tool in running}
        for round_number in range(asked.rounds):
            for tool in running if round_number % 2 == 0 else running[::-1]:
                try:
                    turns[tool.name].append(measured(tool, 0.0, asked.seconds))
                except (Failed, CommandError, TargetError) as error:
                    print(f"{tool.name}: {error}")
        rates: dict[str, float | None] = {}
        for tool in running if asked.lossless else ():
            if not turns[tool.name]:
                continue
            highest = max(turn.sent / turn.seconds for turn in turns[tool.name])
            try:
                rates[tool.name] = lossless(tool, highest, asked.seconds)
            except (Failed, CommandError, TargetError) as error:
                print(f"{tool.name}, lossless: {error}")
    turns = {name: found for name, found in turns.items() if found}
    if not {"iperf3", "D-ITG", "sockperf"} & turns.keys():
        print("no peer could be compared with")
        return 1
    print_table(turns, rates)
    return 0


if __name__ == "__main__":
    sys.exit(main())
