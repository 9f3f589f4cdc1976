"""Rules that leave samples out, declared in the study before anything is measured.

A rule looks only at what the system's counters say of the time of a sample, never at its value, its
system or its place: `steal_percent > 2`. So it cannot choose the samples that suit somebody.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from pentathlon.safeio.suggestion import did_you_mean

QUANTITIES: dict[str, str] = {
    "steal_percent": "time that the hypervisor kept from the CPUs, in % of the sample's time",
    "run_delay_percent": "time that a guest's processes waited for a CPU of this machine, "
    "in % of the sample's time",
    "lost_cpu_percent": "CPU time that a sample without a voluntary context switch lacks, in % of "
    "its time",
    "cpu_percent": "CPU time of the worker, in % of the sample's time",
    "voluntary_switches": "voluntary context switches during the sample",
    "involuntary_switches": "involuntary context switches during the sample",
    "minor_faults": "page faults without input during the sample",
    "major_faults": "page faults with input during the sample",
    "interrupts_per_s": "interrupts of the whole system, 1/s",
    "involuntary_switches_per_s": "involuntary context switches, 1/s",
    "frequency_mhz": "clock frequency of the CPU beside the sample, MHz",
}
"""What a rule can look at; the unit is in the name, counts are those of one sample."""

RULE = re.compile(r"\s*([A-Za-z_]+)\s*(<=|>=|<|>)\s*([-+0-9.eE]+)\s*")


@dataclass(frozen=True)
class Exclusion:
    """A sample is left out where `quantity` stands in the relation `sign` to `limit`."""

    quantity: str
    sign: str
    limit: float

    @property
    def text(self) -> str:
        """The rule as it is written, "steal_percent > 2"."""
        return f"{self.quantity} {self.sign} {self.limit:g}"


def parse_exclusion(text: str) -> Exclusion:
    """Read one rule.

    Raises:
        ValueError: it is no rule, or looks at something that rules may not look at.
    """
    found = RULE.fullmatch(text)
    if found is None:
        raise ValueError(f'"{text}" is no rule; write it like "steal_percent > 2"')
    quantity, sign, number = found.groups()
    if quantity not in QUANTITIES:
        raise ValueError(
            f'"{quantity}" is nothing that a rule can look at, which is a counter beside the '
            f"sample{did_you_mean(quantity, list(QUANTITIES))}"
        )
    try:
        limit = float(number)
    except ValueError:
        limit = math.nan
    if not math.isfinite(limit):
        raise ValueError(f'"{number}" is no number; write the rule like "steal_percent > 2"')
    return Exclusion(quantity, sign, limit)
