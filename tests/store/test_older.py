"""What earlier formats of a result call otherwise is read by its present name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pentathlon.protocol.version import PROTOCOL
from pentathlon.store import older
from pentathlon.study.catalog import parse_catalog
from pentathlon.study.renamed import NAMES


@pytest.mark.parametrize("old", NAMES)
def test_a_former_factor_of_a_sample_has_its_present_name(old: str) -> None:
    event = {"event": {"indicator": "throughput", "case": {old: "send", "ip_version": 4}}}
    assert older.upgraded(event) == {
        "event": {"metric": "throughput", "case": {NAMES[old]: "send", "ip_version": 4}}
    }


@pytest.mark.parametrize("old", NAMES)
def test_a_catalog_of_before_has_present_names(old: str) -> None:
    entry: dict[str, Any] = {"id": "n.t", "area": "n", "title": "t", "indicators": []}
    parameter = {"name": old, "type": "string", "default": old}
    document = {
        "protocol": 1,
        "catalog_version": 1,
        "agent": {},
        "workloads": [entry | {"parameters": [parameter], "factors": [{"name": old}]}],
    }
    found = parse_catalog(older.catalog(json.loads(json.dumps(document))))
    workload = found.workloads[0]
    assert found.protocol == PROTOCOL
    assert [one.name for one in (*workload.parameters, *workload.factors)] == [NAMES[old]] * 2
    assert workload.parameters[0].default == old, "a value is no name"
