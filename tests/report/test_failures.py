"""Failures that share a reason are stated once."""

import io
from types import SimpleNamespace
from typing import cast

from rich.console import Console

from pentathlon.evaluate.model import Evaluation, Failure
from pentathlon.report.failures import grouped
from pentathlon.report.terminal import opening


def failure(case: str, *, system: str = "uml", reason: str = "no huge pages") -> Failure:
    return Failure(
        system=system,
        workload="memory.latency",
        case=case,
        kind="unsupported",
        reason=reason,
        resolved=False,
        count=5,
        blocks=(0, 1, 2, 3, 4),
    )


def test_cases_of_one_reason_become_one_group_and_keep_their_count() -> None:
    groups = grouped([failure("a"), failure("b"), failure("c", reason="no memory"), failure("d")])
    assert [(group.reason, group.cases, group.count) for group in groups] == [
        ("no huge pages", ("a", "b", "d"), 15),
        ("no memory", ("c",), 5),
    ]
    assert groups[0].cases_text == "3 cases, such as a"
    assert groups[1].cases_text == "c"


def test_systems_are_kept_apart_and_a_whole_workload_has_no_case() -> None:
    groups = grouped([failure(""), failure("", system="other")])
    assert [(group.system, group.cases_text) for group in groups] == [("uml", ""), ("other", "")]


def test_a_boot_that_failed_is_named_once() -> None:
    """It is both what it was and how it failed."""
    boot = {"workload": "", "kind": "boot", "reason": "it hangs", "count": 1}
    one = failure("", system="a").model_copy(update=boot)
    shown = io.StringIO()
    opening.failed(
        cast("Evaluation", SimpleNamespace(failures=(one,))), Console(file=shown, width=80)
    )
    assert [line.strip() for line in shown.getvalue().splitlines()[1:]] == [
        "Not measured",
        "a: boot, it hangs",
    ]
