"""The page of all workloads, from the agent's catalog."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pentathlon.protocol import agent
from website.reference.cells import cell, code, table

INTRODUCTION = """\
# All workloads

Generated from `pentathlon catalog --json` (catalog version {version}). A study names a
workload by its id and may set its parameters; every metric becomes a row of the report for each
case.

"""


def page() -> str:
    """The whole page."""
    catalog = agent.catalog()
    workloads = [one for one in catalog["workloads"] if not one["test_only"]]
    out = INTRODUCTION.format(version=catalog["catalog_version"])
    for area in dict.fromkeys(one["area"] for one in workloads):
        out += f"## {area}\n\n"
        for one in workloads:
            if one["area"] == area:
                out += _workload(one)
    return out


def _workload(one: Mapping[str, Any]) -> str:
    facts = [f"Source: {one['source']}."]
    if one["hosts"] == 2:
        facts.append("Needs a second host (`[system.peer]`).")
    if one["timeout_s"]:
        facts.append(f"Longest time of one process: {one['timeout_s']:g} s.")
    if one["checksum"]:
        facts.append(f"Checksum: {one['checksum']}.")
    out = f"### {one['id']}\n\n**{one['title']}.** {_plain(one['summary'])}\n\n"
    out += _plain(" ".join(facts)) + "\n\n"
    if one["parameters"]:
        rows = [
            [
                code(p["name"]),
                cell(p["type"]),
                _value(p["default"]),
                _range(p),
                _plain(p["description"]),
            ]
            for p in one["parameters"]
        ]
        out += table(["parameter", "type", "default", "values", "meaning"], rows)
    rows = [
        [code(m["id"]), cell(m["title"]), code(m["unit"]), m["direction"], m["role"]]
        for m in one["metrics"]
    ]
    out += table(["metric", "title", "unit", "better", "role"], rows)
    rows = [[system, _plain(text)] for system, text in one["semantics"].items() if text]
    return out + table(["system", "what is timed"], rows)


def _plain(text: str) -> str:
    """Text that is taken for no markup."""
    return cell(text).replace("<", "&lt;").replace("*", "\\*").replace("_", "\\_")


def _value(value: Any) -> str:
    if isinstance(value, Sequence) and not isinstance(value, str):
        shown = [str(one) for one in value]
        if len(shown) > 6:
            shown = [*shown[:3], "…", shown[-1]]
        return code(", ".join(shown))
    return "" if value is None else code(str(value))


def _range(parameter: Mapping[str, Any]) -> str:
    if parameter["choices"]:
        return ", ".join(code(str(one)) for one in parameter["choices"])
    low, high = parameter["minimum"], parameter["maximum"]
    unit = f" {parameter['unit']}" if parameter["unit"] else ""
    if low is None and high is None:
        return unit.strip()
    if high is None:
        return f"≥ {low:,.15g}{unit}"
    return f"{low:,.15g} to {high:,.15g}{unit}" if low is not None else f"≤ {high:,.15g}{unit}"
