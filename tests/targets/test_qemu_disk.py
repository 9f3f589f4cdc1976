"""Disk images of the user's own: a program in QEMU's place leads to a real ssh server, so that
everything but the virtual machine itself is what a study does."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine import processes
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.study.load import load_study
from pentathlon.study.problems import StudyError
from pentathlon.targets.qemu import disk
from pentathlon.targets.qemu.disk import DiskTarget, KvmDiskTarget, image_format
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSettings, FakeSystem, connections_ended, descendants, spin
from tests.targets.sshd import Sshd

BOOT_S = 60.0

RELAY = """\
#!{python}
import re, socket, sys, threading
words = " ".join(sys.argv[1:])
open({place!r}, "w").write(words)
open(re.search(r"file:(\\S*console)", words)[1], "w").write("it boots\\r\\n")
server = socket.create_server(("127.0.0.1", int(re.search(r"127\\.0\\.0\\.1:(\\d+)-", words)[1])))
def copy(one, other):
    try:
        while data := one.recv(65536):
            other.sendall(data)
        other.shutdown(socket.SHUT_WR)
    except OSError:
        pass
while True:
    one, _ = server.accept()
    try:
        other = socket.create_connection(("127.0.0.1", {port}))
    except OSError:
        one.close()
        continue
    for pair in ((one, other), (other, one)):
        threading.Thread(target=copy, args=pair, daemon=True).start()
"""


class Machine:
    """A disk image, and the program in QEMU's place."""

    def __init__(self, place: Path, server: Sshd) -> None:
        self.server = server
        self.image = place / "an image, of mine.qcow2"
        self.image.write_bytes(b"QFI\xfb" + bytes(64))
        self.words = place / "words"
        self.program = place / "bin" / "qemu-system-x86_64"
        self.program.parent.mkdir()
        self.runs(RELAY.format(python=sys.executable, place=str(self.words), port=server.port))

    def runs(self, script: str) -> None:
        self.program.write_text(script)
        self.program.chmod(0o755)

    def target(self, agent: Path, state: Path, **own: Any) -> DiskTarget:
        fields = {"image": str(self.image), "key": str(self.server.directory / "key"), **own}
        system = FakeSystem(target="qemu", cpus=(0,))
        # The model has keys that one kind alone knows as attributes too.
        object.__setattr__(system, "disk", {k: v for k, v in fields.items() if v is not None})
        made = make_target(system, agent, state)
        assert isinstance(made, DiskTarget)
        return made


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Machine]:
    server = Sshd(tmp_path / "sshd")
    there = tmp_path / "there"
    there.mkdir()
    server.set_variables(TMPDIR=str(there))
    before = descendants()
    server.start()
    made = Machine(tmp_path, server)
    monkeypatch.setenv("PATH", f"{made.program.parent}:{os.environ['PATH']}")
    monkeypatch.setattr(disk, "POLL_S", 0.05)
    yield made
    server.stop()
    connections_ended(before)


def test_an_image_is_measured_and_leaves_nothing(
    machine: Machine, real_agent: Path, state: Path, tmp_path: Path
) -> None:
    before = descendants()
    made = machine.target(real_agent, state, port=2222)
    made.prepare()
    options = made.describe()["options"]
    assert options["image"] == machine.image.name and len(options["image_sha256"]) == 64
    with made.boot(BOOT_S) as session:
        samples = [e for e in documents(session.run(spin(), 60, 120)) if e["event"] == "sample"]
        assert samples and "it boots" in session.boot_log and session.boot_seconds > 0
        words = machine.words.read_text()
        own = Path(words.partition("file:")[2].split()[0]).parent
        assert own.is_dir()
    assert f"format=qcow2,snapshot=on,file={tmp_path}/an image,, of mine.qcow2" in words
    assert "restrict=on,hostfwd=tcp:127.0.0.1:" in words and "-:2222" in words
    assert "virtio-blk-pci" in words and "pflash" not in words
    assert not own.exists() and not list(state.rglob("*.journal"))
    assert descendants() <= before
    assert "it boots" in session.boot_log
    session.stop()


def test_a_session_that_fails_ends_the_machine(
    machine: Machine, real_agent: Path, state: Path
) -> None:
    before = descendants()
    session = machine.target(real_agent, state).boot(BOOT_S)
    events = session.run(spin(iterations=100_000), 60, 120)
    next(events)
    [qemu] = [one for one in descendants() - before if _runs(one, machine.program)]
    os.kill(qemu, 9)
    with pytest.raises(TargetError, match="broke"):
        list(events)
    assert descendants() <= before


def test_what_ends_at_once_is_one_sentence_with_its_words(
    machine: Machine, real_agent: Path, state: Path
) -> None:
    machine.runs("#!/bin/sh\necho 'no such accelerator' >&2\nexit 1\n")
    with pytest.raises(TargetError, match=r"QEMU has ended; its last lines: no such accelerator$"):
        machine.target(real_agent, state).boot(BOOT_S)


