"""The catalogs of the fake agent and of the real one, and a study file to spoil."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pentathlon.protocol import agent
from pentathlon.study.catalog import Catalog, parse_catalog
from pentathlon.study.load import parse_study
from pentathlon.study.model import Study
from pentathlon.study.problems import StudyError

FAKE = Path(__file__).parent.parent / "fakes" / "agent.py"

GOOD = """\
name = "good"
reference = "a"
seed = 7

[procedure]
blocks = 3
iterations = 4

[[system]]
name = "a"
target = "local"
cpus = [0, 1]

[[system]]
name = "b"
target = "local"
parameters = { "fake.alpha" = { slowdown_percent = 5 } }

[[suite]]
name = "first"
workloads = [
    "fake.*",
    { id = "other.delta", parameters = { size_bytes = [1024, 2048] }, iterations = 2 },
]
"""


@pytest.fixture(scope="session")
def catalog() -> Catalog:
    text = subprocess.run([sys.executable, FAKE, "catalog"], check=True, capture_output=True)
    return parse_catalog(json.loads(text.stdout))


@pytest.fixture(scope="session")
def real_catalog() -> Catalog:
    try:
        return parse_catalog(agent.catalog(agent.locate()))
    except agent.AgentError as error:
        pytest.skip(str(error))


@pytest.fixture
def study(catalog: Catalog) -> Study:
    return parse_study(GOOD, Path("good.toml"), catalog)


@pytest.fixture
def complain(catalog: Catalog) -> Callable[..., list[str]]:
    """Lines of the error for GOOD after replacements; fails if there is no error."""

    def complain(*changes: tuple[str, str]) -> list[str]:
        text = GOOD
        for old, new in changes:
            assert old in text
            text = text.replace(old, new, 1)
        with pytest.raises(StudyError) as caught:
            parse_study(text, Path("bad.toml"), catalog)
        return str(caught.value).splitlines()

    return complain
