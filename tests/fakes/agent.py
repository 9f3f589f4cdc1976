#!/usr/bin/env -S python3 -IS
"""An agent that measures nothing, fast: it speaks the protocol and makes values up.

Used where a test is about the experimenter's side. $FAKE_AGENT holds JSON:

    {"cases": 3,              cases of each workload
     "delay_s": 0.001,        pause before each sample
     "state": "DIRECTORY",    counts how often each fault has struck, and the boots
     "faults": [{"kind": "die" | "hang" | "torn" | "unsupported" | "failed" | "silent" | "skip"
                         | "early" | "kernel" | "starved" | "line",
                 "line": "{}",             what "line" prints within the workload
                 "workload": "fake.beta",  where; not for "early", which dies before any event
                 "cpus": [1],              only where the agent may run on just these CPUs
                 "times": 1}],             how often; for ever if it is missing
     "system": {"os": {...}}, more sections of the inventory
     "build": "0123",         build hash
     "repeatable": true}      the same values whenever the same boots are repeated

"kernel" changes the release in the inventory of a boot; "starved" leaves a CPU-bound workload a
tenth of the CPU.
"""

from __future__ import annotations

import functools
import json
import os
import random
import sys
import time
from pathlib import Path

OPTIONS = json.loads(os.environ.get("FAKE_AGENT", "{}"))
EPOCH_NS = time.monotonic_ns()
BUILD = {
    "version": "0.1.0",
    "build": OPTIONS.get("build", "fa4e"),
    "target": "fake",
    "rustc": "none",
    "catalog_version": 1,
    "static": True,
    "debug_assertions": OPTIONS.get("debug_assertions", False),
}


def workload(name: str, **more: object) -> dict[str, object]:
    return {
        "id": name,
        "area": name.split(".", maxsplit=1)[0],
        "title": f"The workload {name}",
        "summary": "Makes values up.",
        "source": "none",
        "parameters": [
            {
                "name": "size_bytes",
                "type": "list[integer]",
                "default": [1 << (10 + n) for n in range(OPTIONS.get("cases", 3))],
                "unit": "B",
                "minimum": 64,
                "maximum": 1 << 30,
                "choices": None,
                "description": "Size.",
            },
            {
                "name": "slowdown_percent",
                "type": "number",
                "default": 0.0,
                "unit": "%",
                "minimum": 0,
                "maximum": 1000,
                "choices": None,
                "description": "How much slower it claims to be.",
            },
            {
                "name": "variant",
                "type": "string",
                "default": "plain",
                "unit": None,
                "minimum": None,
                "maximum": None,
                "choices": ["plain", "wide"],
                "description": "Which code.",
            },
        ],
        "factors": [
            {"name": "size_bytes", "title": "size", "unit": "B", "scale": "log2"},
            {"name": "variant", "title": "variant", "unit": None, "scale": "category"},
        ],
        "metrics": [{"id": "time", "title": "Time", "unit": "ns", "direction": "lower"}],
        "checksum": "a constant",
        "semantics": {"linux": "", "windows": ""},
        "test_only": False,
        "buffers": 1,
        **more,
    }


WORKLOADS = [
    workload("fake.alpha"),
    workload("fake.beta"),
    workload("fake.gamma"),
    workload("other.delta"),
    workload("test.fake", test_only=True),
]
INVENTORY = {
    "cpu": {"model": "Fake CPU", "count": 2, "flags": ["a", "b"]},
    "memory": {"size_bytes": 1 << 30, "speed_mhz": {"unsupported": "a fake has no memory"}},
}
CLOCK = {"source": "fake", "resolution_ns": 1.0, "cost_ns": 20.0, "monotonic": True, "tsc": None}


def main() -> int:
    verb = sys.argv[1] if len(sys.argv) > 1 else ""
    if verb == "catalog":
        document = {"protocol": 2, "catalog_version": 1, "agent": BUILD, "workloads": WORKLOADS}
        print(json.dumps(document))
    elif verb == "inventory":
        print(json.dumps({"agent": BUILD, "clock": CLOCK, "system": INVENTORY}))
    elif verb == "--version":
        print(f"pentathlon-agent {BUILD['version']} (build {BUILD['build']}, fake)")
    elif verb == "run":
        return run(json.loads(sys.stdin.readline()))
    else:
        print(f"unknown verb {verb}", file=sys.stderr)
        return 2
    return 0


def emit(event_kind: str, /, **fields: object) -> None:
    event = {"event": event_kind, **fields, "t_ns": time.monotonic_ns() - EPOCH_NS}
    sys.stdout.write(json.dumps(event) + "\n")
    sys.stdout.flush()


def struck(kind: str, name: str | None, cpus: list[int]) -> bool:
    """Whether a fault strikes here; each strike is counted, across processes."""
    for number, fault in enumerate(OPTIONS.get("faults", [])):
        if fault["kind"] != kind or fault.get("workload") != name:
            continue
        if "cpus" in fault and fault["cpus"] != cpus:
            continue
        if "times" in fault:
            counter = Path(OPTIONS["state"]) / f"fault-{number}"
            so_far = int(counter.read_text()) if counter.exists() else 0
            if so_far >= fault["times"]:
                continue
            counter.write_text(str(so_far + 1))
        return True
    return False