def test_a_port_that_was_taken_meanwhile_is_another_one_next_time(
    machine: Machine, real_agent: Path, state: Path, tmp_path: Path
) -> None:
    relay = machine.program.read_text()
    (tmp_path / "relay").write_text(relay)
    once = tmp_path / "once"
    machine.runs(
        f'#!/bin/sh\n[ -e {once} ] && exec {sys.executable} {tmp_path}/relay "$@"\n'
        f"touch {once}\necho \"Could not set up host forwarding rule 'hostfwd'\" >&2\nexit 1\n"
    )
    with machine.target(real_agent, state).boot(BOOT_S):
        assert once.exists() and machine.words.exists()


def test_a_refused_login_names_what_to_add(machine: Machine, real_agent: Path, state: Path) -> None:
    (machine.server.directory / "authorized_keys").write_text("")
    before = descendants()
    with pytest.raises(TargetError, match='name a login in disk, such as user = "root"'):
        machine.target(real_agent, state).boot(BOOT_S)
    assert descendants() <= before


def test_a_machine_without_a_server_fails_within_its_time(
    machine: Machine, real_agent: Path, state: Path
) -> None:
    machine.server.stop()
    with pytest.raises(TargetError, match=r"no login with ssh within the time .*it boots"):
        machine.target(real_agent, state).boot(2.0)


@pytest.mark.parametrize(
    ("own", "reason"),
    [
        ({"image": "/nowhere.img"}, "the disk image /nowhere.img is no file"),
        ({"key": "/nowhere"}, "the private key /nowhere is not there"),
    ],
)
def test_what_is_missing_is_unavailable(
    machine: Machine, real_agent: Path, state: Path, own: dict[str, str], reason: str
) -> None:
    with pytest.raises(TargetUnavailable, match=reason):
        machine.target(real_agent, state, **own).prepare()


def test_firmware_that_is_missing_names_its_package(
    machine: Machine, real_agent: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(disk, "FIRMWARE", {"x86_64": ("/no/code", "/no/variables", "ovmf")})
    with pytest.raises(TargetUnavailable) as caught:
        machine.target(real_agent, state, firmware="uefi").prepare()
    assert "/no/code" in str(caught.value) and caught.value.remedy == "sudo apt-get install ovmf"


def test_words_of_other_machines(machine: Machine, state: Path, real_agent: Path) -> None:
    emulated = machine.target(real_agent, state, devices="emulated", memory=None)
    words = emulated.command(machine.image.parent, 1)
    assert "ide-hd,drive=disk" in words and "e1000,netdev=net" in words
    with pytest.raises(TargetError, match='a machine of aarch64 has "uefi"'):
        machine.target(real_agent, state, machine="aarch64", firmware="bios")
    assert machine.target(real_agent, state, machine="aarch64").firmware == "uefi"


def test_kvm_is_for_the_processor_of_this_machine(tmp_path: Path, real_agent: Path) -> None:
    image = tmp_path / "x.img"
    image.write_bytes(b"raw")
    system = FakeSystem(target="qemu", accelerator="kvm", settings=FakeSettings())
    object.__setattr__(system, "disk", {"image": str(image), "machine": "aarch64"})
    made = make_target(system, real_agent, tmp_path)
    assert isinstance(made, KvmDiskTarget) and made.layer == "kvm"
    if os.uname().machine == "x86_64":
        with pytest.raises(TargetUnavailable, match="the processor runs the guest"):
            made.prepare()


@pytest.mark.parametrize(
    ("head", "name"),
    [
        (b"QFI\xfb", "qcow2"),
        (b"KDMV", "vmdk"),
        (b"vhdxfile", "vhdx"),
        (b"<<< QEMU VM Virtual Disk Image >>>", "vdi"),
        (b"\xeb\x3c", "raw"),
        (b"", "raw"),
    ],
)
def test_the_format_is_read_and_not_guessed(tmp_path: Path, head: bytes, name: str) -> None:
    (tmp_path / "image").write_bytes(head)
    assert image_format(tmp_path / "image") == name


STUDY = """\
name = "s"
reference = "a"
[[system]]
name = "a"
target = "qemu"
{own}
[[suite]]
name = "s"
workloads = ["process.getpid"]
"""


@pytest.mark.parametrize(
    ("own", "problem"),
    [
        ("", 'kernel: is missing; add kernel = "6.1"'),
        ('kernel = "6.1"\ndisk = { image = "/x" }', "is for a system without disk; leave it out"),
        ('disk = { images = "/x" }', 'unknown key; did you mean "image"?'),
        ("disk = {}", "image"),
        ('disk = { image = "/x", firmware = "efi" }', '"efi" is not known; use "bios" or "uefi"'),
    ],
)
def test_what_a_study_file_cannot_say(tmp_path: Path, own: str, problem: str) -> None:
    (tmp_path / "s.toml").write_text(STUDY.format(own=own))
    with pytest.raises(StudyError) as caught:
        load_study(tmp_path / "s.toml", None)
    assert problem in str(caught.value).replace("\n", " ")


def _runs(pid: int, program: Path) -> bool:
    words = (processes.PROC / str(pid) / "cmdline").read_bytes().split(b"\0")
    return str(program).encode() in words
