"""What is read of files that the tools wrote: values, units, directions; and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pentathlon.exchange.results.registry import EXTRACTORS
from pentathlon.exchange.results.rows import (
    Extracted,
    ExtractError,
    Measure,
    Metric,
    Options,
    Row,
    metric_id,
)

FILES = Path(__file__).parent / "files"
MS = {"time": Measure("ms", "lower")}


def text(name: str) -> str:
    return (FILES / name).read_text()


def read(tool: str, name: str, options: Options | None = None) -> Extracted:
    return EXTRACTORS[tool].read(text(name), options)


def only(found: Extracted, metric: str, **case: Any) -> Row:
    rows = [
        row for row in found.rows if row.metric.id == metric and case.items() <= row.case.items()
    ]
    [row] = rows
    return row


def refused(tool: str, content: str, options: Options | None = None) -> str:
    with pytest.raises(ExtractError) as error:
        EXTRACTORS[tool].read(content, options)
    return str(error.value)


def changed(name: str, change: Callable[[Any], object]) -> str:
    document = json.loads(text(name))
    change(document)
    return json.dumps(document)


# fio


def test_fio_gives_each_way_of_each_job_with_its_unit() -> None:
    found = read("fio", "fio.json")
    assert found.version == "3.33"
    job = json.loads(text("fio.json"))["jobs"][0]["read"]
    bandwidth = only(found, "read_bandwidth", job="randread")
    assert bandwidth.values == (job["bw_bytes"],)
    assert (bandwidth.metric.unit, bandwidth.metric.direction) == ("B/s", "higher")
    assert bandwidth.case == {"job": "randread", "rw": "randread", "bs": "4k"}
    assert bandwidth.place == "jobs[0].read.bw_bytes"
    latency = only(found, "read_completion_p99", job="randread")
    assert latency.values == (job["clat_ns"]["percentile"]["99.000000"],)
    assert (latency.metric.unit, latency.metric.direction) == ("ns", "lower")
    assert only(found, "write_iops", job="seqwrite").metric.unit == "1/s"
    assert only(found, "cpu_system", job="seqwrite").metric.role == "context"
    assert not [row for row in found.rows if row.metric.id.startswith("trim")]


def test_fio_jobs_of_one_name_are_told_apart_and_groups_are_one() -> None:
    numbers = {row.case["number"] for row in read("fio", "fio-numjobs.json").rows}
    assert numbers == {1, 2}
    assert only(read("fio", "fio-group.json"), "read_iops").case["numjobs"] == "numjobs 2"


def test_fio_json_plus_and_remarks_before_the_document_are_read() -> None:
    assert only(read("fio", "fio-plus.json"), "write_latency", job="mix").metric.unit == "ns"
    remark = "fio: a remark\n" + text("fio.json")
    assert EXTRACTORS["fio"].read(remark).rows == read("fio", "fio.json").rows


def test_fio_global_options_hold_for_every_job() -> None:
    whole = changed("fio.json", lambda it: it.update({"global options": {"direct": "1"}}))
    assert all(row.case["direct"] == "direct 1" for row in EXTRACTORS["fio"].read(whole).rows)


def test_fio_that_failed_is_refused() -> None:
    assert "did no input or output" in refused("fio", text("fio-failed.json"))
    whole = changed("fio.json", lambda it: it["jobs"][1].update(error=5))
    assert "'seqwrite' failed with error 5 (jobs[1])" in refused("fio", whole)


def test_fio_of_another_version_or_shape_is_refused_with_the_place() -> None:
    older = changed("fio.json", lambda it: it.update({"fio version": "fio-2.21"}))
    assert "times in ns came with fio 3.0" in refused("fio", older)
    lacking = changed("fio.json", lambda it: it["jobs"][0]["read"].pop("bw_bytes"))
    assert refused("fio", lacking) == "lacks jobs[0].read.bw_bytes"
    wrong = changed("fio.json", lambda it: it["jobs"][0]["read"].update(iops="many"))
    assert refused("fio", wrong) == "has 'many' at jobs[0].read.iops, expected a number"
    assert "lacks jobs" in refused("fio", '{"fio version": "fio-3.1"}')
    assert "is no JSON" in refused("fio", "read: IOPS=16k, BW=62.7MiB/s")


def test_fio_without_latencies_has_none() -> None:
    def disabled(document: Any) -> None:
        for job in document["jobs"]:
            for way in ("read", "write"):
                job[way]["lat_ns"] = {"min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0}

    names = {row.metric.id for row in EXTRACTORS["fio"].read(changed("fio.json", disabled)).rows}
    assert "read_iops" in names and "read_latency" not in names


# iperf3


def test_iperf3_gives_what_came_at_the_receiver() -> None:
    found = read("iperf3", "iperf3.json")
    end = json.loads(text("iperf3.json"))["end"]
    row = only(found, "throughput")
    assert found.version == "3.12"
    assert row.values == (end["sum_received"]["bits_per_second"],)
    assert (row.metric.unit, row.metric.direction) == ("bit/s", "higher")
    assert row.case == {
        "protocol": "TCP", "streams": 1, "block_size": "blocks of 131072 B",
        "direction": "to the server",
    }  # fmt: skip
    assert only(found, "retransmits").metric.role == "context"


def test_iperf3_tells_directions_apart() -> None:
    assert only(read("iperf3", "iperf3-reverse.json"), "throughput").case["direction"] == (
        "from the server"
    )
    both = read("iperf3", "iperf3-bidir.json")
    end = json.loads(text("iperf3-bidir.json"))["end"]
    there, back = (
        only(both, "throughput", direction=f"{way} the server").values[0] for way in ("to", "from")
    )
    assert there == end["sum_received"]["bits_per_second"]
    assert back == end["sum_received_bidir_reverse"]["bits_per_second"]


def test_iperf3_of_datagrams_has_jitter_and_loss() -> None:
    found = read("iperf3", "iperf3-udp.json")
    assert only(found, "jitter").metric.unit == "ms"
    assert only(found, "loss").metric == Metric(
        "loss", "Lost datagrams", "%", "lower", zero_allowed=True
    )
    assert only(found, "throughput").case["rate"] == "at 50000000 bit/s"


def test_iperf3_that_failed_or_lacks_the_receiver_is_refused() -> None:
    assert "Connection refused" in refused("iperf3", text("iperf3-refused.json"))
    lacking = changed("iperf3-udp.json", lambda it: it["end"].pop("sum_received"))
    assert "lacks end.sum_received" in refused("iperf3", lacking)


# sysbench


def test_sysbench_gives_the_figures_of_each_test() -> None:
    cpu = read("sysbench", "sysbench-cpu.txt")
    assert cpu.version == "1.0.20"
    rate = only(cpu, "rate")
    assert f"events per second:  {rate.values[0]:.2f}" in text("sysbench-cpu.txt")
    assert rate.workload == "sysbench.cpu" and rate.metric.unit == "1/s"
    assert rate.case == {"threads": 1, "prime_limit": "primes to 10000"}
    assert only(cpu, "latency_p95").metric.unit == "ms"
    memory = read("sysbench", "sysbench-memory.txt")
    assert only(memory, "bandwidth").metric.unit == "MiB/s"
    assert only(memory, "bandwidth").case["operation"] == "write"
    fileio = read("sysbench", "sysbench-fileio.txt")
    assert only(fileio, "fsyncs").case["mode"] == "random r/w"
    assert only(fileio, "read_bandwidth").values == (110.57,)


def test_sysbench_latencies_that_print_as_zero_are_left_out() -> None:
    found = read("sysbench", "sysbench-memory.txt")
    assert not [row for row in found.rows if row.metric.id.startswith("latency")]
    assert len(found.left_out) == 2


@pytest.mark.parametrize("name", ["sysbench-histogram.txt", "sysbench-interval.txt"])
def test_sysbench_histograms_and_reports_between_are_passed_over(name: str) -> None:
    assert {row.metric.id for row in read("sysbench", name).rows} == {
        "rate", "latency_mean", "latency_p95",
    }  # fmt: skip


def test_sysbench_that_does_not_name_its_test_needs_the_name() -> None:
    assert "--case test=NAME" in refused("sysbench", text("sysbench-threads.txt"))
    found = read("sysbench", "sysbench-threads.txt", Options(given={"test": "threads"}))
    rate = only(found, "rate")
    assert rate.case == {"threads": 1, "test": "threads"}
    assert rate.values[0] == pytest.approx(2192 / 1.0001)


def test_sysbench_that_did_not_end_or_is_older_is_refused() -> None:
    whole = text("sysbench-cpu.txt")
    cut = whole[: whole.index("General statistics")]
    assert "the run did not end" in refused("sysbench", cut)
    assert "sysbench 0.4.12" in refused("sysbench", whole.replace("1.0.20", "0.4.12"))
    failed = whole.replace("Threads started!", "FATAL: cannot open the file")
    with pytest.raises(ExtractError, match="cannot open the file") as error:
        EXTRACTORS["sysbench"].read(failed)
    assert error.value.line == 12
    assert 'no line "sysbench VERSION"' in refused("sysbench", "hello")


# hyperfine


def test_hyperfine_gives_every_run_in_seconds() -> None:
    found = read("hyperfine", "hyperfine.json")
    result = json.loads(text("hyperfine.json"))["results"][0]
    row = only(found, "time", command="sleep 0.05")
    assert row.values == tuple(result["times"])
    assert (row.metric.unit, row.metric.direction) == ("s", "lower")
    assert found.version is None
    assert only(found, "user_time", command="sleep 0.05").metric.role == "context"


def test_hyperfine_parameters_are_in_the_case() -> None:
    found = read("hyperfine", "hyperfine-parameter.json")
    assert {row.case["parameter_s"] for row in found.rows} == {"0.01", "0.02"}


def test_hyperfine_runs_that_failed_are_refused() -> None:
    stated = refused("hyperfine", text("hyperfine-status.json"))
    assert stated.startswith("has a run of 'false' that ended with status 1")


def test_hyperfine_without_runs_has_its_mean() -> None:
    whole = changed("hyperfine.json", lambda it: it["results"][0].pop("times"))
    mean = json.loads(text("hyperfine.json"))["results"][0]["mean"]
    assert only(EXTRACTORS["hyperfine"].read(whole), "time", command="sleep 0.05").values == (mean,)


def test_hyperfine_with_one_command_twice_is_refused() -> None:
    whole = changed("hyperfine.json", lambda it: it["results"].append(it["results"][0]))
    assert "has time of hyperfine (command sleep 0.05) twice" in refused("hyperfine", whole)


# pgbench


def test_pgbench_gives_rate_and_latency() -> None:
    found = read("pgbench", "pgbench.txt")
    assert found.version == "15.18"
    assert only(found, "tps").values == (350.871947,)
    assert only(found, "latency").metric == Metric("latency", "Mean latency", "ms", "lower")
    assert only(found, "tps").case == {
        "script": "<builtin: TPC-B (sort of)>", "scale": "scale 1", "mode": "simple protocol",
        "clients": 1, "threads": 1,
    }  # fmt: skip
    assert only(found, "failed").metric.role == "context"


def test_pgbench_tells_scripts_and_connections_apart() -> None:
    found = read("pgbench", "pgbench-scripts.txt")
    assert only(found, "tps", script="<builtin: select only>").values == (121.730260,)
    assert only(found, "tps", script="multiple scripts").values == (368.208885,)
    anew = read("pgbench", "pgbench-connects.txt")
    assert all(row.case["connections"] == "for each transaction" for row in anew.rows)


@pytest.mark.parametrize(
    "name", ["pgbench-rate.txt", "pgbench-tries.txt", "pgbench-statements.txt"]
)
def test_pgbench_with_other_options_is_read(name: str) -> None:
    assert only(read("pgbench", name), "tps").metric.unit == "1/s"


def test_pgbench_of_an_older_version_is_read() -> None:
    older = """\
