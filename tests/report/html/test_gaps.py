"""Where a system failed its curve breaks: no line joins the neighbours of what was not measured."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from pentathlon.evaluate import evaluate
from pentathlon.report.html import overlays, page, sweeps
from pentathlon.report.html.gaps import missing, of_sizes
from pentathlon.report.html.payload import short
from tests.fakes import synthetic_papers as planted
from tests.fakes.synthetic import Item, Maker, same

SIZES = (64, 128, 256, 384, 512)
SYSTEMS = {"uml-6.1": same, "uml-7.2": same}
NODE = shutil.which("node") or shutil.which("nodejs")


def traffic(size: int, protocol: str) -> Item:
    case = {"protocol": protocol, "ip_version": 4, "size_bytes": size, "transmit_backend": "send"}
    return Item("network.traffic", "throughput", case, "kbit/s", "higher", 50.0 * size)


class Lacking:
    """A result in which some cases of some systems were invalid, and have no samples."""

    def __init__(self, made: Any, lacking: dict[str, tuple[str, list[str]]]) -> None:
        self._made = made
        self._lacking = lacking

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)

    def samples(self) -> pl.DataFrame:
        table = self._made.samples()
        for system, (workload, cases) in self._lacking.items():
            gone = (pl.col("system") == system) & (pl.col("workload") == workload)
            if cases != [""]:
                gone &= pl.col("case").is_in(cases)
            table = table.filter(~gone)
        return table

    def failures(self) -> pl.DataFrame:
        template = self._made.failures()
        row = template.row(0, named=True)
        rows = [
            row | {
                "system": system, "workload": workload, "case": case, "kind": "invalid",
                "reason": "the generator sent 19 packets of 35,000 that were due",
            }
            for system, (workload, cases) in self._lacking.items()
            for case in cases
        ]  # fmt: skip
        return pl.DataFrame(rows, schema=template.schema)


def network(lacking: dict[str, list[str]]) -> Any:
    items = [traffic(size, protocol) for protocol in ("udp", "tcp") for size in SIZES]
    made = Maker(factors=SYSTEMS, chosen=items, iterations=1).make()
    return evaluate(
        Lacking(made, {name: ("network.traffic", cases) for name, cases in lacking.items()})
    )


def case(size: int, protocol: str) -> str:
    return f"protocol={protocol},ip_version=4,size_bytes={size},transmit_backend=send"


def lines(evaluation: Any) -> dict[str, list[list[list[float | None]]]]:
    [found] = sweeps.payload(evaluation, short)
    return {panel["t"]: panel["l"] for panel in found["p"]}


def test_the_line_of_a_system_breaks_where_it_failed() -> None:
    found = lines(network({"uml-7.2": [case(256, "udp")]}))
    broken = next(both for title, both in found.items() if "udp" in title)
    assert [x for x, _ in broken[1]] == list(SIZES)
    assert [x for x, y in broken[1] if y is None] == [256]
    whole = [line for title, both in found.items() for line in both if line is not broken[1]]
    assert len(whole) == 3
    assert all(y is not None for line in whole for _, y in line)


def test_it_breaks_too_where_no_system_has_a_value() -> None:
    found = lines(network({name: [case(256, "udp"), case(512, "udp")] for name in SYSTEMS}))
    for line in next(both for title, both in found.items() if "udp" in title):
        assert [x for x, y in line if y is None] == [256, 512]


def test_a_failed_workload_breaks_nothing_of_a_system_without_values() -> None:
    found = lines(network({"uml-7.2": [""]}))
    assert all(second == [] for _, second in found.values())


def test_what_was_not_asked_for_breaks_nothing() -> None:
    """Systems can have other sizes, such as those of their caches."""
    evaluation = network({})
    rows = [row for row in evaluation.rows if row.case["protocol"] == "udp"]
    assert missing(evaluation, "uml-6.1", "size_bytes", rows) == []
    assert missing(evaluation, "uml-6.1", "size_bytes", []) == []


def forwarding(lost: list[int]) -> Any:
    made = Maker(factors=SYSTEMS, chosen=list(planted.forwarding()), iterations=1).make()
    table = made.samples()
    texts = [
        text
        for text in table["case"].unique().sort()
        if any(f"offered_kpps={load}" in text.split(",") for load in lost)
        and "cpu.simplex" not in text
    ]
    return evaluate(Lacking(made, {"uml-7.2": ("forwarding.sweep", texts)}))


def test_curves_over_offered_load_break_and_so_do_those_of_what_the_competitor_changes() -> None:
    loads = sorted({row.case["offered_kpps"] for row in forwarding([]).rows})
    lost = loads[2]
    [found] = overlays.payload(forwarding([lost]), short)
    panels = {panel["t"]: panel["l"] for panel in found["p"]}
    for system, competitor, points in next(iter(panels.values())):
        gone = [load for load, mean, *_ in points if mean is None]
        alone = found["c"][competitor] == "none"
        assert gone == ([lost] if system == 1 and alone else [])
        assert [load for load, *_ in points] == loads
    changes = panels["Throughput, change by the competitor"]
    assert [[x for x, y, *_ in points if y is None] for _, _, points in changes] == [[], [lost]]


def test_curves_over_block_size_break() -> None:
    items = [
        Item("memory.read", "bandwidth", {"block_bytes": size, "variant": "plain"}, "MB/s",
             "higher", 1e3)
        for size in (1024, 2048, 4096)
    ]  # fmt: skip
    made = Maker(factors=SYSTEMS, chosen=items, iterations=1).make()
    gone = {"uml-7.2": ("memory.read", ["block_bytes=2048,variant=plain"])}
    found = list(of_sizes(evaluate(Lacking(made, gone))))
    assert found == [("memory.read", "plain", "uml-7.2", 2048.0)]


DRAW = """
const input = JSON.parse(require("fs").readFileSync(0, "utf8"));
globalThis.window = globalThis;
globalThis.d3 = require(input.d3);
const text = () => ({ append() {}, className: "", textContent: "", set innerHTML(_) {} });
globalThis.document = { createElement: text };
d3.create = () => ({ attr() { return this; }, style() { return this; }, append() { return this; },
  node: () => null });
