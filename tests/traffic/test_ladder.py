"""Every rung of the sending ladder between two namespaces: what was recorded, arrives."""

import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from pentathlon import agent
from pentathlon.target import TargetUnavailable, launch, make_target
from pentathlon.target.local import LocalTarget
from pentathlon.target.netns import probe
from pentathlon.target.pair import hosts
from pentathlon.target.pair.endpoint import CommandError, Endpoint
from pentathlon.traffic import records
from tests.target.conftest import FakeSystem

Pair = tuple[Endpoint, Endpoint]
PACKETS = 3000


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Pair]:
    """Two namespaces that a veth pair joins, with an endpoint in each."""
    try:
        probe()
        path = agent.locate()
    except (TargetUnavailable, agent.AgentError) as error:
        pytest.skip(str(error))
    target = make_target(FakeSystem(target="netns"), path, tmp_path_factory.mktemp("state"))
    assert isinstance(target, LocalTarget)
    made = hosts.netns_hosts(target, (None, None))(20)
    # A new link loses packets until its ends know each other; that is not what is tested here.
    for version in (4, 6):
        Trial(made, {"packets": 5000}, {}, version).run()
    segment(made, False)
    yield made
    hosts.stop(made)


def segment(pair: Pair, on: bool) -> None:
    """Whether super-packets go over the link as they are; without ethtool they do."""
    try:
        enter, ethtool = launch.need("nsenter", "util-linux"), launch.need("ethtool", "ethtool")
    except TargetUnavailable:
        return
    words = ["--net", "--", str(ethtool), "-K", "pent0", "tx-udp-segmentation"]
    target = ["--target", str(pair[0].session.pid)]
    state = "on" if on else "off"
    subprocess.run([str(enter), *target, *words, state], check=True, capture_output=True)


class Trial:
    """One flow, sent and received."""

    def __init__(
        self, pair: Pair, sending: dict[str, Any], receiving: dict[str, Any], version: int = 4
    ) -> None:
        self.pair = pair
        self.name = secrets.token_hex(4)
        self.address = pair[1].addresses[version]
        self.common = {"trial": self.name, "session": secrets.token_hex(8)}
        flow = {"flow": 3, "protocol": "udp"}
        ready = pair[1].listen(
            self.common
            | {
                "address": self.address,
                "flows": [
                    flow
                    | {"address": self.address, "buffer_bytes": 8 << 20}
                    | {"rung": sending.get("rung", "send")}
                    | receiving
                ],
            }
        )
        self.port = ready["flows"][0]["port"]
        self.sending = {
            "seed": 5,
            "quiet_ms": 100,
            "exchange": {"address": self.address, "port": ready["exchange_port"]},
            "flows": [
                flow
                | {
                    "peer": self.address,
                    "port": self.port,
                    "size": {"model": "constant", "value": 64},
                    "gap": {"of": {"model": "constant", "value": 20_000}, "rate": True},
                    "duration_s": 20.0,
                    "packets": PACKETS,
                }
                | sending
            ],
        }

    def run(self, before_the_end: Callable[[], object] = lambda: None) -> None:
        try:
            answer = self.pair[0].send(self.common | self.sending, 20)
        except CommandError:
            self.pair[1].finish(self.name, 0)
            raise
        self.sent = answer["flows"][0]
        self.came_back = answer["echoes"]
        before_the_end()
        self.received = self.pair[1].finish(self.name, 200)["flows"][0]
        files = self.pair[0].fetch(self.name) + self.pair[1].fetch(self.name)
        self.files = {file.kind: records.packets(file.data) for file in files
                      if file.kind != "exchange"}  # fmt: skip


def arrived(trial: Trial) -> None:
    """The packets that the sender wrote down are those that the receiver wrote down."""
    sent, came = trial.files["sent"], trial.files["received"]
    assert sent.lost_records == came.lost_records == 0
    assert trial.sent["packets"] == trial.received["packets"] == len(sent) == len(came)
    assert trial.sent["refused"] == trial.received["truncated"] == 0
    assert np.array_equal(sent.sequence, np.arange(len(sent)))
    assert np.array_equal(np.sort(came.sequence), sent.sequence)
    assert np.array_equal(came.length[np.argsort(came.sequence)], sent.length)
    assert not sent.flags.any() and not came.flags.any()
    assert (sent.late_ns >= 0).all()


RUNGS = ["send", "sendmmsg", "gso", "packet", "afxdp", "live"]
READERS = [
    {"reader": reader, "spinning": spinning}
    for reader in ("recv", "recvmmsg")
    for spinning in (False, True)
] + [{"reader": reader} for reader in ("ring", "afxdp", "xdp")]


