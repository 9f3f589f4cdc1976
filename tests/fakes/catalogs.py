"""What the agent's own catalog declares, for tasks that tests drive themselves."""

from __future__ import annotations

from functools import cache

from pentathlon.protocol import agent
from pentathlon.study.catalog import Catalog, Metric, parse_catalog


@cache
def catalog() -> Catalog:
    return parse_catalog(agent.catalog())


def metrics(workload: str) -> dict[str, Metric]:
    """The metrics of a workload, by id."""
    entry = catalog().workload(workload)
    assert entry is not None
    return {one.id: one for one in entry.metrics}
