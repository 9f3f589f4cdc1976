"""The directory of a campaign.

campaign.json     what it is: engine, machines, times; written once
study.toml        the study as it was given; machines.toml likewise
studies/NAME.toml the study of each machine
machines/NAME/    its result directory, which every command for results takes
logs/NAME.log     what its run printed
jobs.jsonl        with Slurm: every job that was submitted
"""

from __future__ import annotations

import json
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from pentathlon.procedure.records import utc_now
from pentathlon.store.directory import PLAN
from pentathlon.store.files import read_bytes, write_whole
from pentathlon.store.journal import LOCK
from pentathlon.store.problems import StoreError

FORMAT = 1
FILE = "campaign.json"
STUDY = "study.toml"
MACHINES = "machines.toml"
CANCELLED = "cancelled"
"""Is there from `campaign cancel` to the next `resume`, for a program on another login node."""


@dataclass(frozen=True)
class Campaign:
    """A campaign as its directory has it.

    Attributes:
        id: distinguishes its jobs from those of all others.
        engine: "ssh" or "slurm".
        study_file: where the study lay.
        machines: the names, in their order.
        blocks: number requested on the command line, or None.
    """

    path: Path
    id: str
    engine: str
    name: str
    study_file: str
    machines: tuple[str, ...]
    blocks: int | None
    version: str
    started: str
    yes: bool

    def result(self, machine: str) -> Path:
        """The result directory of a machine."""
        return self.path / "machines" / machine

    def study(self, machine: str) -> Path:
        """Its study file."""
        return self.path / "studies" / f"{machine}.toml"

    def log(self, machine: str) -> Path:
        """What its run printed."""
        return self.path / "logs" / f"{machine}.log"

    def begun(self, machine: str) -> bool:
        """Whether the machine has a result, of however little."""
        return (self.result(machine) / PLAN).is_file()


def make_directory(path: Path) -> None:
    """Make the directory of a new campaign; nothing is written into one that holds something.

    Raises:
        StoreError: it is not empty, or cannot be made.
    """
    try:
        path.mkdir(parents=True, exist_ok=True)
        if any(one.name != LOCK for one in path.iterdir()):
            raise StoreError(
                f"{path} is not empty; name a new directory, or continue the campaign in it: "
                f"pentathlon campaign resume {path}"
            )
    except OSError as error:
        raise StoreError(f"{path} cannot be made: {(error.strerror or '').lower()}") from error


def make_campaign(
    path: Path,
    *,
    engine: str,
    name: str,
    version: str,
    study: tuple[Path, str],
    machines_text: str,
    studies: dict[str, str],
    blocks: int | None,
    yes: bool,
) -> Campaign:
    """Fill the directory; `campaign.json` comes last: a directory that has it has everything.

    Args:
        study: the study file and its text.
        studies: machine -> its study.

    Raises:
        StoreError: the directory cannot be written.
    """
    made = Campaign(
        path=path,
        id=secrets.token_hex(4),
        engine=engine,
        name=name,
        study_file=str(study[0]),
        machines=tuple(studies),
        blocks=blocks,
        version=version,
        started=utc_now(),
        yes=yes,
    )
    try:
        for folder in ("machines", "studies", "logs"):
            (path / folder).mkdir()
        write_whole(path / STUDY, study[1], sync=True)
        write_whole(path / MACHINES, machines_text, sync=True)
        for machine, text in studies.items():
            write_whole(made.study(machine), text, sync=True)
        document = asdict(made) | {"format": FORMAT, "machines": list(studies)}
        del document["path"]
        write_whole(path / FILE, json.dumps(document, indent=1) + "\n", sync=True)
    except OSError as error:
        raise StoreError(f"{path} cannot be written: {(error.strerror or '').lower()}") from error
    return made


def load_campaign(path: Path) -> Campaign:
    """Read a campaign's directory.

    Raises:
        StoreError: it is none, it is damaged, or a newer version wrote it.
    """
    try:
        document = json.loads(read_bytes(path / FILE))
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise StoreError(f"{path} is no directory of a campaign: {FILE}: {reason}") from error
    except (ValueError, RecursionError) as error:
        raise StoreError(f"{path / FILE} is damaged: it is no JSON") from error
    if not isinstance(document, dict) or document.get("format") not in range(1, FORMAT + 1):
        found = document.get("format") if isinstance(document, dict) else None
        raise StoreError(
            f"{path / FILE} has format {found!r}, this pentathlon knows formats up to {FORMAT}; "
            "use the version that wrote it"
        )
    return _read(path, document)


def _read(path: Path, document: dict[str, Any]) -> Campaign:
    texts = ("id", "engine", "name", "study_file", "version", "started")
    machines, blocks = document.get("machines"), document.get("blocks")
    good = (
        all(isinstance(document.get(key), str) for key in texts)
        and isinstance(machines, list)
        and all(isinstance(one, str) and Path(one).name == one for one in machines)
        and (blocks is None or isinstance(blocks, int))
    )
    if not good or not machines:
        raise StoreError(f"{path / FILE} is damaged: a part of it is missing or of another type")
    return Campaign(
        path=path,
        **{key: document[key] for key in texts},
        machines=tuple(machines),
        blocks=blocks,
        yes=document.get("yes") is True,
    )
