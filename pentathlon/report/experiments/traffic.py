"""Traffic: what the studies draw over the size of the packets, and jitter over time."""

from __future__ import annotations

from typing import Final

from pentathlon.report.experiments.entry import Pictures, Shown
from pentathlon.report.html import jitters
from pentathlon.report.html.sweep import Sweep

SWEEP: Final = Sweep(
    "size_bytes",
    "packet size, bytes of payload",
    "What the studies draw over the size of the packets, by protocol and version of the "
    "Internet Protocol, as figures 8 to 15 of martinovic2012 and figures 2 and 3 of "
    "vdovjak2021; quantiles and the rest are in the table. The clocks of the two hosts are "
    "known to within the metric delay_bound: one-way delays that differ by less than it "
    "are alike.",
    shown=(
        "throughput",
        "packet_rate",
        "lost",
        "delay",
        "delay_p99",
        "round_trip",
        "ipdv",
        "jitter",
        "ditg_jitter",
        "cpu_sender",
        "cpu_receiver",
        "packet_cpu_sender",
        "packet_cpu_receiver",
    ),
)

TRAFFIC: Final = Shown(
    "traffic",
    {jitters.PICTURED: Pictures(SWEEP, (("jitter", jitters.CAPTION),))},
    {
        "jitters": lambda evaluation, result, _short, rounded: jitters.payload(
            evaluation, result, rounded
        )
    },
)
