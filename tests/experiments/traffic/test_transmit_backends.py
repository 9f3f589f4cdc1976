"""Every transmit backend between two namespaces: what was recorded, arrives."""

import json
import secrets
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine import launch
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.packets import records
from pentathlon.protocol import agent
from pentathlon.protocol.requests.commands import Exchange, Listen, ReceiveFlow, Send, SendFlow
from pentathlon.targets.local.target import LocalTarget
from pentathlon.targets.netns.target import probe
from pentathlon.testbed import hosts
from pentathlon.testbed.endpoint import CommandError, Endpoint
from tests.experiments.traffic import features
from tests.targets.conftest import FakeSystem

Pair = tuple[Endpoint, Endpoint]
PACKETS = 1500


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
    """Whether super-packets go over the link as they are."""
    enter = [str(launch.need("nsenter", "util-linux")), "--target", str(pair[0].session.pid)]
    words = ["pent0", "tx-udp-segmentation", "on" if on else "off"]
    program = [sys.executable, features.__file__]
    subprocess.run([*enter, "--net", "--", *program, *words], check=True, capture_output=True)


class Trial:
    """One flow, sent and received."""

    def __init__(
        self, pair: Pair, sending: dict[str, Any], receiving: dict[str, Any], version: int = 4
    ) -> None:
        self.pair = pair
        self.name = secrets.token_hex(4)
        self.address = pair[1].addresses[version]
        common = {"trial": self.name, "session": secrets.token_hex(8)}
        reported = {
            "flow": 3,
            "protocol": "udp",
            "address": self.address,
            "buffer_bytes": 8 << 20,
            "transmit_backend": sending.get("transmit_backend", "send"),
        }
        flows = [ReceiveFlow(**reported | receiving)]
        ready = pair[1].listen(Listen(**common, address=self.address, flows=flows))
        self.port = ready["flows"][0]["port"]
        reported = {
            "flow": 3,
            "protocol": "udp",
            "peer": self.address,
            "port": self.port,
            "size": {"model": "constant", "value": 64},
            "gap": {"of": {"model": "constant", "value": 20_000}, "rate": True},
            "duration_s": 20.0,
            "packets": PACKETS,
        }
        self.sending = Send(
            **common,
            seed=5,
            quiet_ms=100,
            exchange=Exchange(address=self.address, port=ready["exchange_port"]),
            flows=[SendFlow(**reported | sending)],
        )

    def run(self, before_the_end: Callable[[], object] = lambda: None) -> None:
        try:
            answer = self.pair[0].send(self.sending, 20)
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


BACKENDS = ["send", "sendmmsg", "gso", "packet", "afxdp", "live"]
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
@pytest.mark.parametrize("backend", BACKENDS)
def test_what_is_sent_arrives(pair: Pair, backend: str, version: int) -> None:
    trial = Trial(pair, {"transmit_backend": backend}, {"reader": "recvmmsg"}, version)
    supported(trial)
    assert trial.received["foreign"] == 0
    assert len(trial.files["sent"]) == PACKETS
    arrived(trial)


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_each_reader_writes_down_every_packet(pair: Pair, reader: dict[str, Any]) -> None:
    sizes = {"model": "uniform", "minimum": 32, "maximum": 1400}
    trial = Trial(pair, {"transmit_backend": "sendmmsg", "size": sizes}, reader)
    supported(trial)
    arrived(trial)


@pytest.mark.parametrize("backend", BACKENDS)
def test_the_schedule_is_the_same_by_every_transmit_backend(pair: Pair, backend: str) -> None:
    gap = {"of": {"model": "exponential", "mean": 20_000}, "rate": True}
    made = []
    for each in ("send", backend):
        trial = Trial(
            pair, {"transmit_backend": each, "gap": gap, "packets": 500}, {"reader": "recvmmsg"}
        )
        supported(trial)
        made.append(np.diff(trial.files["sent"].time_ns))
    # The start is not a whole number of the schedule's steps: each gap can round by 1 ns.
    assert np.abs(made[0] - made[1]).max() <= 1


