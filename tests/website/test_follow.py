"""The tutorial's outputs keep the lines that its pages show of them."""

from __future__ import annotations

import pytest

from website import follow

PRINTED = "one\ntwo  \nthree\nfour\n"


@pytest.mark.parametrize(
    ("shown", "found"),
    [
        ("old\n", "one\ntwo\nthree\nfour\n"),
        ("old\nold\n...\n", "one\ntwo\n...\n"),
        ("...\nold\n", "...\nfour\n"),
        ("...\n", "...\n"),
    ],
)
def test_what_is_left_out_stays_left_out(shown: str, found: str) -> None:
    assert follow._shortened(PRINTED, shown) == found
