"""What two minutes of examples/two-kernels.toml decide, or a variant of it.

    python benches/two_minutes.py [--host] [--blocks N] [--iterations N] [--warmup N]
        [--pairing none|steps|turns] [--delta PERCENT] [--sample-ms MS] [--visits N]
        [--cpu-latency US|any] [--keep DIRECTORY]

Runs the study, or some of its systems with another procedure, by the command that a user types.
Then prints a line of the tables in docs/two-minutes.md: the time of the whole command with its
pilots and its report, and of uml-newest against uml-6.1 the rows, how many are decided, how many
of them are differences, the median standard deviation of the blocks, and the median detectable
difference of all rows, and of those that use no more than 1 MiB of memory. The machine has to be
quiet: nothing else may be measured or built on it.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pentathlon.evaluate import Evaluation, Verdict, evaluate  # noqa: E402
from pentathlon.evaluate.model import Comparison, Row  # noqa: E402
from pentathlon.store.query import load_result  # noqa: E402
from pentathlon.study.write import to_toml  # noqa: E402

SYSTEM = "uml-newest"
LARGEST = 1 << 20
"""Bytes of a working set that two guests keep in the caches by turns."""
OPEN = (Verdict.INCONCLUSIVE, Verdict.UNSTABLE)


def variant(given: argparse.Namespace) -> dict[str, Any]:
    """The study with what the options change."""
    name = "two-kernels-and-host" if given.host else "two-kernels"
    study = tomllib.loads((ROOT / "examples" / f"{name}.toml").read_text())
    study.pop("fallback", None)
    for key in ("blocks", "iterations", "warmup", "pairing", "sample_ms", "visits"):
        if (value := getattr(given, key)) is not None:
            study["procedure"][key] = value
    if given.cpu_latency is not None:
        study["procedure"]["cpu_latency_us"] = given.cpu_latency
    if given.delta is not None:
        study["evaluation"]["delta_percent"] = given.delta
    return study


def latency(text: str) -> int | str:
    """A limit of idle states in µs, or "any"."""
    return text if text == "any" else int(text)


def small(row: Row) -> bool:
    """Whether the row's work uses no more memory than `LARGEST`."""
    return int(row.case.get("block_bytes", 0)) <= LARGEST


def line(evaluation: Evaluation) -> str:
    """The figures of uml-newest against the reference."""
    rows: list[tuple[Row, Comparison]] = [
        (row, one)
        for row in evaluation.rows
        if row.score and (one := row.comparison(SYSTEM)) is not None and one.effect is not None
    ]
    decided = [one.verdict for _, one in rows if one.verdict not in OPEN]
    spread = statistics.median(
        one.effect.sd for _, one in rows if one.effect is not None and one.effect.sd is not None
    )
    return (
        f"{len(rows)} rows, {len(decided)} decided, "
        f"{sum(one.is_shown for one in decided)} differences; median SD of the blocks "
        f"{100.0 * spread:.1f} %, median detectable difference {_detectable(rows):.1f} %, of "
        f"{sum(small(row) for row, _ in rows)} rows up to 1 MiB "
        f"{_detectable([pair for pair in rows if small(pair[0])]):.1f} %"
    )


def _detectable(rows: Sequence[tuple[Row, Comparison]]) -> float:
    return statistics.median(
        one.effect.mde_percent
        for _, one in rows
        if one.effect is not None and one.effect.mde_percent is not None
    )


def main() -> int:
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("--host", action="store_true")
    words.add_argument("--blocks", type=int)
    words.add_argument("--iterations", type=int)
    words.add_argument("--warmup", type=int)
    words.add_argument("--pairing", choices=("none", "steps", "turns"))
    words.add_argument("--delta", type=float)
    words.add_argument("--sample-ms", type=float)
    words.add_argument("--visits", type=int)
    words.add_argument("--cpu-latency", type=latency, metavar="US|any")
    words.add_argument("--keep", type=Path, metavar="DIRECTORY")
    given = words.parse_args()
    with tempfile.TemporaryDirectory() as place:
        study = Path(place) / "study.toml"
        study.write_text(to_toml(variant(given)))
        result = given.keep or Path(place) / "result"
        began = time.monotonic()
        command = [sys.executable, "-m", "pentathlon", "run", str(study), "--yes"]
        subprocess.run([*command, "--out", str(result)], cwd=ROOT, check=True, capture_output=True)
        taken_s = time.monotonic() - began
        print(f"{taken_s:.0f} s: {line(evaluate(load_result(result)))}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