def supported(trial: Trial, before_the_end: Callable[[], object] = lambda: None) -> None:
    """Run the trial, or skip with the kernel's reason."""
    try:
        trial.run(before_the_end)
    except CommandError as error:
        if error.kind == "unsupported":
            pytest.skip(str(error))
        raise


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("rung", RUNGS)
def test_what_is_sent_arrives(pair: Pair, rung: str, version: int) -> None:
    trial = Trial(pair, {"rung": rung}, {"reader": "recvmmsg"}, version)
    supported(trial)
    assert trial.received["foreign"] == 0
    assert len(trial.files["sent"]) == PACKETS
    arrived(trial)


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_each_reader_writes_down_every_packet(pair: Pair, reader: dict[str, Any]) -> None:
    sizes = {"model": "uniform", "minimum": 32, "maximum": 1400}
    trial = Trial(pair, {"rung": "sendmmsg", "size": sizes}, reader)
    supported(trial)
    arrived(trial)


@pytest.mark.parametrize("rung", RUNGS)
def test_the_schedule_is_the_same_by_every_rung(pair: Pair, rung: str) -> None:
    gap = {"of": {"model": "exponential", "mean": 20_000}, "rate": True}
    made = []
    for each in ("send", rung):
        trial = Trial(pair, {"rung": each, "gap": gap, "packets": 500}, {"reader": "recvmmsg"})
        supported(trial)
        made.append(np.diff(trial.files["sent"].time_ns))
    # The start is not a whole number of the schedule's steps: each gap can round by 1 ns.
    assert np.abs(made[0] - made[1]).max() <= 1


# AF_XDP sends faster than the socket is read, whose buffer then drops (docs/network.md).
@pytest.mark.parametrize("rung", [rung for rung in RUNGS if rung != "afxdp"])
def test_as_fast_as_possible_is_not_late(pair: Pair, rung: str) -> None:
    gap = {"of": {"model": "constant", "value": 0}, "rate": True}
    trial = Trial(pair, {"rung": rung, "gap": gap}, {"reader": "recvmmsg"})
    supported(trial)
    assert len(trial.files["sent"]) == PACKETS
    arrived(trial)


def test_a_frame_that_the_driver_drops_is_refused_or_arrives(pair: Pair) -> None:
    """By AF_XDP as fast as possible: a driver that says what it drops leaves no packet unknown."""
    gap = {"of": {"model": "constant", "value": 0}, "rate": True}
    trial = Trial(pair, {"rung": "afxdp", "gap": gap, "packets": 50_000}, {"reader": "recvmmsg"})
    supported(trial)
    sent, came = trial.files["sent"], trial.files["received"]
    assert len(sent) == trial.sent["packets"] + trial.sent["refused"]
    assert int((sent.flags != 0).sum()) == trial.sent["refused"]
    # What was refused did not arrive, and what arrived was not refused.
    assert not np.isin(came.sequence, sent.sequence[sent.flags != 0]).any()
    assert 0 < trial.received["packets"] <= trial.sent["packets"]


def test_what_the_receivers_socket_has_no_room_for_is_counted(pair: Pair) -> None:
    gap = {"of": {"model": "constant", "value": 0}, "rate": True}
    trial = Trial(pair, {"rung": "sendmmsg", "gap": gap}, {"reader": "recv", "buffer_bytes": 1})
    trial.run()
    missing = trial.sent["packets"] - trial.received["packets"]
    assert missing > 0
    assert trial.received["buffer_drops"] == missing


PKTGEN = """
import socket, struct, sys
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to = sys.argv[1], int(sys.argv[2])
for number in [*range(1, 201), 7, 0]:
    peer.sendto(struct.pack("!IIII", 0xBE9BE955, number, 0, 0).ljust(64, b"\\0"), to)
peer.sendto(struct.pack("!IIII", 0xBE9BE954, 5, 0, 0).ljust(64, b"\\0"), to)
"""


def test_packets_of_the_kernels_generator_are_known_by_their_header(pair: Pair) -> None:
    trial = Trial(pair, {"packets": 10}, {"rung": "pktgen"})
    enter = [str(launch.need("nsenter", "util-linux")), "--target", str(pair[0].session.pid)]
    words = ["--net", "--", sys.executable, "-c", PKTGEN, trial.address, str(trial.port)]
    trial.run(lambda: subprocess.run([*enter, *words], check=True))
    came = trial.files["received"]
    assert sorted(came.sequence) == sorted([*range(200), 6])
    # Ours, the sequence 0 that it never has, and the wrong mark.
    assert trial.received["foreign"] == 10 + 1 + 1
    assert (came.length == 64).all()


