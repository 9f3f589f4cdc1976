"""`[[workload]]` tables: what they mean, what is refused and how, and what a plan holds."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path

import pytest

from pentathlon.safeio.escaping import one_line
from pentathlon.study.catalog import Catalog
from pentathlon.study.code import named
from pentathlon.study.commands.cases import filled
from pentathlon.study.commands.entries import extended
from pentathlon.study.load import LoadedStudy, load_study
from pentathlon.study.plan import Plan, make_plan
from pentathlon.study.problems import StudyError

SYSTEMS = """\
name = "own"
reference = "a"

[procedure]
blocks = 2
iterations = 3

[[system]]
name = "a"
target = "local"

[[system]]
name = "b"
target = "local"
cpus = [0]
commands = { "my.render" = ["./render", "--fast"] }

"""

OWN = """\
[[workload]]
id = "my.render"
files = ["render", "scenes/"]
setup = ["./render", "--prepare"]
command = ["./render", "--size", "{size}", "{print}"]
parameters = { size = [1, 4], mode = ["x"] }
prepare = ["echo", "{mode}"]
same = 'checksum: (\\w+)'
timeout_s = 30

[[workload.metric]]
name = "frames"
regex = 'rate: ([\\d.]+) fps'
unit = "frames/s"
better = "higher"

[[workload.metric]]
name = "peak_memory"
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "render").write_text("#!/bin/sh\n")
    (tmp_path / "render").chmod(0o755)
    (tmp_path / "scenes" / "deep").mkdir(parents=True)
    (tmp_path / "scenes" / "deep" / "one").write_text("1")
    return tmp_path


def load(place: Path, text: str, catalog: Catalog) -> LoadedStudy:
    file = place / "study.toml"
    file.write_text(text)
    return load_study(file, catalog)


def complaint(place: Path, text: str, catalog: Catalog) -> str:
    with pytest.raises(StudyError) as caught:
        load(place, text, catalog)
    return str(caught.value)


def planned(place: Path, text: str, catalog: Catalog) -> Plan:
    loaded = load(place, text, catalog)
    return make_plan(loaded.study, catalog, {"a": {}, "b": {}}, None, loaded.supplies)


def test_a_study_that_names_no_suite_measures_its_commands(place: Path, catalog: Catalog) -> None:
    plan = planned(place, SYSTEMS + OWN, catalog)
    [step] = plan.steps["a"]
    assert (step.workload, step.suite) == ("my.render", "commands")
    task = plan.task(step)
    assert task.parameters == {} and task.command is not None
    cases = task.command.cases
    assert [one.case for one in cases] == [{"size": 1, "mode": "x"}, {"size": 4, "mode": "x"}]
    # A brace that names no parameter is the command's own.
    assert cases[1].command == ["./render", "--size", "4", "{print}"]
    assert cases[0].prepare == ["echo", "x"]
    assert task.command.files == "my.render"
    # Two cases of 3 + 1 runs, each with a preparation, of 30 s at most.
    assert task.timeout_s > 2 * 4 * 2 * 30


def test_a_system_may_have_a_command_of_its_own(place: Path, catalog: Catalog) -> None:
    plan = planned(place, SYSTEMS + OWN, catalog)
    [step] = plan.steps["b"]
    own = plan.task(step).command
    assert own is not None and own.cases[0].command == ["./render", "--fast"]


def test_the_plan_holds_the_hashes_of_definition_and_files(place: Path, catalog: Catalog) -> None:
    plan = planned(place, SYSTEMS + OWN, catalog)
    record = plan.commands["my.render"]
    assert sorted(record.files) == ["render", "scenes/deep/one"]
    assert record.files["render"].executable and not record.files["scenes/deep/one"].executable
    assert Plan.from_json(plan.canonical()) == plan
    (place / "scenes" / "deep" / "one").write_text("2")
    assert planned(place, SYSTEMS + OWN, catalog).hash() != plan.hash()
    other = planned(place, SYSTEMS + OWN.replace("--size", "--Size"), catalog)
    assert other.commands["my.render"].definition != record.definition


