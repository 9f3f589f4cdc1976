"""The generators that `network_peers.py` compares: our transmit backends, and their peers."""

from __future__ import annotations

import json
import os
import re
import resource
import secrets
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pentathlon.experiments import transmit_backends
from pentathlon.packets import records
from pentathlon.protocol import agent
from pentathlon.targets.local.target import LocalTarget
from pentathlon.targets.netns.target import NetnsTarget
from pentathlon.testbed import hosts
from pentathlon.testbed.endpoint import Endpoint

SIZE = 64
"""Payload of a packet in every tool, in bytes."""
BACKENDS = (
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
    return min(transmit_backends.BUFFER_BYTES, allowed)


class Failed(Exception):
    """A turn yielded nothing; one sentence."""


@dataclass(frozen=True)
class Turn:
    """What one tool did in one turn.

    Attributes:
        sent, received: packets; received is None where the tool does not report.
        seconds: length of sending.
        own_ns: CPU time of its programs at both ends, with what the kernel did in their names, and
            of the kernel's own threads for network work (ksoftirqd).
        busy_ns: what all CPUs were busy in the meantime, the one who had them.
        late_ns: how much later than intended each packet left; None where it is unknown.
    """

    sent: int
    received: int | None
    seconds: float
    own_ns: float
    busy_ns: float = 0.0
    late_ns: NDArray[np.integer[Any]] | None = None

    @property
    def rate(self) -> float:
        """Packets sent per second."""
        return self.sent / self.seconds


@dataclass(frozen=True)
class Tool:
    """A generator: `run(rate, seconds)`, where rate 0 requests as much as it can."""

    name: str
    run: Callable[[float, float], Turn]


@dataclass(frozen=True)
class Testbed:
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
def bed() -> Iterator[Testbed]:
    """Make both namespaces, and take them away."""
    with tempfile.TemporaryDirectory() as folder:
        target: LocalTarget = NetnsTarget(System(), agent.locate(), Path(folder, "state"))
        pair = hosts.netns_hosts(target, (None, None))(30.0)
        try:
            # Ours and the peers alike: those run in the bench's own session.
            for process in ("self", *(str(host.session.pid) for host in pair)):
                with suppress(OSError):
                    Path(f"/proc/{process}/autogroup").write_text("-20")
            yield Testbed(pair, Path(folder))
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


def ours(made: Testbed, backend: str, receiver: str) -> Tool:
    """One transmit backend."""

    def run(rate: float, seconds: float) -> Turn:
        first, second = made.pair
        common = {"trial": secrets.token_hex(4), "session": secrets.token_hex(8)}
        flow = {"flow": 0, "protocol": "udp"}
        reported = transmit_backends.receiving(backend, receiver) | {"role": "receive"}
        reported["buffer_bytes"] = buffer_bytes()
        ready = second.listen(
            common
            | {"address": made.address, "flows": [flow | {"address": made.address} | reported]}
        )
        port = ready["flows"][0]["port"]
        sending = {
            "peer": made.address,
            "port": port,
            "size": {"model": "constant", "value": SIZE},
            "gap": {"of": {"model": "constant", "value": rate}, "rate": True},
            "duration_s": seconds,
            "transmit_backend": backend,
        }
        exchange = {"address": made.address, "port": ready["exchange_port"]}
        spent = ksoftirqd_ns() + sum(program_ns(end.session.pid) for end in made.pair)
        try:
            answer = first.send(common | {"exchange": exchange, "flows": [flow | sending]}, seconds)
        finally:
            received = second.finish(common["trial"], 200)
            own = ksoftirqd_ns() + sum(program_ns(end.session.pid) for end in made.pair) - spent
            files = [file for end in made.pair for file in end.fetch(common["trial"])]
        sent, came = answer["flows"][0], received["flows"][0]
        data = next(file.data for file in files if file.kind == "sent")
        late = records.packets(data).late_ns if rate else None
        lasted = (sent["last_ns"] - sent["first_ns"]) / 1e9
        if rate and sent["packets"] > 1:
            # From the first packet to the last there is one gap less than packets.
            lasted *= sent["packets"] / (sent["packets"] - 1)
        return Turn(sent["packets"], came["packets"], lasted, own, late_ns=late)

    return Tool(f"{backend}, {receiver}", run)


def iperf3(made: Testbed, program: str) -> Tool:
    """Both ends of iperf3; the receiver counts."""

    def run(rate: float, seconds: float) -> Turn:
        bits = str(int(rate * SIZE * 8))
        with spending() as spent, serving(made.inside(1, program, "-s", "-1")):
            words = ["-c", made.address, "-u", "-l", str(SIZE), "-b", bits, "-t", f"{seconds:.0f}"]
            words += ["-w", str(buffer_bytes())]
            printed = json.loads(output(made.inside(0, program, *words, "-J"), seconds))
        if "error" in printed:
            raise Failed(f"iperf3: {printed['error']}")
        total = printed["end"]["sum"]
        came = int(total["packets"] - total["lost_packets"])
        return Turn(int(total["packets"]), came, total["seconds"], spent[0])

    return Tool("iperf3", run)


def ditg(made: Testbed, program: str, *more: str, name: str = "D-ITG") -> Tool:
    """D-ITG with logs at both ends, read by ITGDec. It has no 'as fast as possible'."""

    def run(rate: float, seconds: float) -> Turn:
        place = Path(program).parent
        logs = [made.folder / "sent.log", made.folder / "received.log"]
        for log in logs:
            log.unlink(missing_ok=True)
        packets = str(int(rate or 1_000_000))
        words = [*more, "-a", made.address, "-T", "UDP", "-C", packets, "-c", str(SIZE)]
        words += ["-t", str(int(seconds * 1e3)), "-l", str(logs[0]), "-x", str(logs[1])]
        with spending() as spent, serving(made.inside(1, str(place / "ITGRecv"))):
            output(made.inside(0, program, *words), seconds)
        counts = []
        for log in logs:
            text = output([str(place / "ITGDec"), str(log)], seconds)
            total = text[text.rfind("TOTAL RESULTS") :]
            counts.append(int(number(r"Total packets\s*=\s*(\d+)", total, "ITGDec")))
            taken = number(r"Total time\s*=\s*([\d.]+)", total, "ITGDec")
        return Turn(counts[0], counts[1], taken, spent[0])

    return Tool(name, run)


def ditg_polling(made: Testbed, program: str) -> Tool:
    """D-ITG that waits actively; as it comes, it sends half of 10,000 packets/s."""
    return ditg(made, program, "-poll", name="D-ITG -poll")


def sockperf(made: Testbed, program: str) -> Tool:
    """The throughput mode of sockperf, which does not say what arrived."""

    def run(rate: float, seconds: float) -> Turn:
        room = ["--buffer-size", str(buffer_bytes())]
        with spending() as spent, serving(made.inside(1, program, "sr", "-i", made.address, *room)):
            words = ["throughput", "-i", made.address, "-m", str(SIZE), "-t", f"{seconds:.0f}"]
            words += ["--mps", str(int(rate))] if rate else []
            printed = output(made.inside(0, program, *words), seconds)
        found = number(r"Message Rate is ([\d.]+)", printed, "sockperf")
        return Turn(round(found * seconds), None, seconds, spent[0])

    return Tool("sockperf", run)


def program_ns(pid: int) -> float:
    """CPU time of a process with all its threads (proc(5), `utime` and `stime`), ns.

    The peers' programs count from their start to their end, so ours count beyond the flow too.
    """
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) * 1e9 / os.sysconf("SC_CLK_TCK")


