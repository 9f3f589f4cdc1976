"""Virtual machines of QEMU: every kernel that was fetched, with the real agent."""

import json
import lzma
import os
import shutil
import signal
import stat
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine import processes
from pentathlon.machine.cache import RECORD, sha256
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.targets.capabilities import Card
from pentathlon.targets.contract import Session
from pentathlon.targets.qemu import doctor as qemu_doctor
from pentathlon.targets.qemu import initramfs, kernels, modules, shares
from pentathlon.targets.qemu import target as qemu_target
from pentathlon.targets.qemu.target import KvmTarget, QemuTarget, version
from pentathlon.targets.session import ProcessSession
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSettings, FakeSystem, burst, descendants, large, spin

BOOT_S = 120.0

HERE = [name for name in kernels.known() if kernels.present(name)] if version() else []
KERNELS = [pytest.param(name, id=name) for name in HERE] or [
    pytest.param(
        None,
        marks=pytest.mark.skip(reason="no QEMU or no kernel; run `pentathlon doctor --install`"),
    )
]
each_kernel = pytest.mark.parametrize("kernel", KERNELS)
one_kernel = pytest.mark.parametrize("kernel", KERNELS[:1])


def target(kernel: str, agent: Path, state: Path, **options: Any) -> QemuTarget:
    made = make_target(FakeSystem(target="qemu", kernel=kernel, **options), agent, state)
    assert isinstance(made, QemuTarget)
    try:
        made.prepare()
    except TargetUnavailable as error:
        pytest.skip(error.reason)
    return made


def serve(session: Session, **parameters: Any) -> list[dict[str, Any]]:
    return documents(session.run(spin(**parameters), 60, 120))


def booted(made: QemuTarget) -> Session:
    """A boot; one that panics is tried again, as a study does (docs/targets.md states when)."""
    for _ in range(9):
        try:
            return made.boot(BOOT_S)
        except TargetError as error:
            if not any(word in str(error) for word in ("panic", "RIP", "Kernel Offset")):
                raise
    return made.boot(BOOT_S)


def checksums(events: list[dict[str, Any]]) -> set[str]:
    return {event["checksum"] for event in events if event["event"] == "sample"}


@each_kernel
def test_a_kernel_boots_and_computes_the_same_as_the_host(
    kernel: str, real_agent: Path, state: Path
) -> None:
    with make_target(FakeSystem(), real_agent, state).boot(BOOT_S) as session:
        host = checksums(serve(session))
    made = target(kernel, real_agent, state)
    with booted(made) as session:
        assert "ready" in session.boot_log
        events = documents(session.run(spin().model_copy(update={"inventory": True}), 60, 120))
    assert events[-1]["errors"] == 0
    assert checksums(events) == host
    system = next(event for event in events if event["event"] == "inventory")["system"]
    assert system["kernel"]["release"] == made.describe()["kernel"]
    assert system["virtualization"]["layer"] == made.layer == "tcg"
    if Path("/proc/self/schedstat").exists():
        waited = [event["counters"]["run_delay_ns"] for event in events if "counters" in event]
        assert waited
        assert all(type(one) is int and one >= 0 for one in waited)


@one_kernel
def test_a_large_request_reaches_the_guest(kernel: str, real_agent: Path, state: Path) -> None:
    with target(kernel, real_agent, state).boot(BOOT_S) as session:
        events = documents(session.run(large(20), 60, 300))
    assert events[-1]["errors"] == 20


