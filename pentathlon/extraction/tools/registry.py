"""The tools whose results are read."""

from __future__ import annotations

from pentathlon.extraction.tools import (
    bmf,
    comma_separated,
    fio,
    hyperfine,
    iperf3,
    pgbench,
    pts,
    sysbench,
)
from pentathlon.extraction.tools.rows import Extractor

EXTRACTORS: dict[str, Extractor] = {
    one.EXTRACTOR.name: one.EXTRACTOR
    for one in (fio, iperf3, sysbench, hyperfine, pgbench, pts, bmf, comma_separated)
}
"""By the names that the user gives them."""
