"""A run with an agent that was built for tests, which is slower than one to measure with."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Shop

NOTE = (
    "The agent was built for tests, with debug assertions, so its times are not those of a release"
)


@pytest.mark.parametrize(
    ("debug_assertions", "unmeasured", "noted"),
    [(True, "", True), (True, "yes", False), (False, "", False)],
)
def test_a_run_notes_an_agent_built_for_tests_where_something_is_measured(
    shop: Shop, debug_assertions: bool, unmeasured: str, noted: bool
) -> None:
    shop.options["debug_assertions"] = debug_assertions
    shop.environment["PENTATHLON_UNMEASURED"] = unmeasured
    done = shop.call("run", shop.write(), "--out", "r", "--no-pilot")
    assert done.code == 0, done.err
    assert (NOTE in done.err) == noted
    assert (NOTE in (shop.directory / "r" / "report.html").read_text()) == noted
