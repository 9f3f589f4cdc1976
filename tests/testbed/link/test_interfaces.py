"""`pentathlon link run`: a link between two interfaces that somebody else made."""

from __future__ import annotations

import fcntl
import json
import os
import select
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from pentathlon.machine import interfaces
from pentathlon.machine.errors import TargetError
from pentathlon.machine.inside_namespace import TUNSETIFF
from pentathlon.machine.undo_journal import leftovers, restore_leftovers
from pentathlon.targets.netns.target import probe
from pentathlon.testbed.link.interface_ends import EndError, check, find

IFF_TUN, IFF_TAP, IFF_NO_PI = 0x0001, 0x0002, 0x1000

PROFILE = "[both]\nrate_kbit = 10000\ndelay_ms = 20\nqueue_bytes = 65536\n"
LOSSY = PROFILE + 'loss = "random 0.3"\n'

TO, OF = bytes.fromhex("020000000002"), bytes.fromhex("020000000001")
EXPERIMENT = bytes.fromhex("88b5")
"""An EtherType for local experiments (IEEE 802)."""

NEAR, FAR = "pentnear", "pentfar"
"""Network namespaces with a name, for the hosts."""

START_S = 60.0


@pytest.fixture(scope="module", autouse=True)
def rights() -> None:
    if os.geteuid() != 0:
        pytest.skip("taking frames from interfaces needs root")
    if not os.access("/dev/net/tun", os.R_OK | os.W_OK):
        pytest.skip("there is no /dev/net/tun, so no TAP device can be made")
    try:
        probe()
    except TargetError as error:
        pytest.skip(str(error))


class Device:
    """A TAP or TUN device, held by this process; it is gone when it is closed."""

    def __init__(self, name: str, flags: int = IFF_TAP, mtu: int = 1400) -> None:
        self.name = name
        self.file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
        fcntl.ioctl(self.file, TUNSETIFF, struct.pack("16sH22x", name.encode(), flags | IFF_NO_PI))
        ip("link", "set", name, "mtu", str(mtu), "up")

    def send(self, frame: bytes) -> None:
        os.write(self.file, frame)

    def come(self, wait_s: float) -> Iterator[tuple[float, bytes]]:
        """Frames with the time of their arrival, until none has come for so long."""
        while select.select([self.file], [], [], wait_s)[0]:
            frame = os.read(self.file, 65536)
            yield time.monotonic(), frame

    def close(self) -> None:
        if self.file >= 0:
            os.close(self.file)
        self.file = -1


def ip(*words: str) -> str:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"ip {' '.join(words)}: {done.stderr}"
    return done.stdout


Open = Callable[..., Device]


@pytest.fixture
def device() -> Iterator[Open]:
    made: list[Device] = []

    def make(name: str, *what: int) -> Device:
        made.append(Device(name, *what))
        return made[-1]

    yield make
    for one in made:
        one.close()


class Command:
    """`pentathlon link run` in a process of its own."""

    def __init__(self, tmp_path: Path, profile: str, *words: str) -> None:
        file = tmp_path / "mine.toml"
        file.write_text(profile)
        command = [sys.executable, "-m", "pentathlon", "link", "run", str(file), *words]
        environment = os.environ | {"XDG_STATE_HOME": str(tmp_path)}
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
        )

    def wait_until_open(self) -> list[str]:
        """What it stated until frames pass."""
        assert self.process.stderr is not None
        sentences = []
        for line in self.process.stderr:
            sentences.append(line.strip())
            if line.startswith("frames pass"):
                return sentences
        raise AssertionError(f"it ended: {sentences}")

    def end(self, number: signal.Signals | None = signal.SIGINT) -> tuple[int, str, str]:
        if number is not None:
            self.process.send_signal(number)
        out, err = self.process.communicate(timeout=START_S)
        return self.process.returncode, out, err


Run = Callable[..., Command]


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    started: list[Command] = []

    def start(profile: str, *words: str) -> Command:
        started.append(Command(tmp_path, profile, *words))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.communicate()
    restore_leftovers(tmp_path / "pentathlon")


def frame(number: int) -> bytes:
    return TO + OF + EXPERIMENT + number.to_bytes(4, "big") + bytes(46)


def numbers(frames: Sequence[bytes]) -> list[int]:
    return [int.from_bytes(one[14:18], "big") for one in frames if one[12:14] == EXPERIMENT]


