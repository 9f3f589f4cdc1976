"""A realistic result without a machine: planted truths, seeded noise, the tables of the store.

The truth of every metric is in `truth`, so that tests can plant differences and find them.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import polars as pl

from pentathlon.store import schema
from pentathlon.study.catalog import case_text, metric_key
from pentathlon.study.model import Study
from pentathlon.study.order import order_of
from pentathlon.study.plan import Boot, Plan, Step
from pentathlon.study.procedure import Procedure
from pentathlon.study.rules import Evaluation
from pentathlon.study.suite import Suite
from pentathlon.study.system import Peer, System

KIB, MIB = 1 << 10, 1 << 20
CACHES = (
    (48 * KIB, "data", 1),
    (32 * KIB, "instruction", 1),
    (2 * MIB, "unified", 2),
    (260 * MIB, "unified", 3),
)
SIZES = tuple(KIB << power for power in range(17))

PROCESS_NS = {
    "getpid": 60.0,
    "malloc_free": 18.0,
    "fopen_fclose": 1900.0,
    "open_close": 900.0,
    "create_delete": 5200.0,
    "fork_wait": 61_000.0,
    "fork_exec": 240_000.0,
    "pipe_round_trip": 2_700.0,
}
ARITHMETIC_NS = {"add": 1.0, "subtract": 1.0, "multiply": 3.0, "divide": 11.0}
TYPES = {"i32": 1.0, "i64": 1.05, "f32": 3.1, "f64": 3.2}
STYLE_NS = {"inline": (2.0, 410.0), "function": (3.0, 415.0), "recursion": (6.0, 440.0)}
MEMORY_NS_PER_BYTE = {"read": 1.0, "write": 1.4, "copy": 1.9}


@dataclass(frozen=True)
class Item:
    """One metric and case, with its true value on the reference, and how noisy it is."""

    workload: str
    metric: str
    case: dict[str, Any]
    unit: str
    direction: str
    value: float
    boot_noise: float = 0.006
    sample_noise: float = 0.004

    @cached_property
    def case_text(self) -> str:
        return case_text(self.case, list(self.case))

    @cached_property
    def key(self) -> str:
        return metric_key(self.workload, self.metric, self.case_text)

    @cached_property
    def case_json(self) -> str:
        return json.dumps(self.case) if self.case else ""

    @cached_property
    def checksum(self) -> str:
        return f"{abs(hash_text(self.key)):#x}"


def step_curve(sizes: np.ndarray, capacities: Any, levels: Any, shape: float) -> np.ndarray:
    """Cost over block size with a rise above each capacity (shape: 1 = gradual, 8 = abrupt)."""
    cost = np.full(len(sizes), float(levels[0]))
    for capacity, low, high in zip(capacities, levels[:-1], levels[1:], strict=True):
        cost += (high - low) * (1.0 - np.maximum(1.0, sizes / capacity) ** -shape)
    return cost


def items(sizes: tuple[int, ...] = SIZES) -> list[Item]:
    """Every metric of the spine's workloads, with plausible values of one machine."""
    found = [
        Item(f"process.{name}", "time", {}, "ns", "lower", value, 0.01, 0.01)
        for name, value in PROCESS_NS.items()
    ]
    for style, (fixed, each) in STYLE_NS.items():
        for repetitions in (1, 4, 16, 64, 256):
            found.append(
                Item(
                    "process.call_styles",
                    "time",
                    {"style": style, "repetitions": repetitions},
                    "ns",
                    "lower",
                    fixed + each * repetitions,
                )
            )
    found.extend(_memory(np.array(sizes, dtype=float)))
    for op, op_ns in ARITHMETIC_NS.items():
        for kind, factor in TYPES.items():
            case = {"op": op, "type": kind}
            latency = op_ns * factor
            found.append(
                Item("arithmetic.operations", "latency", case, "ns", "lower", latency, 0.003)
            )
            rate = 4000.0 / latency
            found.append(
                Item("arithmetic.operations", "throughput", case, "Mops/s", "higher", rate, 0.003)
            )
    found.append(Item("test.spin", "time", {}, "ns", "lower", 850.0, 0.004))
    return found


