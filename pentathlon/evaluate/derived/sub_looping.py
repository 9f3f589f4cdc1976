"""The best piece of sub-looping (venkata2003, section 3.3), as a set that holds it.

The study takes the piece with the shortest time. Of several pieces that lie close together that is
chance, so beside it stands the subset of Gupta (1965), "On some multiple decision (selection and
ranking) rules": a piece leaves the set if another is shown to be faster, by a one-sided paired
t test over the boots at α / (k − 1). The truly best of k pieces can leave it only by one of its
k − 1 tests going wrong, so the set holds it with probability 1 − α or more (Bonferroni), whatever
the pieces' times have in common. That any piece is worse at all is only said if it also holds for
all k sets together.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pentathlon.evaluate.cases import case_text
from pentathlon.evaluate.derived.model import OptimumPiece
from pentathlon.evaluate.derived.series import Curve, every, mean_of
from pentathlon.evaluate.display import bytes_text, percent_text
from pentathlon.evaluate.estimators import ratio
from pentathlon.evaluate.model import Row
from pentathlon.evaluate.values import Values

WORKLOAD, METRIC = "memory.sub_looping", "time"
PIECE, TOTAL = "piece_bytes", "total_bytes"
FEWEST_BOOTS, FEWEST_PIECES = 3, 3


def find_optima(
    rows: Sequence[Row], systems: Sequence[str], level: float
) -> tuple[OptimumPiece, ...]:
    """The best piece of every total on every system; `level` is 1 − confidence."""
    return tuple(
        _one(system, curve, level)
        for system, curve in every(rows, systems, WORKLOAD, METRIC, PIECE)
        if isinstance(curve.case.get(TOTAL), int)
    )


def best_set(boots: Values, level: float) -> list[int]:
    """Columns that no other column is shown to be below.

    Args:
        boots: boots x pieces, times, positive; at least 2 boots.
    """
    logs = np.log(boots)
    count, pieces = logs.shape
    bound = ratio.t_quantile(2.0 * level / max(1, pieces - 1), count - 1)
    kept = []
    for own in range(pieces):
        slower = logs[:, own : own + 1] - logs
        error = np.std(slower, axis=0, ddof=1) / np.sqrt(count)
        centre = np.mean(slower, axis=0)
        if not np.any((centre > bound * error) & (np.arange(pieces) != own)):
            kept.append(own)
    return kept


def _one(system: str, curve: Curve, level: float) -> OptimumPiece:
    boots, pieces = curve.boots.shape
    total = curve.case[TOTAL]
    assert isinstance(total, int)
    best: int | None = None
    held: tuple[int, ...] = ()
    gain, seen = None, False
    if boots < FEWEST_BOOTS or pieces < FEWEST_PIECES:
        words = f"{boots} boots with {pieces} pieces are too few to name the best one"
    else:
        # That any piece at all is worse is a claim about each of k sets: it is tested at α / k.
        seen = len(best_set(curve.boots, level / pieces)) < pieces
        kept = best_set(curve.boots, level) if seen else list(range(pieces))
        place = int(np.argmin(np.mean(np.log(curve.boots), axis=0)))
        best = int(curve.x[place])
        held = tuple(int(curve.x[one]) for one in kept)
        if seen and int(curve.x[-1]) == total:
            gain = mean_of(curve.boots[:, -1] / curve.boots[:, place], level, least=0)
        words = _words(curve, best, held, level)
    return OptimumPiece(
        system=system,
        total_bytes=total,
        case_text=case_text(curve.case),
        unit=curve.rows[0].unit,
        boots=boots,
        best_bytes=best if seen else None,
        set_bytes=held,
        gain=gain,
        seen=seen,
        words=words,
    )


def _words(curve: Curve, best: int, held: Sequence[int], level: float) -> str:
    if len(held) == len(curve.x):
        return "not seen: no piece is shown to be slower than another"
    if len(held) == 1:
        text = f"{bytes_text(best)} is shown to be better than every other piece"
    else:
        which = f"{len(held)} pieces from {bytes_text(held[0])} to {bytes_text(held[-1])}"
        text = f"{bytes_text(best)} has the lowest mean; the best is one of {which}"
    text += f" (confidence {percent_text((1 - level) * 100)})"
    if held[0] == int(curve.x[0]):
        text += "; no smaller piece was measured"
    elif held[-1] == int(curve.x[-1]):
        text += "; no larger piece was measured"
    return text