def test_a_study_without_commands_is_written_as_before(catalog: Catalog, tmp_path: Path) -> None:
    text = SYSTEMS.replace("commands", "# commands")
    loaded = load(tmp_path, text + '[[suite]]\nname = "s"\nworkloads = ["fake.*"]\n', catalog)
    written = json.loads(make_plan(loaded.study, catalog, {"a": {}, "b": {}}).canonical())
    assert "commands" not in written
    assert not {"include", "workload"} & written["study"].keys()
    assert not {"userland", "commands"} & written["study"]["system"][0].keys()
    assert "command" not in written["steps"]["a"][0]


def test_the_catalog_knows_the_workload_as_any_other(place: Path, catalog: Catalog) -> None:
    loaded = load(place, SYSTEMS + OWN, catalog)
    entry = extended(catalog, loaded.study.workloads).workload("my.render")
    assert entry is not None and entry.area == "my"
    roles = {one.id: (one.role, one.unit, one.direction) for one in entry.metrics}
    assert roles == {
        "frames": ("performance", "frames/s", "higher"),
        "peak_memory": ("performance", "B", "lower"),
        "wall": ("context", "ns", "lower"),
        "cpu": ("context", "ns", "lower"),
    }
    assert [one.scale for one in entry.factors] == ["linear", "category"]
    declared = SYSTEMS + '[evaluation]\ndeclared = ["my.render.frames"]\n' + OWN
    assert load(place, declared, catalog).study.evaluation.declares("my.render", "frames")


def test_what_is_run_is_listed_before(place: Path, catalog: Catalog) -> None:
    loaded = load(place, SYSTEMS + OWN, catalog)
    own, other = named(loaded.study, loaded.supplies)
    assert own.text == (
        "every system: the command `./render --size {size} {print}`, setup `./render --prepare`, "
        "prepare `echo {mode}` (my.render), in every boot"
    )
    assert other.text.startswith("b: the command `./render --fast` instead")
    assert own.sha256 != other.sha256
    (place / "render").write_text("#!/bin/sh\nexit 1\n")
    again = load(place, SYSTEMS + OWN, catalog)
    assert named(again.study, again.supplies)[0].sha256 != own.sha256


def test_words_of_a_command_are_shown_as_a_shell_takes_them(place: Path, catalog: Catalog) -> None:
    words = """command = ["sh", "-c", "cat {size} >'x y'", ""]"""
    own = OWN.replace('command = ["./render", "--size", "{size}", "{print}"]', words)
    assert own != OWN
    shown = named(load(place, SYSTEMS + own, catalog).study)[0].what
    command = re.match(r"the command `(.*?)`", shown)[1]
    assert shlex.split(command) == ["sh", "-c", "cat {size} >'x y'", ""]