const drawn = [];
globalThis.Plot = new Proxy({}, { get: (_, name) => (...given) => {
  if (name === "line") drawn.push(given[0]);
  return { querySelector: () => ({ append() {} }) };
} });
const tools = {
  MANY: 24, data: input.data, names: ["a", "b"], systems: [{}, {}], style: {},
  SYMBOLS: ["circle", "square"],
  grid: (width, panels, make) => panels.map((one) => make(one, width)),
  panel: () => ({ querySelector: () => ({ append() {} }) }), legend: () => null,
  levels: () => ({ domain: [1, 10], ticks: [] }), scale: () => [1, ""], ticks: (xs) => xs,
  axisX: () => null, axisY: () => null, colour: () => "", breadth: () => 1, radius: () => 1,
  sizeTick: String, bytes: String, number: String, compact: String,
};
require("vm").runInThisContext(input.script);
const [make] = globalThis.pentathlonPictures;
make(tools)[input.picture](input.part, 400);
process.stdout.write(JSON.stringify(drawn.map((line) => line.map((p) => [p.x, p.y ?? null]))));
"""


def drawn(script: str, picture: str, data: dict[str, Any], part: str) -> list[list[list[Any]]]:
    """The points of every line that a script of the page draws; null where the line breaks."""
    d3 = Path(page.__file__).parent / "assets" / "vendor" / "d3.min.js"
    values = {
        "script": page.asset(script), "picture": picture, "data": data, "part": part,
        "d3": str(d3),
    }  # fmt: skip
    done = subprocess.run(
        [str(NODE), "-e", DRAW], input=json.dumps(values), capture_output=True, text=True,
        check=True, timeout=60,
    )  # fmt: skip
    lines = json.loads(done.stdout)
    assert not any(isinstance(y, float) and math.isnan(y) for line in lines for _, y in line)
    return list(lines)


@pytest.mark.skipif(NODE is None, reason="no JavaScript outside a browser: apt install nodejs")
def test_the_page_draws_no_line_over_a_break() -> None:
    found = sweeps.payload(network({"uml-7.2": [case(256, "udp")]}), short)
    made = drawn("sweeps.js", "sweep", {"sweeps": found}, "network.traffic")
    breaks = [[x for x, y in line if y is None] for line in made if line]
    assert sorted(breaks) == [[], [], [], [256]]

    load = sorted({row.case["offered_kpps"] for row in forwarding([]).rows})[2]
    found = overlays.payload(forwarding([load]), short)
    made = drawn("overlays.js", "overlay", {"overlays": found}, "forwarding.sweep")
    breaks = [[x for x, y in line if y is None] for line in made if line and line[0][0] is not None]
    assert [load] in breaks
    assert {tuple(one) for one in breaks} <= {(), (load,)}