def noise(name: str, cpus: list[int]) -> random.Random:
    """What varies the values of a workload."""
    if not OPTIONS.get("repeatable"):
        return random.Random(os.urandom(8))
    return random.Random(f"{name} {cpus} {boot(tuple(cpus))}")


@functools.cache
def boot(cpus: tuple[int, ...]) -> int:
    """The number of this process among those that had these CPUs."""
    counter = Path(OPTIONS["state"]) / "-".join(["boots", *map(str, cpus)])
    with counter.open("ab") as file:
        file.write(b".")
        return file.tell()


def run(request: dict[str, object]) -> int:
    cpus = (request.get("placement") or {}).get("cpus") or sorted(os.sched_getaffinity(0))
    if struck("early", None, cpus):
        return 9
    system = {**INVENTORY, **OPTIONS.get("system", {})}
    if struck("kernel", None, cpus):
        system["kernel"] = {**system.get("kernel", {}), "release": "6.2.0-planted"}
    emit(
        "inventory",
        session=request["session"],
        agent=BUILD,
        clock=CLOCK,
        system=system if request.get("inventory") else None,
        placement=request.get("placement"),
        telemetry={"supported": ["cpu_user_ns"], "unsupported": {"frequency_khz": "a fake"}},
    )
    samples = errors = 0
    tasks = request["workloads"]
    for index, task in enumerate(tasks):
        name = task["id"]
        if struck("skip", name, cpus):
            continue
        gate = request.get("gate")
        if gate is not None and not released(workload=name, index=index, process=0, case=None):
            break
        for process in range(task["processes"]):
            where = {"workload": name, "index": index, "process": process}
            emit("progress", **where, count=len(tasks), state="start", case=None)
            for kind in ("unsupported", "failed"):
                if struck(kind, name, cpus):
                    emit("error", **where, kind=kind, reason=f"planted: {kind}", case=None)
                    errors += 1
                    break
            else:
                if not struck("silent", name, cpus):
                    samples += measure(task, where, request["seed"], cpus, gate)
        emit("progress", **where, count=len(tasks), state="end", case=None)
    emit("done", samples=samples, errors=errors)
    return 0


def released(**place: object) -> bool:
    """Wait for the release of a workload, case or batch; False where the experimenter has ended."""
    emit("ready", **{"iteration": None, **place})
    return bool(sys.stdin.readline())


def measure(
    task: dict[str, object],
    where: dict[str, object],
    seed: int,
    cpus: list[int],
    gate: dict[str, int] | None,
) -> int:
    parameters = task["parameters"]
    values = noise(task["id"], cpus)
    count = 0
    share = 0.1 if struck("starved", task["id"], cpus) else 1.0
    for size in parameters["size_bytes"]:
        case = {"size_bytes": size, "variant": parameters["variant"]}
        if gate is not None and not released(**where, case=case):
            sys.exit(1)
        emit("progress", **where, count=0, state="case", case=case)
        for number in range(task["warmup"] + task["iterations"]):
            time.sleep(OPTIONS.get("delay_s", 0.0))
            if number == task["warmup"] + task["iterations"] - 1:
                fatal(task["id"], cpus)
            warm = number < task["warmup"]
            iteration = number if warm else number - task["warmup"]
            if not warm and size <= (gate or {}).get("batches_up_to_bytes", -1):
                released(**where, case=case, iteration=iteration)
            value = (100 + size / 1024) * (1 + parameters["slowdown_percent"] / 100)
            emit(
                "sample",
                **where,
                metric="time",
                case=case,
                unit="ns",
                direction="lower",
                phase="warmup" if warm else "measure",
                iteration=iteration,
                value=value * values.gauss(1, 0.001),
                batch=1000,
                elapsed_ns=1_000_000,
                checksum=f"0x{seed:x}",
                counters={
                    "cpu_user_ns": int(900_000 * share),
                    "cpu_system_ns": int(100_000 * share),
                    "voluntary_switches": 0,
                    "frequency_khz": None,
                },
            )
            count += 1
    return count


def fatal(name: str, cpus: list[int]) -> None:
    if struck("line", name, cpus):
        lines = (f["line"] for f in OPTIONS["faults"] if f.get("workload") == name)
        sys.stdout.write(next(lines) + "\n")
        sys.stdout.flush()
    if struck("die", name, cpus):
        print("planted: the agent dies", file=sys.stderr)
        os._exit(9)
    if struck("torn", name, cpus):
        sys.stdout.write('{"event":"sample","t_ns":1,"val')
        sys.stdout.flush()
        os._exit(0)
    if struck("hang", name, cpus):
        time.sleep(3600)


if __name__ == "__main__":
    sys.exit(main())