def ksoftirqd_ns() -> float:
    """CPU time of the kernel's threads for work that interrupts have left over, ns."""
    total = 0
    for name in Path("/proc").glob("[0-9]*/comm"):
        with suppress(OSError):
            if name.read_text().startswith("ksoftirqd"):
                total += int(name.with_name("schedstat").read_text().split()[0])
    return float(total)


@contextmanager
def spending() -> Iterator[list[float]]:
    """CPU time of the programs that end within, and of ksoftirqd: one number, ns, at the end."""

    def now() -> float:
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        return (used.ru_utime + used.ru_stime) * 1e9 + ksoftirqd_ns()

    spent: list[float] = []
    before = now()
    yield spent
    spent.append(now() - before)


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


def tools(made: Testbed) -> list[Tool]:
    """Every transmit backend that works here, and every peer that is installed."""
    found = [ours(made, backend, receiver) for backend, receiver in BACKENDS]
    where = os.environ.get("PENTATHLON_PEERS")
    peers = (
        ("iperf3", iperf3), ("ITGSend", ditg), ("ITGSend", ditg_polling), ("sockperf", sockperf)
    )  # fmt: skip
    for program, peer in peers:
        path = shutil.which(program, path=where) if where else shutil.which(program)
        if path:
            found.append(peer(made, path))
        else:
            print(f"{program} was not found")
    return found


def segment_before_the_link(made: Testbed) -> None:
    """A virtual link that takes super-packets whole would count what no wire carries."""
    if ethtool := shutil.which("ethtool"):
        for place, device in enumerate(("pent0", "pent1")):
            words = [ethtool, "-K", device, "tx-udp-segmentation", "off"]
            subprocess.run(made.inside(place, *words), capture_output=True, check=False)
