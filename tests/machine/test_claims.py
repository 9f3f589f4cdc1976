"""Locks on CPUs: one holder at a time, named to the next one, given back by the kernel."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from pentathlon.experiments.systems import make_target
from pentathlon.machine.claims import DIRECTORY, Busy, Claims, lock_directory
from pentathlon.machine.cpus import AVAILABLE
from pentathlon.machine.errors import TargetError
from pentathlon.machine.whole_machine import RIGHT
from pentathlon.machine.whole_machine import everything as wholemachine
from pentathlon.study.system import System

HOLD = """
import sys
from pathlib import Path
from pentathlon.machine.claims import Claims
claims = Claims(Path(sys.argv[1]))
claims.take("the first", sys.argv[2:])
print("held", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def locks(tmp_path: Path) -> Path:
    directory = tmp_path / "locks"
    directory.mkdir()
    return directory


def holder(directory: Path, *names: str) -> subprocess.Popen[str]:
    process = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(directory), *names],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None and process.stdout.readline() == "held\n"
    return process


def test_a_second_one_is_refused_and_names_the_first(locks: Path) -> None:
    first = holder(locks, "CPU 0", "CPU 1")
    try:
        with Claims(locks) as claims:
            with pytest.raises(Busy) as caught:
                claims.take("the second", ["CPU 1", "CPU 2"])
            text = str(caught.value)
            assert f'CPU 1 is taken by the run of study "the first" (process {first.pid})' in text
            assert "\n" not in text
            with Claims(locks) as third:
                third.take("the third", ["CPU 2"])  # nothing of a refused claim is held
    finally:
        first.kill()
        first.communicate()


def test_the_kernel_gives_it_back_when_the_holder_is_killed(locks: Path) -> None:
    first = holder(locks, "CPU 0")
    first.send_signal(signal.SIGKILL)
    first.communicate()
    with Claims(locks) as claims:
        claims.take("the second", ["CPU 0"])
        [file] = locks.iterdir()
        assert json.loads(file.read_text()) == {"study": "the second", "pid": os.getpid()}


def test_a_wait_ends_with_the_holder(locks: Path) -> None:
    first = holder(locks, "CPU 0")
    sentences: list[str] = []

    def waiting(sentence: str) -> None:
        sentences.append(sentence)
        assert first.stdin is not None
        first.stdin.close()

    with Claims(locks, waiting) as claims:
        claims.take("the second", ["CPU 0"])
        assert first.wait(30) == 0
    assert first.stdout is not None
    first.stdout.close()
    assert len(sentences) == 1 and 'study "the first"' in sentences[0] and "waiting" in sentences[0]


def test_what_is_held_is_taken_once_and_given_back(locks: Path) -> None:
    with Claims(locks) as claims:
        claims.take("a", ["CPU 0"])
        claims.take("a", ["CPU 0", "CPU 1"])
        with pytest.raises(Busy):
            Claims(locks).take("b", ["CPU 1"])
        claims.release()
        with Claims(locks) as other:
            other.take("b", ["CPU 1"])


