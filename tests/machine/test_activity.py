"""What is being done, in words: the innermost of what is open."""

from __future__ import annotations

import pytest

from pentathlon.machine.activity import activity, current


def words() -> str | None:
    one = current()
    return None if one is None else one.words


def test_the_innermost_is_current_until_it_ends() -> None:
    assert words() is None
    with activity("one restarts"):
        with activity("one is waited for"):
            assert words() == "one is waited for"
        assert words() == "one restarts"
        with pytest.raises(OSError), activity("one is led back"):
            raise OSError
        assert words() == "one restarts"
    assert words() is None
