"""Whether `pentathlon try` finds a program that is 5 % slower on one kernel, in under a minute.

    python benches/try_planted.py [TRIALS] [LIMIT_S] [--beside LOOPS] [--only same]

Builds a program that does 5 % more work where uname(2) reports the newest kernel and measures it on
user-mode Linux 6.1 and on the newest one, by the command that a user types. Then the same program
without the plant on 6.1, as two commands, where there is nothing to find, and on both kernels: a
kernel that is faster or slower by itself adds to the plant. Prints for each trial (default 1, at
most 50 s a command, and what the first boots and the judgement take beside) the verdict, the
interval, the blocks, the standard deviation of their ratios and the time, and the sentence that the
user reads; at the end how often the plant was found, how often a difference was claimed that is not
there, and the load of the machine. `--beside` starts so many busy loops, as neighbours; `--only`
restricts the trials to one of "planted", "same" and "both".
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.verdict import Verdict
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


SLOWER = (Verdict.SLOWER, Verdict.SLOWER_BY_DELTA)
MINUTE_S = 60.0
TITLES = {"planted": "5 % planted", "same": "same kernel", "both": "both, nothing"}
CLAIMS = (*SLOWER, Verdict.FASTER, Verdict.FASTER_BY_DELTA)


def tried(
    directory: Path, limit_s: int, systems: list[str], commands: list[list[str]]
) -> tuple[Verdict | None, float, str]:
    """What the command found, in how many seconds, and a line about it."""
    out = directory / f"result-{time.monotonic_ns()}"
    command = [sys.executable, "-m", "pentathlon", "try", "--limit", f"{limit_s}s"]
    command += ["--out", str(out), *(word for one in systems for word in ("--on", one))]
    here = str(Path(__file__).resolve().parent.parent)
    path = os.pathsep.join(filter(None, (here, os.environ.get("PYTHONPATH"))))
    # No calibration of the machine takes part: the plant is to be found or not.
    environment = {**os.environ, "PYTHONPATH": path, "XDG_STATE_HOME": str(directory / "state")}
    began = time.monotonic()
    done = subprocess.run(
        [*command, *(word for words in commands for word in ("--", "./work", *words))],
        cwd=directory, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    seconds = time.monotonic() - began
    if not out.exists():
        return None, seconds, f"failed: {done.stderr.strip()}"
    judged = evaluate(load_result(out))
    [row] = [one for one in judged.rows if one.metric == "wall"]
    effect = row.comparisons[0].effect
    if effect is None:
        return None, seconds, f"failed: {done.stdout.strip()}"
    spread = float(np.std(effect.log_ratios, ddof=1)) * 100
    sentence = " ".join(done.stdout.split(".\\n")[0].split("\nsystem ")[0].split())
    verdict = row.comparisons[0].verdict
    line = (
        f"{verdict}: {effect.percent:+.2f} % "
        f"({effect.low_percent:+.2f} to {effect.high_percent:+.2f}), {effect.blocks} blocks, "
        f"SD {spread:.2f} %, {seconds:.0f} s\n    {sentence}"
    )
    return verdict, seconds, line


@contextmanager
def busy_loop() -> Iterator[None]:
    """A process that computes without an end, until the block is left."""
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as loop:
        try:
            yield
        finally:
            loop.kill()


def main() -> None:
    words = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    words.add_argument("trials", nargs="?", type=int, default=1)
    words.add_argument("limit_s", nargs="?", type=int, default=50)
    words.add_argument("--beside", type=int, default=0, metavar="LOOPS")
    words.add_argument("--only", choices=("planted", "same", "both"))
    options = words.parse_args()
    trials, limit_s = options.trials, options.limit_s
    old, new = fetch.present("6.1"), fetch.present("newest")
    if old is None or new is None:
        sys.exit("two kernels are needed: pentathlon doctor --install")
    kernel: kernels.Kernel = new
    with tempfile.TemporaryDirectory() as name, ExitStack() as loops:
        for _ in range(options.beside):
            loops.enter_context(busy_loop())
        directory = Path(name)
        (directory / "work.c").write_text(PROGRAM)
        build = ["cc", "-O2", "-static", "-o", "work", "work.c"]
        subprocess.run(build, cwd=directory, check=True)
        both = ["uml:6.1", "uml:newest"]
        asked = {
            "planted": (both, [[kernel.version]]),
            "same": (["uml:6.1"], [["one"], ["two"]]),
            "both": (both, [["none"]]),
        }
        if options.only:
            asked = {options.only: asked[options.only]}
        found: dict[str, list[tuple[Verdict | None, float]]] = {name: [] for name in asked}
        for _ in range(trials):
            for what, (systems, commands) in asked.items():
                verdict, seconds, line = tried(directory, limit_s, systems, commands)
                found[what].append((verdict, seconds))
                print(f"{TITLES[what]:<13}", line, f"(load {os.getloadavg()[0]:.1f})", flush=True)
    if "planted" in found:
        hits = sum(
            verdict in SLOWER and seconds < MINUTE_S for verdict, seconds in found["planted"]
        )
        print(f"found in under a minute: {hits} of {trials}")
    if "same" in found:
        claims = sum(verdict in CLAIMS for verdict, _ in found["same"])
        print(f"false claims with the same kernel: {claims} of {trials}")


if __name__ == "__main__":
    main()
