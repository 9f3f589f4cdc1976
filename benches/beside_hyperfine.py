"""Wall times of the same commands by hyperfine and by `pentathlon try`, in turns, as ratios.

Usage: python benches/beside_hyperfine.py [ROUNDS]

Needs hyperfine (Debian: hyperfine) in the search path. In each round both measure each command, the
order of the two changing from round to round; the figure is the median over rounds of the ratio of
their medians. hyperfine's commands get the variables that those of `try` have: a shell's loop has
been 6 % slower with the variables of a login.
"""

from __future__ import annotations

import json
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from pentathlon.store.query import load_result

COMMANDS = (
    ["sh", "-c", "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done"],
    ["gzip", "-9", "-c", "/bin/bash"],
    ["sleep", "0.05"],
    ["sh", "-c", "i=0; while [ $i -lt 5000 ]; do i=$((i + 1)); done"],
    ["true"],
)
RUNS = 30
USUAL = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


def hyperfine(command: list[str], place: Path) -> float:
    """The median wall time, in s."""
    file = place / "times.json"
    words = " ".join(f"'{word}'" for word in command)
    options = ["-N", "--warmup", "1", "--runs", str(RUNS), "--style", "none"]
    variables = {"PATH": USUAL, "HOME": str(place), "TMPDIR": str(place), "LC_ALL": "C.UTF-8"}
    subprocess.run(
        ["hyperfine", *options, "--export-json", file, words],
        check=True, capture_output=True, env=variables,
    )  # fmt: skip
    return float(json.loads(file.read_text())["results"][0]["median"])


def pentathlon(command: list[str], place: Path) -> float:
    """The same by `try`, in s."""
    result = place / "result"
    shutil.rmtree(result, ignore_errors=True)
    options = ["--limit", "5s", "--out", result]
    subprocess.run(
        [sys.executable, "-m", "pentathlon", "try", *options, "--", *command],
        check=True, capture_output=True,
    )  # fmt: skip
    samples = load_result(result).samples().to_dicts()
    times = [
        one["value"] for one in samples if one["metric"] == "wall" and one["phase"] == "measure"
    ]
    return statistics.median(times) / 1e9


def main() -> int:
    if shutil.which("hyperfine") is None:
        print("hyperfine is not installed: apt-get install hyperfine", file=sys.stderr)
        return 2
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        for command in COMMANDS:
            ratios, times = [], []
            for number in range(rounds):
                pair = [hyperfine, pentathlon]
                found = {
                    one.__name__: one(command, place) for one in pair[:: 1 if number % 2 else -1]
                }
                ratios.append(found["pentathlon"] / found["hyperfine"])
                times.append(found["hyperfine"])
            middle = statistics.median(ratios)
            print(
                f"{' '.join(command)[:40]:40} hyperfine {statistics.median(times) * 1e3:8.2f} ms, "
                f"ratio {middle:.4f} (from {min(ratios):.4f} to {max(ratios):.4f})",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
