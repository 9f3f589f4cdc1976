"""iperf3: what `-J` prints (iperf3(1); the members are those of its `iperf_api.c`)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from pentathlon.extraction.tools.json_document import Node, document
from pentathlon.extraction.tools.rows import (
    CaseValue,
    Extracted,
    ExtractError,
    Extractor,
    Metric,
    Options,
    Row,
)
from pentathlon.safeio.clipping import described

WANTED = "the output of iperf3 -J"
THROUGHPUT = Metric("throughput", "Throughput at the receiver", "bit/s", "higher")
JITTER = Metric("jitter", "Jitter", "ms", "lower", zero_allowed=True)
LOSS = Metric("loss", "Lost datagrams", "%", "lower", zero_allowed=True)
RETRANSMITS = Metric(
    "retransmits", "Retransmitted segments", "1", "lower", "context", zero_allowed=True
)
BACK = "_bidir_reverse"


def read(text: str, _options: Options) -> Extracted:
    """The sums at the end of one run; its intervals are parts of them.

    Raises:
        ExtractError: it is no such output, or the run failed.
    """
    found = document(text, WANTED)
    if (error := found.find("error")) is not None:
        raise ExtractError(f"reports that the run failed: {described(error.text())}")
    start, end = found["start"], found["end"]
    version = re.search(r"iperf (\S+)", start["version"].text())
    test = start["test_start"]
    rows = list(_run(test, end))
    usage = end.find("cpu_utilization_percent")
    for name, side in (("host_total", "client"), ("remote_total", "server")):
        # Of an interrupted run the other side is unknown, and 0.
        value = None if usage is None else usage.find(name)
        if value is not None:
            title = f"CPU time of the {side}"
            metric = Metric(f"cpu_{side}", title, "%", "lower", "context", zero_allowed=True)
            rows.append(_row(metric, _case(test), value))
    return Extracted(None if version is None else version[1], tuple(rows))


def _case(test: Node) -> dict[str, CaseValue]:
    """What decides the work; a rate of 0 is no limit, and a duration is only how long it ran."""
    case: dict[str, CaseValue] = {
        "protocol": test["protocol"].text(),
        "streams": test["num_streams"].whole(),
        "block_size": f"blocks of {test['blksize'].whole()} B",
    }
    rate = test.find("target_bitrate") or test.find("target_bandwidth")
    if rate is not None and rate.number() > 0:
        case["rate"] = f"at {rate.number():.0f} bit/s"
    return case


def _run(test: Node, end: Node) -> Iterator[Row]:
    reverse = test["reverse"].whole() != 0
    back = f"sum_sent{BACK}" in end.members() or f"sum_received{BACK}" in end.members()
    for ending in ("", BACK) if back else ("",):
        to_server = reverse == bool(ending)
        case = _case(test) | {"direction": "to the server" if to_server else "from the server"}
        yield from _sums(test["protocol"].text(), end, ending, case)


def _sums(protocol: str, end: Node, ending: str, case: dict[str, CaseValue]) -> Iterator[Row]:
    received = end.find(f"sum_received{ending}")
    if received is None:
        raise ExtractError(
            f"lacks end.sum_received{ending}: what came at the receiver is not known; a later "
            "iperf3 reports it"
        )
    yield _row(THROUGHPUT, case, received["bits_per_second"])
    if protocol.upper() == "UDP":
        yield _row(JITTER, case, received["jitter_ms"])
        yield _row(LOSS, case, received["lost_percent"])
        return
    sent = end.find(f"sum_sent{ending}")
    count = None if sent is None else sent.find("retransmits")
    # Systems without TCP_INFO have none, and iperf3 writes no member then, or a negative one.
    if count is not None and count.number() >= 0:
        yield _row(RETRANSMITS, case, count)


def _row(metric: Metric, case: dict[str, CaseValue], value: Node) -> Row:
    return Row("iperf3", "iperf3", metric, case, (value.number(),), value.place)


EXTRACTOR = Extractor("iperf3", "what iperf3 -J prints", read)
