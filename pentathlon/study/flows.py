"""The flows of a study: cases of a trial, and in each the flows that run together."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from pentathlon.protocol.messages.base import Case, JsonObject
from pentathlon.protocol.requests.models import Gap, Model, Periods
from pentathlon.study import distributions
from pentathlon.study.application_profiles import PROFILES, Profile
from pentathlon.study.catalog import Workload
from pentathlon.study.distributions import ModelError

PROTOCOLS = ("udp", "tcp", "icmp", "sctp", "dccp")

SHORTEST_INTERVAL_S = 1e-3
"""The shortest time for which a rate can hold."""

PACES = ("rate", "gap", "bit_rate")
"""What a line of a script can say of the time between packets, one of them."""

KEYS = (
    "name", "protocol", "profile", "size", *PACES, "rate_interval", "on", "off", "start",
    "duration", "back",
)  # fmt: skip
"""What a line of a script can say."""


DEFINED_BY = (
    "protocols",
    "ip_versions",
    "size_bytes",
    "size",
    "transmit_backend",
    "profiles",
    "script",
)
"""Parameters of a workload by which a study states which flows it sends."""


def defines_flows(workload: Workload) -> bool:
    """Whether the parameters of a workload say flows (docs/network.md)."""
    return all(workload.parameter(name) is not None for name in DEFINED_BY)


@dataclass(frozen=True)
class Flow:
    """One flow of a trial.

    Attributes:
        name: names it in the results, where a trial has more than one.
        size, gap: as the endpoint's JSON (docs/network.md).
        start_s, duration_s: when it starts in its trial, and for how long it sends.
        back: from the second host to the first.
        group: number of the multicast group that the flow is sent to; None: to the host alone.
        hears: for a further receiver of a group, the number of the flow that it hears; it sends
            nothing itself.
    """

    name: str
    protocol: str
    size: Model
    gap: Gap
    start_s: float
    duration_s: float
    back: bool = False
    group: int | None = None
    hears: int | None = None

    @property
    def address(self) -> dict[int, str]:
        """IP version -> address of the group (RFC 2365, section 6.2; RFC 4291, section 2.7)."""
        assert self.group is not None
        return {4: f"239.192.18.{self.group}", 6: f"ff15::18:{self.group:x}"}

    @property
    def end_s(self) -> float:
        """When it ends in its trial."""
        return self.start_s + self.duration_s


def cases(parameters: JsonObject) -> Iterator[Case]:
    """The cases of a task, without the flows in them: a script, profiles, or a grid."""
    versions = parameters["ip_versions"]
    if parameters["script"]:
        yield from ({"ip_version": version} | _multicast(parameters) for version in versions)
    elif parameters["profiles"]:
        for profile, version in itertools.product(parameters["profiles"], versions):
            yield {"profile": profile, "ip_version": version} | _multicast(parameters)
    else:
        drawn = parameters["size"]
        sizes = (
            [("size", distributions.title(drawn))]
            if drawn
            else [("size_bytes", n) for n in parameters["size_bytes"]]
        )
        for protocol, version, (kind, size), backend in itertools.product(
            parameters["protocols"], versions, sizes, parameters["transmit_backend"]
        ):
            yield {
                "protocol": protocol, "ip_version": version, kind: size,
                "transmit_backend": backend,
            } | _multicast(parameters)  # fmt: skip


def _multicast(parameters: JsonObject) -> Case:
    """The factor of flows to groups."""
    return {"multicast": parameters["multicast"]} if parameters["multicast"] else {}


def flows(parameters: JsonObject, case: JsonObject) -> list[Flow]:
    """The flows that run together in one case, and the further receivers of groups behind them.

    Raises:
        ModelError: a distribution or a line of the script is wrong; one sentence.
    """
    sent = _sent(parameters, case)
    receivers = parameters["multicast"]
    if not receivers:
        return sent
    if other := next((flow.protocol for flow in sent if flow.protocol != "udp"), None):
        raise ModelError(f'"multicast" sends by UDP only, and a flow here is of {other}')
    grouped = [replace(flow, group=number + 1) for number, flow in enumerate(sent)]
    further = [
        replace(flow, name=f"{flow.name} receiver {receiver}", hears=number)
        for receiver in range(2, receivers + 1)
        for number, flow in enumerate(grouped)
    ]
    return grouped + further


def _sent(parameters: JsonObject, case: JsonObject) -> list[Flow]:
    if parameters["script"]:
        return [
            _of_line(line, str(place), parameters)
            for place, line in enumerate(parameters["script"], start=1)
        ]
    duration = parameters["duration_s"]
    if "profile" in case:
        profile = PROFILES[case["profile"]]
        pair = [_of_profile(profile, "", 0.0, duration, back=back) for back in (False, True)]
    else:
        size = distributions.parse(parameters["size"] or f"constant {case['size_bytes']}")
        gap = _gap(parameters, size, case["protocol"])
        pair = [
            Flow("", case["protocol"], size, gap, 0.0, duration, back) for back in (False, True)
        ]
    requested_ways = pair if parameters["both_ways"] else pair[:1]
    return [
        replace(one, name=f"{number}{' back' if one.back else ''}")
        for number in range(1, parameters["flows"] + 1)
        for one in requested_ways
    ]


def _of_profile(
    profile: Profile, name: str, start_s: float, duration_s: float, *, back: bool
) -> Flow:
    way = profile.back if back else profile.forward
    size = distributions.parse(way.size)
    gap = distributions.parse_rate(way.pace, 0) if way.rate else _of_times(way.pace)
    return Flow(name, profile.protocol, size, gap, start_s, duration_s, back)


def _of_times(text: str) -> Gap:
    return {"of": distributions.parse_time(text, "gap"), "rate": False}


def _gap(parameters: JsonObject, size: Model, protocol: str) -> Gap:
    """The time between packets, from whichever of the parameters states it."""
    if parameters["bit_rate"]:
        gap = _of_bit_rate(parameters["bit_rate"], size, protocol)
    elif parameters["gap"]:
        gap = _of_times(parameters["gap"])
    else:
        interval_s = parameters["rate_interval_ms"] * 1e-3
        gap = distributions.parse_rate(parameters["packet_rate"], interval_s)
    return {**gap, **_periods(parameters["on"], parameters["off"])}


def _of_bit_rate(bit_rate: float, size: Model, protocol: str) -> Gap:
    """The packet rate at which packets of one size carry that many bits of payload a second."""
    if size["model"] != "constant":
        raise ModelError(
            '"bit_rate" needs packets of one size: give "size_bytes", or in a script "size" as '
            '"constant BYTES"'
        )
    length = min(max(size["value"], distributions.shortest(protocol)), distributions.LONGEST)
    return {"of": {"model": "constant", "value": bit_rate / (8 * length)}, "rate": True}


def _periods(on: str, off: str) -> Periods:
    if bool(on) != bool(off):
        raise ModelError('one of "on" and "off" needs the other too')
    if not on:
        return {}
    return {"on": distributions.parse_time(on, "on"), "off": distributions.parse_time(off, "off")}


def _of_line(line: str, number: str, parameters: JsonObject) -> Flow:
    """A flow of a script, such as `name=talk; profile=voip-g711; start=1; back=true`."""
    values: dict[str, str] = {}
    for part in line.split(";"):
        key, equals, value = (word.strip() for word in part.partition("="))
        if not key and not equals:
            continue
        if not equals or key not in KEYS:
            known = ", ".join(KEYS)
            raise ModelError(f'"{part.strip()}" in a script is none of {known}, as KEY=VALUE')
        values[key] = value
    back = _flag(values.get("back", "false"))
    start = _number(values, "start", 0.0)
    duration = _number(values, "duration", parameters["duration_s"])
    name = values.get("name", number)
    if profile := values.get("profile"):
        if profile not in PROFILES:
            raise ModelError(f'there is no profile "{profile}"; use one of {", ".join(PROFILES)}')
        return _of_profile(PROFILES[profile], name, start, duration, back=back)
    protocol = values.get("protocol", "udp")
    if protocol not in PROTOCOLS:
        raise ModelError(f'there is no protocol "{protocol}"; use one of {", ".join(PROTOCOLS)}')
    size = distributions.parse(values.get("size", "constant 64"))
    paces = [key for key in PACES if key in values]
    if len(paces) != 1:
        raise ModelError(f'the flow "{line}" needs one of "rate", "gap" and "bit_rate"')
    if paces == ["bit_rate"]:
        gap = _of_bit_rate(_number(values, "bit_rate", 0.0), size, protocol)
    elif paces == ["gap"]:
        gap = _of_times(values["gap"])
    else:
        gap = distributions.parse_rate(values["rate"], _interval(values))
    if "rate_interval" in values and paces != ["rate"]:
        raise ModelError(f'"rate_interval" in the flow "{line}" is for a "rate"')
    gap = {**gap, **_periods(values.get("on", ""), values.get("off", ""))}
    return Flow(name, protocol, size, gap, start, duration, back)


def _number(values: dict[str, str], key: str, default: float) -> float:
    try:
        found = float(values.get(key, default))
    except ValueError as error:
        unit = "bit/s" if key == "bit_rate" else "seconds"
        raise ModelError(f'"{key}={values[key]}" in a script is no number of {unit}') from error
    if not 0 <= found < math.inf or (key != "start" and found == 0):
        raise ModelError(f'"{key}={values[key]}" in a script must be above zero')
    return found


def _interval(values: dict[str, str]) -> float:
    """For how long a rate holds, s; 0: for one packet."""
    interval_s = _number(values, "rate_interval", SHORTEST_INTERVAL_S)
    if interval_s < SHORTEST_INTERVAL_S:
        raise ModelError(f'"rate_interval={values["rate_interval"]}" is less than 0.001 s')
    return interval_s if "rate_interval" in values else 0.0


def _flag(text: str) -> bool:
    if text not in ("true", "false"):
        raise ModelError(f'"back={text}" in a script must be true or false')
    return text == "true"