transaction type: <builtin: TPC-B (sort of)>
scaling factor: 1
query mode: simple
number of clients: 1
number of threads: 1
number of transactions per client: 10
number of transactions actually processed: 10/10
latency average = 2.5 ms
tps = 380.1 (including connections establishing)
tps = 400.5 (excluding connections establishing)
"""
    found = EXTRACTORS["pgbench"].read(older)
    assert found.version is None
    assert only(found, "tps").values == (400.5,)


def test_pgbench_logs_give_each_transaction() -> None:
    found = read("pgbench", "pgbench.log")
    row = only(found, "transaction_latency")
    assert len(row.values) == 30 and row.metric.unit == "us"
    assert row.values[0] == float(text("pgbench.log").split()[2])
    skipped = text("pgbench.log").replace("0 2 1297", "0 2 skipped")
    assert EXTRACTORS["pgbench"].read(skipped).left_out == (
        "1 transactions that were skipped or failed",
    )
    assert "is no line of a per-transaction log" in refused("pgbench", text("pgbench.log") + "x\n")


def test_pgbench_that_did_not_end_is_refused() -> None:
    whole = text("pgbench.txt")
    assert "the run did not end" in refused("pgbench", whole[: whole.index("tps =")])
    assert "reports that the run failed" in refused("pgbench", whole + "pgbench: error: gone\n")
    assert "scaling factor" in refused("pgbench", whole.replace("scaling factor: 1\n", ""))


# Phoronix Test Suite


def test_pts_gives_the_runs_of_the_system_that_is_named() -> None:
    found = read("pts", "composite.xml", Options(part="linux-6.1"))
    row = only(found, "mips")
    assert row.values == (20300.0, 20400.0, 20335.0)
    assert (row.metric.unit, row.metric.direction) == ("MIPS", "higher")
    assert row.workload == "pts.compress-7zip"
    assert row.case == {"description": "Test: Compression Rating", "version": "1.10.0 22.01"}
    assert only(found, "seconds").metric.direction == "lower"
    assert found.version == "10.8.4"
    assert len(found.left_out) == 1 and "LINE_GRAPH" in found.left_out[0]


def test_pts_values_that_are_missing_are_left_out() -> None:
    found = read("pts", "composite.xml", Options(part="linux-6.6"))
    assert [row.metric.id for row in found.rows] == ["mips"]
    assert any("Timed Linux Kernel Compilation" in one for one in found.left_out)


def test_pts_with_several_systems_needs_one_to_be_named() -> None:
    assert "holds 2 systems" in refused("pts", text("composite.xml"))
    assert "no system 'other'" in refused("pts", text("composite.xml"), Options(part="other"))


@pytest.mark.parametrize(
    ("old", "new", "stated"),
    [
        ("<Proportion>HIB<", "<Proportion>XIB<", "has the proportion 'XIB' at Result 1"),
        ("<Scale>MIPS<", "<Scale><", "has no scale at Result 1"),
        ("20300:20400", "20300:=1+1", "has '=1+1' at Result 1, expected a number"),
        ("<PhoronixTestSuite>", "<Other>", "is no XML"),
        ("<?xml", '<!DOCTYPE a [<!ENTITY b "b">]><?xml', "has a document type"),
    ],
)
def test_pts_that_is_wrong_is_refused(old: str, new: str, stated: str) -> None:
    whole = text("composite.xml").replace(old, new, 1)
    assert stated in refused("pts", whole, Options(part="linux-6.1"))


# Bencher


def bmf(**measures: Any) -> str:
    return json.dumps({"one": {name: {"value": value} for name, value in measures.items()}})


def test_bmf_knows_the_measures_of_every_project() -> None:
    whole = json.dumps({
        "one": {"latency": {"value": 88.0, "lower_value": 87.0}, "throughput": {"value": 5}},
        "two": {"build-time": {"value": 87.0}, "file-size": {"value": 42}},
    })  # fmt: skip
    found = EXTRACTORS["bmf"].read(whole)
    units = {row.metric.id: (row.metric.unit, row.metric.direction) for row in found.rows}
    assert units == {
        "latency": ("ns", "lower"), "throughput": ("1/s", "higher"), "build-time": ("s", "lower"),
        "file-size": ("B", "lower"),
    }  # fmt: skip
    assert only(found, "latency").case == {"benchmark": "one"}
    assert found.left_out == ("lower and upper values of 1 measures",)


def test_bmf_measures_of_others_need_unit_and_direction() -> None:
    assert "--measure 'frames=UNIT,higher'" in refused("bmf", bmf(frames=3))
    frames = Options(measures={"frames": Measure("frames/s", "higher")})
    assert EXTRACTORS["bmf"].read(bmf(frames=3), frames).rows[0].metric.unit == "frames/s"


@pytest.mark.parametrize("value", ["fast", True, None, [1], {}, 10**400])
def test_bmf_values_that_are_none_are_refused(value: Any) -> None:
    assert refused("bmf", json.dumps({"one": {"latency": {"value": value}}}))


def test_bmf_measures_whose_names_would_be_one_are_refused() -> None:
    twice = Options(measures={"a b": Measure("s", "lower"), "a_b": Measure("s", "lower")})
    assert "are both a_b" in refused("bmf", bmf(**{"a b": 1, "a_b": 2}), twice)


# CSV

TABLE = "size,time,run\n4k,10,1\n4k,12,1\n64k,20,1\n4k,11,2\n"


def test_csv_lines_of_a_case_are_repetitions_and_boots_are_told_apart() -> None:
    found = EXTRACTORS["csv"].read(TABLE, Options(measures=MS, cases=("size",), boots="run"))
    assert [(row.case["size"], row.boot, row.values) for row in found.rows] == [
        ("4k", 1, (10.0, 12.0)), ("64k", 1, (20.0,)), ("4k", 2, (11.0,)),
    ]  # fmt: skip
    assert found.rows[0].metric == Metric("time", "time", "ms", "lower")


@pytest.mark.parametrize("delimiter", [";", "\t"])
def test_csv_of_other_delimiters_is_read(delimiter: str) -> None:
    whole = TABLE.replace(",", delimiter)
    assert len(EXTRACTORS["csv"].read(whole, Options(measures=MS)).rows[0].values) == 4


@pytest.mark.parametrize(
    ("table", "stated", "line"),
    [
        ("size,tme\n4k,1\n", "no column 'time'; did you mean \"tme\"?", 1),
        ("time,time\n1,2\n", "has the column 'time' 2 times", 1),
        ("time\n1\nfast\n", "has 'fast' in time, expected a number", 3),
        ("time\n1\n=1+1\n", "has '=1+1' in time", 3),
        ("time\nnan\n", "has 'nan' in time", 2),
        ("time,a\n1\n", "has 1 fields, and its header 2", 2),
        ("time\n1e999\n", "which is no finite number", None),
        ('time\n"1\n', "is no CSV", 3),
    ],
)
def test_csv_that_is_wrong_is_refused_with_its_line(
    table: str, stated: str, line: int | None
) -> None:
    with pytest.raises(ExtractError) as error:
        EXTRACTORS["csv"].read(table, Options(measures=MS))
    assert stated in str(error.value)
    assert error.value.line == line


def test_csv_needs_the_units_of_its_columns() -> None:
    assert "--measure 'COLUMN=UNIT,higher'" in refused("csv", TABLE)
    many = Options(measures=MS, boots="size")
    assert "has '4k' in size, expected a number from 1 to 10000" in refused("csv", TABLE, many)


def test_csv_sizes_are_whole_numbers() -> None:
    sizes = Options(measures=MS, cases=("block_bytes",))
    assert EXTRACTORS["csv"].read("block_bytes,time\n4096,1\n", sizes).rows[0].case == {
        "block_bytes": 4096
    }
    assert "expected a whole number" in refused("csv", "block_bytes,time\n4k,1\n", sizes)


# All of them


def test_factors_that_the_user_adds_are_in_every_case() -> None:
    given = Options(given={"disk": "nvme"})
    assert {row.case["disk"] for row in read("fio", "fio.json", given).rows} == {"nvme"}
    assert "has the factor 'job' itself" in refused(
        "fio", text("fio.json"), Options(given={"job": "x"})
    )


def test_units_that_mix_under_one_metric_are_refused() -> None:
    whole = text("composite.xml").replace("build-linux-kernel-1.15.0", "compress-7zip-1.10.0")
    mixed = whole.replace("<Scale>Seconds<", "<Scale>mips<")
    stated = refused("pts", mixed, Options(part="linux-6.1"))
    assert stated == 'mixes units under "mips": MIPS and mips (Result 2)'


def test_names_that_are_too_long_are_refused() -> None:
    assert "longer than 256 characters" in refused(
        "bmf", json.dumps({"x" * 300: {"latency": {"value": 1}}})
    )


def test_ids_of_metrics_are_plain() -> None:
    assert metric_id("Files / sec (warm)") == "files_sec_warm"
    assert metric_id("[a.b]") == "a_b"
