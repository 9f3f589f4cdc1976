"""Exports for hyperfine, Bencher and benchstat; what is read back is what was written."""

from __future__ import annotations

import json
import re

import pytest

from pentathlon.evaluate import Evaluation, evaluate
from pentathlon.evaluate.model import PostHoc
from pentathlon.extraction.tools.registry import EXTRACTORS
from pentathlon.extraction.tools.rows import Measure, Options
from pentathlon.report.export import files
from pentathlon.report.export.bencher import to_bencher
from pentathlon.report.export.benchstat import to_benchstat
from pentathlon.report.export.hyperfine import to_hyperfine
from pentathlon.report.export.refusal import ExportError
from tests.fakes.synthetic import Item, Maker

TIME = Item("process.getpid", "time", {"opt_level": "3"}, "us", "lower", 60.0, 0.01, 0.01)
RATE = Item("net.echo", "throughput", {"peer": "a b/c"}, "1/s", "higher", 5000.0, 0.01, 0.01)
BANDWIDTH = Item("memory.read", "bandwidth", {"block_bytes": 4096}, "MB/s", "higher", 900.0, 0.01,
                 0.01)  # fmt: skip


@pytest.fixture(scope="module")
def evaluation() -> Evaluation:
    return evaluate(Maker(chosen=[TIME, RATE, BANDWIDTH]).make())


def test_hyperfine_out_and_in(evaluation: Evaluation) -> None:
    found = EXTRACTORS["hyperfine"].read(to_hyperfine(evaluation))
    [row] = [row for row in evaluation.rows if row.unit == "us"]
    assert len(found.rows) == len(row.summaries)
    for one, summary in zip(found.rows, row.summaries, strict=True):
        # What differs has names that differ: the scripts of hyperfine show only these.
        command = f"{row.key} on {summary.system}"
        assert one.case == {"command": command, "parameter_system": summary.system}
        expected = [boot.value * 1e-6 for boot in summary.boot_means]
        assert list(one.values) == pytest.approx(expected, rel=1e-12)
        assert one.metric.unit == "s"


def test_hyperfine_says_nothing_that_is_not_known(evaluation: Evaluation) -> None:
    [first, *_] = json.loads(to_hyperfine(evaluation))["results"]
    assert not {"user", "system", "exit_codes"} & first.keys()
    assert first["min"] <= first["median"] <= first["max"]


def test_hyperfine_without_a_time_is_refused() -> None:
    only = evaluate(Maker(chosen=[BANDWIDTH]).make())
    with pytest.raises(ExportError, match="no metric of this result is a time"):
        to_hyperfine(only)


def test_bmf_out_and_in(evaluation: Evaluation) -> None:
    measures = {"bandwidth-mb-s": Measure("MB/s", "higher")}
    found = EXTRACTORS["bmf"].read(to_bencher(evaluation), Options(measures=measures))
    values = {(row.case["benchmark"], row.metric.id): row for row in found.rows}
    for row in evaluation.rows:
        for summary in row.summaries:
            [(_, one)] = [
                (name, one)
                for (name, _), one in values.items()
                if str(name).startswith(f"{summary.system}/{row.workload}[")
            ]
            factor = 1e3 if row.unit == "us" else 1.0
            assert one.values[0] == pytest.approx(summary.mean * factor, rel=1e-12)
            assert one.metric.direction == row.direction
    assert {row.metric.id for row in found.rows} == {"latency", "throughput", "bandwidth-mb-s"}


def test_benchstat_has_a_line_for_each_boot(evaluation: Evaluation) -> None:
    text = to_benchstat(evaluation)
    lines = [line for line in text.splitlines() if line.startswith("Benchmark")]
    boots = sum(one.boots for row in evaluation.rows for one in row.summaries)
    assert len(lines) == boots
    # The format's own rule: name, iterations, and pairs of value and unit, without other blanks.
    for line in lines:
        assert re.fullmatch(r"Benchmark[A-Z]\S* 1 [-+.e\d]+ \S+", line), line
    assert "/peer=a_b_c 1 " in text
    assert "Unit ns/op better=lower" in text and "Unit MB/s better=higher" in text
    assert text.count("system: ") == len(evaluation.systems)


def test_what_is_unfinished_says_so(evaluation: Evaluation) -> None:
    study = evaluation.study.model_copy(update={"unfinished": "cut off"})
    cut = evaluation.model_copy(update={"study": study})
    assert json.loads(to_hyperfine(cut))["unfinished"] == "cut off"
    assert to_benchstat(cut).startswith("unfinished: cut off\n")
    assert "unfinished" not in to_hyperfine(evaluation) + to_benchstat(evaluation)


def test_what_was_chosen_after_the_measurement_says_so() -> None:
    one = PostHoc(what="delta_percent", used="7", planned="1", words="δ is 7 % (planned: 1 %)")
    result = evaluate(Maker(chosen=[TIME]).make())
    study = result.study.model_copy(update={"post_hoc": (one,)})
    changed = result.model_copy(update={"study": study})
    assert json.loads(to_hyperfine(changed))["post_hoc"].startswith("δ is 7 %")
    assert to_benchstat(changed).splitlines()[0].startswith("post-hoc: δ is 7 %")


def test_each_is_a_format_of_the_report() -> None:
    assert {"hyperfine", "bmf", "benchstat"} <= set(files.FORMATS)
