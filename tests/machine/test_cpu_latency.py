"""Requests that keep the CPUs out of idle states."""

from __future__ import annotations

import struct
import subprocess
import sys
import time
from pathlib import Path

import pytest

from pentathlon.machine.cpu_latency import DEVICE, NO_LIMIT_US, CpuLatency, lack
from pentathlon.machine.errors import TargetUnavailable


def written(device: Path) -> list[int]:
    data = device.read_bytes()
    return [value for (value,) in struct.iter_unpack("=i", data)]


def test_a_change_is_written_and_only_a_change(tmp_path: Path) -> None:
    device = tmp_path / "device"
    device.touch()
    with CpuLatency(device) as request:
        for us in (None, 0, 0, None, None, 20):
            request.limit(us)
    assert written(device) == [0, NO_LIMIT_US, 20]
    assert lack(device) is None


def test_a_machine_without_requests_is_named(tmp_path: Path) -> None:
    absent = tmp_path / "absent"
    with pytest.raises(TargetUnavailable, match=f"this kernel has no {absent}"):
        CpuLatency(absent)
    assert lack(absent) == f"this kernel has no {absent}"


def test_a_user_without_the_right_is_named(tmp_path: Path) -> None:
    # Nobody may open a directory for writing, not even root.
    assert lack(tmp_path) == f"{tmp_path} cannot be written (Is a directory)"


def in_force() -> int:
    with DEVICE.open("rb", buffering=0) as file:
        (us,) = struct.unpack("=i", file.read(4))
    return int(us)


real = pytest.mark.skipif(lack() is not None, reason=f"no request can be made here: {lack()}")


def any_state_is_allowed_again(limit_s: float = 60.0) -> bool:
    """Whether no request is in force at some moment; tests beside this one make some as well."""
    until = time.monotonic() + limit_s
    while in_force() == 0:
        if time.monotonic() > until:
            return False
        time.sleep(0.001)
    return True


@real
def test_the_kernel_has_the_limit_until_the_request_is_taken_back() -> None:
    with CpuLatency() as request:
        request.limit(0)
        assert in_force() == 0
        request.limit(None)
        assert any_state_is_allowed_again()
        request.limit(0)
        assert in_force() == 0
    assert any_state_is_allowed_again()


@real
def test_a_killed_process_leaves_no_limit() -> None:
    program = (
        "from pentathlon.machine.cpu_latency import CpuLatency; import time; "
        "request = CpuLatency(); request.limit(0); print('held', flush=True); time.sleep(60)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        assert in_force() == 0
        holder.kill()
    assert any_state_is_allowed_again()