def test_frames_of_two_programs_cross_late_and_are_all_accounted_for(
    device: Open, run: Run
) -> None:
    first, second = device("penttap0"), device("penttap1")
    command = run(LOSSY, first.name, second.name, "--json")
    assert len(command.wait_until_open()) == 3
    # What their own system had stated on them before the link was there.
    for one in (first, second):
        list(one.come(0.0))
    sent: dict[int, float] = {}
    frames: list[tuple[float, bytes]] = []
    for number in range(200):
        sent[number] = time.monotonic()
        first.send(frame(number))
        frames += second.come(0.001)
    frames += second.come(0.5)
    second.send(frame(7))
    back = [frame for _, frame in first.come(0.5)]
    code, out, err = command.end(signal.SIGTERM)
    assert code == 0, err
    document = json.loads(out)
    up = document["up"]
    came = numbers([frame for _, frame in frames])
    # Nothing comes that was not sent: their own systems are silent.
    assert len(came) == len(frames) and came == sorted(set(came))
    assert (up["frames_in"], up["bytes_in"]) == (200, 200 * 64)
    assert (up["frames_out"], up["bytes_out"]) == (len(came), 64 * len(came))
    assert up["drops"]["loss"] == 200 - len(came) > 0
    assert sum(up["drops"].values()) == up["drops"]["loss"]
    assert min(at - sent[number] for (at, _), number in zip(frames, came, strict=True)) >= 0.020
    # The seed decides about the only frame of the other direction too.
    assert document["down"]["frames_in"] == 1
    assert (
        len(numbers(back))
        == document["down"]["frames_out"]
        == 1 - document["down"]["drops"]["loss"]
    )


def test_packets_of_tun_devices_cross(device: Open, run: Run) -> None:
    first, second = device("penttun0", IFF_TUN), device("penttun1", IFF_TUN)
    command = run(PROFILE, first.name, second.name, "--json")
    command.wait_until_open()
    # What their own system had stated on them before the link was there.
    for one in (first, second):
        list(one.come(0.0))
    packet = bytes.fromhex("4500002400010000401100000a0000010a000002") + bytes(16)
    first.send(packet)
    assert [one for _, one in second.come(0.5)] == [packet]
    assert list(first.come(0.1)) == []
    # One that was down for a while is the same one.
    ip("link", "set", first.name, "down")
    time.sleep(0.1)
    ip("link", "set", first.name, "up")
    first.send(packet)
    assert [one for _, one in second.come(0.5)] == [packet]
    code, out, _ = command.end()
    document = json.loads(out)
    up = document["up"]
    assert code == 0 and (up["frames_out"], up["bytes_out"]) == (2, 72) and document["gone"] == []


def test_its_end_is_told_in_words_and_a_device_that_goes_ends_it(device: Open, run: Run) -> None:
    first, second = device("penttap0"), device("penttap1")
    command = run(PROFILE, first.name, second.name)
    text = command.wait_until_open()
    assert text[0] == "mine up: penttap0 to penttap1, 10,000 kbit/s, 20 ms"
    first.send(frame(1))
    assert list(second.come(0.3))
    second.close()
    code, out, err = command.end(None)
    assert code == 1 and err.strip() == (
        "error: the interface penttap1 was removed, which ended the link"
    )
    assert out.startswith("up: 1 frames (64 bytes) came, 1 (64 bytes) were handed over")
    assert "greatest length of the queue" in out and "% of a CPU" in out


@pytest.fixture
def file_service() -> Iterator[tuple[str, str]]:
    """Two hosts, each at the other end of a cable; the names of the near ends."""
    for name in (NEAR, FAR):
        subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)
    try:
        for name, address in ((NEAR, "10.99.0.1/24"), (FAR, "10.99.0.2/24")):
            ip("netns", "add", name)
            ip("link", "add", f"{name}0", "mtu", "1400", "type", "veth", "peer", "name", "eth0",
               "netns", name)  # fmt: skip
            ip("-n", name, "addr", "add", address, "dev", "eth0")
            ip("-n", name, "link", "set", "eth0", "up")
        # One of them lies in a namespace of its own, which has a name too.
        ip("netns", "add", "pentmid")
        ip("link", "set", f"{FAR}0", "netns", "pentmid")
        ip("-n", "pentmid", "link", "set", f"{FAR}0", "up")
        ip("link", "set", f"{NEAR}0", "up")
        yield f"{NEAR}0", f"pentmid/{FAR}0"
    finally:
        subprocess.run(["ip", "link", "del", f"{NEAR}0"], capture_output=True, check=False)
        for name in (NEAR, FAR, "pentmid"):
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


def states() -> list[dict[str, int]]:
    """Settings of all four interfaces."""
    return [
        interfaces.settings(place, name)
        for place, name in (
            (interfaces.OWN, f"{NEAR}0"),
            (interfaces.NAMED / "pentmid", f"{FAR}0"),
            (interfaces.NAMED / NEAR, "eth0"),
            (interfaces.NAMED / FAR, "eth0"),
        )
    ]


def inside(name: str, *command: str) -> list[str]:
    return ["ip", "netns", "exec", name, *command]


