"""Whether `pentathlon try` finds a program that is 5 % slower on one kernel, in under a minute.

    python benches/try_planted.py [TRIALS] [LIMIT_S]

Builds a program that does 5 % more work where uname(2) reports the newest kernel and measures it on
user-mode Linux 6.1 and on the newest one, by the command that a user types. Then the same program
without the plant on 6.1 under two names, where there is nothing to find, and on both kernels: a
kernel that is faster or slower by itself adds to the plant. Prints for each trial (default 1, at
most 60 s a command) the verdict, the interval, the blocks, the standard deviation of their ratios
and the time, and the sentence that the user reads. Where the standard deviation is several percent,
neighbours disturb the machine, and no procedure finds 5 % in a minute: repeat it on a quiet one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pentathlon.evaluate import evaluate
from pentathlon.store.query import load_result
from pentathlon.targets.uml import fetch, kernels

PROGRAM = """\
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

int main(int count, char **words) {
    struct utsname system;
    uint64_t steps = 60000000, state = 88172645463325252u;
    uname(&system);
    if (count > 1 && strcmp(system.release, words[1]) == 0) steps += steps / 20;
    for (uint64_t i = 0; i < steps; i++) {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
    }
    return state == 0;
}
"""


def tried(directory: Path, limit_s: int, systems: list[str], words: list[str]) -> str:
    """One line about what the command found."""
    out = directory / f"result-{time.monotonic_ns()}"
    command = [sys.executable, "-m", "pentathlon", "try", "--limit", f"{limit_s}s"]
    command += ["--out", str(out), *(word for one in systems for word in ("--on", one))]
    here = str(Path(__file__).resolve().parent.parent)
    path = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    # No calibration of the machine takes part: the plant is to be found or not.
    environment = {**os.environ, "PYTHONPATH": path, "XDG_STATE_HOME": str(directory / "state")}
    began = time.monotonic()
    done = subprocess.run(
        [*command, "--", "./work", *words],
        cwd=directory, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    seconds = time.monotonic() - began
    if not out.exists():
        return f"failed: {done.stderr.strip()}"
    judged = evaluate(load_result(out))
    [row] = [one for one in judged.rows if one.metric == "wall"]
    effect = row.comparisons[0].effect
    if effect is None:
        return f"failed: {done.stdout.strip()}"
    spread = float(np.std(effect.log_ratios, ddof=1)) * 100
    sentence = " ".join(done.stdout.split(".\\n")[0].split("\nsystem ")[0].split())
    return (
        f"{row.comparisons[0].verdict}: {effect.percent:+.2f} % "
        f"({effect.low_percent:+.2f} to {effect.high_percent:+.2f}), {effect.blocks} blocks, "
        f"SD {spread:.2f} %, {seconds:.0f} s\n    {sentence}"
    )


def main() -> None:
    trials = int(sys.argv[1]) if len(sys.argv) > 1 else 1
    limit_s = int(sys.argv[2]) if len(sys.argv) > 2 else 60
    old, new = fetch.present("6.1"), fetch.present("newest")
    if old is None or new is None:
        sys.exit("two kernels are needed: pentathlon doctor --install")
    kernel: kernels.Kernel = new
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        (directory / "work.c").write_text(PROGRAM)
        build = ["cc", "-O2", "-static", "-o", "work", "work.c"]
        subprocess.run(build, cwd=directory, check=True)
        for _ in range(trials):
            both = ["uml:6.1", "uml:newest"]
            print("5 % planted  ", tried(directory, limit_s, both, [kernel.version]), flush=True)
            same = ["uml:6.1", f"uml:{old.path}"]
            print("same kernel  ", tried(directory, limit_s, same, []), flush=True)
            print("both, nothing", tried(directory, limit_s, both, []), flush=True)


if __name__ == "__main__":
    main()
