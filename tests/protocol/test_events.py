"""The types of the events: what the agent's sources say, what is refused, and what is kept."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pentathlon.procedure.records import AgentEvent, from_json, to_json
from pentathlon.protocol import events
from pentathlon.protocol.events import AGENT_KINDS, TYPES, Unknown, WrongEvent, read

SOURCES = Path(__file__).parent.parent.parent / "agent" / "crates" / "protocol" / "src"
RUST = (SOURCES / "event.rs", SOURCES / "command.rs")
BOXED = {
    "inventory": "Opening",
    "sample": "Sample",
    "histogram": "HistogramSample",
    "execution": "Execution",
}
"""Event -> the structure that the agent's `Event` holds for it."""

LENIENT = {
    "inventory": {"session", "agent", "clock", "placement", "telemetry"},
    "progress": {"count", "process"},
    "ready": {"process"},
    "sample": {"checksum"},
    "histogram": {"checksum"},
    "picture": {"process"},
    "step": {"seconds", "detail"},
}
"""What the agent always sends and may be absent: hosts of a pair say less, and so do journals."""

SAMPLE: dict[str, Any] = {
    "event": "sample", "workload": "w", "index": 0, "metric": "time", "case": {"size": 1},
    "unit": "ns", "direction": "lower", "phase": "measure", "process": 0, "iteration": 3,
    "value": 2, "batch": 10, "elapsed_ns": 15, "checksum": "0x1", "counters": {"cycles": None},
    "t_ns": 5,
}  # fmt: skip


def fields(body: str) -> dict[str, bool]:
    """The fields of a Rust structure by their names in JSON, and whether each has a value."""
    found, renamed = {}, None
    for line in body.splitlines():
        if attribute := re.search(r'serde\(rename = "(\w+)"\)', line):
            renamed = attribute[1]
        elif field := re.fullmatch(r"\s*(?:pub )?(\w+): (.+),", line):
            found[renamed or field[1]] = not field[2].startswith("Option<")
            renamed = None
    return found


def of_sources() -> dict[str, dict[str, bool]]:
    """Event -> its fields, from the agent's sources."""
    text = "\n".join(path.read_text() for path in RUST)
    whole = re.search(r"pub enum Event \{\n(.*?)\n\}", text, re.DOTALL)
    assert whole is not None
    found = {}
    for name, body in re.findall(r"^    (\w+) \{\n(.*?)^    \}", whole[1], re.DOTALL | re.M):
        found[name.lower()] = fields(body)
    for event, structure in BOXED.items():
        body = re.search(rf"pub struct {structure} \{{\n(.*?)\n\}}", text, re.DOTALL)
        assert body is not None
        found[event] = fields(body[1])
    return found


def own(name: str) -> dict[str, bool]:
    """The fields of a type, and whether each must be there."""
    return {
        field.alias or key: field.is_required()
        for key, field in TYPES[name].model_fields.items()
        if key not in ("event", "t_ns")
    }


def differences(sources: dict[str, dict[str, bool]]) -> list[str]:
    """Where the types and the agent do not agree."""
    found = [f"{name}: which has no type" for name in set(sources) - AGENT_KINDS]
    found += [f"{name}: which the agent does not send" for name in AGENT_KINDS - set(sources)]
    for name in AGENT_KINDS & set(sources):
        typed, lenient = own(name), LENIENT.get(name, set())
        for field, sent in sources[name].items():
            if field not in typed:
                found.append(f"{name}.{field}: has no type")
            elif typed[field] != (sent and field not in lenient):
                found.append(f"{name}.{field}: required {typed[field]}, always sent {sent}")
        # A log of a target names its workload; that of the agent is of the session.
        extra = set(typed) - set(sources[name]) - {"workload", "index", "process"}
        found += [f"{name}.{field}: the agent has no such field" for field in extra]
    return found


def test_the_types_are_those_of_the_agents_sources() -> None:
    sources = of_sources()
    assert differences(sources) == []
    # The comparison sees each kind of difference.
    del sources["sample"]["unit"]
    sources["done"]["errors"] = False
    sources["log"]["place"] = True
    sources["news"] = {}
    assert len(differences(sources)) == 4


def test_a_record_keeps_what_no_type_knows() -> None:
    """A journal has the agent's members, in their order, with those of a later version."""
    document = {"later": [1, {"x": None}], **SAMPLE, "last": "é"}
    record = AgentEvent(utc="", block=0, system="a", attempt=0, event=read(document))
    written = to_json(record)
    assert json.dumps(written["event"]) == json.dumps(document)
    again = from_json(json.loads(json.dumps(written)))
    assert again == record
    assert isinstance(record.message, events.Sample) and record.message.value == 2.0


def test_an_event_of_a_later_version_is_no_damage() -> None:
    assert read({"event": "news", "x": 1}).event == Unknown("news")
    document = {"record": "event", "utc": "", "block": 0, "system": "a", "attempt": 0}
    kept = from_json(document | {"event": {"event": "news"}})
    assert isinstance(kept, AgentEvent) and kept.message == Unknown("news")
    for damaged in (5, None, [1], {**SAMPLE, "event": "sample", "value": None}):
        with pytest.raises(
            ValueError, match=r"its event is|the event \"sample\" is damaged: value"
        ):
            from_json(document | {"event": damaged})


@pytest.mark.parametrize("name", sorted(SAMPLE.keys() - {"event", "checksum"}))
def test_what_is_missing_is_named(name: str) -> None:
    document = {key: value for key, value in SAMPLE.items() if key != name}
    with pytest.raises(WrongEvent, match=f"^{name} is missing, expected "):
        read(document)
