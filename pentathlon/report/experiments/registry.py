"""What the report shows of every experiment, in the order of the page and the terminal."""

from __future__ import annotations

from pentathlon.report.experiments.entry import Pictures, Shown
from pentathlon.report.experiments.file_services import FILE_SERVICES
from pentathlon.report.experiments.forwarding import FORWARDING
from pentathlon.report.experiments.traffic import TRAFFIC

SHOWN: tuple[Shown, ...] = (FORWARDING, TRAFFIC, FILE_SERVICES)

NONE = Pictures()


def pictures(workload: str) -> Pictures:
    """The pictures of a workload; none of its own if no entry has it."""
    return next((one.pictures[workload] for one in SHOWN if workload in one.pictures), NONE)
