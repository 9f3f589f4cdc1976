"""Where calibrations of this machine lie: in the state directory, and copied beside results.

A copy in the result directory makes its judgement reproducible wherever it is read. The files hold
what `pentathlon.evaluate.planning.calibration` makes of a result; this module only keeps them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any, Final, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator

from pentathlon.safeio.clipping import clip
from pentathlon.store.files import read_bytes, write_whole
from pentathlon.store.problems import StoreError, writing

DIRECTORY = "calibration"
CALIBRATIONS = "calibration.json"
"""Calibrations that held when a result was measured: a list, in its directory."""
MADE = "calibration-made.json"
"""The calibration that was made of a result."""
FORMAT: Final = 1
"""The format that is checked; documents of another one are for other versions of this program."""
IDENTITY = ("target", "layer", "cpu", "memory_bytes", "catalog_version")
"""What a calibration is of; a newer one of the same replaces it."""


SLACK: Final = 1e-6
"""What numbers that were computed in different ways may differ by."""

_Share = Annotated[float, Field(ge=0, le=1)]
_Percent = Annotated[float, Field(ge=-100)]
_Count = Annotated[int, Field(ge=0, lt=1 << 63)]
_Text = Annotated[str, Field(max_length=4096)]


class _Checked(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True)


class Floor(_Checked):
    """One metric: what was found between the two names, and the floor, in percent."""

    key: _Text
    floor_percent: Annotated[float, Field(ge=0)]
    percent: _Percent
    low_percent: _Percent
    high_percent: _Percent
    log_ratios: list[float] = []
    """Of every block, in block order: the floor of a mean over several metrics is made of them.
    """

    @model_validator(mode="after")
    def _ordered(self) -> Self:
        if not self.low_percent - SLACK <= self.percent <= self.high_percent + SLACK:
            raise ValueError("percent is not between low_percent and high_percent")
        return self


class Document(_Checked):
    """One calibration of one machine, for one layer and one catalog, as a file holds it."""

    format: int
    made: _Text
    """UTC time of the calibration."""
    plan_hash: _Text
    target: _Text
    layer: _Text
    cpu: _Text
    memory_bytes: _Count | None
    catalog_version: _Count | None
    blocks: Annotated[int, Field(ge=1, lt=1 << 31)]
    confidence: Annotated[float, Field(gt=0, lt=1)]
    trials: _Count
    """Metrics times groups of 5 blocks; trials of one group depend on each other."""
    alarms: _Count
    alarm_rate: _Share
    alarm_low: _Share
    alarm_high: _Share
    """Exact 95 % bounds of the rate (Clopper and Pearson 1934), as if trials were independent."""
    called: _Count
    """Rows of the whole calibration whose verdict called the two names different."""
    floors: list[Floor]

    @field_validator("made")
    @classmethod
    def _is_a_time(cls, made: str) -> str:
        datetime.fromisoformat(made)
        return made

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if self.alarms > self.trials:
            raise ValueError("alarms are more than trials")
        if not self.alarm_low - SLACK <= self.alarm_rate <= self.alarm_high + SLACK:
            raise ValueError("alarm_rate is not between alarm_low and alarm_high")
        if self.called > len(self.floors):
            raise ValueError("called is more than there are floors")
        if len({one.key for one in self.floors}) < len(self.floors):
            raise ValueError("floors have a key twice")
        if any(len(one.log_ratios) > self.blocks for one in self.floors):
            raise ValueError("floors have more log_ratios than there are blocks")
        return self


def _check(path: Path, document: Any, which: str, remedy: str) -> None:
    """See that a document is a calibration.

    Args:
        which: its place in the file, in front of the fields; "" where it is alone.
        remedy: what makes it anew, the end of the sentence.

    Raises:
        StoreError: it is none; the field is named.
    """
    if isinstance(document, dict) and type(document.get("format")) is int:
        if document["format"] != FORMAT:
            return
        try:
            Document.model_validate(document)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            names = [f"[{one}]" if isinstance(one, int) else f".{one}" for one in first["loc"]]
            field = clip("".join([which, *names]).lstrip(".") or "it", 80)
            what = f"{field}: {first['msg'].removeprefix('Value error, ')}"
        else:
            return
    else:
        what = f"{which or 'it'} has no whole number as its format"
    raise StoreError(f"{path} is no calibration that can be used: {what}; {remedy}")


def keep(document: Mapping[str, Any], state_dir: Path, result: Path) -> Path:
    """Keep a calibration in the state directory and beside the result that it was made of.

    Returns:
        The file in the state directory.

    Raises:
        StoreError: a file cannot be written.
    """
    what = json.dumps([document.get(name) for name in IDENTITY])
    file = state_dir / DIRECTORY / f"{hashlib.sha256(what.encode()).hexdigest()[:16]}.json"
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    for path in (file, result / MADE):
        with writing(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
    return file


REMADE: Final = "remove it, and make it anew by `pentathlon calibrate`"
COPIED: Final = (
    "copy it from where the result came from, or remove it and judge without noise floors; "
    "`pentathlon calibrate` makes those of this machine for later runs"
)
"""What to do about a damaged file, the ends of sentences."""


def known(state_dir: Path) -> list[dict[str, Any]]:
    """The calibrations in the state directory.

    Raises:
        StoreError: a file is damaged; the sentence states what makes it anew.
    """
    found = []
    for path in sorted((state_dir / DIRECTORY).glob("*.json")):
        document = _loaded(path, REMADE)
        _check(path, document, "", REMADE)
        found.append(document)
    return found


def _loaded(path: Path, remedy: str) -> Any:
    try:
        return json.loads(read_bytes(path))
    except FileNotFoundError:
        raise
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} cannot be read: {clip(str(error))}; {remedy}") from error


def copy_to_result(state_dir: Path, result: Path) -> None:
    """Copy the calibrations that there are into a result directory.

    Raises:
        StoreError: the file cannot be written, or one that is to be copied is damaged.
    """
    documents = known(state_dir)
    if not documents:
        return
    with writing(result / CALIBRATIONS):
        text = json.dumps(documents, indent=1, ensure_ascii=False) + "\n"
        write_whole(result / CALIBRATIONS, text)


def read_from_result(result: Path) -> list[dict[str, Any]]:
    """The calibrations in a result directory, [] if there are none.

    Raises:
        StoreError: the file is damaged.
    """
    path = result / CALIBRATIONS
    try:
        documents = _loaded(path, COPIED)
    except FileNotFoundError:
        return []
    if not isinstance(documents, list):
        raise StoreError(f"{path} is no list of calibrations; {COPIED}")
    for place, document in enumerate(documents):
        _check(path, document, f"[{place}]", COPIED)
    return documents
