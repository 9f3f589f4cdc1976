"""The fixtures of the targets: what is changed on this machine is looked for after every test."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.targets.conftest import (  # noqa: F401
    kernel_files,
    local,
    nothing_left,
    real_agent,
    scripted,
    state,
)


@pytest.fixture
def schema(real_agent: Path) -> dict[str, Any]:  # noqa: F811
    """The document that the agent prints."""
    done = subprocess.run([real_agent, "schema"], capture_output=True, check=True)
    document: dict[str, Any] = json.loads(done.stdout)
    return document
