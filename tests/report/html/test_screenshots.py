"""The pictures that systems drew stand in the page, once where they are the same."""

from __future__ import annotations

import base64

import polars as pl

from pentathlon.evaluate.evaluation import evaluate
from pentathlon.report.html import page as html
from pentathlon.report.html import screenshots
from pentathlon.store import schema
from tests.fakes.synthetic import Maker, Synthetic

FIRST, SECOND = (base64.b64encode(text).decode() for text in (b"first", b"second"))


class Drawing(Synthetic):
    """A synthetic result with pictures."""

    def pictures(self) -> pl.DataFrame:
        def row(system: str, case: str, jpeg: str) -> dict[str, str | int]:
            size: dict[str, str | int] = {"width": 320, "height": 256}
            return {
                "system": system,
                "workload": "graphics.game",
                "case": case,
                "jpeg": jpeg,
                **size,
            }

        rows = [
            row("uml-6.1", "scene=hall", FIRST),
            row("uml-7.2", "scene=hall", FIRST),
            row("uml-6.1", "scene=ice", FIRST),
            row("uml-7.2", "scene=ice", SECOND),
        ]
        return pl.DataFrame(rows, schema=schema.PICTURES)


def drawing() -> Drawing:
    made = Maker(blocks=2).make()
    return Drawing(made.plan, made.tables)


def test_equal_pictures_are_told_from_different_ones() -> None:
    result = drawing()
    (sheet,) = screenshots.sheets(evaluate(result), result)
    assert [(one.case, one.same, len(one.pictures)) for one in sheet.cases] == [
        ("scene=hall", True, 2),
        ("scene=ice", False, 2),
    ]


def test_the_page_holds_each_different_picture_once() -> None:
    result = drawing()
    page = html.render(evaluate(result), result)
    assert page.count(f"base64,{FIRST}") == 2  # hall once for both systems, ice for one of them
    assert page.count(f"base64,{SECOND}") == 1
    assert 'href="#screenshots"' in page


def test_a_result_without_pictures_has_no_such_part() -> None:
    made = Maker(blocks=2).make()
    assert 'id="screenshots"' not in html.render(evaluate(made), made)
