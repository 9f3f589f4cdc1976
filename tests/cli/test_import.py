"""`pentathlon import`: results of other tools become results that everything else judges."""

from __future__ import annotations

import hashlib
import json
import shutil
import zlib
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from pentathlon.cli.main import app
from pentathlon.evaluate import evaluate
from pentathlon.evaluate.comparability import NOT_IN_BLOCKS
from pentathlon.evaluate.estimators.ratio import delta_log
from pentathlon.evaluate.results.gate import of_evaluation
from pentathlon.evaluate.rule import Rule
from pentathlon.evaluate.verdict import Verdict
from pentathlon.safeio.checksum import sealed, unsealed
from pentathlon.store.query import load_result

FILES = Path(__file__).parent.parent / "extraction" / "tools" / "files"
MEASURE = ("--measure", "time=ms,lower")


def run(*words: object) -> Result:
    return CliRunner().invoke(app, [str(word) for word in words], env={"COLUMNS": "200"})


def done(*words: object) -> str:
    found = run(*words)
    assert found.exit_code == 0, found.output
    return found.stdout


def refused(*words: object) -> str:
    found = run(*words)
    assert found.exit_code == 2, found.output
    assert "Traceback" not in found.output and found.stdout == ""
    lines = found.stderr.splitlines()
    assert lines[0].startswith("error: "), found.stderr
    return " ".join(line.strip() for line in lines)


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def table(path: Path, *times: float) -> Path:
    path.write_text("time\n" + "".join(f"{one}\n" for one in times))
    return path


def two_systems(here: Path, *options: str, slow: float = 1.2) -> Path:
    """Five boots of two systems, the second slower by a factor."""
    into = here / "r"
    for system, factor in (("a", 1.0), ("b", slow)):
        for number in range(1, 6):
            time = factor * (10 + 0.01 * (number * 3 % 5))
            file = table(here / f"{system}{number}.csv", time)
            place = (options[0], number) if options else ()
            done("import", "csv", file, "--system", system, *MEASURE, *place, "--into", into)
    return into


def hyperfine_file(path: Path, factor: float) -> Path:
    document = json.loads((FILES / "hyperfine.json").read_text())
    for one in document["results"]:
        one["times"] = [time * factor for time in one["times"]]
    path.write_text(json.dumps(document))
    return path


def test_an_import_is_a_whole_result(here: Path) -> None:
    into = here / "r"
    output = done("import", "fio", FILES / "fio.json", "--system", "linux-6.1", "--into", into)
    assert "imported 1 file as boot 1 of linux-6.1" in output
    result = load_result(into)
    assert result.finished and not result.unfinished
    assert result.study.imported
    [note] = result.notes()
    assert note.startswith(
        "Imported, not measured here: linux-6.1, 1 boot by fio 3.33, from fio.json (SHA-256 "
    )
    shown = done("results", "show", into)
    digest = hashlib.sha256((FILES / "fio.json").read_bytes()).hexdigest()
    assert digest in "".join(shown.split())
    assert "none: imported, not measured here" in shown and "stopping" not in shown
    assert result.inventory().is_empty()
    samples = result.samples()
    assert samples["counted"].all()
    for unknown in ("elapsed_ns", "batch", "order", "t_ns", "cpu_user_ns", "process"):
        assert samples[unknown].is_null().all(), unknown
    plan = result.plan_table()
    assert plan["iterations"].is_null().all() and plan["state"].to_list() == ["finished"]
    facts = evaluate(result).systems[0]
    assert (facts.cpu, facts.kernel, facts.memory_bytes) == ("", "", None)


def test_what_was_imported_is_kept_when_tables_are_made_again(here: Path) -> None:
    into = two_systems(here)
    before = load_result(into).samples()
    load_result(into).refresh()
    assert load_result(into).samples().equals(before)
    copy = here / "copy"
    shutil.copytree(into, copy)
    assert load_result(copy).samples().equals(before)