def test_what_is_wanted_again_is_kept(locks: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that waits for a CPU must not get it between the pilot and the study."""
    with Claims(locks) as claims:
        claims.change("pilot", ["CPU 0", "CPU 1"])
        with monkeypatch.context() as patched:
            patched.setattr(fcntl, "flock", lambda *_: pytest.fail("it was given back"))
            claims.change("study", ["CPU 0"])
        with Claims(locks) as other:
            other.take("b", ["CPU 1"])
            with pytest.raises(Busy):
                other.take("b", ["CPU 0"])
            with pytest.raises(Busy):
                claims.change("study", ["CPU 0", "CPU 1"])
            other.take("b", ["CPU 0"])  # nobody holds a part while it waits for the rest


def test_every_user_can_take_a_lock_that_another_one_made(locks: Path) -> None:
    before = os.umask(0o077)
    try:
        with Claims(locks) as claims:
            claims.take("a", ["CPU 0"])
    finally:
        os.umask(before)
    [file] = locks.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o666


@pytest.mark.parametrize("text", ["", "no JSON", "[]", '{"study": "x"}', '{"study": 1, "pid": []}'])
def test_a_lock_file_with_anything_in_it(locks: Path, text: str) -> None:
    with Claims(locks) as claims:
        claims.take("a", ["CPU 0"])
        [file] = locks.iterdir()
        file.write_text(text)
        with pytest.raises(Busy, match="CPU 0 is taken by another run; "):
            Claims(locks).take("b", ["CPU 0"])


def test_what_another_user_wrote_reaches_no_terminal_as_it_is(locks: Path) -> None:
    with Claims(locks) as claims:
        claims.take("\x1b[31m\nred" + "x" * 500, ["CPU 0"])
        with pytest.raises(Busy) as caught:
            Claims(locks).take("b", ["CPU 0"])
        assert "\x1b" not in str(caught.value) and "\n" not in str(caught.value)
        assert len(str(caught.value)) < 400


@pytest.mark.parametrize("kind", ["link", "directory", "fifo"])
def test_what_is_no_regular_file_is_refused_in_a_sentence(locks: Path, kind: str) -> None:
    path = locks / "pentathlon-cpu-0.lock"
    if kind == "link":
        path.symlink_to(locks / "elsewhere")
    elif kind == "directory":
        path.mkdir()
    else:
        os.mkfifo(path)
    with pytest.raises(TargetError, match=f"{DIRECTORY}"):
        Claims(locks).take("a", ["CPU 0"])
    assert not (locks / "elsewhere").exists()


def test_names_that_read_alike_are_locked_apart(locks: Path) -> None:
    with Claims(locks) as claims:
        claims.take("a", ["the machine bench-1", "the machine bench.1", "CPU 1", "CPU 11"])
    assert len(list(locks.iterdir())) == 4


def test_the_holder_of_the_whole_machine_is_named_with_its_directory(locks: Path) -> None:
    with Claims(locks) as claims:
        claims.take("owner", [RIGHT, "CPU 0"])
        claims.work_in(Path("/results") / "x\x1b[2J\nyz")
        with pytest.raises(Busy) as caught:
            Claims(locks).take("b", ["CPU 0"])
        assert f'by the run of study "owner" (process {os.getpid()}, /results/x[2Jyz); ' in str(
            caught.value
        )
        assert "that run may change settings of the whole machine" in str(caught.value)
        with pytest.raises(Busy, match=r"^the right to change this machine's settings is taken"):
            Claims(locks).take("b", ["CPU 0", RIGHT])


@pytest.mark.parametrize("pid", ["Infinity", "1e400", '"x"', "1" * 5000, "[" * 4000])
def test_a_lock_file_that_cannot_be_a_holder(locks: Path, pid: str) -> None:
    with Claims(locks) as claims:
        claims.take("a", ["CPU 0"])
        [file] = locks.iterdir()
        file.write_text(f'{{"study": "x", "pid": {pid}}}')
        with pytest.raises(Busy, match="CPU 0 is taken by another run; "):
            Claims(locks).take("b", ["CPU 0"])


def test_the_directory_is_one_for_all_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(DIRECTORY)
    monkeypatch.setenv("TMPDIR", "/nowhere")
    assert lock_directory() in (Path("/run/lock"), Path("/tmp"))


def test_what_targets_occupy(tmp_path: Path) -> None:
    def occupied(**fields: object) -> frozenset[str]:
        system = System.model_validate({"name": "sut", "target": "local", **fields})
        return make_target(system, tmp_path, tmp_path).occupies()

    everything = {f"CPU {cpu}" for cpu in AVAILABLE}
    assert occupied() == everything, "without a CPU of its own a system may run on each"
    assert occupied(cpus=(-1,)) == {f"CPU {max(AVAILABLE)}"}
    assert occupied(target="uml", kernel="newest") == {f"CPU {max(AVAILABLE)}"}
    ssh = {"host": "bench", "port": 2222}
    assert occupied(target="ssh", ssh=ssh, cpus=(0,)) == {"the machine bench:2222"}
    assert occupied(target="netns", cpus=(0,), peer={"cpus": [0]}) == {"CPU 0"}
    assert occupied(target="netns", cpus=(0,), peer={}) == everything
    for setting in ({"swappiness": 10}, {"aslr": 0}, {"tcp_congestion_control": "cubic"}):
        assert occupied(cpus=(0,), settings=setting) == {*everything, RIGHT} | wholemachine()
    own = {"tcp_congestion_control": "cubic", "nice": 1, "scheduler": "batch"}
    assert occupied(target="netns", cpus=(0,), settings=own) == {"CPU 0"}
    assert occupied(cpus=(0,), settings={"cpu_quota_percent": 50.0}) == {"CPU 0"}
    cable = {"interfaces": ["eth7"], "joined_to": ["eth0"], "link": "wan-10m-50ms", "cpus": [0]}
    far = {"target": "ssh", "ssh": {"host": "bench"}, **cable}
    lent = {"CPU 0", "the machine bench", "the interface eth7"}
    assert occupied(target="netns", cpus=(0,), peer=far) == lent