# AF_XDP sends faster than the socket is read, whose buffer then drops (docs/network.md).
@pytest.mark.parametrize("backend", [backend for backend in BACKENDS if backend != "afxdp"])
def test_as_fast_as_possible_is_not_late(pair: Pair, backend: str) -> None:
    gap = {"of": {"model": "constant", "value": 0}, "rate": True}
    trial = Trial(pair, {"transmit_backend": backend, "gap": gap}, {"reader": "recvmmsg"})
    supported(trial)
    assert len(trial.files["sent"]) == PACKETS
    arrived(trial)


def test_a_frame_that_the_driver_drops_is_refused_or_arrives(pair: Pair) -> None:
    """By AF_XDP as fast as possible: a driver that counts its drops leaves no packet unknown."""
    gap = {"of": {"model": "constant", "value": 0}, "rate": True}
    trial = Trial(
        pair, {"transmit_backend": "afxdp", "gap": gap, "packets": 50_000}, {"reader": "recvmmsg"}
    )
    supported(trial)
    sent, came = trial.files["sent"], trial.files["received"]
    assert len(sent) == trial.sent["packets"] + trial.sent["refused"]
    assert int((sent.flags != 0).sum()) == trial.sent["refused"]
    # What was refused did not arrive, and what arrived was not refused.
    assert not np.isin(came.sequence, sent.sequence[sent.flags != 0]).any()
    assert 0 < trial.received["packets"] <= trial.sent["packets"]


def test_what_the_receivers_socket_has_no_room_for_is_counted(pair: Pair) -> None:
    gap = {"of": {"model": "constant", "value": 0}, "rate": True}
    # So many that the receiver has to wait for a CPU in between, with room for three.
    sending = {"transmit_backend": "sendmmsg", "gap": gap, "packets": 50_000}
    trial = Trial(pair, sending, {"reader": "recv", "buffer_bytes": 1})
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
    trial = Trial(pair, {"packets": 10}, {"transmit_backend": "pktgen"})
    enter = [str(launch.need("nsenter", "util-linux")), "--target", str(pair[0].session.pid)]
    words = ["--net", "--", sys.executable, "-c", PKTGEN, trial.address, str(trial.port)]
    trial.run(lambda: subprocess.run([*enter, *words], check=True))
    came = trial.files["received"]
    assert sorted(came.sequence) == sorted([*range(200), 6])
    # Ours, the sequence 0 that it never has, and the wrong mark.
    assert trial.received["foreign"] == 10 + 1 + 1
    assert (came.length == 64).all()


def test_without_the_kernels_generator_its_transmit_backend_is_unsupported(pair: Pair) -> None:
    trial = Trial(pair, {"transmit_backend": "pktgen"}, {"transmit_backend": "pktgen"})
    try:
        trial.run()
    except CommandError as error:
        assert error.kind == "unsupported"
        assert "modprobe pktgen" in str(error) or "the generator refuses" in str(error)
        return
    assert trial.sent["packets"] == PACKETS == len(trial.files["received"])


@pytest.mark.parametrize("backend", BACKENDS)
def test_every_packet_is_sent_back(pair: Pair, backend: str) -> None:
    receiving = {"reader": "recvmmsg", "role": "echo"}
    trial = Trial(pair, {"transmit_backend": backend, "packets": 200, "echo": True}, receiving)
    supported(trial)
    arrived(trial)
    assert np.array_equal(np.sort(trial.files["echoes"].sequence), np.arange(200))