@pytest.mark.parametrize(
    ("old", "new", "stated"),
    [
        ('id = "my.render"', 'id = "render"', 'workload[0].id: "render" is not allowed; use an'),
        ('id = "my.render"', 'id = "fake.x"', 'is in the area "fake", which has the agent\'s'),
        ('id = "my.render"', 'id = "test.x"', 'is in the area "test"'),
        ("setup =", "setub =", 'workload[0].setub: unknown key; did you mean "setup"?'),
        ("setup = [", 'setup = "x" # [', '"x" is the wrong type; it must be a list'),
        ('command = ["./render", ', 'command = ["", ', "names no program"),
        ("command = [", "# command = [", "command: is missing; add command ="),
        ('"--size", "{size}"', '"--size"', 'the parameter "size" changes nothing'),
        ("size = [1, 4]", "size = []", "the list of size is empty"),
        ("size = [1, 4]", "size = [1, 1]", "a value of size is named twice"),
        ("size = [1, 4]", 'size = [1, "x"]', "are numbers and texts"),
        ("size = [1, 4]", "size = [1, inf]", "parameters.size"),
        ('"render", "scenes/"', '"render", "nowhere"', '"nowhere" cannot be read: no such file'),
        ('"render", "scenes/"', '"render", "./render"', 'two files are called "render"'),
        ('"render", "scenes/"', '"render", ".."', "has no last name"),
        (r"(\\w+)'", "('", "is no regular expression of Python"),
        ("timeout_s = 30", "timeout_s = 0", "out of range; it must be more than 0"),
        ("timeout_s = 30", 'largest_file = "1X"', 'whole number with K, M or G, such as "20G"'),
        ("rate: (", "ra(te): (", "has 2 groups"),
        ("regex = 'rate", "json = 'rate", "is no JSON pointer (RFC 6901)"),
        ("regex = 'rate: ([\\\\d.]+) fps'", "", "give one of regex, json, csv, measure or tool"),
        ('unit = "frames/s"', "", "unit is missing"),
        ('better = "higher"', "", "better is missing"),
        ('better = "higher"', 'better = "more"', 'use "higher" or "lower"'),
        ('name = "peak_memory"', 'name = "frames"\nmeasure = "wall"', '"frames" is there twice'),
        ('name = "peak_memory"', 'name = "peak_memory"\nunit = "MB"', 'is "B"; leave the key out'),
        ('"my.render" = [', '"my.rendre" = [', "is no [[workload]] of this study; did you mean"),
        ("[[workload.metric]]", "[workload.metrics]", 'unknown key; did you mean "metric"?'),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence_with_its_line(
    place: Path, catalog: Catalog, old: str, new: str, stated: str
) -> None:
    text = SYSTEMS + OWN
    plain = old.replace("\\\\", "\\")
    assert plain in text
    reported = complaint(place, text.replace(plain, new, 1), catalog)
    assert stated in reported
    assert all(line.startswith(f"{place / 'study.toml'}:") for line in reported.splitlines())
    assert all(line.split(":")[1].isdigit() for line in reported.splitlines())


def test_a_file_that_is_included_brings_its_own_places_and_lines(
    place: Path, catalog: Catalog
) -> None:
    pack = place / "packs" / "tool.toml"
    (place / "packs" / "data").mkdir(parents=True)
    (place / "packs" / "data" / "in").write_text("x")
    table = '[[workload]]\nid = "pack.tool"\nfiles = ["data/in"]\ncommand = ["cat", "in"]\n'
    pack.write_text("# a pack\n" + table)
    text = 'include = ["packs/tool.toml"]\n' + SYSTEMS + OWN
    plan = planned(place, text, catalog)
    assert [step.workload for step in plan.steps["a"]] == ["pack.tool", "my.render"] or [
        step.workload for step in plan.steps["a"]
    ] == ["my.render", "pack.tool"]
    assert list(plan.commands["pack.tool"].files) == ["in"]
    pack.write_text("# a pack\n" + table.replace("command", "comand"))
    reported = complaint(place, text, catalog)
    assert f"{pack}:5: workload[0].comand: unknown key" in reported
    pack.write_text("# a pack\n" + table.replace("data/in", "data/out"))
    reported = complaint(place, text, catalog)
    assert reported.startswith(f'{pack}:4: workload[0].files[0]: "packs/data/out" cannot be read')
    pack.write_text('name = "study"\n' + table)
    assert f"{pack}:1: name: is no key of an included file" in complaint(place, text, catalog)
    pack.write_text("[[workload]\n")
    assert f"{pack}:1: is no valid TOML" in complaint(place, text, catalog)
    pack.unlink()
    assert 'study.toml:1: include[0]: the file "packs/tool.toml" cannot be read' in complaint(
        place, text, catalog
    )


def test_names_of_files_are_no_way_out(place: Path, catalog: Catalog) -> None:
    loop = place / "scenes" / "deep" / "up"
    loop.symlink_to(place / "scenes")
    assert "is a link to a directory that it lies in" in complaint(place, SYSTEMS + OWN, catalog)


def test_words_are_filled_once() -> None:
    # A value that looks like a placeholder is none.
    assert filled(["{a}{b}"], {"a": "{b}", "b": 1}) == ["{b}1"]
    assert one_line("\x1b") != "\x1b"
