"""The agent's catalog as typed data (`pentathlon-agent catalog`, docs/procedure.md).

The agent owns the catalog. A field that this version does not know is kept and ignored.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from pydantic import BaseModel, ConfigDict, ValidationError

from pentathlon.protocol.version import PROTOCOL
from pentathlon.study.problems import CatalogError as CatalogError  # noqa: PLC0414  for who reads one

LINKS = "links"
"""The parameter that names links between two hosts, of the workloads that have several."""

ParameterType: TypeAlias = Literal[
    "integer", "number", "boolean", "string", "list[integer]", "list[number]", "list[string]"
]


class _Entry(BaseModel):
    model_config = ConfigDict(extra="allow", frozen=True)


class Parameter(_Entry):
    """A parameter of a workload; minimum and maximum hold for each element of a list."""

    name: str
    type: ParameterType
    default: Any
    unit: str | None = None
    minimum: float | None = None
    maximum: float | None = None
    choices: list[Any] | None = None
    description: str = ""


class Factor(_Entry):
    """What separate the cases of one metric, in the order of the canonical key."""

    name: str
    title: str = ""
    unit: str | None = None
    scale: Literal["log2", "linear", "category"] = "category"


class Metric(_Entry):
    """One quantity that a workload yields."""

    id: str
    title: str
    unit: str
    direction: Literal["higher", "lower"]
    zero_allowed: bool = False
    """Zero is a value, such as of a rate of faults; of any other metric it is an error."""
    role: Literal["performance", "context"] = "performance"
    """`context`: no score, but what the work took, or how well another metric is known."""


class Histogram(_Entry):
    """A distribution that a workload sends as histograms of raw values (docs/protocol.md).

    Attributes:
        quantiles: metric of the workload -> share of the values that do not exceed its value.
        closed_loop_interval: factor with the interval, in `unit`, at which a closed loop should
            send its requests; None for whatever is no closed loop with a schedule.
    """

    id: str
    title: str
    unit: str
    direction: Literal["higher", "lower"]
    quantiles: dict[str, float] = {}
    closed_loop_interval: str | None = None


class Workload(_Entry):
    """A measured program of the agent.

    Attributes:
        timeout_s: time that one process may take with the default parameters, in seconds, where
            the common limit of a study would cut it off.
    """

    id: str
    area: str
    title: str
    summary: str = ""
    source: str = ""
    parameters: list[Parameter] = []
    factors: list[Factor] = []
    metrics: list[Metric] = []
    histograms: list[Histogram] = []
    timeout_s: float | None = None
    checksum: str = ""
    semantics: dict[str, str] = {}
    test_only: bool = False
    hosts: int = 1
    """Hosts that it runs between; 2 needs a system with a peer."""
    buffers: int = 0
    """Buffers as large as the factors of a case in bytes that its work goes over; 0: its batches
    cannot take turns with those of other systems."""

    @property
    def over_links(self) -> bool:
        """Whether its tasks go over each of the links that its parameter `links` names; else two
        hosts have the one link of the system."""
        return self.hosts > 1 and self.parameter(LINKS) is not None

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name."""
        return next((known for known in self.parameters if known.name == name), None)

    def histogram(self, name: str) -> Histogram | None:
        """The histogram of that id."""
        return next((known for known in self.histograms if known.id == name), None)

    def defaults(self) -> dict[str, Any]:
        """Every parameter with its default."""
        return {parameter.name: parameter.default for parameter in self.parameters}


class Catalog(_Entry):
    """Everything that the agent can measure."""

    protocol: int
    catalog_version: int
    agent: dict[str, Any]
    workloads: list[Workload]

    def workload(self, workload_id: str) -> Workload | None:
        """The workload of that id."""
        return next((known for known in self.workloads if known.id == workload_id), None)

    def ids(self) -> list[str]:
        """Ids of all workloads, in the catalog's order."""
        return [workload.id for workload in self.workloads]


def parse_catalog(document: Mapping[str, Any]) -> Catalog:
    """The catalog from the agent's document.

    Raises:
        CatalogError: the document has another shape, or speaks another protocol.
    """
    try:
        catalog = Catalog.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        raise CatalogError(f"the agent's catalog is wrong at {place}: {first['msg']}") from error
    if catalog.protocol != PROTOCOL:
        raise CatalogError(
            f"the agent speaks protocol {catalog.protocol}, this version speaks {PROTOCOL}; "
            "use the agent and the experimenter of one release"
        )
    return catalog


def case_text(case: Mapping[str, Any] | None, factors: list[str]) -> str:
    """The canonical text of a case, `block_bytes=1024,variant=avx512`; "" for no case.

    Factors come in the catalog's order, keys that it does not know come last, by name.
    """
    if not case:
        return ""
    known = [name for name in factors if name in case]
    rest = sorted(name for name in case if name not in factors)
    return ",".join(f"{name}={_plain(case[name])}" for name in (*known, *rest))


def metric_key(workload: str, metric: str, case: str) -> str:
    """The canonical key, `memory.read.bandwidth[block_bytes=1024,variant=avx512]`."""
    return f"{workload}.{metric}[{case}]" if case else f"{workload}.{metric}"


def _plain(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, separators=(",", ":"))
