"""Forwarding: packets through a host, with and without a competitor for its CPU."""

from __future__ import annotations

from typing import Final

from pentathlon.experiments.descriptor import Experiment, Need
from pentathlon.experiments.forwarding.ndr import run_ndr
from pentathlon.experiments.forwarding.sweep import run_sweep
from pentathlon.experiments.forwarding.testbed import Testbed

FORWARDING: Final = Experiment(
    "forwarding",
    Need[Testbed]("forwarder"),
    {"forwarding.sweep": run_sweep, "forwarding.ndr": run_ndr},
)
