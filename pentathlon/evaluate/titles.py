"""Names for people: from the catalog of the result where it is kept, else from the ids."""

from __future__ import annotations

from pentathlon.evaluate.wording import PERFORMANCE
from pentathlon.study.catalog import Catalog, Metric, Workload

AREAS = (
    "process", "memory", "arithmetic", "disk", "network", "forwarding", "link", "files", "graphics",
)  # fmt: skip
"""Order of areas in reports; others follow by name."""

PLAIN = {"time", "throughput", "bandwidth"}
"""Metrics that need no name of their own beside the workload's."""


class Titles:
    """Titles, areas, order and nature of workloads and metrics."""

    def __init__(self, catalog: Catalog | None) -> None:
        self._workloads: dict[str, Workload] = (
            {} if catalog is None else {one.id: one for one in catalog.workloads}
        )
        self._places = {name: place for place, name in enumerate(self._workloads)}

    def area(self, workload: str) -> str:
        """The workload's area."""
        known = self._workloads.get(workload)
        return known.area if known is not None else workload.partition(".")[0]

    def workload(self, workload: str) -> str:
        """The workload's title, such as "Sequential read"."""
        known = self._workloads.get(workload)
        if known is not None:
            return known.title
        name = workload.partition(".")[2].replace("_", " ") or workload
        return name[:1].upper() + name[1:]

    def title(self, workload: str, metric: str) -> str:
        """The metric's title; the workload's own where it has a single metric."""
        known = self._workloads.get(workload)
        if known is not None and len(known.metrics) > 1:
            for one in known.metrics:
                if one.id == metric:
                    return one.title
        name = self.workload(workload)
        return name if known is not None or metric in PLAIN else f"{name} {metric}"

    def zero_allowed(self, workload: str, metric: str) -> bool:
        """Whether the catalog states that the metric may rightly be zero."""
        return any(one.id == metric and one.zero_allowed for one in self._metrics(workload))

    def role(self, workload: str, metric: str) -> str:
        """The metric's role in the catalog; performance where the catalog is not known."""
        found = (one.role for one in self._metrics(workload) if one.id == metric)
        return next(found, PERFORMANCE)

    def place(self, workload: str, metric: str) -> tuple[int, str, int, str, int, str]:
        """Sort key: area, then the catalog's order of workloads and metrics, then the ids."""
        area = self.area(workload)
        names = [one.id for one in self._metrics(workload)]
        return (
            AREAS.index(area) if area in AREAS else len(AREAS),
            area,
            self._places.get(workload, len(self._places)),
            workload,
            names.index(metric) if metric in names else len(names),
            metric,
        )

    def _metrics(self, workload: str) -> list[Metric]:
        known = self._workloads.get(workload)
        return [] if known is None else known.metrics