def test_without_the_kernels_generator_its_rung_is_unsupported(pair: Pair) -> None:
    trial = Trial(pair, {"rung": "pktgen"}, {"rung": "pktgen"})
    try:
        trial.run()
    except CommandError as error:
        assert error.kind == "unsupported"
        assert "modprobe pktgen" in str(error) or "the generator refuses" in str(error)
        return
    assert trial.sent["packets"] == PACKETS == len(trial.files["received"])


@pytest.mark.parametrize("rung", RUNGS)
def test_every_packet_is_sent_back(pair: Pair, rung: str) -> None:
    receiving = {"reader": "recvmmsg", "role": "echo"}
    trial = Trial(pair, {"rung": rung, "packets": 300, "echo": True}, receiving)
    supported(trial)
    arrived(trial)
    assert np.array_equal(np.sort(trial.files["echoes"].sequence), np.arange(300))


def test_programs_at_both_ends_lose_nothing_unseen(pair: Pair) -> None:
    """As fast as possible for a while: every packet is written down by its sender or counted."""
    gap = {"of": {"model": "constant", "value": 0}, "rate": True}
    endless = {"rung": "live", "gap": gap, "packets": None, "duration_s": 0.3}
    trial = Trial(pair, endless, {"reader": "xdp", "spinning": True})
    supported(trial)
    sent, came = trial.files["sent"], trial.files["received"]
    assert trial.sent["packets"] == len(sent) + sent.lost_records
    assert trial.received["packets"] == len(came) + came.lost_records
    assert 0 < trial.received["packets"] <= trial.sent["packets"]
    assert len(np.unique(came.sequence)) == len(came)
    assert came.sequence.max() < trial.sent["packets"]


FLOOD = """
import socket, sys
peer = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
ours = bytearray.fromhex(sys.argv[3])
print("ready", flush=True)
for n in range(500):
    peer.sendto(b"x" * (n % 100), (sys.argv[1], int(sys.argv[2])))
    peer.sendto(ours, (sys.argv[1], int(sys.argv[2])))
"""


def another_session() -> str:
    """A packet with a right header, of a session that is not the trial's, as hex digits."""
    header = bytearray(31)
    header[0:8] = b"\xff" * 8
    header[29] = 32
    check = 0xA5
    for byte in header:
        check ^= byte
    return (bytes(header) + bytes([check])).hex()


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_a_foreign_flood_changes_a_counter_only(pair: Pair, reader: dict[str, Any]) -> None:
    trial = Trial(pair, {"rung": "sendmmsg"}, reader)
    enter = [str(launch.need("nsenter", "util-linux")), "--target", str(pair[0].session.pid)]
    words = ["--net", "--", sys.executable, "-c", FLOOD, trial.address, str(trial.port)]
    with subprocess.Popen([*enter, *words, another_session()], stdout=subprocess.PIPE) as flood:
        assert flood.stdout is not None
        assert flood.stdout.readline() == b"ready\n"
        supported(trial, lambda: flood.wait(20))
    assert flood.returncode == 0
    arrived(trial)
    assert trial.received["foreign"] == 1000


def test_frames_longer_than_the_link_takes_are_unsupported(pair: Pair) -> None:
    trial = Trial(pair, {"rung": "packet", "size": {"model": "constant", "value": 1536}}, {})
    with pytest.raises(CommandError, match="MTU of pent0 is 1500 B") as refused:
        trial.run()
    assert refused.value.kind == "unsupported"


def test_super_packets_are_no_packets(pair: Pair) -> None:
    segment(pair, True)
    trial = Trial(pair, {"rung": "gso"}, {})
    with pytest.raises(CommandError, match="pent0 is a virtual device") as refused:
        trial.run()
    segment(pair, False)
    assert refused.value.kind == "unsupported"


def test_a_stream_by_another_rung_is_unsupported(pair: Pair) -> None:
    trial = Trial(pair, {"rung": "sendmmsg", "protocol": "tcp"}, {})
    with pytest.raises(CommandError, match="datagrams") as refused:
        trial.run()
    assert refused.value.kind == "unsupported"


def test_the_flood_is_of_our_form() -> None:
    """The planted packet differs from ours in its session alone."""
    data = bytes.fromhex(another_session())
    check = 0
    for byte in data:
        check ^= byte
    assert len(data) == 32 and check == 0xA5
