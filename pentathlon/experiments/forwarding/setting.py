"""A case of forwarding but for its load: its factors, and what gives the forwarder their values."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from pentathlon.experiments.forwarding import background_load
from pentathlon.experiments.forwarding.flow import overhead
from pentathlon.experiments.forwarding.testbed import Testbed, Tuning, Unsupported
from pentathlon.packets.records import RecordsError
from pentathlon.protocol.events import Case, JsonObject
from pentathlon.study import distributions
from pentathlon.testbed.endpoint import CommandError
from pentathlon.testbed.trial import InvalidTrial

FACTORS = {
    "ip_version": "ip_versions", "steering": "steering", "routes": "routes",
    "firewall_rules": "firewall_rules", "budget": "budgets",
}  # fmt: skip
"""Factor -> parameter. A case names them only where the study sets them."""

DEFAULTS: JsonObject = {
    "ip_version": 4, "steering": "own", "routes": 0, "firewall_rules": 0, "budget": 0,
}  # fmt: skip


@dataclass(frozen=True)
class Setting:
    """A case but for its load.

    Attributes:
        case: its factors, as the results name them.
        values: of all factors, those of the forwarder.
        competitor: what runs beside the flow.
    """

    case: Case
    values: JsonObject
    competitor: background_load.Competitor

    @property
    def frame_bytes(self) -> int:
        """Of the Ethernet frame with its check sequence."""
        return int(self.case["frame_bytes"])

    @property
    def version(self) -> int:
        """Of the Internet Protocol."""
        return int(self.values["ip_version"])


def settings(parameters: JsonObject) -> Iterator[Setting]:
    """The cases but for the load: what takes long to change comes first."""
    values_of = {name: _listed(parameters, FACTORS[name], DEFAULTS[name]) for name in FACTORS}
    named = [name for name, values in values_of.items() if values != [DEFAULTS[name]]]
    order = ("budget", "firewall_rules", "routes", "steering", "ip_version")
    competitors = list(_competitors(parameters))
    for *chosen, frame, competitor in itertools.product(
        *(values_of[name] for name in order), parameters["frame_bytes"], competitors
    ):
        values = dict(zip(order, chosen, strict=True))
        case: Case = {"frame_bytes": frame, "competitor": competitor.label}
        case |= {name: values[name] for name in named}
        yield Setting(case, values, competitor)


def _listed(parameters: JsonObject, name: str, default: Any) -> list[Any]:
    """The values of a parameter, which the catalogs of some agents have as a single one or lack."""
    value = parameters.get(name, default)
    return list(value) if isinstance(value, list | tuple) else [value]


def _competitors(parameters: JsonObject) -> Iterator[background_load.Competitor]:
    for workload in parameters["competitor"]:
        if workload == "none":
            yield background_load.Competitor(workload)
            continue
        for copies, nice, scheduler in itertools.product(
            _listed(parameters, "copies", 1),
            _listed(parameters, "nice", 0),
            _listed(parameters, "scheduler", "other"),
        ):
            yield background_load.Competitor(workload, copies, nice, scheduler)


def set_up(bed: Testbed, parameters: JsonObject, setting: Setting) -> None:
    """Give the forwarder what a case requests.

    Raises:
        Unsupported: it cannot have it.
    """
    values = setting.values
    bed.need(setting.version)
    shortest = distributions.shortest("udp") + overhead(setting.version)
    if setting.frame_bytes < shortest:
        raise Unsupported(
            f"a frame of {setting.frame_bytes} B is too short for IP version "
            f"{setting.version}; the least is {shortest} B"
        )
    bed.tune(
        Tuning(values["budget"], values["routes"], values["firewall_rules"], setting.version)
    )  # fmt: skip
    bed.steer(values["steering"], live=parameters["transmit_backend"] == "live")


FAILURES = (Unsupported, CommandError, InvalidTrial, RecordsError)
"""What costs one case its values, and not the others theirs."""
