"""What a host counted between two readings: CPU time, interrupts, packets."""

from __future__ import annotations

from typing import Any, Final, TypeAlias, TypedDict, cast

from pentathlon.testbed.replies.fields import MOST_UNSIGNED, Fields

Rows: TypeAlias = dict[str, list[int]]
"""Name of a row -> its numbers, often one for each CPU."""

MANY: Final = 1 << 16
"""Most rows of a table, and most numbers of a row."""

CPU_TIMES: Final = 8
"""Kinds of CPU time that `cpu_fields` names; further ones are parts of the first (proc(5))."""
LONGEST_TICK_NS: Final = 10**9


class Window(TypedDict):
    """Between which times the counters were read, ns of the host's timer."""

    from_ns: int
    to_ns: int
    unknown_ns: int


class Segments(TypedDict):
    """What TCP sent."""

    segments: int
    retransmitted: int


class HostCounters(TypedDict, total=False):
    """Differences between two readings of a host; None where its system does not say.

    `window` is missing where the readings have their times elsewhere.
    """

    cpus: Rows | None
    cpu_fields: list[str]
    tick_ns: int | None
    softirqs: Rows | None
    interrupts: Rows | None
    tcp: Segments | None
    agent_cpu_ns: int | None
    window: Window


class Reading(TypedDict):
    """Differences over one period of a watcher."""

    from_ns: int
    to_ns: int
    host: HostCounters
    interfaces: Rows | None
    softnet: Rows | None
    lines: Rows | None
    protocols: Rows | None


def of_trial(answer: Fields) -> HostCounters | None:
    """The field `host` of the answers that end a trial; None: nothing was read."""
    if not answer.has("host"):
        return None
    host = answer.object("host")
    found = _counted(host)
    found["window"] = _window(host.object("window"))
    return found


def reading(one: Fields) -> Reading:
    """A reading of a watcher."""
    from_ns, to_ns = _span(one)
    found: dict[str, Any] = {"from_ns": from_ns, "to_ns": to_ns}
    found["host"] = _counted(one.object("host"))
    tables = ("interfaces", "softnet", "lines", "protocols")
    return cast(Reading, found | {name: _rows(one, name) for name in tables})


def _counted(host: Fields) -> HostCounters:
    cpus = _rows(host, "cpus")
    if cpus is not None:
        lengths = {len(row) for row in cpus.values()}
        if len(lengths) > 1 or any(length < CPU_TIMES for length in lengths):
            what = f"has rows of {sorted(lengths)} numbers, expected {CPU_TIMES} or more in each"
            raise host.wrong("cpus", what)
    fields = host.texts("cpu_fields", CPU_TIMES)
    if len(fields) != CPU_TIMES:
        raise host.wrong("cpu_fields", f"has {len(fields)} entries, expected {CPU_TIMES}")
    return HostCounters(
        cpus=cpus,
        cpu_fields=fields,
        tick_ns=host.whole("tick_ns", LONGEST_TICK_NS, 1) if host.has("tick_ns") else None,
        softirqs=_rows(host, "softirqs"),
        interrupts=_rows(host, "interrupts"),
        tcp=_segments(host.object("tcp")) if host.has("tcp") else None,
        agent_cpu_ns=host.maybe("agent_cpu_ns", host.time_ns),
    )


def _rows(one: Fields, name: str) -> Rows | None:
    if not one.has(name):
        return None
    table = one.object(name)
    return {row: table.integers(row, MOST_UNSIGNED, entries=MANY) for row in table.names(MANY)}


def _segments(tcp: Fields) -> Segments:
    return Segments(segments=tcp.whole("segments"), retransmitted=tcp.whole("retransmitted"))


def _window(window: Fields) -> Window:
    from_ns, to_ns = _span(window)
    unknown_ns = window.whole("unknown_ns", to_ns - from_ns)
    return Window(from_ns=from_ns, to_ns=to_ns, unknown_ns=unknown_ns)


def _span(one: Fields) -> tuple[int, int]:
    from_ns, to_ns = one.time_ns("from_ns"), one.time_ns("to_ns")
    if to_ns < from_ns:
        raise one.wrong("to_ns", f"is {to_ns}, which is before from_ns, {from_ns}")
    return from_ns, to_ns
