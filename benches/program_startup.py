"""How long the program takes where it does no work: help, completion, errors.

    python benches/program_startup.py [RUNS]

Prints the median and the range of the CPU time (user and system, of the process and what it starts)
and of the wall time, beside those of other Python programs of this interpreter: an empty script,
`pip --help` and `pytest --version`. `python -X importtime -m pentathlon --help` shows the imports.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time

CALLS: dict[str, tuple[list[str], dict[str, str]]] = {
    "pentathlon --help": (["-m", "pentathlon", "--help"], {}),
    "pentathlon run --help": (["-m", "pentathlon", "run", "--help"], {}),
    "pentathlon compare --help": (["-m", "pentathlon", "compare", "--help"], {}),
    "pentathlon --version": (["-m", "pentathlon", "--version"], {}),
    "completion of run --": (
        ["-m", "pentathlon"],
        {
            "_PENTATHLON_COMPLETE": "complete_bash",
            "COMP_WORDS": "pentathlon run --",
            "COMP_CWORD": "2",
        },
    ),
    "pentathlon run --blok": (["-m", "pentathlon", "run", "--blok"], {}),
    "pentathlon run nowhere.toml": (["-m", "pentathlon", "run", "nowhere.toml"], {}),
    "pentathlon compare nowhere": (["-m", "pentathlon", "compare", "nowhere"], {}),
    "python -c pass": (["-c", "pass"], {}),
    "pip --help": (["-m", "pip", "--help"], {}),
    "pytest --version": (["-m", "pytest", "--version"], {}),
}


def once(words: list[str], variables: dict[str, str]) -> tuple[float, float]:
    """CPU and wall time of one call, in seconds."""
    before, start = os.times(), time.perf_counter()
    subprocess.run(
        [sys.executable, *words],
        env={**os.environ, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    wall, after = time.perf_counter() - start, os.times()
    cpu = after.children_user + after.children_system
    return cpu - before.children_user - before.children_system, wall


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    print(f"{'':28}  {'CPU in s':>18}  {'wall in s':>18}")
    for name, (words, variables) in CALLS.items():
        once(words, variables)  # Compiles, and fills the page cache.
        found = [once(words, variables) for _ in range(runs)]
        cells = []
        for values in zip(*found, strict=True):
            low, high = min(values), max(values)
            cells.append(f"{statistics.median(values):.2f} ({low:.2f}–{high:.2f})")
        print(f"{name:28}  {cells[0]:>18}  {cells[1]:>18}", flush=True)


if __name__ == "__main__":
    main()