def _memory(sizes: np.ndarray) -> Iterator[Item]:
    capacities = (48 * KIB, 2 * MIB, 24 * MIB)
    for name, factor in MEMORY_NS_PER_BYTE.items():
        for variant, levels in (
            ("avx512", (0.0085, 0.017, 0.036, 0.085)),
            ("scalar", (0.060, 0.062, 0.066, 0.105)),
        ):
            cost = factor * step_curve(sizes, capacities, levels, 3.0) + 6.0 / sizes
            for size, each in zip(sizes, cost, strict=True):
                yield Item(
                    f"memory.{name}",
                    "bandwidth",
                    {"block_bytes": int(size), "variant": variant},
                    "MB/s",
                    "higher",
                    1000.0 / each,
                    0.008,
                )
    for pages, levels in (("base", (1.6, 5.2, 26.0, 128.0)), ("huge", (1.6, 5.1, 21.0, 96.0))):
        for size, each in zip(sizes, step_curve(sizes, capacities, levels, 1.0), strict=True):
            yield Item(
                "memory.latency",
                "time",
                {"block_bytes": int(size), "pages": pages},
                "ns",
                "lower",
                float(each),
                0.008,
            )


Factor = Callable[[Item], float]
"""How many times as fast as the reference a system does an item: 1.05 is 5 % faster."""


def same(_: Item) -> float:
    """A system like the reference."""
    return 1.0


def newer_kernel(item: Item) -> float:
    """A kernel with cheaper calls, dearer forks and the same memory."""
    if item.workload in {"process.getpid", "process.open_close"}:
        return 1.32
    if item.workload in {"process.fork_wait", "process.fork_exec"}:
        return 0.93
    if item.workload == "process.pipe_round_trip":
        return 1.08
    if item.workload == "memory.latency" and item.case.get("pages") == "huge":
        return 1.03 if item.case["block_bytes"] > 4 * MIB else 1.0
    return 1.0


def bare_host(item: Item) -> float:
    """The machine without the guest kernel: calls at native cost, the same arithmetic."""
    return 60.0 if item.workload.startswith("process.") and not item.case else 1.0


@dataclass
class Synthetic:
    """What a result offers to `evaluate` and to the reports."""

    plan: Plan
    tables: dict[str, pl.DataFrame]
    unfinished: str = ""

    def samples(self) -> pl.DataFrame:
        return self.tables["samples"]

    def histograms(self) -> pl.DataFrame:
        return self.tables.get("histograms", pl.DataFrame(schema=schema.HISTOGRAMS))

    def answers(self) -> pl.DataFrame:
        return self.tables.get("answers", pl.DataFrame(schema=schema.ANSWERS))

    def links(self) -> pl.DataFrame:
        return self.tables.get("links", pl.DataFrame(schema=schema.LINKS))

    def failures(self) -> pl.DataFrame:
        return self.tables["failures"]

    def inventory(self) -> pl.DataFrame:
        return self.tables["inventory"]


