"""User-mode Linux: every kernel that is on this machine, with the real agent."""

import signal
import time
from pathlib import Path
from typing import Any

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine import processes
from pentathlon.machine.errors import TargetError, TargetUnavailable
from pentathlon.targets.contract import Session
from pentathlon.targets.session import ProcessSession
from pentathlon.targets.uml import kernels
from pentathlon.targets.uml.target import UmlTarget
from tests.fakes.messages import documents
from tests.targets.conftest import FakeSettings, FakeSystem, burst, descendants, large, spin

BOOT_S = 60.0


def available() -> list[kernels.Kernel]:
    return kernels.available()


KERNELS = [pytest.param(kernel, id=kernel.version) for kernel in available()]
if not KERNELS:
    KERNELS = [
        pytest.param(
            None, marks=pytest.mark.skip(reason="no kernel here; run `pentathlon doctor --install`")
        )
    ]
each_kernel = pytest.mark.parametrize("kernel", KERNELS)
one_kernel = pytest.mark.parametrize("kernel", KERNELS[-1:])


def target(kernel: kernels.Kernel, agent: Path, state: Path, **options: Any) -> UmlTarget:
    system = FakeSystem(target="uml", kernel=str(kernel.path), **options)
    made = make_target(system, agent, state)
    assert isinstance(made, UmlTarget)
    try:
        made.prepare()
    except TargetUnavailable as error:
        pytest.skip(error.reason)
    return made


def serve(session: Session, **parameters: Any) -> list[dict[str, Any]]:
    return documents(session.run(spin(**parameters), 60, 120))


def checksums(events: list[dict[str, Any]]) -> set[str]:
    return {event["checksum"] for event in events if event["event"] == "sample"}


@one_kernel
def test_a_guest_says_that_it_draws_nothing(
    kernel: kernels.Kernel, real_agent: Path, state: Path
) -> None:
    request = spin(id="graphics.noise", parameters={})
    with target(kernel, real_agent, state).boot(BOOT_S) as session:
        events = documents(session.run(request, 60, 120))
    (error,) = [event for event in events if event["event"] == "error"]
    assert error["kind"] == "unsupported"
    assert "guest has no graphics adapter" in error["reason"]


@pytest.mark.quick
@each_kernel
def test_a_kernel_boots_and_computes_the_same_as_the_host(
    kernel: kernels.Kernel, real_agent: Path, state: Path
) -> None:
    with make_target(FakeSystem(), real_agent, state).boot(BOOT_S) as session:
        host = checksums(serve(session))
    with target(kernel, real_agent, state).boot(BOOT_S) as session:
        assert session.boot_seconds > 0
        assert "ready" in session.boot_log
        events = documents(session.run(spin().model_copy(update={"inventory": True}), 60, 120))
    assert events[-1]["errors"] == 0
    assert checksums(events) == host
    assert len(host) == 1
    text = str(next(event for event in events if event["event"] == "inventory"))
    assert kernel.version in text
    if Path("/proc/self/schedstat").exists():
        waited = [event["counters"]["run_delay_ns"] for event in events if "counters" in event]
        assert waited
        assert all(type(one) is int and one >= 0 for one in waited)


@one_kernel
def test_seccomp_mode_boots_where_the_kernel_has_it(
    kernel: kernels.Kernel, real_agent: Path, state: Path
) -> None:
    if kernel.number < (7,):
        pytest.skip("only newer kernels have the mode")
    made = target(kernel, real_agent, state, uml_args=("seccomp=on",))
    assert made.describe()["options"]["arguments"] == ["seccomp=on"]
    with made.boot(BOOT_S) as session:
        assert serve(session)[-1]["errors"] == 0


@one_kernel
def test_a_large_request_reaches_the_guest(
    kernel: kernels.Kernel, real_agent: Path, state: Path
) -> None:
    with target(kernel, real_agent, state).boot(BOOT_S) as session:
        events = documents(session.run(large(20), 60, 300))
    assert events[-1]["errors"] == 20


@one_kernel
def test_two_guests_run_side_by_side(kernel: kernels.Kernel, real_agent: Path, state: Path) -> None:
    made = target(kernel, real_agent, state, memory="256M")
    with made.boot(BOOT_S) as first, made.boot(BOOT_S) as second:
        assert checksums(serve(first)) == checksums(serve(second))


@each_kernel
def test_a_boot_that_is_too_slow_is_ended(
    kernel: kernels.Kernel, real_agent: Path, state: Path
) -> None:
    # The kernel waits so many seconds before it mounts its root.
    made = target(kernel, real_agent, state, uml_args=("rootdelay=60",))
    with pytest.raises(TargetError, match="limit is over"):
        made.boot(0.15)
    assert not descendants()


@each_kernel
def test_a_guest_that_hangs_is_ended(kernel: kernels.Kernel, real_agent: Path, state: Path) -> None:
    with (
        target(kernel, real_agent, state).boot(BOOT_S) as session,
        pytest.raises(TargetError, match="no event came for 1 s"),
    ):
        documents(session.run(spin(sample_ms=60_000.0, warmup=0), 1.0, 120))
    assert not descendants()


