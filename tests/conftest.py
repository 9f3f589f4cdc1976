"""What holds for every test; helpers such as `scripted` serve the tests of several packages.

Several tests run at once (pytest-xdist). The tests of a module run in one worker, one after the
other, because they share what the module has booted; a module whose tests share nothing says so
with the mark `spread`. Modules that boot real systems come first, so that no worker waits for one
at the end.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent

# pytest-xdist sets it for its workers; the screens that are tested are not theirs.
os.environ.pop("COLUMNS", None)
# Tests that run beside each other, and beside the user's own runs, do not lock each other out.
LOCKS = tempfile.TemporaryDirectory(prefix="pentathlon-test-locks-")
os.environ["PENTATHLON_LOCK_DIR"] = LOCKS.name

# No test asserts a time: a busy machine must not make a property fail by its slowness.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items if config.pluginmanager.hasplugin("xdist") else ():
        if not any(item.iter_markers("spread")) and not any(item.iter_markers("xdist_group")):
            item.add_marker(pytest.mark.xdist_group(str(item.path.relative_to(HERE))))
    items.sort(key=lambda item: item.get_closest_marker("system") is None)
