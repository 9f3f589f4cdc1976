"""The fixtures of the targets: what is changed on this machine is looked for after every test."""

from tests.targets.conftest import (  # noqa: F401
    kernel_files,
    local,
    nothing_left,
    real_agent,
    scripted,
    state,
)
