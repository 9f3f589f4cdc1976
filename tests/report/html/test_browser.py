"""The pictures are drawn in a real browser, from a file and without a network."""

from __future__ import annotations

import re

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.report.html import page as html
from tests.evaluate.factorial.test_factorial import factors, made
from tests.evaluate.factorial.test_factorial import planted as planted_effects
from tests.fakes import synthetic_papers as planted
from tests.fakes.browser import after_scripts, needs_browser
from tests.fakes.synthetic import Maker, items

pytestmark = [pytest.mark.slow, needs_browser]


def pictures_of(document, kind):
    """(workload, content) of every picture of a kind."""
    pattern = rf'<figure class="picture" data-kind="{kind}" data-part="([^"]*)".*?</figcaption>'
    return [(found[1], found[0]) for found in re.finditer(pattern, document, re.S)]


def test_every_picture_is_drawn(tmp_path):
    chosen = items(sizes=tuple(1 << power for power in range(10, 24)))
    swept = [planted.sub_looping, planted.order, planted.regions, planted.code_size]
    added = [item for plant in (*swept, planted.code_plus_data) for item in plant()]
    result = Maker(chosen=[*chosen, *added]).make()
    evaluation = evaluate(result)
    path = tmp_path / "report.html"
    # Pictures wait until they come into view; printing everything draws all of them at once.
    script = (
        "document.getElementById('print-all').checked = true;"
        "dispatchEvent(new Event('beforeprint'))"
    )
    page = html.render(evaluation, result).replace("</body>", f"<script>{script}</script></body>")
    path.write_text(page, encoding="utf-8")
    document, complaints = after_scripts(path, tmp_path / "profile")
    assert complaints == []
    pictures = re.findall(r'<figure class="picture" data-kind="(\w+)".*?</figure>', document, re.S)
    assert {"overview", "forest", "curve", "ratio", "scaling", "samples", "sweep"} <= set(pictures)
    for figure in re.findall(r'<figure class="picture".*?</figcaption>', document, re.S):
        assert figure.count("<svg") >= 1, figure[:200]
        assert "NaN" not in figure
        assert "undefined" not in figure
    drawn = dict(pictures_of(document, "sweep"))
    assert set(drawn) == {"memory.sub_looping", "disk.order", "memory.regions", "memory.code_size"}
    # A panel for each metric or level of optimisation; the derived figures are bands, and what
    # the system claims are named rules.
    for part, panels, rule in (
        ("memory.regions", 2, "L2 2 MiB"),
        ("memory.code_size", 4, "L1i 32 KiB"),
    ):
        assert drawn[part].count('aria-label="rule"') >= panels, part
        assert drawn[part].count(f">{rule}<") == panels, part
        assert len(re.findall(r'aria-label="rect".*?<rect', drawn[part], re.S)) >= 1, part
    assert any(part == "memory.code_plus_data" for part, _ in pictures_of(document, "curve"))
    spots = re.search(r'data-kind="samples".*?</figcaption>', document, re.S)[0]
    key = re.search(r"([\w.]+): (\d+) samples", spots)
    assert int(key[2]) == result.samples().filter(result.samples()["key"] == key[1]).height


def test_the_effects_of_a_factorial_design_are_drawn(tmp_path):
    result = made(planted_effects, factors("a", "b", "c"))
    evaluation = evaluate(result)
    path = tmp_path / "report.html"
    script = "dispatchEvent(new Event('beforeprint'))"
    page = html.render(evaluation, result).replace("</body>", f"<script>{script}</script></body>")
    path.write_text(page, encoding="utf-8")
    document, complaints = after_scripts(path, tmp_path / "profile")
    assert complaints == []
    ((_, picture),) = pictures_of(document, "factors")
    # A mark for each metric of each of six terms, and an interval for each that is shown.
    assert picture.count("<circle") == 3 * 6
    shown = [one for one in evaluation.factorial.effects if one.verdict.is_difference]
    drawn = sum(len(re.findall("<line", group)) for group in picture.split("rule")[1:])
    assert len(shown) == 5 and drawn >= len(shown)
