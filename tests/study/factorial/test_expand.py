"""A study with factors becomes one with a system for each arm; what is wrong stands at its line."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.study.aa_study import two_names
from pentathlon.study.catalog import Catalog, parse_catalog
from pentathlon.study.factorial.expand import design_of
from pentathlon.study.load import parse_study
from pentathlon.study.model import Study
from pentathlon.study.plan import Plan, make_plan
from pentathlon.study.pointless import pointless
from pentathlon.study.problems import StudyError
from pentathlon.study.settings import Settings
from pentathlon.study.write import to_toml
from tests.fakes import scripted

STUDY = """\
name = "f"
design = "factorial"
reference = "m"
[[system]]
name = "m"
target = "{target}"
{system}
{factors}
[[suite]]
name = "s"
workloads = ["w.*"]
"""
TWO = """\
[[factor]]
setting = "scheduler"
levels = ["other", "batch"]
[[factor]]
setting = "nice"
levels = [0, 10, 19]
"""


def catalog(area: str = "process") -> Catalog:
    found = [scripted.workload(name) | {"area": area} for name in ("w.one", "w.two")]
    agent = {"version": "0", "build": "b"}
    return parse_catalog({"protocol": 2, "catalog_version": 1, "agent": agent, "workloads": found})


def study(factors: str = TWO, system: str = "", target: str = "local", head: str = "") -> Study:
    text = head + STUDY.format(factors=factors, system=system, target=target)
    return parse_study(text, Path("f.toml"), catalog())


def test_each_combination_of_levels_is_a_system():
    found = study()
    assert [one.name for one in found.systems] == [
        "other+nice-0", "other+nice-10", "other+nice-19",
        "batch+nice-0", "batch+nice-10", "batch+nice-19",
    ]  # fmt: skip
    assert found.reference == "other+nice-0"
    assert found.systems[5].settings.changed() == {"scheduler": "batch", "nice": 19}
    assert found.systems[5].title == "scheduler = batch, nice = 19"


def test_a_plan_keeps_its_design_and_its_hash():
    known = catalog()
    plan = make_plan(study(), known, {one.name: {} for one in study().systems})
    again = Plan.from_json(plan.canonical())
    assert again == plan and again.hash() == plan.hash()
    assert design_of(again.study) == design_of(plan.study) is not None
    # A part of the arms is no design.
    part = plan.study.model_copy(update={"systems": plan.study.systems[:3]})
    assert design_of(part) is None


def test_levels_keep_what_the_base_system_has():
    found = study(
        TWO + '[[factor]]\nkey = "cpus"\nlevels = [[0], [0, 1]]\nlabels = ["one", "two"]\n',
        system='scratch = "/tmp"\nsettings = { aslr = 0 }',
    )
    assert len(found.systems) == 12
    last = found.systems[-1]
    assert (last.name, last.cpus, last.scratch) == ("batch+nice-19+two", (0, 1), "/tmp")
    assert last.settings.changed() == {"aslr": 0, "scheduler": "batch", "nice": 19}


def test_long_names_are_numbers():
    keys = ("transparent_hugepage", "transparent_hugepage_defrag")
    levels = '["madvise", "never"]\nlabels = ["only-where-advised", "nowhere"]\n'
    found = study("".join(f'[[factor]]\nsetting = "{key}"\nlevels = {levels}' for key in keys))
    assert [one.name for one in found.systems] == ["arm-1", "arm-2", "arm-3", "arm-4"]
    words = "transparent_hugepage = nowhere, transparent_hugepage_defrag = nowhere"
    assert found.systems[-1].title == words


@pytest.mark.parametrize(
    ("factors", "words"),
    [
        ('[[factor]]\nsetting = "nice"\nlevels = [0, 50]', "levels"),
        ('[[factor]]\nsetting = "scheduler"\nlevels = ["other", "bath"]', "no scheduling policy"),
        ('[[factor]]\nsetting = "nicer"\nlevels = [0, 5]', 'did you mean "nice"'),
        ('[[factor]]\nsetting = "nice"\nlevels = [0]', "levels: has 1 entry; give at least 2"),
        (f'[[factor]]\nsetting = "nice"\nlevels = {[*range(17)]}', "17 entries; give at most 16"),
        ('[[factor]]\nsetting = "nice"\nlevels = [3, 3]', "named twice"),
        ('[[factor]]\nlevels = [3, 4]', '"setting" or a "key"'),
        ('[[factor]]\nkey = "kernel"\nlevels = ["6.1", "7.2"]', "can be no factor"),
        ('[[factor]]\nkey = "name"\nlevels = ["a", "b"]', "can be no factor"),
        (TWO + '[[factor]]\nsetting = "nice"\nname = "n"\nlevels = [1, 2]', "a factor already"),
        (TWO + "[fraction]\narms = 4", "two levels"),
        (TWO + "[fraction]\narms = 5", "4, 8, 16"),
        (TWO + "[fraction]", "name its resolution"),
        ("", "needs a [[factor]]"),
        (TWO + '[[system]]\nname = "n"\ntarget = "local"', "has one system"),
        (TWO + '[procedure]\nstopping = { rule = "looks" }', "once, after all blocks"),
        (
            '[[factor]]\nsetting = "scheduler"\nlevels = ["other", "fifo:10"]\n'
            '[[factor]]\nsetting = "cpu_quota_percent"\nlevels = [50.0, 80.0]',
            "cannot be combined",
        ),
    ],
)  # fmt: skip
def test_what_is_wrong_is_one_sentence_with_its_line(factors, words):
    with pytest.raises(StudyError) as caught:
        study(factors)
    text = str(caught.value)
    assert words in text and "f.toml:" in text


def test_settings_that_the_kind_or_the_system_does_not_leave_free():
    with pytest.raises(StudyError, match="which has no settings of a machine"):
        study(target="uml")
    with pytest.raises(StudyError, match='the setting "nice" already'):
        study(system="settings = { nice = 3 }")
    with pytest.raises(StudyError, match='needs design = "factorial"'):
        parse_study(
            STUDY.replace('design = "factorial"\n', "").format(
                target="local", system="", factors=TWO
            ),
            Path("f.toml"),
        )


def test_a_variable_of_sysctl_is_a_factor():
    found = study('[[factor]]\nsetting = "sysctl.vm.dirty_ratio"\nlevels = [10, 20]\n')
    assert [one.settings.sysctl for one in found.systems] == [
        {"vm.dirty_ratio": 10}, {"vm.dirty_ratio": 20},
    ]  # fmt: skip
    assert found.systems[0].name == "vm.dirty_ratio-10"
    with pytest.raises(StudyError, match="use that key"):
        study('[[factor]]\nsetting = "sysctl.vm.swappiness"\nlevels = [10, 20]\n')


def test_guests_have_keys_as_factors():
    found = study(
        '[[factor]]\nkey = "memory"\nlevels = ["64M", "128M"]\n'
        '[[factor]]\nkey = "kernel"\nlevels = ["6.1", "7.2"]\n',
        target="uml",
    )
    assert [(one.memory, one.kernel) for one in found.systems] == [
        ("64M", "6.1"), ("64M", "7.2"), ("128M", "6.1"), ("128M", "7.2"),
    ]  # fmt: skip


def test_its_calibration_is_that_of_the_base_system():
    text = STUDY.format(target="local", system="", factors=TWO)
    document = two_names(text, None, 5)
    again = parse_study(to_toml(document), Path("c.toml"))
    assert [one.name for one in again.systems] == ["m", "m-again"]


def remarks(factors: str, area: str, target: str = "local", **present: str) -> list[str]:
    known = catalog(area)
    text = STUDY.format(factors=factors, system="", target=target)
    found = parse_study(text, Path("f.toml"), known)
    cpus = {one.name: {"options": {"cpus": [2]}} for one in found.systems}
    return pointless(make_plan(found, known, cpus), known, present.get)


def test_factors_that_change_nothing_are_pointed_out():
    tcp = '[[factor]]\nsetting = "tcp_congestion_control"\nlevels = ["bbr", "reno"]\n'
    [first, second] = remarks(TWO + tcp, "process")
    assert "tcp_congestion_control changes nothing" in first
    assert "6 arms instead of 12" in second
    assert remarks(TWO + tcp, "network", tcp_congestion_control="bbr") == []
    [other] = remarks(tcp, "network", tcp_congestion_control="cubic")
    assert "cubic on this machine, which is no level" in other
    assert "all arms will be measured alike" in remarks(tcp, "process")[-1]


def test_identical_arms_are_pointed_out():
    same = '[[factor]]\nkey = "cpus"\nlevels = [[-1], [2]]\nlabels = ["last", "third"]\n'
    [text] = remarks(TWO + same, "process")
    assert text.startswith("The levels last and third of cpus are the same here")


def test_settings_that_are_lists_and_tables_are_single_values():
    own = Settings(irq_affinity=[0, 1], sysctl={"vm.dirty_ratio": 10}, nice=3)
    assert own.plain() == {"irq_affinity": "0,1", "sysctl.vm.dirty_ratio": 10, "nice": 3}
