"""How long the report of 10,000 samples takes, and how large its files are.

    python benches/report_speed.py

Builds a synthetic result of three systems, then times what `pentathlon report` does after loading
it: the evaluation, the HTML page, and each export. Starts a fresh interpreter for the whole, so
that the time to load the libraries counts too.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = 10_000


def main() -> None:
    if len(sys.argv) > 1:
        inside(Path(sys.argv[1]))
        return
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([sys.executable, __file__, directory], check=True)


def inside(directory: Path) -> None:
    """Time every part in this interpreter."""
    start = time.perf_counter()
    from pentathlon.evaluate import evaluate  # noqa: PLC0415
    from pentathlon.report.export import files  # noqa: PLC0415

    loading = time.perf_counter() - start
    sys.path.insert(0, str(ROOT))
    from tests.fakes import synthetic  # noqa: PLC0415

    maker = synthetic.Maker()
    maker.chosen = maker.chosen[: -(-SAMPLES // (3 * maker.blocks * (maker.warmup + 5)))]
    result = maker.make()
    print(f"{result.samples().height:,} samples of {len(maker.chosen)} metrics, 3 systems")
    print(f"{'load the libraries':22}{loading:8.2f} s")
    start = time.perf_counter()
    evaluation = evaluate(result)
    judging = time.perf_counter() - start
    print(f"{'evaluate':22}{judging:8.2f} s")
    writing = 0.0
    for name in files.FORMATS:
        start = time.perf_counter()
        (file,) = files.write(evaluation, result, directory, [name])
        took = time.perf_counter() - start
        writing += took if name == "html" else 0.0
        print(f"{file.name:22}{took:8.2f} s{file.stat().st_size:12,} bytes")
    print(f"{'report in all':22}{loading + judging + writing:8.2f} s")


if __name__ == "__main__":
    main()
