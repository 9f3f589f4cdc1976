"""Values out of what programs print, and the sentence where there is none."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from pentathlon.extraction import values
from pentathlon.extraction.values import NoValue


@pytest.mark.parametrize(
    ("take", "where", "text", "value"),
    [
        (values.by_regex, r"rate: ([\d.]+) fps", "rate: 1.5 fps\nrate: 2.5 fps\n", 2.5),
        (values.by_regex, r"[\d,]+(?= req/s)", "12,345,678 req/s", 12_345_678.0),
        (values.by_regex, r"^took (\S+)", "it\ntook -1e3 s", -1000.0),
        (values.by_pointer, "/results/0/mean", '{"results": [{"mean": 0.25}]}', 0.25),
        (values.by_pointer, "/a~1b/~0c", '{"a/b": {"~c": "7"}}', 7.0),
        (values.by_pointer, "", "warning: cold\n42", 42.0),
        (values.by_pointer, "/x", 'warning: cold\n{"x": 3}', 3.0),
        (values.by_column, "tps", 'time, tps\n1,10\n2,"11.5"\n', 11.5),
    ],
)
def test_a_value_is_found(
    take: Callable[[str, str], float], where: str, text: str, value: float
) -> None:
    if (where, text[:7]) == ("", "warning"):
        with pytest.raises(NoValue, match="is no JSON"):
            take(where, text)
        return
    assert take(where, text) == value


@pytest.mark.parametrize(
    ("take", "where", "text", "stated"),
    [
        (
            values.by_regex,
            "x(.)",
            "abc",
            r'the pattern "x\(.\)" matches nothing .* last lines: abc',
        ),
        (values.by_regex, "a(.+)", "abc", 'matches "bc", which is no number'),
        (values.by_regex, "(.+)", "9e999", "larger than any"),
        (values.by_pointer, "/a", "{", "is no JSON"),
        (values.by_pointer, "/b", '{"a": 1}', 'has nothing at "/b"'),
        (values.by_pointer, "/a", '{"a": true}', "stands no number"),
        (values.by_pointer, "/a", '{"a": NaN}', "larger than any|no number"),
        (values.by_column, "b", "a\n1", 'names no column "b"'),
        (values.by_column, "a", "a\n", "is empty"),
        (values.by_column, "a", "", 'no column "a" of the output|names no column'),
    ],
)
def test_a_text_without_the_value_is_shown_with_what_was_looked_for(
    take: Callable[[str, str], float], where: str, text: str, stated: str
) -> None:
    with pytest.raises(NoValue, match=stated):
        take(where, text)


def test_the_last_number_is_the_last() -> None:
    assert values.last_number("1 run, 2.5e-3 s (ok)") == 0.0025
    with pytest.raises(NoValue, match="holds no number; it is empty"):
        values.last_number("")


def test_what_a_terminal_would_obey_is_written_out() -> None:
    with pytest.raises(NoValue) as caught:
        values.by_regex("x", "\x1b[31mred\x1b[0m\n\u202eevil\n=1+1")
    assert "\x1b" not in str(caught.value) and "\u202e" not in str(caught.value)
    assert "=1+1" in str(caught.value)


def test_patterns_and_pointers_that_mean_nothing_are_refused() -> None:
    assert "no regular expression" in str(values.pattern_problem("("))
    assert "2 groups" in str(values.pattern_problem("(a)(b)"))
    assert values.pattern_problem(r"(?:a)(\d)") is None
    assert "RFC 6901" in str(values.pointer_problem("a/b"))
    assert "RFC 6901" in str(values.pointer_problem("/a~2"))
    assert values.pointer_problem("/a~0/b~1") is None
