"""What pairing in time gains, and that it changes neither verdicts nor what is measured.

    python benches/pairing.py gain [RUNS]          (about 40 s a run and pairing)
    python benches/pairing.py aa [CALIBRATIONS] [--pairing turns] [--busy LOOPS]
    python benches/pairing.py bias [ROUNDS] [--picture FILE] [--workload ID]...

*gain*: one system of user-mode Linux under two names, 10 blocks, by each pairing in turn: the
median over rows of the standard deviation of the blocks' log-ratios, the median detectable
difference, and rows that are decided at δ = 5 %.

*aa*: calibrations of one system under two names; how many call no row different, which is to be
so in 95 % of them. LOOPS busy loops run beside them, as neighbours would.

*bias*: two studies of one block in alternate order, one by turns and one with boots one after the
other; for each workload the ratio of the same system's mean in the two, with its 95 % interval over
rounds, and of a system that is alone to one beside which another one idles (by steps, where the
other one waits at its gate). Every row is to be within δ/2 = 2.5 %. With --workload only that
workload is measured: workloads that vary much between boots need many rounds.

Needs a kernel of user-mode Linux (`pentathlon doctor --install`).
"""

from __future__ import annotations

import argparse
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from scipy import stats

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

import polars as pl

from pentathlon.evaluate import Verdict, evaluate
from pentathlon.evaluate.estimate import counted
from pentathlon.store.query import Result, load_result
from pentathlon.study.aa_study import two_names
from pentathlon.study.write import to_toml

PAIRINGS = ("turns", "steps", "none")
DELTA_PERCENT = 5.0
STUDY = """\
name = "pairing"
reference = "uml"

[procedure]
iterations = 3
warmup = 1
sample_ms = 2.0
pairing = "{pairing}"

[evaluation]
delta_percent = {delta}

[[system]]
name = "uml"
target = "uml"
kernel = "newest"
memory = "256M"
scratch = "/tmp"

[[suite]]
name = "spine"
workloads = [{workloads}]
"""
SMALL = """\
    "process.*", "arithmetic.*",
    { id = "memory.read", parameters = { block_bytes = [4096, 65536, 1048576] } },
    { id = "memory.copy", parameters = { block_bytes = [4096, 65536, 1048576] } },
    { id = "memory.latency", parameters = { block_bytes = [4096, 65536, 1048576] } },
"""


@contextmanager
def busy(loops: int) -> Iterator[None]:
    """Busy loops beside what runs."""
    made = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(loops)]
    try:
        yield
    finally:
        for one in made:
            one.kill()
            one.wait()


