"""Keep the CPUs of this machine out of idle states whose exit takes long (CPU latency QoS).

A process that has opened /dev/cpu_dma_latency and written a number of µs into it limits the exit
latency of the idle states that any CPU may enter, until it closes the file
(Documentation/power/pm_qos_interface.rst). The kernel closes it with the process, so that a crash
leaves nothing behind.
"""

from __future__ import annotations

import os
import struct
from pathlib import Path
from typing import Self

from pentathlon.machine.errors import TargetUnavailable

DEVICE = Path("/dev/cpu_dma_latency")
NO_LIMIT_US = 2_000_000_000
"""What the kernel takes for no limit (PM_QOS_CPU_LATENCY_DEFAULT_VALUE)."""


class CpuLatency:
    """A request for a limit, which is none at first.

    Raises:
        TargetUnavailable: the kernel takes no request, or not from this user.
    """

    def __init__(self, device: Path = DEVICE) -> None:
        try:
            self._file = os.open(device, os.O_WRONLY)
        except FileNotFoundError:
            raise TargetUnavailable(f"this kernel has no {device}") from None
        except OSError as error:
            raise TargetUnavailable(f"{device} cannot be written ({error.strerror})") from error
        self._now = NO_LIMIT_US

    def limit(self, us: int | None) -> None:
        """Let CPUs enter only idle states that they leave within so many µs; None: any state."""
        wanted = NO_LIMIT_US if us is None else us
        if wanted != self._now:
            os.write(self._file, struct.pack("=i", wanted))
            self._now = wanted

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


def lack(device: Path = DEVICE) -> str | None:
    """Why no limit can be requested, as a clause; None where it can."""
    try:
        with CpuLatency(device):
            return None
    except TargetUnavailable as error:
        return error.reason
