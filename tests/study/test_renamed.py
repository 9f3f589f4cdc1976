"""Former names of parameters: they work as the present ones do, with a hint at these."""

from __future__ import annotations

from pathlib import Path

import pytest

from pentathlon.study.catalog import Catalog
from pentathlon.study.load import load_study
from pentathlon.study.problems import StudyError
from pentathlon.study.renamed import NAMES

VALUES = {"rung": ["gso"], "soaker": "idle"}

STUDY = """\
name = "old"
reference = "a"

[[system]]
name = "a"
target = "netns"
parameters = {{ "network.traffic" = {own} }}

[system.peer]

[[suite]]
name = "first"
workloads = [{{ id = "{id}", parameters = {parameters} }}]
"""


def toml(parameters: dict[str, object]) -> str:
    return "{ " + ", ".join(f"{k} = {v!r}" for k, v in parameters.items()) + " }"


def written(
    folder: Path,
    parameters: dict[str, object],
    own: dict[str, object] | None = None,
    chosen: str = "network.traffic",
) -> Path:
    file = folder / "old.toml"
    text = STUDY.format(own=toml(own or {}), parameters=toml(parameters), id=chosen)
    file.write_text(text)
    return file


def test_a_value_is_known_of_each_former_name() -> None:
    assert VALUES.keys() == NAMES.keys()


@pytest.mark.parametrize("chosen", ["network.traffic", "network.t*"])
@pytest.mark.parametrize("old", NAMES)
def test_a_former_name_is_read_with_a_hint(
    old: str, chosen: str, real_catalog: Catalog, tmp_path: Path
) -> None:
    value = {old: VALUES[old]}
    file = written(tmp_path, value, value, chosen)
    found = load_study(file, real_catalog)
    present = load_study(
        written(tmp_path, {NAMES[old]: VALUES[old]}, {NAMES[old]: VALUES[old]}, chosen),
        real_catalog,
    )
    assert found.study == present.study and present.hints == ()
    at = {line for hint in found.hints for line in hint.split(": ")[:1]}
    assert at == {f"{file}:7", f"{file}:13"}
    assert all(f'is called "{NAMES[old]}" now' in hint for hint in found.hints)


@pytest.mark.parametrize("old", NAMES)
def test_both_names_are_refused(old: str, real_catalog: Catalog, tmp_path: Path) -> None:
    file = written(tmp_path, {old: VALUES[old], NAMES[old]: VALUES[old]})
    with pytest.raises(StudyError, match=f'former name of "{NAMES[old]}"') as raised:
        load_study(file, real_catalog)
    assert len(raised.value.problems) == 1


def test_a_catalog_of_before_keeps_its_names(real_catalog: Catalog, tmp_path: Path) -> None:
    text = real_catalog.model_dump_json(by_alias=True)
    for old, new in NAMES.items():
        text = text.replace(f'"{new}"', f'"{old}"')
    found = load_study(written(tmp_path, dict(VALUES)), Catalog.model_validate_json(text))
    assert found.study.suites[0].workloads[0].parameters == VALUES and found.hints == ()
