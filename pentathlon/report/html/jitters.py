"""The interarrival jitter of flows over their time (RFC 3550, section 6.4.1), one panel a case.

The points come from the `packets` events of a result (docs/results.md); `assets/jitters.js` draws
them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from pentathlon.evaluate.cases import case_text
from pentathlon.evaluate.model import Evaluation
from pentathlon.protocol.events import Packets

PICTURED = "network.traffic"
"""The workload whose pictures these are."""

PANELS = 12
"""Cases that are drawn; of more, as many are taken at equal steps."""

LINES = 3
"""Trials of a system that are drawn in a panel, its first ones."""

CAPTION = (
    "The interarrival jitter of RFC 3550 (section 6.4.1) over the time of a trial, after the last "
    "arrival of each hundredth of it; a line for each system's first boots. The level of a case is "
    "its jitter, a peak a burst that a mean would hide."
)


def payload(
    evaluation: Evaluation, result: object, short: Callable[[float], Any]
) -> dict[str, Any]:
    """The panels, with short names.

    `n` is the number of cases; each panel in `p` has `t` title and `l` lines of
    [system, block, points], with points of [s, ms].
    """
    trials = getattr(result, "trials", None)
    if not callable(trials) or all(row.workload != PICTURED for row in evaluation.rows):
        return {}
    names = [system.name for system in evaluation.systems]
    found: dict[str, list[list[Any]]] = {}
    for system, block, event in trials():
        if system not in names or event.phase != "measure":
            continue
        for title, points in _flows(event):
            lines = found.setdefault(title, [])
            if points and sum(one[0] == names.index(system) for one in lines) < LINES:
                drawn = [[short(time), short(1e3 * last)] for time, last, _ in points]
                lines.append([names.index(system), block, drawn])
    panels = [{"t": title, "l": lines} for title, lines in found.items() if lines]
    if not panels:
        return {}
    steps = min(PANELS, len(panels))
    chosen = [panels[place * len(panels) // steps] for place in range(steps)]
    return {"w": PICTURED, "n": len(panels), "p": chosen}


def _flows(event: Packets) -> Iterable[tuple[str, list[list[float]]]]:
    """The title and the series of each flow of a trial."""
    several = len(event.flows) > 1
    for flow in event.flows:
        case = event.case | ({"flow": flow["name"]} if several else {})
        yield case_text(case), flow.get("jitter") or []
