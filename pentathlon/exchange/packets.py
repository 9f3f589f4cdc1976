"""The packets of a trial in the formats of others: CSV, pcapng, HDR histograms."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import polars as pl
from hdrh.histogram import HdrHistogram

from pentathlon.exchange import pcapng
from pentathlon.exchange.packet_headers import Packet, frame
from pentathlon.safeio.escaping import csv_field

DIGITS = 3
"""Significant digits of a histogram."""

LONGEST_NS = 3_600_000_000_000
"""Largest delay that a histogram holds, ns."""


def csv(table: pl.DataFrame) -> str:
    """The table as CSV with a header; what is unknown is empty (RFC 4180)."""
    texts = pl.col(pl.String).map_elements(csv_field, return_dtype=pl.String)
    names = {name: str(csv_field(name)) for name in table.columns}
    return table.with_columns(texts).rename(names).write_csv(line_terminator="\r\n")


def pcapng_blocks(
    table: pl.DataFrame, flows: list[dict[str, Any]], comment: str
) -> Iterator[bytes]:
    """The packets as both ends saw them, in the order of time.

    Two interfaces: 0 is the sender, 1 the receiver, both on the sender's timer.

    Args:
        flows: of the `packets` event.
    """
    packets = sorted(
        (packet for flow in flows for packet in _packets(table, flow)),
        key=lambda packet: packet.time_ns,
    )
    frames = ((int(packet.received), frame(packet)) for packet in packets)
    return pcapng.write(pcapng.RAW_IP, ("sender", "receiver"), frames, comment)


def _packets(table: pl.DataFrame, flow: dict[str, Any]) -> Iterator[Packet]:
    own = table.filter(pl.col("flow") == flow["flow"])
    # Arrivals are known on the sender's timer only by way of the clocks.
    columns = ("sequence", "copy", "length", "intended_ns", "sent_ns", "refused", "delay_ns")
    for sequence, copy, length, intended, sent, refused, delay in own.select(columns).iter_rows():
        same = {
            "protocol": flow["protocol"],
            "source": flow["from"],
            "target": flow["to"],
            "port": flow["port"],
            "flow": flow["flow"],
            "sequence": sequence,
            "intended_ns": intended,
            "late_ns": sent - intended,
            "length": length,
        }
        if copy == 0 and not refused:
            yield Packet(time_ns=sent, received=False, **same)
        if delay is not None:
            yield Packet(time_ns=max(0, round(sent + delay)), received=True, **same)


def histograms(table: pl.DataFrame) -> dict[str, HdrHistogram]:
    """Delay and round trip of each flow in ns, as HDR histograms of three digits.

    Delays below 1 ns, which the clocks' error can yield, count as 1 ns.
    """
    found = {}
    for flow in table["flow"].unique().sort():
        own = table.filter(pl.col("flow") == flow)
        trips = own["echo_ns"] - own["sent_ns"]
        for name, values in (("delay", own["delay_ns"]), ("round_trip", trips)):
            known = values.drop_nulls()
            if len(known):
                histogram = HdrHistogram(1, LONGEST_NS, DIGITS)
                for value in known.round().clip(1, LONGEST_NS).cast(pl.Int64):
                    histogram.record_value(value)
                found[f"{name}-{flow}"] = histogram
    return found
