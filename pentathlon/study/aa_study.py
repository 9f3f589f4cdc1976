"""One system under two names: the study of a calibration, and how two systems of a study differ."""

from __future__ import annotations

import tomllib
from typing import Any

from pentathlon.study.system import System

AGAIN = "-again"
DEFAULT = """\
name = "machine"
title = "This machine under two names"
reference = "machine"

[procedure]
iterations = 5
sample_ms = 2.0

[[system]]
name = "machine"
target = "local"
cpus = [-1]

[[suite]]
name = "calibration"
workloads = [
    "process.getpid", "process.malloc_free", "process.open_close", "process.fork_wait",
    "process.pipe_round_trip",
    { id = "memory.read", parameters = { block_bytes = [16384, 1048576, 67108864] } },
    { id = "memory.latency", parameters = { block_bytes = [16384, 1048576, 67108864] } },
    "arithmetic.operations",
]
"""
"""What is calibrated where no study is named."""

LEFT_OUT = {"fallback", "system", "question", "design", "factor", "fraction"}
"""Keys of a study that its calibration does not have."""

UNMEASURED = ("ssh.reboot", "boot.expect", "boot.back")
"""What makes no system another one: whether it is restarted, what is expected of it, the way
back."""


def two_names(text: str, system: str | None, blocks: int) -> dict[str, Any]:
    """The document of a study that measures one of its systems under two names.

    Args:
        text: the study file, which has been checked.
        system: the system; None for the reference.
        blocks: how many blocks; the study's own rule for stopping does not hold.

    Raises:
        KeyError: the study has no system of that name.
    """
    document = tomllib.loads(text)
    name = document["reference"] if system is None else system
    own = next((one for one in document["system"] if one["name"] == name), None)
    if own is None:
        raise KeyError(name)
    procedure = {k: v for k, v in document.get("procedure", {}).items() if k != "stopping"}
    rest = {k: v for k, v in document.items() if k not in LEFT_OUT}
    return {
        **rest,
        "name": f"calibrate-{document['name']}"[:64],
        "title": f"{name} under two names",
        "reference": name,
        "procedure": {**procedure, "blocks": blocks},
        "system": [own, {**own, "name": f"{name[: 64 - len(AGAIN)]}{AGAIN}"}],
    }


def differences(first: System, second: System) -> list[str]:
    """What a study states differently of two systems, such as `kernel` or `settings.aslr`.

    Names and titles are left out, and whether a machine is restarted for each boot.
    """
    sides = [_flat(system) for system in (first, second)]
    names = dict.fromkeys((*sides[0], *sides[1]))
    return [name for name in names if sides[0].get(name) != sides[1].get(name)]


def _flat(system: System) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in system.model_dump(exclude={"name", "title"}).items():
        if isinstance(value, dict):
            found |= {f"{name}.{key}": part for key, part in value.items()}
        else:
            found[name] = value
    for key in list(found):
        if key in UNMEASURED or key.startswith("power."):
            found.pop(key)
    return found