@one_kernel
def test_a_boot_that_is_too_slow_is_ended(
    kernel: str, real_agent: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = target(kernel, real_agent, state)
    command = made.command
    # -S: the guest's CPUs do not start.
    monkeypatch.setattr(made, "command", lambda *words, **given: [*command(*words, **given), "-S"])
    with pytest.raises(TargetError, match="limit is over"):
        made.boot(0.3)
    assert not descendants()


@one_kernel
def test_a_guest_that_hangs_is_ended(kernel: str, real_agent: Path, state: Path) -> None:
    with (
        target(kernel, real_agent, state).boot(BOOT_S) as session,
        pytest.raises(TargetError, match="no event came for 1 s"),
    ):
        documents(session.run(spin(sample_ms=60_000.0, warmup=0), 1.0, 120))
    assert not descendants()


@one_kernel
def test_a_guest_that_is_killed_says_so(kernel: str, real_agent: Path, state: Path) -> None:
    with target(kernel, real_agent, state).boot(BOOT_S) as session:
        assert isinstance(session, ProcessSession)
        with pytest.raises(TargetError, match="ended by signal 9"):
            for _, event in session.run(burst(), 60, 120):
                if event["event"] == "progress":
                    processes.kill(session.pid, signal.SIGKILL)


@one_kernel
def test_a_first_process_that_is_no_program_is_reported_with_the_kernels_words(
    kernel: str, real_agent: Path, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = tmp_path / "bad-agent"
    bad.write_text("this is no program\n")
    made = target(kernel, real_agent, state)
    made.agent_path = bad
    monkeypatch.setattr("pentathlon.targets.guest.check_agent", lambda path: None)
    with pytest.raises(TargetError, match=r"(?s)before \"done\".*(panic|init|Kernel Offset)"):
        made.boot(BOOT_S)


def kernel_file(tmp_path: Path) -> Path:
    """A file that begins as a bootable kernel does (kernel documentation, arch/x86/boot)."""
    file = tmp_path / "bzImage"
    file.write_bytes(b"\0" * 0x202 + b"HdrS")
    return file


def test_an_own_kernel_is_a_file(tmp_path: Path) -> None:
    assert kernels.resolve(str(kernel_file(tmp_path))).release == "bzImage"
    (tmp_path / "text").write_text("no kernel")
    with pytest.raises(TargetUnavailable, match="is no bootable kernel"):
        kernels.resolve(str(tmp_path / "text"))


def test_a_missing_kernel_names_the_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(TargetUnavailable) as caught:
        kernels.resolve("6.1-rt")
    assert caught.value.remedy == 'pentathlon doctor --install --only "qemu 6.1-rt"'
    with pytest.raises(TargetUnavailable, match=r'no kernel "4\.99" .* 6\.1-cloud'):
        kernels.resolve("4.99")


def test_kvm_is_another_layer_and_another_command(tmp_path: Path, state: Path) -> None:
    file = str(kernel_file(tmp_path))
    agent = tmp_path / "agent"
    tcg = make_target(FakeSystem(target="qemu", kernel=file), agent, state)
    kvm = make_target(FakeSystem(target="qemu", kernel=file, accelerator="kvm"), agent, state)
    assert isinstance(tcg, QemuTarget) and isinstance(kvm, KvmTarget)
    assert (tcg.layer, kvm.layer) == ("tcg", "kvm")
    assert tcg.accelerator()[1] == "tcg,thread=multi" and kvm.accelerator()[1] == "kvm"


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "names no kernel"),
        ({"kernel": "6.1", "scratch": "/dev/shm"}, 'directory "/dev/shm", which a guest does not'),
        ({"kernel": "6.1", "settings": FakeSettings({"nice": 1})}, "has settings, which are for"),
    ],
)
def test_wrong_options_are_one_sentence(
    options: dict[str, Any], match: str, tmp_path: Path, state: Path
) -> None:
    with pytest.raises(TargetError, match=match):
        make_target(FakeSystem(target="qemu", **options), tmp_path / "agent", state)


def module(*needs: str) -> bytes:
    """As much of a module as is read: the strings of its section .modinfo."""
    return b"\x7fELF\0license=GPL\0depends=" + ",".join(needs).encode() + b"\0name=x\0"


def test_modules_come_after_what_they_need(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "a" / "virtio-top.ko").write_bytes(module("virtio_ring", "virtio"))
    (tmp_path / "a" / "virtio_ring.ko.xz").write_bytes(lzma.compress(module("virtio")))
    (tmp_path / "virtio.ko").write_bytes(module())
    (tmp_path / "unwanted.ko").write_bytes(module("virtio"))
    found = modules.collect(tmp_path, ["virtio_top", "built_in"])
    assert list(found) == ["virtio", "virtio_ring", "virtio_top"]
    assert found["virtio_ring"] == module("virtio")


def test_modules_that_need_each_other_are_refused() -> None:
    with pytest.raises(TargetError, match="need each other: a, b, a"):
        modules.order(["a"], {"a": ["b"], "b": ["a"]})


def test_the_archive_is_what_cpio_says(tmp_path: Path) -> None:
    """The system's cpio(1) is the independent reader."""
    if shutil.which("cpio") is None:
        pytest.skip("cpio is not installed")
    agent = tmp_path / "agent"
    agent.write_bytes(b"the agent's bytes")
    (tmp_path / "modules").mkdir()
    (tmp_path / "modules" / "one.ko").write_bytes(module())
    kernel = kernels.Kernel("r", tmp_path / "k", tmp_path / "modules", {})
    archive = initramfs.build(kernel, agent, ["one"])
    command = ["cpio", "-id", "--quiet", "--no-preserve-owner"]
    out = tmp_path / "out"
    out.mkdir()
    words = ["-f", "dev/console"]  # only root may make a device
    subprocess.run([*command, *words], input=archive, cwd=out, check=True)
    assert (out / "pentathlon-agent").read_bytes() == b"the agent's bytes"
    assert (out / "pentathlon-agent").stat().st_mode == stat.S_IFREG | 0o755
    assert (out / "modules" / "order").read_text() == "/modules/one.ko\n"
    assert (out / "proc").is_dir()
    listed = subprocess.run(
        ["cpio", "-itv", "--quiet"], input=archive, capture_output=True, check=True
    )
    assert b"5,   1" in listed.stdout and b"dev/console" in listed.stdout


