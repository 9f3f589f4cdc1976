"""What holds for every test; helpers such as `scripted` serve the tests of several packages.

Several tests run at once (pytest-xdist). The tests of a module run in one worker, one after the
other, because they share what the module has booted. Tests that boot real systems have the mark
`system`: they wait for a part of their time, so their modules are spread among those that compute,
and the last ones begin early enough that no worker waits for one at the end. `scripts/test quick`
leaves them out, as it does those with the mark `slow`.
"""

from __future__ import annotations

import gc
import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

HERE = Path(__file__).parent

TESTS = Path(__file__).parent

SHARING = {
    "cli/test_reboots.py": "ssh",
    "cli/test_boots.py": "ssh",
    "experiments/forwarding/test_ssh.py": "ssh",
    "targets/test_ssh.py": "ssh",
    "targets/test_remote_directory.py": "ssh",
    "targets/test_wine.py": "wine",
    "targets/test_wine_catalog.py": "wine",
    "experiments/traffic/test_wine_pair.py": "wine",
}
"""Modules that look at one place of this machine, such as what an ssh host has in /tmp: they are
not run beside each other."""

SYSTEMS = {"doctor", "experiments", "graphics", "machine", "targets", "testbed"}
"""Packages whose tests boot systems, start servers or join network namespaces."""

# pytest-xdist sets it for its workers; the screens that are tested are not theirs.
os.environ.pop("COLUMNS", None)
# The fake agents start with `env python3`, for which a manager of versions may have put a shell
# script first that takes twice as long as they do.
os.environ["PATH"] = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
# The threads of numerical libraries wait in loops, on CPUs that other tests could use.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
os.environ.setdefault("POLARS_MAX_THREADS", "1")
# Tests that run beside each other, and beside the user's own runs, do not lock each other out.
LOCKS = tempfile.TemporaryDirectory(prefix="pentathlon-test-locks-")
os.environ["PENTATHLON_LOCK_DIR"] = LOCKS.name

# What starts the tests may ignore it, as a shell does for what it runs in the background. Tests
# send it to programs that they start, which would ignore it too.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No test asserts a time: a busy machine must not make a property fail by its slowness.
settings.register_profile(
    "any machine", deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("any machine")


# What is made when the tests are collected is kept, and it is so much that the garbage collector
# takes long to look through it: it waits until all is made, and leaves that out afterwards.
gc.disable()


def pytest_collection_finish() -> None:
    gc.freeze()
    gc.enable()


QUIET_S = 15.0
"""Seconds in which no test has ended, after which a line is written, as `scripts/step` does."""


class Heartbeat:
    """Writes a line where nothing else does, so that a reader sees that the tests go on."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.ended = 0
        self.last = time.monotonic()
        self.over = threading.Event()
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        reporter = self.config.pluginmanager.get_plugin("terminalreporter")
        began = written = time.monotonic()
        while not self.over.wait(1.0):
            now = time.monotonic()
            if reporter is not None and now - max(self.last, written) >= QUIET_S:
                written = now
                reporter.write_line(f"  {now - began:.0f} s: {self.ended} tests have ended")

    def pytest_sessionstart(self) -> None:
        self.thread.start()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            self.ended += 1
        self.last = time.monotonic()

    def pytest_sessionfinish(self) -> None:
        self.over.set()
        self.thread.join()


def pytest_configure(config: pytest.Config) -> None:
    # In the first of pytest-xdist's processes, which runs no test whose output it could meet.
    if not hasattr(config, "workerinput") and config.getoption("dist", "no") != "no":
        config.pluginmanager.register(Heartbeat(config), "heartbeat")


LONGEST = frozenset(
    {
        "targets/test_ssh_windows.py",
        "experiments/file_services/test_remote.py",
        "experiments/file_services/test_faults.py",
        "website/test_how_to.py",
    }
)
"""Modules that take minutes on a busy machine: begun first, each among its kind, they do not go on
alone at the end."""

ALL_BEGUN = 0.8
"""How far the modules that compute have come when the last of those that wait begins."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.relative_to(TESTS).parts[0] in SYSTEMS:
            item.add_marker("system")
    waiting = {item.path for item in items if item.get_closest_marker("system")}
    modules = sorted(
        dict.fromkeys(item.path for item in items),
        key=lambda path: str(path.relative_to(TESTS)) not in LONGEST,
    )
    place = {}
    for wait, until in ((True, ALL_BEGUN), (False, 1.0)):
        kind = [path for path in modules if (path in waiting) == wait]
        place |= {path: until * number / len(kind) for number, path in enumerate(kind)}
    items.sort(key=lambda item: place[item.path])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """A scheduler that gives a worker whole modules, and those that share a place to one worker."""
    from xdist.scheduler import LoadScopeScheduling  # noqa: PLC0415  only where it is used

    class Modules(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            module = nodeid.partition("::")[0].removeprefix("tests/")
            return SHARING.get(module, module)

    return Modules(config, log)