def test_files_without_boots_are_one_boot_each_and_judged_unpaired(here: Path) -> None:
    into = two_systems(here)
    evaluation = evaluate(load_result(into))
    [row] = evaluation.rows
    comparison = row.comparison("b")
    assert comparison is not None and comparison.effect is not None
    assert comparison.verdict is Verdict.SLOWER_BY_DELTA
    assert comparison.effect.log_ratios == () and comparison.effect.checks is None
    assert comparison.effect.percent == pytest.approx(100 / 1.2 - 100)
    assert NOT_IN_BLOCKS in comparison.cautions
    assert evaluation.aggregates == () and not evaluation.study.in_blocks
    shown = done("compare", into)
    assert "judged unpaired" in shown and "speed %\n" not in shown
    assert "paired block" not in shown


def test_the_gate_asks_welch_whether_unpaired_boots_are_not_worse(here: Path) -> None:
    evaluation = evaluate(load_result(two_systems(here)))
    rule = Rule(1.0, 0.95)
    for percent, most in ((50.0, 1e-6), (1.0, None)):
        [entry] = of_evaluation(evaluation, rule, delta_log(percent))
        assert entry.p_not_worse is not None
        assert entry.p_not_worse < most if most else entry.p_not_worse > 0.5


def test_files_in_blocks_are_judged_paired(here: Path) -> None:
    evaluation = evaluate(load_result(two_systems(here, "--block")))
    [row] = evaluation.rows
    comparison = row.comparison("b")
    assert comparison is not None and comparison.effect is not None
    assert len(comparison.effect.log_ratios) == 5
    assert comparison.effect.checks is not None
    assert comparison.cautions == ()
    assert evaluation.aggregates and evaluation.study.in_blocks


def test_pairing_finds_what_unpaired_boots_cannot(here: Path) -> None:
    """Boots drift by 50 % and the systems differ by 2 %: only blocks take the drift out."""
    found = {}
    for option in ("--boot", "--block"):
        into = here / option.strip("-")
        for number in range(1, 7):
            drift = 10 * 1.1**number
            for system, factor in (("a", 1.0), ("b", 1.02 + 0.001 * (number % 2))):
                file = table(here / f"{system}{number}.csv", drift * factor)
                done("import", "csv", file, "--system", system, *MEASURE, option, number,
                     "--into", into)  # fmt: skip
        [row] = evaluate(load_result(into)).rows
        comparison = row.comparison("b")
        assert comparison is not None
        found[option] = comparison.verdict
    assert found["--block"] is Verdict.SLOWER_BY_DELTA
    assert found["--boot"] in (Verdict.UNSTABLE, Verdict.INCONCLUSIVE)


def test_one_boot_on_a_side_is_not_judged(here: Path) -> None:
    into = here / "r"
    for system in ("a", "b"):
        done("import", "csv", table(here / system, 1.0 if system == "a" else 9.0), *MEASURE,
             "--system", system, "--into", into)  # fmt: skip
    [row] = evaluate(load_result(into)).rows
    comparison = row.comparison("b")
    assert comparison is not None and comparison.verdict is Verdict.INCONCLUSIVE
    assert comparison.reason == "1 boot on one side; an interval needs at least 2 on each"


def test_results_of_several_tools_meet_by_metric_and_case(here: Path) -> None:
    into = here / "r"
    for tool, name in (("fio", "fio.json"), ("iperf3", "iperf3.json"),
                       ("sysbench", "sysbench-cpu.txt"), ("pgbench", "pgbench.txt")):  # fmt: skip
        for system in ("a", "b"):
            # Another run of the same job differs in its bytes, not in its names.
            file = here / f"{system}-{name}"
            file.write_text((FILES / name).read_text() + (" \n" if system == "b" else ""))
            done("import", tool, file, "--system", system, "--into", into)
    for number, (system, factor) in enumerate((("a", 1.0), ("b", 1.1))):
        file = hyperfine_file(here / f"{number}.json", factor)
        done("import", "hyperfine", file, "--system", system, "--into", into)
    evaluation = evaluate(load_result(into))
    assert {row.area for row in evaluation.rows} == {
        "fio", "iperf3", "sysbench", "pgbench", "hyperfine",
    }  # fmt: skip
    assert all(len(row.summaries) == 2 for row in evaluation.rows)


