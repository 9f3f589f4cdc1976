"""The cases of a command: one value for each parameter, put into the words."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from typing import Any

from pentathlon.protocol.requests.own_command import OwnCase, OwnCommand
from pentathlon.study.commands.model import PLACEHOLDER, OwnWorkload


def filled(words: Sequence[str], case: Mapping[str, Any]) -> list[str]:
    """The words with `{NAME}` replaced by the value of that parameter; other braces stay.

    >>> filled(["awk", "{print}", "-n{size}"], {"size": 4})
    ['awk', '{print}', '-n4']
    """

    def value(found: Any) -> str:
        return str(case[found[1]]) if found[1] in case else str(found[0])

    return [PLACEHOLDER.sub(value, word) for word in words]


def cases(parameters: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every combination of the parameters' values, the last parameter changing first."""
    lists = [value if isinstance(value, list | tuple) else [value] for value in parameters.values()]
    return [dict(zip(parameters, values, strict=True)) for values in itertools.product(*lists)]


def request(own: OwnWorkload, parameters: Mapping[str, Any]) -> OwnCommand:
    """The command as an entry of the agent's request."""
    return OwnCommand(
        files=own.id if own.files else None,
        setup=list(own.setup),
        cases=[
            OwnCase(
                case=case,
                command=filled(own.command, case),
                prepare=filled(own.prepare, case),
                cleanup=filled(own.cleanup, case),
            )
            for case in cases(parameters)
        ],
        timeout_s=own.timeout_s,
        any_status=own.any_status,
        largest_file_bytes=own.largest_file_bytes,
    )


REST_S = 10.0
"""What a process of the agent may take beside the runs of a command, in seconds."""


def longest_s(own: OwnWorkload, parameters: Mapping[str, Any], runs: int) -> float:
    """Longest time of one process that runs each case so many times, in seconds."""
    around = 1 + bool(own.prepare) + bool(own.cleanup)
    whole = len(cases(parameters)) * runs * around + bool(own.setup)
    return min(whole * (own.timeout_s + 1.0) + REST_S, 86_400.0)