def fetched(cache: Path, parts: list[str]) -> kernels.Kernel:
    """A kernel in an empty cache, for which these modules were looked for."""
    place = cache / "pentathlon" / "kernels" / "qemu-6.1"
    (place / "modules").mkdir(parents=True)
    (place / "vmlinuz").write_bytes(b"a kernel")
    digest = sha256(place / "vmlinuz")
    record = {"release": "6.1.0-1-amd64", "parts": parts, "sha256": digest}
    (place / RECORD).write_text(json.dumps(record))
    found = kernels.present("6.1")
    assert found is not None
    return found


def test_a_kernel_that_was_fetched_with_fewer_modules_is_completed_before_it_serves_files(
    tmp_path: Path, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    kernel = fetched(tmp_path, ["virtio_net"])
    assert kernels.lacks(kernel, modules.FILES) and not kernels.lacks(kernel, ["virtio_net"])
    made = make_target(FakeSystem(target="qemu", kernel="6.1"), tmp_path / "agent", state)
    assert isinstance(made, QemuTarget)
    monkeypatch.setattr(made, "_prepared", lambda: kernel)
    monkeypatch.setattr(shares, "check", lambda: None)
    with pytest.raises(TargetUnavailable, match="without the modules by which it sees") as caught:
        made.start_host(1.0, None, [Card(0, "02:00:00:00:00:00")], [tmp_path])
    assert caught.value.remedy == 'pentathlon doctor --install --only "qemu 6.1"'
    again: list[str] = []
    monkeypatch.setattr(kernels, "fetch", lambda name, log: again.append(name) or kernel)
    qemu_doctor.get_kernel("6.1", again.append)
    assert again == ["6.1"]


def test_a_kernel_of_ones_own_has_built_in_what_it_needs(tmp_path: Path) -> None:
    assert not kernels.lacks(kernels.resolve(str(kernel_file(tmp_path))), modules.FILES)


def test_a_program_that_is_to_write_nothing_can_write_nowhere(tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("mounts of one's own need root")
    inner = tmp_path / "inner"
    inner.mkdir()
    script = f"""
        mount -t tmpfs tmpfs {inner} || exit 9
        {sys.executable} -I {shares.READ_ONLY} /bin/sh -c \
            'touch {inner}/a; touch {tmp_path}/b; exit 7'
        echo $?; touch {inner}/c && touch {tmp_path}/d && ls {inner}
    """
    command = ["unshare", "--mount", "/bin/sh", "-c", script]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["7", "c"]
    assert done.stderr.count("Read-only file system") == 2
    assert (tmp_path / "d").exists() and not (tmp_path / "b").exists()


def test_a_server_of_directories_that_is_missing_names_its_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(shares, "PROGRAM", tmp_path / "virtiofsd")
    with pytest.raises(TargetUnavailable, match="virtiofsd is not installed") as caught:
        shares.check()
    assert caught.value.remedy == "sudo apt-get install qemu-system-common"


@one_kernel
def test_the_servers_of_directories_end_with_their_machine(
    kernel: str, real_agent: Path, state: Path, tmp_path: Path
) -> None:
    made = target(kernel, real_agent, state)
    if kernels.lacks(kernels.resolve(kernel), modules.FILES) or os.geteuid() != 0:
        pytest.skip("the kernel lacks modules, or this user may make no mounts")
    with Path(os.devnull).open() as no_tap, pytest.raises(TargetError, match="TUNGETIFF"):
        made.start_host(60.0, None, [Card(no_tap.fileno(), "02:00:00:00:00:00")], [tmp_path])
    assert not descendants()


@one_kernel
def test_what_keeps_a_directory_from_being_served_is_told(
    kernel: str, real_agent: Path, state: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = target(kernel, real_agent, state)
    if kernels.lacks(kernels.resolve(kernel), modules.FILES):
        pytest.skip("the kernel lacks modules")
    refuses = tmp_path / "refuses.py"
    refuses.write_text("import sys; sys.exit('files cannot be made read-only')")
    monkeypatch.setattr(shares, "READ_ONLY", refuses)
    card = Card(0, "02:00:00:00:00:00")
    monkeypatch.setattr(qemu_target, "card_words", lambda card, place: [])
    with pytest.raises(TargetError, match="a server of its files: files cannot be made read-only"):
        made.start_host(60.0, None, [card], [tmp_path])
    with pytest.raises(TargetError, match="because of the blank"):
        made.start_host(60.0, None, [card], [tmp_path / "two words"])
    assert not descendants()
