"""The file of machines, and the study that each of them gets."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from pentathlon.campaign.derive import Unfit, derive
from pentathlon.campaign.machines import Machine, load_machines
from pentathlon.study.problems import StudyError

STUDY: dict[str, Any] = {
    "name": "s",
    "reference": "a",
    "seed": 7,
    "fallback": "other.toml",
    "include": ["packs/one.toml", "/abs/two.toml"],
    "workload": [{"id": "own.run", "files": ["data/", "x.bin"], "command": ["./x"]}],
    "system": [
        {"name": "a", "target": "local", "settings": {"nice": 5}},
        {
            "name": "b",
            "target": "ssh",
            "ssh": {"host": "old", "port": 1, "reboot": True, "reboot_command": "x"},
        },
    ],
    "suite": [{"name": "s", "workloads": [{"id": "f", "parameters": {"gap": "trace @t.txt"}}]}],
}


def machines(tmp_path: Path, text: str) -> tuple[Machine, ...]:
    file = tmp_path / "machines.toml"
    file.write_text(text)
    return load_machines(file).machines


def made(machine: Machine, directory: str = "/d") -> dict[str, Any]:
    return tomllib.loads(derive(STUDY, Path(directory), machine))


def test_ssh_is_laid_over_what_the_study_states(tmp_path: Path) -> None:
    [one] = machines(tmp_path, '[[machine]]\nname = "m"\nssh = { host = "h", port = 22 }\n')
    a, b = made(one)["system"]
    assert a["target"] == "ssh" and a["ssh"] == {"host": "h", "port": 22}
    assert a["settings"] == {"nice": 5}
    assert b["ssh"] == {"reboot": True, "reboot_command": "x", "host": "h", "port": 22}


def test_a_stand_in_and_what_is_its_own(tmp_path: Path) -> None:
    text = '[[machine]]\nname = "m"\ntarget = "netns"\ncpus = [1]\n[machine.system.a]\n'
    [one] = machines(tmp_path, text + 'title = "T"\nsettings = { aslr = 0 }\n')
    a, b = made(one)["system"]
    assert (a["target"], b["target"]) == ("netns", "netns") and "ssh" not in b
    assert a["cpus"] == b["cpus"] == [1]
    assert a["title"] == "T" and a["settings"] == {"nice": 5, "aslr": 0}


def test_files_hold_from_everywhere_and_orders_are_the_machine_s_own(tmp_path: Path) -> None:
    first, second = (
        made(one) for one in machines(tmp_path, '[[machine]]\nname="m"\n[[machine]]\nname="n"\n')
    )
    assert first["include"] == ["/d/packs/one.toml", "/abs/two.toml"]
    assert first["workload"][0]["files"] == ["/d/data/", "/d/x.bin"]
    assert first["suite"][0]["workloads"][0]["parameters"]["gap"] == "trace @/d/t.txt"
    assert "fallback" not in first
    assert first["seed"] != second["seed"] and first["seed"] >= 0
    assert STUDY["seed"] == 7 and STUDY["fallback"], "the study itself is as it was"


def test_a_system_that_brings_its_own_machine_along(tmp_path: Path) -> None:
    [one] = machines(tmp_path, '[[machine]]\nname = "m"\nssh = { host = "h" }\n')
    study = {**STUDY, "system": [{"name": "a", "target": "uml"}]}
    with pytest.raises(Unfit, match='"uml" brings its own machine along, and machine "m"'):
        derive(study, Path("/d"), one)


def test_a_machine_that_names_an_unknown_system(tmp_path: Path) -> None:
    [one] = machines(tmp_path, '[[machine]]\nname = "m"\n[machine.system.aa]\ntitle = "x"\n')
    with pytest.raises(Unfit, match='names the system "aa", which the study lacks'):
        derive(STUDY, Path("/d"), one)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "machine: is missing"),
        ("machine = []", "machine"),
        (
            '[[machine]]\nname = "a"\n[[machine]]\nname = "A"\n',
            'machines.toml:4: .*"A" is used twi',
        ),
        (
            '[[machine]]\nname = "a"\nssh = { host = "h" }\ntarget = "local"\n',
            "both ssh and target",
        ),
        ('[[machine]]\nname = "../a"\n', "machines.toml:2: machine.0..name"),
        ('[[machine]]\nname = "a"\ncolour = 1\n', "colour"),
        ('[[machine]]\nname = "a"\nssh = { host = "-x" }\n', "host"),
        ('[[machine]]\nname = "a"\nnode = "a,b"\n', "node"),
        ('[slurm]\nboot = "command"\n[[machine]]\nname = "a"\n', "need each other"),
        ("[[machine]\n", "no valid TOML"),
    ],
)
def test_a_wrong_file(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(StudyError, match=words) as found:
        machines(tmp_path, text)
    assert len(found.value.problems) == 1
