"""What may be set on another Linux machine: its files are copied and looked at like those here."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

from pentathlon.machine.choices import Choice, by_file, by_process
from pentathlon.targets.ssh.copies import Run
from pentathlon.targets.ssh.settings import LOOKED_AT, QUOTA, copied, looked


def survey(run: Run, host: str) -> list[Choice]:
    """The settings of a machine; nothing is changed there.

    Raises:
        TargetError: the machine cannot be asked.
    """
    names = [f"/{name}" for patterns in LOOKED_AT.values() for name in patterns]
    lines = looked(run, names)
    refused = "" if "root" in lines else "the login there is neither root's, nor has it `sudo -n`"
    with tempfile.TemporaryDirectory(prefix="pentathlon-") as place:
        copied(lines, Path(place))
        found = [_there(one, place, refused) for one in by_file(Path(place))]
    quota = Choice(QUOTA, None, "above 0 (percent of one CPU)", needs="root")
    lacks = refused or ("" if "quota" in lines else "no cgroup `cpu` controller there")
    found.append(replace(quota, possible=not lacks, reason=lacks))
    # What they are there shows only when a program is started.
    found += [replace(one, present=None, possible=True, reason="") for one in by_process()]
    return found


def _there(one: Choice, place: str, refused: str) -> Choice:
    reason = one.reason.replace(place, "") or refused
    return replace(one, possible=not reason, reason=reason)