@pytest.mark.parametrize("options", [(), ("--block",)])
def test_every_command_on_results_works(here: Path, options: tuple[str, ...]) -> None:
    into = two_systems(here, *options)
    assert run("gate", into).exit_code == 4
    assert run("gate", into, "--system", "b", "--delta", 50).exit_code == 0
    for words in (
        ("compare", into, "--full"), ("compare", into, "b", "a"), ("compare", into, into, "a", "b"),
        ("results", "show", into), ("results", "list", here), ("history", into), ("tables", into),
    ):  # fmt: skip
        done(*words)
    formats = "html,csv,markdown,latex,json,hyperfine,bmf,benchstat"
    assert len(done("report", into, "--format", formats).splitlines()) == 8
    page = (into / "report.html").read_text()
    assert "Imported, not measured here" in page
    assert ("not measured in blocks" in page) is not bool(options)
    assert "Timed batch" not in page and "Order of the boots" not in page
    assert "inventories of the systems do not differ" not in page


def test_commands_that_need_a_run_say_why_they_cannot(here: Path) -> None:
    into = two_systems(here)
    assert "it was imported" in refused("plan", "--allocate", into)
    assert "it does not show how this machine measures" in refused("calibrate", "--result", into)
    assert "is finished; there is nothing to resume" in refused("run", "--resume", into)
    assert "has no trial between two hosts" in refused("packets", into)


def test_a_study_file_cannot_name_the_kind(here: Path) -> None:
    study = here / "s.toml"
    study.write_text(
        'name = "s"\nreference = "a"\n[[system]]\nname = "a"\ntarget = "imported"\n'
        '[[suite]]\nname = "s"\nworkloads = ["process.*"]\n'
    )
    found = run("plan", study)
    assert found.exit_code == 2 and '"imported"' in found.stderr


def test_a_file_is_imported_once(here: Path) -> None:
    into = here / "r"
    done("import", "fio", FILES / "fio.json", "--system", "a", "--into", into)
    again = here / "other.json"
    again.write_bytes((FILES / "fio.json").read_bytes())
    for system in ("a", "b"):
        output = refused("import", "fio", again, "--system", system, "--into", into)
        assert "other.json was imported already, as boot 1 of a" in output
        assert "then called fio.json" in output
    twice = refused("import", "fio", again, again, "--system", "a", "--into", here / "new")
    assert "was imported already" in twice and not (here / "new").exists()


def test_a_metric_has_one_unit_in_all_files(here: Path) -> None:
    into = here / "r"
    done("import", "csv", table(here / "1", 1), "--system", "a", *MEASURE, "--into", into)
    other = table(here / "2", 2)
    for measure, key in (("time=s,lower", "unit s"), ("time=ms,higher", "direction higher")):
        output = refused("import", "csv", other, "--system", "b", "--measure", measure,
                       "--into", into)  # fmt: skip
        assert f"2 has time of csv with the {key}, and 1 has it with" in output
    assert load_result(into).samples().height == 1


def test_blocks_and_boots_do_not_mix(here: Path) -> None:
    into = two_systems(here, "--block")
    again = table(here / "x", 7)
    output = refused("import", "csv", again, "--system", "a", *MEASURE, "--into", into)
    assert "judged paired or unpaired as a whole" in output


def test_a_boot_holds_a_metric_once(here: Path) -> None:
    into = here / "r"
    one, two = table(here / "1", 1), table(here / "2", 2)
    output = refused("import", "csv", one, two, "--system", "a", *MEASURE, "--boot", 3,
                   "--into", into)  # fmt: skip
    assert "2 has time of csv in boot 3 of a, which 1 has too" in output
    assert not into.exists()


def test_a_table_can_number_its_boots(here: Path) -> None:
    for system, more in (("a", 0.0), ("b", 2.0)):
        lines = "".join(f"{n},{10 + more + 0.01 * n}\n{n},{10 + more}\n" for n in range(1, 5))
        (here / f"{system}.csv").write_text(f"run,time\n{lines}")
        done("import", "csv", f"{system}.csv", "--system", system, *MEASURE, "--blocks", "run",
             "--into", "r")  # fmt: skip
    [row] = evaluate(load_result(here / "r")).rows
    assert [one.boots for one in row.summaries] == [4, 4]
    assert [one.samples for one in row.summaries] == [8, 8]
    comparison = row.comparison("b")
    assert comparison is not None and comparison.verdict is Verdict.SLOWER_BY_DELTA