def test_two_hosts_speak_and_their_interfaces_are_afterwards_as_before(
    file_service: tuple[str, str], run: Run
) -> None:
    before = states()
    command = run("mtu_bytes = 1300\n" + PROFILE, *file_service, "--json")
    assert len(command.wait_until_open()) == 3
    near, beyond = states()[0], states()[2]
    assert (near["mtu"], near["disable_ipv6"], near["arp_ignore"]) == (1300, 1, 8)
    assert (beyond["tx_checksum"], beyond["tso"], beyond["gso"]) == (0, 0, 0)
    for name in (NEAR, FAR):
        ip("-n", name, "link", "set", "eth0", "mtu", "1300")
    length = 100_000
    script = (
        "import socket\n"
        "s=socket.create_server(('10.99.0.2',7001))\n"
        "print('up',flush=True)\n"
        "c,_=s.accept()\n"
        "n=0\n"
        "while d:=c.recv(65536): n+=len(d)\n"
        "print(n)\n"
    )
    words = inside(FAR, sys.executable, "-c", script)
    server = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None and server.stdout.readline() == "up\n"
    send = (
        "import socket,time\n"
        "t=time.monotonic()\n"
        "s=socket.create_connection(('10.99.0.2',7001))\n"
        "print(time.monotonic()-t)\n"
        f"s.sendall(bytes({length}))\n"
    )
    words = inside(NEAR, sys.executable, "-c", send)
    sent = subprocess.run(words, capture_output=True, text=True, timeout=30, check=True)
    assert float(sent.stdout) >= 0.040
    assert server.communicate(timeout=20)[0].strip() == str(length)
    code, out, _ = command.end()
    up = json.loads(out)["up"]
    assert code == 0 and up["bytes_out"] > length
    # Whole packets with their checksums crossed.
    assert up["drops"]["mtu"] == up["unchecked"] == 0
    after = states()
    # These two are the test's own doing.
    for one in after[2:]:
        assert one.pop("mtu") == 1300
    for one in before[2:]:
        one.pop("mtu")
    assert after == before


def test_a_command_that_was_killed_leaves_nothing_changed(
    file_service: tuple[str, str], run: Run, tmp_path: Path
) -> None:
    before = states()
    command = run(PROFILE, *file_service)
    command.wait_until_open()
    changed = states()
    assert [one["gro"] for one in changed[:2]] == [0, 0] and changed != before
    command.end(signal.SIGKILL)
    state = tmp_path / "pentathlon"
    # Somebody else's change in the meantime stays.
    ip("link", "set", f"{NEAR}0", "mtu", "1450")
    assert leftovers(state)
    notes = restore_leftovers(state)
    assert any("mtu is 1450" in line for line in notes)
    after = states()
    assert after[0].pop("mtu") == 1450
    before[0].pop("mtu")
    assert after == before
    assert leftovers(state) == []


@pytest.mark.parametrize(
    ("ends", "message"),
    [
        (("penttap0", "pentnone"), 'there is no interface "pentnone"'),
        (("penttap0", "nowhere/eth0"), 'there is no network namespace "nowhere"'),
        (("penttap0", "penttap0"), "both ends are the interface penttap0"),
        (("penttap0", "lo"), "carries no Ethernet frames"),
        (("penttap0", "penttun0"), "whose IP packets have no Ethernet header"),
        (("penttap0", "pentdown"), "is down; first: ip link set pentdown up"),
        (("penttap0", "pentaddr"), "has the address 10.98.0.1"),
        (("pentveth0", "pentveth1"), "the two ends of one cable"),
    ],
)
def test_what_cannot_be_an_end_is_refused_in_one_sentence(
    ends: tuple[str, str], message: str, device: Open
) -> None:
    device("penttap0")
    device("penttun0", IFF_TUN)
    device("pentdown")
    ip("link", "set", "pentdown", "down")
    device("pentaddr")
    ip("addr", "add", "10.98.0.1/24", "dev", "pentaddr")
    ip("link", "add", "pentveth0", "type", "veth", "peer", "name", "pentveth1")
    try:
        for name in ("pentveth0", "pentveth1"):
            ip("link", "set", name, "up")
        with pytest.raises(EndError) as refused:
            check([find(name) for name in ends])
    finally:
        ip("link", "del", "pentveth0")
    assert message in str(refused.value)


def test_an_interface_is_the_end_of_one_link_only(device: Open, run: Run) -> None:
    for name in ("penttap0", "penttap1", "penttap2"):
        device(name)
    run(PROFILE, "penttap0", "penttap1").wait_until_open()
    code, _, err = run(PROFILE, "penttap2", "penttap1", "--seconds", "1").end(None)
    assert code == 2 and "penttap1 is the end of another link in use" in err


def test_bad_input_is_one_sentence(run: Run) -> None:
    for profile, words, output in (
        (PROFILE, ["penttap0", "pentnone"], 'there is no interface "penttap0"'),
        (PROFILE, ["a", "b", "--seconds", "0"], "it must be more than 0"),
        ("[both]\nrate_kbit = -1\n", ["a", "b"], "rate_kbit"),
    ):
        code, out, err = run(profile, *words).end(None)
        assert (code, out) == (2, "") and output in err and len(err.strip().splitlines()) == 1


def test_settings_of_an_interface_that_is_gone_need_nothing(device: Open) -> None:
    one = device("penttap0")
    place, found = interfaces.OWN, interfaces.settings(interfaces.OWN, "penttap0")
    before: dict[str, Any] = {"mtu": found["mtu"]}
    entry = interfaces.entry(place, "penttap0", found["index"], before, {"mtu": 1300})
    one.close()
    assert interfaces.put_back(entry) is None
    # Another interface that has its name by now is not touched.
    device("penttap0", IFF_TAP, 1300)
    assert interfaces.put_back(entry) is None
    assert interfaces.settings(place, "penttap0")["mtu"] == 1300
