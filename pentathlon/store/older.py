"""What earlier formats of a result wrote otherwise, put as it is written now.

Journals of formats 1 and 2, and the catalogs beside them, name a metric *indicator*, and parameters
and factors of workloads between two hosts as `study.renamed` lists them.
"""

from __future__ import annotations

from typing import Any, Final

from pentathlon.protocol.version import PROTOCOL
from pentathlon.study import renamed

METRIC_SINCE: Final = 3
"""The first format of a journal that names a metric so."""

_METRICS: Final = 1
"""The protocol of agents that name it so."""
_NAMES: Final = {"indicator": "metric", "indicators": "metrics", **renamed.NAMES}


def upgraded(value: Any) -> Any:
    """A JSON value of an earlier format with today's keys."""
    if isinstance(value, dict):
        return {_NAMES.get(key, key): upgraded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [upgraded(one) for one in value]
    return value


def _named(value: Any) -> Any:
    """A catalog, or a part of it, with the present names of parameters and factors."""
    if isinstance(value, list):
        return [_named(one) for one in value]
    if not isinstance(value, dict):
        return value
    found = {key: _named(one) for key, one in value.items()}
    if isinstance(name := found.get("name"), str):
        found["name"] = renamed.NAMES.get(name, name)
    return found


def catalog(document: Any) -> Any:
    """The catalog of a result, as an agent of today would print it."""
    if isinstance(document, dict) and document.get("protocol") == _METRICS:
        return {**_named(upgraded(document)), "protocol": PROTOCOL}
    return document
