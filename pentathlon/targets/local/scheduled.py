"""This machine where a batch scheduler boots it for each job."""

from __future__ import annotations

from pentathlon.targets.local.target import LocalTarget


class ScheduledTarget(LocalTarget):
    """The node that a job runs on, booted for it: its boot id is another one each time."""

    @property
    def restarts(self) -> bool:
        return True
