"""Machine time to find a planted slowdown of 2 %: by looks, and by the fixed procedure.

    python benches/planted_slowdown_time.py [TRIALS] [BLOCKS]

Measures this machine under two names through the whole pipeline, one with 2 % of uncounted work
planted in `test.spin`, for BLOCKS blocks (default 60), and prints what the looks and the fixed
procedure (30 blocks) say of the first blocks. Then both procedures judge TRIALS studies (default
2,000) drawn from the measured blocks in random order, with replacement: how often each finds the
slowdown, and in how much machine time, from the measured time of a boot. Both columns come from the
same blocks. The bootstrap shows what this machine's noise makes of the procedures; it is no larger
sample of the machine.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from datetime import datetime
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from benches.calibration.vectorised import Verdicts, judge
from pentathlon.evaluate import evaluate
from pentathlon.procedure.records import BootEnd, BootStart
from pentathlon.store.journal import read_journal
from pentathlon.store.query import Result, load_result
from pentathlon.study.stopping import DEFAULT_LOOKS

SEED = 20030101
LAST = DEFAULT_LOOKS[-1]
STUDY = """\
name = "planted-two-percent"
reference = "plain"
[procedure]
blocks = {blocks}
iterations = 10
warmup = 2
sample_ms = 10.0
[[system]]
name = "plain"
target = "local"
cpus = [-1]
[[system]]
name = "planted"
target = "local"
cpus = [-1]
parameters = {{ "test.spin" = {{ slowdown_percent = 2 }} }}
[[suite]]
name = "spin"
workloads = ["test.spin"]
"""


def measure(blocks: int, directory: Path) -> Result:
    """Run the study in a fresh directory."""
    study = directory / "study.toml"
    study.write_text(STUDY.format(blocks=blocks))
    command = [sys.executable, "-m", "pentathlon", "run", str(study), "--out"]
    command += [str(directory / "result"), "--no-report", "--no-pilot"]
    here = str(Path(__file__).resolve().parent.parent)
    # No calibration of the machine takes part: the planted slowdown is to be found or not.
    environment = {**os.environ, "PYTHONPATH": here, "XDG_STATE_HOME": str(directory / "state")}
    subprocess.run(command, check=True, env=environment, stderr=subprocess.DEVNULL)
    return load_result(directory / "result")


def boot_seconds(result: Result) -> float:
    """Mean time of a boot with its workload, in seconds."""
    began: datetime | None = None
    took = []
    for record in read_journal(result.path):
        if isinstance(record, BootStart):
            began = datetime.fromisoformat(record.utc)
        elif isinstance(record, BootEnd) and began is not None:
            took.append((datetime.fromisoformat(record.utc) - began).total_seconds())
    return float(np.mean(took))


def line(found: Verdicts, seconds: float) -> list[str]:
    """Power, blocks and time of a procedure."""
    slower = found.different & (found.mean < 0)
    faster = found.different & (found.mean > 0)
    minutes = found.blocks * 2 * seconds / 60
    return [
        f"{slower.mean():.1%}",
        f"{faster.mean():.1%}",
        f"{found.unstable.mean():.1%}",
        f"{found.blocks.mean():.1f}",
        f"{np.median(minutes):.2f}",
        f"{minutes.mean():.2f}",
    ]


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    blocks = max(LAST, int(sys.argv[2]) if len(sys.argv) > 2 else 2 * LAST)
    console = Console(width=120)
    with tempfile.TemporaryDirectory() as directory:
        result = measure(blocks, Path(directory))
        effect = evaluate(result).rows[0].comparisons[0].effect
        assert effect is not None
        seconds = boot_seconds(result)
    ratios = np.array(effect.log_ratios)
    console.print(
        f"{effect.blocks} blocks measured: {effect.percent:+.2f} % "
        f"({effect.low_percent:+.2f} to {effect.high_percent:+.2f}); SD of the blocks' ratios "
        f"{np.std(ratios, ddof=1) * 100:.2f} %; a boot took {seconds:.2f} s"
    )
    table = Table(
        "procedure",
        "first blocks say",
        "slower",
        "faster",
        "unstable",
        "mean blocks",
        "median min",
        "mean min",
    )
    draws = np.random.default_rng(SEED).choice(ratios, (trials, LAST))
    for name, looks in ((f"looks {DEFAULT_LOOKS}", DEFAULT_LOOKS), (f"fixed {LAST}", (LAST,))):
        real = judge(ratios[None, :LAST], looks, 0.05)
        text = "slower" if real.different[0] and real.mean[0] < 0 else "not shown"
        text += f" after {real.blocks[0]} blocks, {real.blocks[0] * 2 * seconds / 60:.2f} min"
        table.add_row(name, text, *line(judge(draws, looks, 0.05), seconds))
    console.print(table)


if __name__ == "__main__":
    main()
