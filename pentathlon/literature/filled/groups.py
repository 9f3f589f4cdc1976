"""Groups of performance metrics (martinovic2012, section 5.2), and which values are better.

v is a throughput (formula (1)), t an execution time, W_G a weighted geometric mean (formula (2)).
Metrics of the paper with another letter, such as c_f, p_f and p_r, are in none of them.
"""

from __future__ import annotations

TIMES = frozenset({"ns", "us", "µs", "ms", "s", "min"})
RATES = ("/s", "bps", "pps")

STARTS = {"v": "v_", "t": "t_", "W_G": "W_G"}
"""How symbols of Table 1 begin."""

BETTER = {"v": "higher", "t": "lower", "W_G": "higher", "": ""}
"""Which values of a group are better; "" where neither is, as of a metric in no group."""


def group(symbol: str | None, unit: str) -> str:
    """The group of a metric: by its symbol where the paper gives one, else by its unit."""
    if symbol is not None:
        return next((name for name, start in STARTS.items() if symbol.startswith(start)), "")
    if unit in TIMES:
        return "t"
    return "v" if unit.endswith(RATES) else ""
