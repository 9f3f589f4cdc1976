"""The report in the terminal."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from pentathlon.evaluate import evaluate
from pentathlon.report.answer import answers, between, speed_words
from pentathlon.report.terminal import one_screen
from pentathlon.report.terminal.screen import render
from tests.fakes.synthetic import Item, Maker, items, same

NBSP = "\N{NO-BREAK SPACE}"


def shown(evaluation, full=False, width=160):
    text = io.StringIO()
    render(evaluation, Console(file=text, width=width), full)
    return text.getvalue()


@pytest.fixture(scope="module")
def evaluation():
    return evaluate(Maker().make())


def test_the_verdicts_come_first(evaluation):
    text = shown(evaluation)
    assert text.index("uml-7.2 against uml-6.1") < text.index("uml-7.2 is faster than uml-6.1 for")
    assert text.index("uml-7.2 is faster than uml-6.1 for 3 of") < text.index("Process  uml-7.2")
    assert "▲ Getpid: 31" in text
    assert "▼ Fork wait: 8.4" in text


def test_curves_are_one_line_unless_all_is_asked_for(evaluation):
    short, full = shown(evaluation), shown(evaluation, full=True)
    tables = [text[text.index("Process  uml-7.2") :].splitlines() for text in (short, full)]
    assert len(tables[0]) < len(tables[1]) / 3
    assert "Read: avx512, 17 sizes" in short
    assert "Read: 64 KiB, avx512" not in short
    assert "Read: 64 KiB, avx512" in full
    for row in evaluation.rows:
        assert row.case_text in full


def test_a_difference_among_cases_gets_its_own_line():
    def factor(item):
        return 1.5 if item.case == {"op": "divide", "type": "i64"} else 1.0

    chosen = [item for item in items() if item.workload == "arithmetic.operations"]
    text = shown(evaluate(Maker(factors={"a": same, "b": factor}, chosen=chosen).make()))
    assert "Operations latency: divide, i64" in text
    assert "15 cases" in text


def test_rows_across_layers_say_so(evaluation):
    text = shown(evaluation)
    host = text[text.index("Process  host against uml-6.1") :]
    lines = host[: host.index("\n\n")].splitlines()
    assert len(lines) > 5
    assert all("layers, not kernels" in line for line in lines[3:])
    assert "! This comparison compares layers uml and host, not kernels." in text


def test_failures_are_listed_with_their_reasons(evaluation):
    text = shown(evaluation, width=200)
    cases = "memory.latency (block_bytes=134217728,pages=huge)"
    assert f"uml-6.1, uml-7.2: {cases}: unsupported, " in text


def test_systems_that_share_a_failure_share_its_line(evaluation):
    first = next(one for one in evaluation.failures if one.system == "uml-6.1")
    again = first.model_copy(update={"system": "uml-7.2"})
    both = evaluation.model_copy(update={"failures": (first, again)})
    text = shown(both, width=200)
    assert text.count(first.reason) == 1
    assert f"uml-6.1, uml-7.2: {first.workload}" in text


def test_a_single_system_has_its_means():
    chosen = [Item("test.spin", "time", {}, "ns", "lower", 850.0, 0.0, 0.0)]
    text = shown(evaluate(Maker(factors={"a": same}, chosen=chosen, noise=0.0).make()))
    assert "850" in text
    assert "verdict" not in text
    assert "speed %" not in text, "nothing is compared, so there is no such column to explain"


@pytest.mark.parametrize(
    ("log_ratio", "words"),
    [
        (0.0487902, f"5{NBSP}% faster"),
        (-0.0512933, f"5{NBSP}% slower"),
        (4.0943446, "60 times as fast"),
        (-2.4849066, "1/12 of the speed"),
    ],
)
def test_speed_in_words(log_ratio, words):
    assert speed_words(log_ratio) == words


def test_ranges_in_words():
    assert between(0.0295588, 0.0487902) == f"3{NBSP}% to 5{NBSP}% faster"
    assert between(4.0, 4.0943446) == "55 to 60 times as fast"
    assert between(0.8796, 0.8879) == "2.41 to 2.43 times as fast"
    assert between(0.8796, 0.87961) == "2.4 times as fast"
    assert between(-0.8796, -0.8879) == "1/2.41 to 1/2.43 of the speed"
    assert between(0.0487902, 4.0943446) == f"5{NBSP}% faster to 60 times as fast"
    assert between(0.0487902, 0.0487903) == f"5{NBSP}% faster"


def test_no_difference_in_words():
    result = Maker(factors={"a": same, "b": same}, chosen=items()[:8]).make()
    answer = answers(evaluate(result))[0]
    assert answer.headline == "No difference between b and a was shown in 8 metrics."
    assert answer.findings == ()


@pytest.mark.parametrize("width", [60, 80, 100, 120, 160])
def test_no_line_is_wider_than_the_terminal(evaluation, width):
    lines = shown(evaluation, width=width).splitlines()
    assert max(len(line) for line in lines) <= width
    assert any("verdict" in line for line in lines)


@pytest.mark.parametrize("width", [60, 80, 120])
def test_one_screen_shows_whose_values_they_are_at_any_width(width):
    chosen = [item for item in items() if item.workload == "arithmetic.operations"][:1]
    judged = evaluate(Maker(factors={"uml-6.1": same, "uml-newest": same}, chosen=chosen).make())
    text = io.StringIO()
    one_screen.render(judged, Console(file=text, width=width))
    [head, *lines] = text.getvalue()[text.getvalue().index("system ") :].splitlines()
    assert "value" in head and "interval" in head
    assert [line.split()[0] for line in lines[:2]] == ["uml-6.1", "uml-newest"]
    assert "reference" in lines[0] and "…" not in "".join([head, *lines[:2]])


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_picture_of_systems_with_long_names_fits(width):
    names = ["local-transparent_hugepage-never", "local-transparent_hugepage-always"]
    chosen = [item for item in items() if item.workload == "arithmetic.operations"][:1]
    judged = evaluate(Maker(factors=dict.fromkeys(names, same), chosen=chosen).make())
    text = io.StringIO()
    one_screen.render(judged, Console(file=text, width=width))
    lines = text.getvalue().splitlines()
    below = next(n for n, line in enumerate(lines) if line.strip() == "means of the blocks")
    first, second, axis = lines[below - 3 : below]
    assert len(axis) <= width
    for line, name in ((first, names[0]), (second, names[1])):
        assert len(line) <= width
        # At least the end of the name, which is what differs.
        assert line.split("  ")[0].rstrip().removeprefix("…") in name
        assert name[-6:] in line and set(line[len(line.split("  ")[0]) :]) & set("▁▂▃▄▅▆▇█")


def test_an_interval_that_bounds_nothing_is_no_answer():
    chosen = [item for item in items() if item.workload == "arithmetic.operations"][:1]
    judged = evaluate(
        Maker(factors={"a": same, "b": same}, chosen=chosen, blocks=2, noise=1000.0).make()
    )
    (row,) = (row for row in judged.rows if row.score)
    [(sentence, sign)] = one_screen.sentences(judged, row)
    assert sign == 0 and "2 blocks are too few for an answer on b" in sentence
    assert "×" not in sentence and "100" not in sentence
