"""What is installed is the whole package: data files, templates and scripts too."""

import importlib.metadata
import json
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parent.parent / "pentathlon"


def installed() -> set[str]:
    """Paths that the installed distribution owns, relative to its root."""
    # A build leaves metadata beside the sources too; what is installed has a RECORD.
    for distribution in importlib.metadata.distributions(name="pentathlon"):
        if distribution.read_text("RECORD"):
            break
    else:
        pytest.skip("pentathlon is not installed here, only its sources are")
    origin = json.loads(distribution.read_text("direct_url.json") or "{}")
    if origin.get("dir_info", {}).get("editable"):
        pytest.skip("an editable installation has no files of its own")
    return {str(file) for file in distribution.files or []}


def test_every_file_of_the_package_is_installed() -> None:
    files = installed()
    missing = [
        str(path.relative_to(PACKAGE.parent))
        for path in sorted(PACKAGE.rglob("*"))
        if path.is_file()
        and "__pycache__" not in path.parts
        and str(path.relative_to(PACKAGE.parent)) not in files
    ]
    assert not missing


def test_the_agent_is_installed_beside_the_command() -> None:
    programs = {Path(file).name for file in installed()}
    assert {"pentathlon", "pentathlon-agent"} <= programs