def test_programs_at_both_ends_lose_nothing_unseen(pair: Pair) -> None:
    """As fast as possible for a while: every packet is written down by its sender or counted."""
    gap = {"of": {"model": "constant", "value": 0}, "rate": True}
    endless = {"transmit_backend": "live", "gap": gap, "packets": None, "duration_s": 0.3}
    trial = Trial(pair, endless, {"reader": "xdp", "spinning": True})
    supported(trial)
    sent, came = trial.files["sent"], trial.files["received"]
    assert trial.sent["packets"] == len(sent) + sent.lost_records
    assert trial.received["packets"] == len(came) + came.lost_records
    assert 0 < trial.received["packets"] <= trial.sent["packets"]
    assert len(np.unique(came.sequence)) == len(came)
    assert came.sequence.max() < trial.sent["packets"]


@pytest.mark.parametrize("version", [4, 6])
@pytest.mark.parametrize("backend", BACKENDS)
def test_short_packets_arrive_and_come_back(pair: Pair, backend: str, version: int) -> None:
    """18 bytes, what a frame of 64 leaves to UDP over IPv4: by a compact header."""
    # As many echoes as the sender's own buffer has room for, however late it reads them.
    size = {"model": "constant", "value": 18}
    receiving = {"reader": "recvmmsg", "role": "echo"}
    trial = Trial(
        pair,
        {"transmit_backend": backend, "size": size, "packets": 200, "echo": True},
        receiving,
        version,
    )
    supported(trial)
    assert trial.received["foreign"] == trial.came_back[0]["foreign"] == 0
    assert (trial.files["sent"].length == 18).all()
    arrived(trial)
    assert np.array_equal(np.sort(trial.files["echoes"].sequence), np.arange(200))


@pytest.mark.parametrize("reader", READERS, ids=str)
def test_each_reader_takes_both_headers(pair: Pair, reader: dict[str, Any]) -> None:
    sizes = {"model": "uniform", "minimum": 18, "maximum": 46}
    trial = Trial(pair, {"transmit_backend": "packet", "size": sizes}, reader)
    supported(trial)
    lengths = trial.files["sent"].length
    assert (lengths < 32).any() and (lengths >= 32).any()
    arrived(trial)
    assert trial.received["foreign"] == 0


CAPTURE = """
import collections, json, socket, struct, sys
ours = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
ours.setsockopt(socket.SOL_SOCKET, 33, 1 << 25)  # SO_RCVBUFFORCE
ours.settimeout(0.1)
port, found, sequences, wrong = int(sys.argv[1]), collections.Counter(), set(), 0
print("ready", flush=True)
while True:
    try:
        frame, about = ours.recvfrom(65535)
    except TimeoutError:
        import select
        if select.select([sys.stdin], [], [], 0)[0]:
            break
        continue
    if about[2] == 4 or frame[12:14] != b"\\x08\\x00" or frame[23] != 17:
        continue
    if struct.unpack(">H", frame[36:38])[0] != port:
        continue
    found[len(frame)] += 1
    sequences.add(int.from_bytes(frame[45:50], "big"))
    udp = frame[26:34] + bytes([0, 17]) + frame[38:40] + frame[34:]
    total = sum(struct.unpack(f">{len(udp) // 2}H", udp))
    wrong += total % 0xffff != 0
print(json.dumps([found, sorted(sequences), wrong]), flush=True)
"""
"""Counts the frames of a port by their length, with its own reading of the compact header."""


@pytest.mark.parametrize("backend", ["send", "packet", "live"])
def test_a_frame_of_64_bytes_is_one_on_the_wire(pair: Pair, backend: str) -> None:
    """Without its check sequence, which no capture has, 60 bytes."""
    size = {"model": "constant", "value": 64 - 46}
    trial = Trial(
        pair, {"transmit_backend": backend, "size": size, "packets": 1000}, {"reader": "recvmmsg"}
    )
    enter = [str(launch.need("nsenter", "util-linux")), "--target", str(pair[1].session.pid)]
    words = ["--net", "--", sys.executable, "-c", CAPTURE, str(trial.port)]
    pipe = subprocess.PIPE
    with subprocess.Popen([*enter, *words], stdin=pipe, stdout=pipe, text=True) as capture:
        assert capture.stdout is not None
        assert capture.stdout.readline() == "ready\n"
        supported(trial)
        reported, _ = capture.communicate("end\n", timeout=20)
    lengths, sequences, wrong = json.loads(reported)
    assert lengths == {"60": 1000}
    assert sequences == list(range(1000))
    # A socket leaves the checksum to the device.
    assert wrong == 0 or backend == "send"
    arrived(trial)


