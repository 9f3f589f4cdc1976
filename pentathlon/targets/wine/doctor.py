"""What `pentathlon doctor` looks at and makes for Wine."""

from __future__ import annotations

from collections.abc import Iterator

from pentathlon.machine.errors import if_available
from pentathlon.machine.finding import Finding
from pentathlon.targets.descriptor import Doctor, Install, Log
from pentathlon.targets.plain import PlainSystem
from pentathlon.targets.wine import prefix
from pentathlon.targets.wine import program as wine


class WineDoctor(Doctor):
    """The prefix of an installed Wine, which is made only where it is requested."""

    def trials(self) -> Iterator[PlainSystem | Finding]:
        unmade = self._unmade_prefix()
        yield from super().trials() if unmade is None else [unmade]

    def installs(self) -> Iterator[Install]:
        yield Install(self.kind.name, make_prefix, lambda: False)

    def _unmade_prefix(self) -> Finding | None:
        """That Wine has no prefix here yet; a look at the machine makes none."""
        found = if_available(wine.find)
        if found is None or (prefix.made(found) / prefix.DONE).exists():
            return None
        return Finding(
            "target",
            self.kind.name,
            False,
            f"Wine {found.version} has no prefix here yet; a study that needs one makes it",
            "pentathlon doctor --install --only wine",
        )


def make_prefix(log: Log) -> str:
    """Make the prefix of the installed Wine, if there is none."""
    found = wine.find()
    return f"Wine {found.version}, prefix in {prefix.make(found, log)}"