@pytest.mark.parametrize(
    ("words", "output"),
    [
        (("fi0", "x"), '"fi0" is no tool that is read; did you mean "fio"?'),
        (("fio", "missing.json"), "missing.json cannot be read: no such file or directory"),
        (("fio", "."), ". is a directory and no regular file"),
        (("fio", "/dev/zero"), "/dev/zero is a device and no regular file"),
        (("fio", "t.csv", "--boot", "0"), "--boot is 0; give a number from 1 to 10000"),
        (("fio", "t.csv", "--boot", "1", "--block", "1"), "--boot and --block exclude each other"),
        (("fio", "t.csv", "--measure", "a=b,lower"), "--measure is for bmf and csv, not for fio"),
        (("fio", "t.csv", "--entry", "x"), "--entry is for pts, not for fio"),
        (("csv", "t.csv", "--measure", "time=ms"), "give NAME=UNIT,higher or NAME=UNIT,lower"),
        (("csv", "t.csv", "--measure", "time=,lower"), "give NAME=UNIT,higher"),
        (("csv", "t.csv", *MEASURE, "--case", "1x=2"), "a factor is NAME=VALUE"),
        (("csv", "t.csv"), "name those with values by --measure"),
        (("csv", "t.csv", "--measure", "tme=s,lower"), "t.csv:1: has no column 'tme'"),
        (("fio", "t.csv"), "t.csv:1: is no JSON"),
        (("csv", "latin.csv", *MEASURE), "latin.csv:2: is not UTF-8 text"),
    ],
)
def test_bad_input_is_one_sentence_and_leaves_nothing(
    here: Path, words: tuple[str, ...], output: str
) -> None:
    table(here / "t.csv", 1)
    (here / "latin.csv").write_bytes(b"time\n\xe4\n")
    assert output in refused("import", *words, "--system", "a", "--into", "new/r")
    assert not (here / "new").exists()


def test_names_of_systems_are_plain(here: Path) -> None:
    table(here / "t.csv", 1)
    for name in ("", "a b", "-a", "a/b", "x" * 65, "\x1b[2J"):
        output = refused("import", "csv", "t.csv", f"--system={name}", *MEASURE, "--into", "r")
        assert "--system is" in output and "\x1b" not in output


def test_files_that_are_too_large_are_not_read(here: Path) -> None:
    with (here / "big").open("wb") as file:
        file.truncate(17 << 20)
    output = refused("import", "fio", "big", "--system", "a", "--into", "r")
    assert "big is larger than 16 MiB" in output


def test_nothing_is_added_to_what_was_measured_or_is_no_result(here: Path) -> None:
    table(here / "t.csv", 1)
    other = here / "other"
    other.mkdir()
    (other / "file").write_text("mine")
    words = ("import", "csv", "t.csv", "--system", "a", *MEASURE, "--into")
    assert "is not empty and no result" in refused(*words, other)
    assert (other / "file").read_text() == "mine"
    assert "cannot be used as a result: not a directory" in refused(*words, here / "t.csv")
    into = two_systems(here)
    journal = into / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    journal.write_bytes(b"".join([lines[0], *lines[2:-1], lines[-1], lines[-1]]))
    assert "nothing is added to what was measured" in refused(*words, into)
    journal.write_bytes(lines[0] + lines[1].replace(b"10.", b"99.") + b"".join(lines[2:]))
    assert "its checksum does not fit" in refused(*words, into)
    assert "its checksum does not fit" in refused("compare", into)


@pytest.mark.parametrize(
    ("change", "output"),
    [
        ({"values": []}, "wrong at values"),
        ({"sha256": "x"}, "wrong at sha256"),
        ({"block": -1}, "wrong at block"),
        ({"block": 99}, "does not fit the plan"),
        ({"system": "other"}, "does not fit the plan"),
        ({"in_blocks": "yes"}, "wrong at in_blocks"),
    ],
)
def test_records_that_no_import_wrote_are_refused(
    here: Path, change: dict[str, object], output: str
) -> None:
    """With a checksum that fits, as whoever made them would give them one."""
    into = two_systems(here)
    journal = into / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    document, _ = unsealed(lines[1])
    lines[1] = sealed(document | change)
    journal.write_bytes(b"".join(lines))
    assert output in refused("compare", into)


