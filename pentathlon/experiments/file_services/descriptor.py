"""File services: a client's tasks with a server, over links."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from pentathlon.experiments.descriptor import Experiment, Need
from pentathlon.experiments.file_services.driver import TASKS
from pentathlon.experiments.file_services.service import FileServiceInUse
from pentathlon.protocol.events import Message
from pentathlon.testbed.trial import Task


def _over_links(task: Task, file_service: FileServiceInUse) -> Iterator[Message]:
    return file_service.run(task)


FILE_SERVICES: Final = Experiment(
    "file_services",
    Need[FileServiceInUse]("links"),
    dict.fromkeys(TASKS, _over_links),
    limits_its_trials=True,  # They follow from the link.
)