@each_kernel
def test_a_guest_that_is_killed_says_so(
    kernel: kernels.Kernel, real_agent: Path, state: Path
) -> None:
    with target(kernel, real_agent, state).boot(BOOT_S) as session:
        assert isinstance(session, ProcessSession)
        leader = session.pid
        with pytest.raises(TargetError, match="ended by signal 9"):
            for _, event in session.run(burst(), 60, 120):
                if event["event"] == "sample":
                    processes.kill(leader, signal.SIGKILL)
        # A process of the guest that outlived its kernel would print to the host's own pipes.
        time.sleep(0.3)
        session.stop()
        assert not [line for line in session.boot_log if '"event":"sample"' in line]


@one_kernel
def test_a_first_process_that_is_no_program_is_reported_with_the_kernels_words(
    kernel: kernels.Kernel,
    real_agent: Path,
    state: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bad = tmp_path / "bad-agent"
    bad.write_text("this is no program\n")
    bad.chmod(0o755)
    made = target(kernel, real_agent, state)
    made.agent_path = bad
    monkeypatch.setattr("pentathlon.targets.guest.check_agent", lambda path: None)
    with pytest.raises(TargetError, match=r"(?s)before \"done\".*(panic|init)"):
        made.boot(BOOT_S)
    assert not descendants()


@each_kernel
def test_the_ptrace_wrapper_is_there_for_the_kernels_that_need_it(
    kernel: kernels.Kernel, real_agent: Path, state: Path
) -> None:
    with target(kernel, real_agent, state).boot(BOOT_S) as session:
        assert isinstance(session, ProcessSession)
        maps = Path(f"/proc/{session.pid}/maps").read_text()
    assert ("ptrace-shim" in maps) == (kernel.number < (7,))


@one_kernel
def test_a_guests_kernel_has_no_capability(
    kernel: kernels.Kernel, real_agent: Path, state: Path
) -> None:
    with target(kernel, real_agent, state).boot(BOOT_S) as session:
        assert isinstance(session, ProcessSession)
        status = Path(f"/proc/{session.pid}/status").read_text()
    sets = dict(line.split(":\t") for line in status.splitlines() if line.startswith("Cap"))
    assert {int(sets[name], 16) for name in ("CapEff", "CapPrm", "CapBnd", "CapInh")} <= {0}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({}, "names no kernel"),
        ({"kernel": "6.1", "cpus": (0, 1)}, "names 2 CPUs, but user-mode Linux has one"),
        ({"kernel": "6.1", "uml_args": ("mem=1G",)}, 'argument "mem=1G", which is not for'),
        ({"kernel": "6.1", "uml_args": ("con1=fd:0",)}, 'argument "con1=fd:0", which is not'),
        ({"kernel": "6.1", "scratch": "/dev/shm"}, 'directory "/dev/shm", which a guest does not'),
        ({"kernel": "6.1", "uml_args": ("a b",)}, 'argument "a b", which is not for'),
        ({"kernel": "6.1", "settings": FakeSettings({"nice": 1})}, "has settings, which are for"),
    ],
)
def test_wrong_options_are_one_sentence(
    options: dict[str, Any], match: str, tmp_path: Path, state: Path
) -> None:
    with pytest.raises(TargetError, match=match):
        make_target(FakeSystem(target="uml", **options), tmp_path / "agent", state)


def test_too_much_memory_is_unavailable(real_agent: Path, state: Path) -> None:
    if not available():
        pytest.skip("no kernel here")
    system = FakeSystem(target="uml", kernel=str(available()[0].path), memory="900000G")
    with pytest.raises(TargetUnavailable, match="free for the guest's memory of 900000G") as caught:
        make_target(system, real_agent, state).prepare()
    assert caught.value.remedy is not None


def test_a_dynamic_agent_is_refused(tmp_path: Path, state: Path) -> None:
    if not available():
        pytest.skip("no kernel here")
    system = FakeSystem(target="uml", kernel=str(available()[0].path))
    with pytest.raises(TargetUnavailable, match="is not a static program"):
        make_target(system, Path("/bin/ls"), state).prepare()


def test_a_missing_kernel_names_the_command(real_agent: Path, state: Path) -> None:
    made = make_target(FakeSystem(target="uml", kernel="4.99"), real_agent, state)
    assert made.describe()["kernel"] == "4.99 (not on this machine)"
    with pytest.raises(TargetUnavailable, match=r"no UML kernel 4\.99 here") as caught:
        made.prepare()
    assert caught.value.remedy is None


@pytest.mark.parametrize("wanted", ["6.1", "6.1.176", "newest", "9.4"])
def test_the_remedy_of_a_kernel_that_debian_has(
    wanted: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kernels, "available", list)
    with pytest.raises(TargetUnavailable) as caught:
        kernels.resolve(wanted)
    assert caught.value.remedy == "pentathlon doctor --install"
