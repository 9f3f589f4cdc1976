"""Whether the iterations of a boot repeat each other: correlation of successive ones.

    python benches/iteration_correlation.py RESULT [SYSTEM]

For each row of a result with paired boots: the correlation of one iteration with the next in the
same boot, of the log-ratio of SYSTEM (default: the first that is not the reference) to the
reference, and of the reference alone; the standard deviation within a boot, and that between boots
beyond it. Prints medians over rows. If successive iterations were correlated, it would help to
spread them over the boot.
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pentathlon.evaluate.estimate import counted
from pentathlon.evaluate.planning.allocation import components
from pentathlon.evaluate.planning.cubes import cube
from pentathlon.store.query import load_result


def successive(values: npt.NDArray[np.float64]) -> float:
    """Correlation of an iteration with the next, about the mean over all boots.

    Args:
        values: boots x processes x iterations.
    """
    rest = values - values.mean()
    return float((rest[..., 1:] * rest[..., :-1]).mean() / (rest**2).mean())


def main() -> int:
    if len(sys.argv) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    result = load_result(Path(sys.argv[1]))
    reference = result.study.reference
    others = [one.name for one in result.study.systems if one.name != reference]
    system = sys.argv[2] if len(sys.argv) > 2 else others[0]
    measured = counted(result.samples())
    blocks = sorted(measured["block"].unique().to_list())
    pairs, alone, within, between = [], [], [], []
    for key in measured["key"].unique().to_list():
        sides = [cube(measured, key, name, blocks) for name in (system, reference)]
        if sides[0] is None or sides[1] is None or sides[0].shape != sides[1].shape:
            continue
        ratios = sides[0] - sides[1]
        if not np.ptp(ratios) > 0.0 or not np.ptp(sides[1]) > 0.0:
            continue
        own = components(ratios)
        inner = own.lower(ratios.shape[2], ratios.shape[1])
        pairs.append(successive(ratios))
        alone.append(successive(sides[1]))
        within.append(own.iteration**0.5)
        between.append(float(ratios.mean(axis=(1, 2)).var(ddof=1)) - inner)
    if not pairs:
        print("no row has two iterations in every boot of both systems", file=sys.stderr)
        return 2
    print(
        f"{len(pairs)} rows: correlation of successive iterations {statistics.median(pairs):+.2f} "
        f"of log-ratios, {statistics.median(alone):+.2f} of {reference} alone; SD within a boot "
        f"{statistics.median(within):.2%}, between boots beyond it "
        f"{max(statistics.median(between), 0.0) ** 0.5:.2%}"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
