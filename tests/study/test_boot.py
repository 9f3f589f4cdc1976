"""Which kernel a machine boots, as a study states it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from pentathlon.study.boot import Boot, Power
from pentathlon.study.code import named
from pentathlon.study.load import load_study
from pentathlon.study.model import Study
from pentathlon.study.problems import StudyError
from pentathlon.study.system import System

SYSTEM = """
[[system]]
name = "{name}"
target = "ssh"
ssh = {{ host = "bench1" }}
{boot}
"""
HEAD = 'name = "s"\nreference = "a"\n[[suite]]\nname = "s"\nworkloads = ["process.getpid"]\n'


def study(tmp_path: Path, *boots: str) -> Path:
    file = tmp_path / "study.toml"
    systems = (
        SYSTEM.format(name=name, boot=boot) for name, boot in zip("abc", boots, strict=False)
    )
    file.write_text(HEAD + "".join(systems))
    return file


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"method": "grub"}, 'the method "grub" needs entry = "..."'),
        ({"method": "kexec"}, 'entry = "RELEASE"'),
        ({"method": "kexec", "entry": "6.1", "kernel": "/boot/vmlinuz"}, "either entry"),
        ({"method": "kexec", "entry": "6.1", "initrd": "/boot/i"}, "found in /boot"),
        ({"method": "grub", "entry": "x", "kernel": "/v"}, '"kernel" is for the method "kexec"'),
        ({"method": "efi", "entry": "0001", "cmdline": "quiet"}, '"cmdline" is for the method'),
        ({"method": "command"}, 'needs command = "..."'),
        ({"method": "grub", "entry": "x\ny"}, "entry"),
        ({"method": "lilo", "entry": "x"}, "'grub', 'bootctl', 'efi', 'kexec' or 'command'"),
    ],
)
def test_a_wrong_boot_is_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Boot.model_validate(table)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    ("table", "words"),
    [
        ({"controller": "command"}, 'needs command = "..."'),
        ({"controller": "ipmi"}, 'needs address = "..."'),
        ({"controller": "redfish", "address": "bmc1"}, 'begins with "https://"'),
        ({"controller": "ipmi", "address": "bmc1", "command": "x"}, "is for the controller"),
        ({"controller": "ipmi", "address": "bmc1", "password": "x"}, "password"),
    ],
)
def test_a_wrong_power_controller_is_refused(table: dict[str, Any], words: str) -> None:
    with pytest.raises(ValidationError) as raised:
        Power.model_validate(table)
    assert words in str(raised.value)


def test_a_plan_keeps_it_and_an_older_plan_has_none() -> None:
    boot = {"method": "grub", "entry": "x", "expect": {"release": "6.12.*"}}
    with_it = System.model_validate(
        {"name": "a", "target": "ssh", "ssh": {"host": "h"}, "boot": boot}
    )
    written = json.loads(with_it.model_dump_json())
    assert System.model_validate(written) == with_it
    without = System.model_validate({"name": "a", "target": "ssh", "ssh": {"host": "h"}})
    assert not {"boot", "power"} & without.model_dump().keys(), "the hash of a plan stays"


def test_it_is_for_machines_of_their_own(tmp_path: Path) -> None:
    file = tmp_path / "s.toml"
    file.write_text(
        HEAD
        + '[[system]]\nname = "a"\ntarget = "local"\nboot = { method = "efi", entry = "0001" }\n'
    )
    with pytest.raises(StudyError) as raised:
        load_study(file)
    assert 'system[0].boot: is for target "ssh"' in str(raised.value)


def test_kexec_is_never_mixed_with_the_firmware(tmp_path: Path) -> None:
    kexec = 'boot = { method = "kexec", entry = "6.1" }'
    other = kexec.replace("6.1", "6.12")
    load_study(study(tmp_path, kexec, other))
    grub = 'boot = { method = "grub", entry = "x" }'
    with pytest.raises(StudyError) as raised:
        load_study(study(tmp_path, grub, kexec))
    assert "kexec leaves devices as the kernel before left them" in str(raised.value)
    assert 'the boots of "a" begin with the firmware' in str(raised.value)


def test_what_it_starts_is_named(tmp_path: Path) -> None:
    loaded = load_study(
        study(
            tmp_path,
            'boot = { method = "command", entry = "x", command = "pxe x", back = "pxe -" }\n'
            'power = { controller = "command", command = "pdu 3 cycle" }',
        )
    )
    texts = [one.text for one in named(loaded.study)]
    assert texts == [
        "a: a restart of bench1 into x (command), in every boot",
        "a: the command `pxe x` on this machine, in every boot",
        "a: the command `pxe -` on this machine, in every boot",
        "a: the command `pdu 3 cycle` on this machine, to switch bench1 off and on, in every boot",
    ]
    assert isinstance(loaded.study, Study)