def measured(
    place: Path, pairing: str, blocks: int, *, alone: bool = False, workloads: str = SMALL
) -> Result:
    """Run the study under two names, or with one name."""
    text = STUDY.format(pairing=pairing, delta=DELTA_PERCENT, workloads=workloads)
    if not alone:
        text = to_toml(two_names(text, None, blocks))
    file = place / f"{time.monotonic_ns()}.toml"
    file.write_text(text)
    out = file.with_suffix("")
    command = [
        *(sys.executable, "-m", "pentathlon", "run", str(file), "--blocks", str(blocks)),
        *("--yes", "--no-pilot", "--no-report", "--out", str(out)),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode not in (0, 6):
        sys.exit(f"{' '.join(command)}: {done.stderr[-2000:]}")
    return load_result(out)


def gain(place: Path, runs: int) -> None:
    print("pairing  run  median SD of blocks  median detectable  decided at 5 %  rows  time")
    for run in range(runs):
        for pairing in PAIRINGS:
            began = time.monotonic()
            judged = evaluate(measured(place, pairing, 10))
            taken = time.monotonic() - began
            effects = [
                (one, one.effect) for row in judged.rows for one in row.comparisons if one.effect
            ]
            sd = statistics.median(effect.sd or 0.0 for _, effect in effects)
            mde = statistics.median(effect.mde_percent for _, effect in effects)
            open_ = sum(one.verdict is Verdict.INCONCLUSIVE for one, _ in effects)
            print(
                f"{pairing:8} {run + 1:3} {100 * sd:18.2f} % {mde:16.1f} % "
                f"{len(effects) - open_:15} {len(effects):5} {taken:4.0f} s",
                flush=True,
            )


CALLED = {
    Verdict.FASTER,
    Verdict.SLOWER,
    Verdict.FASTER_BY_DELTA,
    Verdict.SLOWER_BY_DELTA,
}


def aa(place: Path, calibrations: int, pairing: str, loops: int) -> None:
    clean = 0
    with busy(loops):
        for number in range(calibrations):
            judged = evaluate(measured(place, pairing, 10))
            called = [
                row.key for row in judged.rows for one in row.comparisons if one.verdict in CALLED
            ]
            clean += not called
            print(
                f"{number + 1}: {len(judged.rows)} rows, called: {', '.join(called) or 'none'}",
                flush=True,
            )
    print(f"{clean} of {calibrations} calibrations ({pairing}) call no row different")


def means(result: Result) -> Mapping[tuple[str, str], float]:
    """(workload, row) -> log of the mean of the system `uml`."""
    table = counted(result.samples()).filter(pl.col("system") == "uml")
    grouped = table.group_by(["workload", "metric", "case"]).agg(pl.col("value").mean())
    return {
        (row["workload"], f"{row['metric']}[{row['case']}]"): math.log(row["value"])
        for row in grouped.iter_rows(named=True)
        if row["value"] > 0.0
    }


def bias(place: Path, rounds: int, picture: Path | None, workloads: str) -> None:
    turns: dict[str, list[float]] = defaultdict(list)
    idle: dict[str, list[float]] = defaultdict(list)
    for number in range(rounds):
        ways = ["turns", "none", "steps", "alone"]
        found = {}
        for way in ways if number % 2 else reversed(ways):
            pairing, alone = ("none", True) if way == "alone" else (way, False)
            found[way] = means(measured(place, pairing, 1, alone=alone, workloads=workloads))
        for into, one, other in ((turns, "turns", "none"), (idle, "steps", "alone")):
            by_workload: dict[str, list[float]] = defaultdict(list)
            for key, value in found[one].items():
                if key in found[other]:
                    by_workload[key[0]].append(value - found[other][key])
            for workload, differences in by_workload.items():
                into[workload].append(statistics.median(differences))
        print(f"round {number + 1} of {rounds}", flush=True)
    everything = [mean_of_rounds(one) for one in (turns, idle)]
    turns["all of them, equally weighted"], idle["all of them, equally weighted"] = everything
    lines = []
    print(f"{'workload':30} {'turns / one after the other':>30} {'beside an idle one / alone':>30}")
    for workload, values in turns.items():
        cells = [interval(values), interval(idle.get(workload, []))]
        lines.append((workload, *cells))
        print(f"{workload:30} {words(cells[0]):>30} {words(cells[1]):>30}")
    if picture is not None:
        draw(lines, picture)


def mean_of_rounds(of: Mapping[str, list[float]]) -> list[float]:
    """The mean over workloads in each round; a round in which one failed has the others."""
    return [
        statistics.mean(values[number] for values in of.values() if number < len(values))
        for number in range(max(map(len, of.values()), default=0))
    ]


Interval = tuple[float, float, float]


def interval(values: list[float]) -> Interval | None:
    """Mean and 95 % t interval over rounds, in percent."""
    if len(values) < 2:
        return None
    centre = float(np.mean(values))
    half = float(stats.sem(values) * stats.t.ppf(0.975, len(values) - 1))
    return tuple(100 * math.expm1(one) for one in (centre, centre - half, centre + half))  # type: ignore[return-value]


def words(found: Interval | None) -> str:
    return "–" if found is None else f"{found[0]:+.2f} % ({found[1]:+.2f} to {found[2]:+.2f})"


def draw(lines: list[tuple[str, Interval | None, Interval | None]], file: Path) -> None:
    import matplotlib as mpl  # noqa: PLC0415

    mpl.use("Agg")
    from matplotlib import pyplot as plt  # noqa: PLC0415

    figure, axes = plt.subplots(1, 2, figsize=(10, 0.28 * len(lines) + 1.4), sharey=True)
    titles = ("by turns, against one after the other", "beside an idle system, against alone")
    for number, (one, title) in enumerate(zip(axes, titles, strict=True), start=1):
        for place, line in enumerate(reversed(lines)):
            found = line[number]
            if found is not None:
                one.plot(found[1:], (place, place), color="#1b6ca8", lw=1.6)
                one.plot(found[0], place, "o", color="#1b6ca8", ms=4)
        for limit in (-DELTA_PERCENT / 2, DELTA_PERCENT / 2):
            one.axvline(limit, color="#555555", lw=0.8, ls="--")
        one.axvline(0.0, color="#bbbbbb", lw=0.8)
        one.set_title(title, fontsize=10)
        one.set_xlabel("change of the measured value, %")
        one.set_yticks(range(len(lines)), [line[0] for line in reversed(lines)], fontsize=8)
        for side in ("top", "right", "left"):
            one.spines[side].set_visible(False)
        one.grid(axis="x", color="#dddddd", lw=0.6)
    figure.tight_layout()
    figure.savefig(file, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("gain", "aa", "bias"))
    parser.add_argument("count", nargs="?", type=int, help="runs, calibrations or rounds")
    parser.add_argument("--pairing", choices=PAIRINGS, default="turns", help="of aa")
    parser.add_argument("--busy", type=int, default=0, help="busy loops beside aa")
    parser.add_argument("--picture", type=Path, help="of bias, a PNG file to write")
    parser.add_argument(
        "--workload", action="append", metavar="ID", help="of bias, may be repeated; all if none"
    )
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pairing-") as name:
        place = Path(name)
        if chosen.what == "gain":
            gain(place, chosen.count or 3)
        elif chosen.what == "aa":
            aa(place, chosen.count or 20, chosen.pairing, chosen.busy)
        else:
            only = ", ".join(f'"{one}"' for one in chosen.workload or ())
            bias(place, chosen.count or 10, chosen.picture, only or SMALL)


if __name__ == "__main__":
    main()