@dataclass
class Maker:
    """Settings of a synthetic result."""

    factors: Mapping[str, Factor] = field(
        default_factory=lambda: {"uml-6.1": same, "uml-7.2": newer_kernel, "host": bare_host}
    )
    layers: Mapping[str, str] = field(default_factory=lambda: {"host": "host"})
    chosen: list[Item] = field(default_factory=items)
    blocks: int = 5
    iterations: int = 5
    warmup: int = 1
    noise: float = 1.0
    """Multiplies every noise of the items."""
    seed: int = 20030101
    delta_percent: float = 1.0
    parameters: Mapping[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    ends: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """System -> how its client and its server of files behave; others have one host."""
    guest_slowdown: float = 60.0
    """Cost of a system call under the guest's layer, as a multiple of the host's."""

    def make(self) -> Synthetic:
        """Draw the result: noise of the block, of the boot and of the sample, multiplied."""
        plan = self._plan()
        generator = np.random.default_rng(self.seed)
        frames = []
        for block, boots in enumerate(plan.blocks):
            common = generator.normal(0.0, 0.01 * self.noise)
            for order, boot in enumerate(boots):
                logs = self._logs(generator, common)
                frames.append(self._boot(block, order, boot.system, logs))
        empty = pl.DataFrame(schema=schema.SAMPLES)
        return Synthetic(
            plan,
            {
                "samples": pl.concat([empty, *frames]),
                "failures": self._failures(),
                "inventory": self._inventory(),
            },
        )

    def _peer(self, name: str) -> dict[str, Any]:
        if name not in self.ends:
            return {}
        client, server = self.ends[name]
        return {"behaves": client, "peer": Peer(behaves=server)}

    def layer(self, system: str) -> str:
        return self.layers.get(system, "host" if self.ends else "uml")

    def _plan(self) -> Plan:
        names = list(self.factors)
        workloads = list(dict.fromkeys(item.workload for item in self.chosen))
        systems = tuple(
            System(
                name=name,
                target="local" if self.layer(name) == "host" else "uml",
                kernel=None if self.layer(name) == "host" else name.partition("-")[2],
                parameters=self.parameters.get(name, {}),
                **self._peer(name),
            )
            for name in names
        )
        study = Study(
            name="two-kernels",
            title="Two kernels and their host",
            question="Is the newer kernel faster for this machine and this work?",
            reference=names[0],
            seed=self.seed,
            procedure=Procedure(blocks=self.blocks, iterations=self.iterations, warmup=self.warmup),
            evaluation=Evaluation(delta_percent=self.delta_percent),
            system=systems,
            suite=(Suite(name="kernel", workloads=tuple(workloads)),),
        )
        steps = tuple(
            Step(
                suite="kernel",
                workload=workload,
                parameters={},
                qualified=False,
                iterations=self.iterations,
                warmup=self.warmup,
                processes=1,
                sample_ms=5.0,
                timeout_s=60.0,
            )
            for workload in workloads
        )
        return Plan(
            study=study,
            agent={"version": "0.1.0", "build": "5f1e0c", "catalog_version": 1},
            targets={name: {"layer": self.layer(name)} for name in names},
            steps=dict.fromkeys(names, steps),
            blocks=tuple(
                tuple(
                    Boot(system=name, steps=tuple(range(len(steps))))
                    for name in order_of(names, self.seed, "block", block)
                )
                for block in range(self.blocks)
            ),
        )

    def _logs(self, generator: np.random.Generator, common: float) -> np.ndarray:
        """Noise of one boot: logarithms, items x runs."""
        count, runs = len(self.chosen), self.warmup + self.iterations
        boots = np.array([item.boot_noise for item in self.chosen]) * self.noise
        within = np.array([item.sample_noise for item in self.chosen]) * self.noise
        logs = common + generator.normal(0.0, 0.002 * self.noise)
        logs = logs + boots[:, None] * generator.standard_normal((count, 1))
        return logs + within[:, None] * generator.standard_normal((count, runs))

    def _boot(self, block: int, order: int, system: str, logs: np.ndarray) -> pl.DataFrame:
        layer = self.layer(system)
        runs = logs.shape[1]
        truth = np.array([self._truth(system, item) for item in self.chosen])
        values = truth[:, None] * np.exp(logs)
        values[:, : self.warmup] *= 1.02
        rows: dict[str, list[Any]] = {name: [] for name in schema.SAMPLES}
        start = (block * 3 + order) * 60
        for place, item in enumerate(self.chosen):
            for run in range(runs):
                warm = run < self.warmup
                number = place * runs + run
                self._append(
                    rows,
                    system=system,
                    target="local" if layer == "host" else "uml",
                    layer=layer,
                    install="0",
                    block=block,
                    boot=f"{block}.{system}.0",
                    order=order,
                    attempt=0,
                    workload_order=place,
                    process=0,
                    workload=item.workload,
                    metric=item.metric,
                    case=item.case_text,
                    case_json=item.case_json,
                    key=item.key,
                    unit=item.unit,
                    direction=item.direction,
                    phase="warmup" if warm else "measure",
                    iteration=run if warm else run - self.warmup,
                    value=float(values[place, run]),
                    batch=4096,
                    elapsed_ns=5.0e6,
                    checksum=item.checksum,
                    counted=True,
                    t_ns=number * 5_000_000,
                    utc=f"2026-01-05T10:{start // 60 % 60:02d}:{number // 40 % 60:02d}Z",
                    cpu_user_ns=5_000_000,
                    cpu_system_ns=0,
                )
        return pl.DataFrame(rows, schema=schema.SAMPLES)

    def _truth(self, system: str, item: Item) -> float:
        faster = self.factors[system](item)
        guest = self.guest_slowdown if item.workload.startswith("process.") and not item.case else 1
        value = item.value * (guest if item.direction == "lower" else 1.0)
        return value / faster if item.direction == "lower" else value * faster

    @staticmethod
    def _append(rows: dict[str, list[Any]], **values: Any) -> None:
        for name, column in rows.items():
            column.append(values.get(name))

    def _failures(self) -> pl.DataFrame:
        rows = [
            {
                "block": block,
                "system": system,
                "boot": f"{block}.{system}.0",
                "attempt": 0,
                "stage": "step",
                "workload": "memory.latency",
                "workload_order": 3,
                "process": 0,
                "case": "block_bytes=134217728,pages=huge",
                "kind": "unsupported",
                "reason": "the system has no transparent huge pages of 2 MiB",
                "resolved": False,
                "utc": "2026-01-05T10:00:00Z",
            }
            for block in range(self.blocks)
            for system in self.factors
            if self.layer(system) == "uml"
        ]
        return pl.DataFrame(rows, schema=schema.FAILURES)

    def _inventory(self) -> pl.DataFrame:
        rows: list[dict[str, Any]] = []
        for system in self.factors:
            host = self.layer(system) == "host"
            leaves: dict[str, Any] = {
                "agent.build": "5f1e0c",
                "agent.target": "x86_64-unknown-linux-gnu",
                "agent.catalog_version": 1,
                "cpu.model_name": "Intel(R) Xeon(R) Platinum 8481C",
                "cpu.logical": 2 if host else 1,
                "kernel.release": "6.18.5" if host else f"{system.partition('-')[2]}.0",
                "filesystems.scratch.block_device": "vda",
                "block_devices.vda.read_ahead_kb": 64,
                "memory.total_bytes": 24 << 30 if host else 640 * MIB,
                "clocksource.current": "tsc" if host else "timer",
                "mitigations.spectre_v2": "Mitigation: Enhanced IBRS" if host else None,
            }
            for place, (size, kind, level) in enumerate(CACHES):
                leaves[f"caches.{place}.level"] = level
                leaves[f"caches.{place}.type"] = kind
                leaves[f"caches.{place}.size_bytes"] = size
            for block in range(self.blocks):
                leaves["memory.free_bytes"] = 100 * MIB + block * 4096
                for path, value in leaves.items():
                    rows.append(
                        {
                            "system": system,
                            "block": block,
                            "boot": f"{block}.{system}.0",
                            "attempt": 0,
                            "path": path,
                            "value_json": None if value is None else json.dumps(value),
                            "unsupported": None
                            if value is not None
                            else "the system has no such file",
                            "utc": "2026-01-05T10:00:00Z",
                        }
                    )
        return pl.DataFrame(rows, schema=schema.INVENTORY)


def hash_text(text: str) -> int:
    """A number that depends on the text alone, in every process."""
    value = 0
    for character in text:
        value = (value * 131 + ord(character)) % (1 << 61)
    return value


def null_items(count: int, boot_noise: float = 0.006) -> list[Item]:
    """Metrics without any structure, for simulations of many."""
    return [
        Item(f"null.w{place // 10}", "time", {"n": place}, "ns", "lower", 100.0, boot_noise)
        for place in range(count)
    ]


def as_log(percent: float) -> float:
    """A percentage as a log-ratio."""
    return math.log1p(percent / 100.0)
