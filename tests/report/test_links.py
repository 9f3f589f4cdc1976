"""The table of emulated links, in the page, the terminal and the exports."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from pentathlon.evaluate import evaluate
from pentathlon.report import links as emulated_links
from pentathlon.report.export import files as export
from pentathlon.report.html import page as html
from pentathlon.report.html.labels import Labels
from pentathlon.report.terminal import screen
from tests.fakes import synthetic_links as planted
from tests.fakes import synthetic_papers
from tests.fakes.synthetic import Maker, Synthetic, same


def result(files: bool) -> Synthetic:
    if files:
        made = Maker(
            factors={"old": same, "new": same}, ends=synthetic_papers.FILE_ENDS,
            chosen=list(synthetic_papers.file_tasks()), blocks=2,
        ).make()  # fmt: skip
    else:
        made = Maker(blocks=2, iterations=2).make()
    made.tables["links"] = planted.table(
        [planted.calibration(9990, 25.0), planted.trial(50_000, 20_000_000, unable=3)],
        [planted.calibration(10_001, 25.04, cpu=6.0), planted.trial(900_000, 70_000_000)],
    )
    return made


def test_a_line_for_each_direction_has_what_was_asked_achieved_and_paid() -> None:
    up, down = emulated_links.lines(evaluate(result(True)))
    assert (up.link, up.engine) == ("wan-10m-50ms", "agent, measured 2 times")
    assert (down.link, down.engine) == ("", "")
    assert (up.direction, down.direction) == ("to the server", "to the client")
    assert up.rate == "10,000: 9,995.5 (9,990.0)" and up.delay == "25: 25.02 (25.04)"
    assert up.loss == "0: 0" and up.unable == "3" and down.unable == "0"
    assert up.latest == "475 (900)"
    assert (up.calibration_cpu, up.trial_cpu) == ("4.50 (6.00)", "4.50 (7.00)")
    assert len(up.cells()) == len(emulated_links.HEADINGS)


@pytest.mark.parametrize("files", [True, False])
def test_the_page_the_terminal_and_the_exports_have_it(files: bool) -> None:
    made = result(files)
    evaluation = evaluate(made)
    page = html.render(evaluation, made)
    title = "File services" if files else "Emulated links"
    heading = title if files else str(Labels()(title))
    assert f"<h2>{heading}</h2>" in page and f'<a href="#file-services">{title}</a>' in page
    assert ("Phase 1 upgrades the client" in page) is files
    assert page.count("10,000: 9,995.5 (9,990.0)") == 1
    text = io.StringIO()
    screen.render(evaluation, Console(file=text, width=200))
    shown = text.getvalue()
    assert "to the server: rate 10,000: 9,995.5 (9,990.0) kbit/s, delay 25: 25.02 (25.04)" in shown
    assert "by agent, measured 2 times; CPU: 4.50 (6.00) % in calibrations, 4.50 (7.00) %" in shown
    assert "| 10,000: 9,995.5 (9,990.0) |" in export.to_markdown(evaluation)
    assert r"\label{tab:links}" in export.to_latex(evaluation)
    again = type(evaluation).model_validate_json(export.to_json(evaluation))
    assert again.links == evaluation.links != ()


def test_a_result_without_links_tells_of_none() -> None:
    made = Maker(blocks=2, iterations=2).make()
    evaluation = evaluate(made)
    assert evaluation.links == () and 'id="links"' not in html.render(evaluation, made)
    assert emulated_links.TITLE not in export.to_markdown(evaluation) + export.to_latex(evaluation)
