"""Whether two builds of the agent measure the same: they take turns on one user-mode Linux.

    python benches/two_agents.py AGENT OTHER [--blocks N]

A change of the agent (how it refills caches, what its supervisor does, a compiler's options) must
not change what it measures. Two systems with the same kernel differ by their agents alone and are
alive at once, so that neighbours of the machine affect both. For each workload: the change of time
by OTHER, as the mean over its cases of the log-ratios, with a 95 % t interval over blocks. A
positive change is slower; rates count inversely.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
from scipy import stats

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pentathlon.cli.start import main as pentathlon  # noqa: E402
from pentathlon.store.query import load_result  # noqa: E402
from pentathlon.targets.contract import Session  # noqa: E402
from pentathlon.targets.uml.target import UmlTarget  # noqa: E402

STUDY = """
name = "two-agents"
title = "Two agents"
question = "Do two builds of the agent measure the same?"
reference = "agent"
seed = 20030101

[procedure]
blocks = 12
iterations = 4
warmup = 1
sample_ms = 2.0
pairing = "turns"

[[system]]
name = "agent"
target = "uml"
kernel = "newest"
scratch = "/tmp"

[[system]]
name = "other"
target = "uml"
kernel = "newest"
scratch = "/tmp"

[[suite]]
name = "work"
workloads = [
    "process.*", "arithmetic.*",
    { id = "memory.read", parameters = { block_bytes = [1024, 16384, 65536, 262144] } },
    { id = "memory.write", parameters = { block_bytes = [1024, 16384, 65536, 262144] } },
    { id = "memory.copy", parameters = { block_bytes = [1024, 16384, 65536, 262144] } },
    { id = "memory.latency", parameters = { block_bytes = [1024, 16384, 65536, 262144] } },
]
"""


def take(agents: dict[str, Path]) -> None:
    """Have each system boot the agent of its name."""
    boot = UmlTarget.boot

    def by_name(target: UmlTarget, timeout_s: float) -> Session:
        target.agent_path = agents[target.name]
        return boot(target, timeout_s)

    UmlTarget.boot = by_name  # type: ignore[method-assign]


def measured(agents: dict[str, Path], blocks: int, place: Path) -> pl.DataFrame:
    """The samples of the study; what goes wrong ends the program with its sentence."""
    file, out = place / "two-agents.toml", place / "result"
    file.write_text(STUDY)
    take(agents)
    sys.argv = ["pentathlon", "run", str(file), "--blocks", str(blocks), "--out", str(out)]
    sys.argv += ["--yes", "--no-pilot", "--no-report"]
    try:
        pentathlon()
    except SystemExit as ended:
        if ended.code not in (None, 0, 6):
            raise
    return load_result(out).samples()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("agent", type=Path)
    parser.add_argument("other", type=Path)
    parser.add_argument("--blocks", type=int, default=12)
    chosen = parser.parse_args()
    agents = {name: getattr(chosen, name).resolve() for name in ("agent", "other")}
    if missing := [str(path) for path in agents.values() if not path.is_file()]:
        sys.exit(f"{missing[0]} is no file; expected a pentathlon-agent")
    with tempfile.TemporaryDirectory() as place:
        samples = measured(agents, chosen.blocks, Path(place))
    slower = pl.col("value").log() * pl.when(pl.col("direction") == "higher").then(-1).otherwise(1)
    row = ["workload", "metric", "case", "block"]
    boots = (
        samples.filter((pl.col("phase") == "measure") & (pl.col("value") > 0.0))
        .group_by([*row, "system"])
        .agg(slower.mean().alias("slower"))
        .pivot("system", index=row, values="slower")
        .drop_nulls()
        .with_columns((pl.col("other") - pl.col("agent")).alias("change"))
    )
    print(f"{'workload':26} {'rows':>4}  change of time by the other agent")
    for name, table in [
        *sorted((str(key[0]), one) for key, one in boots.group_by("workload")),
        ("all rows", boots),
    ]:
        ratios = table.group_by("block").agg(pl.col("change").mean())["change"].to_numpy()
        half = stats.t.ppf(0.975, len(ratios) - 1) * np.std(ratios, ddof=1) / len(ratios) ** 0.5
        mean, rows = ratios.mean(), table.select("metric", "case").n_unique()
        low, middle, high = (100 * np.expm1(one) for one in (mean - half, mean, mean + half))
        print(f"{name:26} {rows:4}  {middle:+6.2f} % ({low:+.2f} to {high:+.2f})")


if __name__ == "__main__":
    main()