@pytest.mark.parametrize("backend", ["send", "packet", "live"])
def test_lost_short_packets_are_counted_exactly(pair: Pair, backend: str) -> None:
    """A rule of the receiver's firewall takes out every packet of one sequence in eight."""
    try:
        nft, enter = launch.need("nft", "nftables"), launch.need("nsenter", "util-linux")
    except TargetUnavailable as error:
        pytest.skip(str(error))
    inside = [str(enter), "--target", str(pair[1].session.pid), "--net", "--", str(nft)]
    size = {"model": "constant", "value": 18}
    trial = Trial(
        pair, {"transmit_backend": backend, "size": size, "packets": 1000}, {"reader": "recvmmsg"}
    )
    # The lower 8 bits of the sequence are byte 7 of the payload, which follows UDP's header.
    rule = f"udp dport {trial.port} @th,120,8 and 7 == 3 drop"
    chain = f"type filter hook input priority 0; {rule};"
    rules = f"table ip planted {{\n chain in {{\n {chain}\n }}\n}}\n"
    done = subprocess.run(
        [*inside, "-f", "-"], input=rules, text=True, capture_output=True, check=False
    )
    if done.returncode:
        pytest.skip(f"nft: {done.stderr}")
    try:
        supported(trial)
    finally:
        subprocess.run([*inside, "delete", "table", "ip", "planted"], check=True)
    sent, came = trial.files["sent"], trial.files["received"]
    assert len(sent) == 1000
    lost = np.setdiff1d(sent.sequence, came.sequence)
    assert np.array_equal(lost, np.arange(3, 1000, 8))
    assert trial.received["packets"] == len(came) == 875


def test_more_short_packets_than_can_be_told_apart_are_unsupported(pair: Pair) -> None:
    size = {"model": "constant", "value": 18}
    trial = Trial(pair, {"size": size, "packets": (1 << 40) + 1}, {})
    with pytest.raises(CommandError, match="numbers 1099511627776 packets") as refused:
        trial.run()
    assert refused.value.kind == "unsupported"


@pytest.mark.parametrize(("protocol", "value"), [("udp", 17), ("tcp", 31)])
def test_a_packet_that_holds_no_header_is_unsupported(
    pair: Pair, protocol: str, value: int
) -> None:
    size = {"model": "constant", "value": value}
    trial = Trial(pair, {"size": size, "protocol": protocol}, {"protocol": protocol})
    with pytest.raises(CommandError, match=f"at least {value + 1} B") as refused:
        trial.run()
    assert refused.value.kind == "unsupported"


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
    trial = Trial(pair, {"transmit_backend": "sendmmsg"}, reader)
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
    trial = Trial(
        pair, {"transmit_backend": "packet", "size": {"model": "constant", "value": 1536}}, {}
    )
    with pytest.raises(CommandError, match="MTU of pent0 is 1500 B") as refused:
        trial.run()
    assert refused.value.kind == "unsupported"


def test_super_packets_are_no_packets(pair: Pair) -> None:
    segment(pair, True)
    trial = Trial(pair, {"transmit_backend": "gso"}, {})
    with pytest.raises(CommandError, match="pent0 is a virtual device") as refused:
        trial.run()
    segment(pair, False)
    assert refused.value.kind == "unsupported"


def test_a_stream_by_another_transmit_backend_is_unsupported(pair: Pair) -> None:
    trial = Trial(pair, {"transmit_backend": "sendmmsg", "protocol": "tcp"}, {})
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
