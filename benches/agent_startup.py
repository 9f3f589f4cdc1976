"""Start-up time and resident memory of the agent.

Time: from starting the process to its end for `--version`, and to the first event of an empty
request for `run`, which includes the calibration of the clock. Memory: the largest resident set
(VmHWM of /proc/PID/status) of the supervisor and of its worker while a workload runs. The goals are
below 10 ms and below 20 MiB.

    python benches/agent_startup.py --runs 50
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import subprocess
import sys
import time
from pathlib import Path

from pentathlon.protocol import agent

GOAL_MS = 10.0
GOAL_MIB = 20.0


def version_ms(program: Path) -> float:
    """From the start of the process to its end, in ms."""
    start = time.perf_counter()
    subprocess.run([program, "--version"], stdout=subprocess.DEVNULL, check=True)
    return (time.perf_counter() - start) * 1e3


def first_event_ms(program: Path) -> float:
    """From the start of the process to the first event of an empty request, in ms."""
    start = time.perf_counter()
    with subprocess.Popen([program, "run"], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as run:
        assert run.stdin is not None and run.stdout is not None
        run.stdin.write(b'{"protocol":2,"workloads":[]}\n')
        run.stdin.flush()
        run.stdout.readline()
        elapsed = (time.perf_counter() - start) * 1e3
        run.stdout.read()
    return elapsed


def resident_mib(program: Path, workload: str) -> dict[str, float]:
    """The largest resident sets while a workload runs, in MiB."""
    request = {
        "protocol": 2,
        "inventory": True,
        "workloads": [{"id": workload, "iterations": 40, "sample_ms": 5}],
    }
    largest: dict[str, float] = {}
    with subprocess.Popen(
        [program, "run"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL
    ) as run:
        assert run.stdin is not None
        run.stdin.write(json.dumps(request).encode() + b"\n")
        run.stdin.flush()
        while run.poll() is None:
            children = Path(f"/proc/{run.pid}/task/{run.pid}/children")
            try:
                workers = [int(pid) for pid in children.read_text().split()]
            except OSError:
                workers = []
            for name, pid in [("supervisor", run.pid), *(("worker", pid) for pid in workers)]:
                if (size := high_water_mib(pid)) is not None:
                    largest[name] = max(size, largest.get(name, 0.0))
            time.sleep(0.002)
    return largest


def high_water_mib(pid: int) -> float | None:
    """The largest resident set of a process so far, in MiB; none if it is gone."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return None
    found = re.search(r"^VmHWM:\s+(\d+) kB$", status, re.MULTILINE)
    return int(found.group(1)) / 1024 if found else None


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n", maxsplit=1)[0])
    parser.add_argument("--runs", type=int, default=50, help="starts to time (default 50)")
    parser.add_argument("--workload", default="process.getpid")
    options = parser.parse_args()
    program = agent.locate()
    for name, measure in (("--version", version_ms), ("run, first event", first_event_ms)):
        times = sorted(measure(program) for _ in range(options.runs))
        print(
            f"{name:18} median {statistics.median(times):6.2f} ms, "
            f"best {times[0]:.2f}, worst {times[-1]:.2f} (goal: below {GOAL_MS:g} ms)"
        )
    for name, size in resident_mib(program, options.workload).items():
        print(f"{name:18} {size:6.2f} MiB resident at most (goal: below {GOAL_MIB:g} MiB)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
