"""cpu.pi beside a Gauss–Legendre program on GMP, and cpu.cipher beside `openssl speed`.

The ratio is theirs over ours in CPU time for π, and ours over theirs in throughput for AES: above 1
the agent is faster. Programs that are missing (cc with libgmp-dev, openssl) are named and left out.
Exit status: 0 compared, 1 no peer was found or a run failed.

    python benches/cpu_peers.py --digits 1048576 4194304
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from pentathlon import agent

SOURCE = Path(__file__).with_name("pi") / "gauss_legendre_gmp.c"
AES_BYTES = 1 << 20


def samples(program: Path, workload: str, parameters: dict[str, Any]) -> list[dict[str, Any]]:
    """The measured samples of one workload."""
    task = {"id": workload, "parameters": parameters, "iterations": 3, "timeout_s": 3600}
    run = subprocess.run(
        [str(program), "run"],
        input=json.dumps({"protocol": 1, "workloads": [task]}) + "\n",
        capture_output=True,
        text=True,
        check=True,
    )
    events = [json.loads(line) for line in run.stdout.splitlines()]
    for event in events:
        if event["event"] == "error":
            raise SystemExit(f"cpu_peers: {workload}: {event['reason']}")
    return [e for e in events if e["event"] == "sample" and e["phase"] == "measure"]


def pi(program: Path, digits: int, peer: Path) -> None:
    """CPU seconds for π, ours the best of three."""
    ours = min(
        (s["counters"]["cpu_user_ns"] + s["counters"]["cpu_system_ns"]) / s["batch"] / 1e9
        for s in samples(program, "cpu.pi", {"digits": [digits]})
    )
    said = subprocess.run([peer, str(digits)], capture_output=True, text=True, check=True).stdout
    found = re.search(r": ([\d.]+) s", said)
    if found is None:
        raise SystemExit(f"cpu_peers: the GMP program said: {said!r}")
    theirs = float(found[1])
    print(f"pi {digits}: cpu.pi {ours:.3f} s, GMP {theirs:.3f} s, ratio {theirs / ours:.2f}")


def aes(program: Path, bits: int) -> None:
    """MB/s of AES with cipher block chaining on a block of 1 MiB, ours the best of three."""
    parameters = {"algorithm": [f"aes-{bits}"], "bytes": AES_BYTES}
    ours = samples(program, "cpu.cipher", parameters)
    for direction, option in (("encrypt", []), ("decrypt", ["-decrypt"])):
        command = ["openssl", "speed", "-mr", "-seconds", "1", "-bytes", str(AES_BYTES), *option]
        command += ["-evp", f"aes-{bits}-cbc"]
        said = subprocess.run(command, capture_output=True, text=True, check=True).stdout
        found = re.search(r"^\+F:.*:([\d.]+)$", said, re.MULTILINE)
        if found is None:
            raise SystemExit(f"cpu_peers: openssl said: {said!r}")
        theirs = float(found[1]) / 1e6
        rate = max(s["value"] for s in ours if s["case"]["direction"] == direction)
        print(
            f"aes-{bits} {direction}: cpu.cipher {rate:.0f} MB/s, openssl {theirs:.0f} MB/s, "
            f"ratio {rate / theirs:.2f}"
        )


def main() -> int:
    """Compares with every peer that is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--digits", type=int, nargs="+", default=[1 << 20])
    digits = parser.parse_args().digits
    program = agent.locate()
    compared = False
    with tempfile.TemporaryDirectory() as place:
        peer = Path(place) / "gauss_legendre_gmp"
        compiler = shutil.which("cc") or shutil.which("gcc")
        build = [str(compiler), "-O2", str(SOURCE), "-o", str(peer), "-lgmp"]
        if compiler and subprocess.run(build, capture_output=True, check=False).returncode == 0:
            for number in digits:
                pi(program, number, peer)
            compared = True
        else:
            print("no GMP program: it needs a C compiler and libgmp-dev")
    if shutil.which("openssl"):
        for bits in (128, 256):
            aes(program, bits)
        compared = True
    else:
        print("no openssl: install the package openssl")
    return 0 if compared else 1


if __name__ == "__main__":
    sys.exit(main())