@pytest.mark.parametrize("value", ["NaN", "Infinity", '"1"', "true", "null", "1e400"])
def test_values_that_are_no_numbers_are_refused(here: Path, value: str) -> None:
    into = two_systems(here)
    journal = into / "journal.jsonl"
    lines = journal.read_bytes().splitlines(keepends=True)
    document, _ = unsealed(lines[1])
    document["values"][0]["values"] = [12345.5]
    body = sealed(document).partition(b',"crc32"')[0].replace(b"12345.5", value.encode())
    lines[1] = b'%s,"crc32":"%08x"}\n' % (body, zlib.crc32(body))
    journal.write_bytes(b"".join(lines))
    assert "wrong at values.0.values.0" in refused("compare", into)
    more = table(here / "more", 3)
    assert "wrong at values.0.values.0" in refused(
        "import", "csv", more, "--system", "a", *MEASURE, "--into", into
    )


def test_a_directory_that_is_written_is_left_alone(here: Path) -> None:
    from pentathlon.store.journal import Lock  # noqa: PLC0415

    into = two_systems(here)
    before = (into / "journal.jsonl").read_bytes()
    with Lock(into):
        output = refused("import", "csv", table(here / "x", 8), "--system", "a", *MEASURE,
                       "--into", into)  # fmt: skip
    assert "is being written by another run" in output
    assert (into / "journal.jsonl").read_bytes() == before


def test_a_cut_between_the_files_is_mended_by_the_next_import(here: Path) -> None:
    into = here / "r"
    done("import", "csv", table(here / "1", 1), "--system", "a", *MEASURE, "--into", into)
    old = {name: (into / name).read_bytes() for name in ("plan.json", "catalog.json")}
    more = table(here / "2", 2)
    done("import", "csv", more, "--system", "b", *MEASURE, "--into", into)
    for name, data in old.items():
        (into / name).write_bytes(data)
    assert run("compare", into).exit_code == 2
    # Even one that is refused: the same file again.
    assert "was imported already" in refused(
        "import", "csv", more, "--system", "b", *MEASURE, "--into", into
    )
    assert load_result(into).samples().height == 2


def test_output_of_others_is_shown_and_never_acts(here: Path) -> None:
    evil = "<script>alert(1)</script>\x1b[2J=1+1|\u202e"
    for system, value in (("a", 1.0), ("b", 2.0)):
        document = {evil: {"latency": {"value": value}}}
        (here / f"{system}.json").write_text(json.dumps(document))
        done("import", "bmf", f"{system}.json", "--system", system, "--into", "r")
    shown = done("compare", "r", "--full")
    assert "\x1b[2J" not in shown and "\u202e" not in shown
    formats = "html,csv,markdown,latex,json,hyperfine,bmf,benchstat"
    for line in done("report", "r", "--format", formats).splitlines():
        written = Path(line).read_text()
        assert "\x1b" not in written and "\u202e" not in written, line
        assert "<script>alert" not in written or not line.endswith(".html")


def test_sizes_are_better_or_worse_and_not_faster(here: Path) -> None:
    for system, size in (("a", 1000), ("b", 2000)):
        for number in range(1, 4):
            document = {"program": {"file-size": {"value": size + number}}}
            (here / f"{system}{number}").write_text(json.dumps(document))
            done("import", "bmf", f"{system}{number}", "--system", system, "--into", "r")
    [row] = evaluate(load_result(here / "r")).rows
    comparison = row.comparison("b")
    assert comparison is not None and comparison.words.startswith("worse")


def test_pts_systems_of_one_file_are_imported_one_by_one(here: Path) -> None:
    words = ("import", "pts", FILES / "composite.xml", "--into", "r")
    assert "holds 2 systems" in refused(*words, "--system", "x")
    for system in ("linux-6.1", "linux-6.6"):
        done(*words, "--system", system, "--entry", system)
    keys = {row.key for row in evaluate(load_result(here / "r")).rows}
    assert any(key.startswith("pts.compress-7zip.mips[") for key in keys)
