"""Every experiment between two hosts. A new one is a folder with a descriptor, and a line here."""

from __future__ import annotations

from typing import Any

from pentathlon.experiments.descriptor import Experiment
from pentathlon.experiments.file_services.descriptor import FILE_SERVICES
from pentathlon.experiments.forwarding.descriptor import FORWARDING
from pentathlon.experiments.traffic.descriptor import TRAFFIC

EXPERIMENTS: tuple[Experiment[Any], ...] = (TRAFFIC, FORWARDING, FILE_SERVICES)


def find(workload: str) -> Experiment[Any] | None:
    """The experiment that a workload belongs to; None: it runs on one host."""
    return next((one for one in EXPERIMENTS if workload in one.drivers), None)
