"""The study of a calibration: one system under two names, with everything else as it is."""

from __future__ import annotations

import tomllib
from typing import Any

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


def twins(text: str, system: str | None, blocks: int) -> dict[str, Any]:
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
    rest = {k: v for k, v in document.items() if k not in {"fallback", "system", "question"}}
    return {
        **rest,
        "name": f"calibrate-{document['name']}"[:64],
        "title": f"{name} under two names",
        "reference": name,
        "procedure": {**procedure, "blocks": blocks},
        "system": [own, {**own, "name": f"{name[: 64 - len(AGAIN)]}{AGAIN}"}],
    }
