"""Ours and peers in turns: what the scripts beside this file have in common.

A row of a table compares two sides, `one / two`. In every round each side measures once, in another
order than in the round before, and the ratio of the round is taken: a neighbour's load hits both
halves of a round, so that the median of the ratios is steadier than either figure.

A counterpart is a program in C (`counterparts/`) with nothing around one definition. Where a peer's
definition is not ours, two counterparts test the explanation: one that does what we do, one that
does what the peer does. If each agrees with its original, the difference between the definitions is
all there is.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import statistics
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

COUNTERPARTS = Path(__file__).with_name("counterparts")
TRIES = 11
"""Samples of a half round: the default number of lmbench, which reports their median."""
SAMPLE_MS = 5.0
"""Length of a sample in every program. lmbench would search for its own (ENOUGH in us), which takes
minutes where neighbours disturb it."""

Measure = Callable[[], float]
Figure = TypeVar("Figure")


@dataclass(frozen=True)
class Ratio:
    """A row: one side over another, and what explains the difference."""

    what: str
    one: str
    two: str
    remark: str


@dataclass(frozen=True)
class Place:
    """Where the programs run."""

    cpu: int | None = None
    realtime: bool = False

    def command(self) -> list[str]:
        """What starts a peer there."""
        pinned = [] if self.cpu is None else ["taskset", "-c", str(self.cpu)]
        return [*pinned, "chrt", "--rr", "1"] if self.realtime else pinned

    def placement(self) -> dict[str, Any]:
        """The agent's placement."""
        cpus = {} if self.cpu is None else {"cpus": [self.cpu]}
        return cpus | ({"policy": "rr", "priority": 1} if self.realtime else {})

    def everywhere(self) -> Place:
        """The same on every CPU."""
        return replace(self, cpu=None)


def find(name: str) -> str | None:
    """A peer's program, from PENTATHLON_PEERS or from PATH."""
    folder = os.environ.get("PENTATHLON_PEERS")
    search = os.pathsep.join(filter(None, (folder, os.environ.get("PATH"))))
    return shutil.which(name, path=search)


def library(name: str) -> str | None:
    """A peer's library: from PENTATHLON_PEERS, or where Debian's package lmbench puts its own."""
    own = Path(os.environ.get("PENTATHLON_PEERS", "."))
    folders = [own, *Path("/usr/lib/lmbench").glob("bin/*")]
    return next((str(folder / name) for folder in folders if (folder / name).is_file()), None)


def built(source: str | Sequence[str], program: Path, *flags: str) -> str | None:
    """Compiles a counterpart of one or more sources; none (and a printed line) where that fails."""
    sources = [source] if isinstance(source, str) else source
    compiler = shutil.which("cc") or shutil.which("gcc")
    if compiler is None:
        print(f"no counterpart {sources[0]}: a C compiler is needed")
        return None
    files = [str(COUNTERPARTS / name) for name in sources]
    command = [compiler, "-O2", *files, "-o", str(program), *flags]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        last = run.stderr.strip().splitlines()[-1:]
        print(f"no counterpart {sources[0]} {' '.join(flags)}: {''.join(last)}")
        return None
    return str(program)


def output(command: Sequence[str], directory: Path | None = None) -> str:
    """All that a program writes."""
    run = subprocess.run(
        command,
        cwd=directory,
        env=os.environ | {"ENOUGH": f"{SAMPLE_MS * 1e3:.0f}", "OMP_NUM_THREADS": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        timeout=300,
        check=False,
    )
    if run.returncode:
        raise RuntimeError(f"{' '.join(command)} said: {run.stdout.strip() or run.returncode}")
    return run.stdout


def number(pattern: str, text: str) -> float:
    """The number that the pattern's only group that took part finds in what a program said."""
    found = re.search(pattern, text, re.MULTILINE)
    if not found:
        raise RuntimeError(f"the peer said: {text.strip() or 'nothing'}")
    return float(next(filter(None, found.groups())))


def events(
    program: Path,
    workload: str,
    parameters: Mapping[str, Any],
    *,
    place: Place | None = None,
    scratch: Path | None = None,
    tries: int = TRIES,
    sample_ms: float = SAMPLE_MS,
    warmup: int | None = None,
    environment: Mapping[str, str] | None = None,
) -> list[dict[str, Any]]:
    """All events of a run of one workload; `environment` is added to the agent's.

    Raises:
        RuntimeError: the agent reported an error.
    """
    task: dict[str, Any] = {
        "id": workload,
        "parameters": dict(parameters),
        "iterations": tries,
        "sample_ms": sample_ms,
        "timeout_s": 300,
    }
    if warmup is not None:
        task["warmup"] = warmup
    request: dict[str, Any] = {"protocol": 2, "workloads": [task]}
    if place is not None:
        request["placement"] = place.placement()
    if scratch is not None:
        request["scratch"] = str(scratch)
    run = subprocess.run(
        [program, "run"],
        env=os.environ | dict(environment or {}),
        input=json.dumps(request) + "\n",
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    for event in lines:
        if event["event"] == "error":
            raise RuntimeError(f"{workload}: {event['reason']}")
    return lines


def samples(
    program: Path, workload: str, parameters: Mapping[str, Any], **options: Any
) -> list[dict[str, Any]]:
    """The measured samples of a run of one workload; `options` are those of `events`.

    Raises:
        RuntimeError: the agent reported an error or no sample.
    """
    parts = events(program, workload, parameters, **options)
    found = [e for e in parts if e["event"] == "sample" and e["phase"] == "measure"]
    if not found:
        raise RuntimeError(f"{workload} gave no sample")
    return found


def measured(sides: Mapping[str, Callable[[], Figure]], rounds: int) -> dict[str, list[Figure]]:
    """The figures of every side, round by round, in an order that turns."""
    figures: dict[str, list[Figure]] = {name: [] for name in sides}
    names = list(sides)
    for number in range(rounds):
        first = number % len(names)
        for name in (*names[first:], *names[:first]):
            figures[name].append(sides[name]())
    return figures


def heading(unit: str = "") -> None:
    print(f"| what | beside | one{unit} | two{unit} | ratio | middle half | remark |")
    print("|---|---|---|---|---|---|---|")


def tell(figures: Mapping[str, Sequence[float]], rows: Sequence[Ratio]) -> None:
    """Prints the rows whose sides were measured."""
    for row in rows:
        if row.one not in figures or row.two not in figures:
            continue
        one, two = figures[row.one], figures[row.two]
        ratios = sorted(a / b for a, b in zip(one, two, strict=True))
        low, high = ratios[len(ratios) // 4], ratios[-1 - len(ratios) // 4]
        print(
            f"| {row.what} | {row.one} / {row.two} | {statistics.median(one):.4g} | "
            f"{statistics.median(two):.4g} | {statistics.median(ratios):.3f} | "
            f"{low:.3f} to {high:.3f} | {row.remark} |",
            flush=True,
        )
