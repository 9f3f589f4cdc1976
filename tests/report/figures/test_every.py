"""Pictures for papers: every kind of the page, vectors with their fonts, the same bytes again."""

from __future__ import annotations

import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.text import Text

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.model import PostHoc
from pentathlon.report.export import files
from pentathlon.report.export.refusal import ExportError
from pentathlon.report.figures import every
from pentathlon.report.figures.canvas import (
    RC,
    WIDTHS,
    Canvas,
    above,
    compact,
    log_ticks,
    ratio_ticks,
    speed,
)
from pentathlon.report.figures.ratios import _label, overview
from pentathlon.report.html import page as html
from pentathlon.report.html import view
from pentathlon.report.html.payload import payload
from tests.fakes import synthetic_papers as planted
from tests.fakes.synthetic import Item, Maker, items, same

SIZES = tuple(1 << power for power in range(10, 20))


@pytest.fixture(scope="module")
def result():
    chosen = [*items(sizes=SIZES)[:60], *planted.order()]
    return Maker(chosen=chosen, blocks=3, iterations=2).make()


@pytest.fixture(scope="module")
def evaluation(result):
    return evaluate(result)


def test_every_kind_of_the_page_can_be_drawn(evaluation, result) -> None:
    """A new kind of picture needs its drawing here too."""
    canvas = Canvas(payload(evaluation, result), 2)
    drawn = [name for name, _ in every.pictures(evaluation, canvas)]
    wanted = {
        f"{one.kind}-{one.part}"
        for area in view.areas(evaluation)
        for part in area.parts
        for one in part.figures
    }
    missing = wanted - set(drawn)
    assert not missing
    assert {"overview-uml-7.2", "overview-host", "samples"} <= set(drawn)
    assert len(set(drawn)) == len(drawn)


@pytest.mark.parametrize("columns", WIDTHS)
def test_what_was_chosen_after_the_measurement_is_marked_and_fits(columns, tmp_path) -> None:
    chosen = [Item("workload.cost", "time", {}, "ns", "lower", 50.0, 0.2, 0.4)]
    made = Maker(factors={"a": same, "b": same}, chosen=chosen, blocks=3).make()
    judged = evaluate(made)
    words = (
        f"the declared metrics are {', '.join(f'work.load_{n}' for n in range(20))} (planned: 1)"
    )
    one = PostHoc(what="declared", used="1", planned="1", words=words)
    study = judged.study.model_copy(update={"post_hoc": (one,)})
    marked = judged.model_copy(update={"study": study})
    drawn = {}
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(
            every, "pictures", lambda _, canvas: drawn.setdefault("canvas", canvas) and iter(())
        )
        every.write(marked, made, tmp_path, ["svg"], columns)
    with rc_context(RC):
        figure = overview(drawn["canvas"], "b")
        assert figure is not None
        figure.set_dpi(720)  # with few dots letters are wider than in a vector graphic
        figure.canvas.draw()
        [mark] = [one for one in figure.findobj(Text) if one.get_text().startswith("post hoc: ")]
        assert " ".join(mark.get_text().split()) == f"post hoc: {words}"
        box = mark.get_window_extent()
        assert box.x0 >= 0 and box.x1 <= figure.bbox.x1
        assert box.y0 >= 0


def test_no_interval_crosses_the_name_of_its_area() -> None:
    """Where an interval begins as far left as the name, the name is in front of it, on white."""
    chosen = [Item("workload.cost", "time", {}, "ns", "lower", 50.0, 0.2, 0.4)]
    made = Maker(factors={"a": same, "b": same}, chosen=chosen, blocks=3).make()
    with rc_context(RC):
        figure = overview(Canvas(payload(evaluate(made), made), 2), "b")
        assert figure is not None
        figure.canvas.draw()
        [axes] = figure.axes
        [name] = [one for one in axes.texts if one.get_fontweight() == "bold"]
        box = name.get_bbox_patch()
        assert box is not None and box.get_facecolor() == (1, 1, 1, 1)
        extent = name.get_window_extent()
        crossing = [one for one in axes.lines if one.get_window_extent().overlaps(extent)]
    assert crossing, "the case that this test is about"
    assert all(one.get_zorder() < name.get_zorder() for one in crossing)


def test_each_kind_that_a_script_draws_has_a_drawing_here() -> None:
    """The scripts of the page end with the kinds that they draw."""
    assets = Path(html.__file__).parent / "assets"
    kinds = {"forest", "curve", "ratio", "scaling"}
    for name in html.SCRIPTS:
        ends = re.findall(r"^  return \{ (.+?) \};$", (assets / name).read_text(), re.M)
        kinds |= {one.partition(":")[0].strip() for end in ends for one in end.split(",")}
    assert kinds == set(every.DRAW)


@pytest.mark.slow
def test_files_are_vectors_with_fonts_and_no_time(tmp_path) -> None:
    chosen = [Item("w.cost$a$", "time", {"op": "a_b^c"}, "ns", "lower", 50.0, 0.01)]
    result = Maker(factors={"a": same, "b": lambda _: 1.3}, chosen=chosen, blocks=3).make()
    evaluation = evaluate(result)
    made = files.write(evaluation, result, tmp_path / "1", ["svg", "pdf"], 1)
    again = files.write(evaluation, result, tmp_path / "2", ["svg", "pdf"], 1)
    assert [one.name for one in made] == [one.name for one in again]
    assert [one.read_bytes() for one in made] == [one.read_bytes() for one in again]
    assert {one.parent.name for one in made} == {"figures"}
    for one in made:
        data = one.read_bytes()
        if one.suffix == ".svg":
            root = ET.fromstring(data)
            width = float(root.attrib["width"].removesuffix("pt"))
            assert width == pytest.approx(WIDTHS[1] * 72, abs=0.5)
            assert not re.search(rb"<(text|image)\b", data), "outlines, and no pixels"
        else:
            assert b"/FontFile2" in data and b"/Type3" not in data
            assert b"CreationDate" not in data and b"/Subtype /Image" not in data


def test_what_cannot_be_drawn_is_one_sentence(tmp_path) -> None:
    chosen = [Item("w.cost", "time", {}, "ns", "lower", 50.0)]
    result = Maker(factors={"a": same}, chosen=chosen, blocks=1).make()
    result.tables["samples"] = result.samples().clear()
    with pytest.raises(ExportError, match="no picture"):
        files.write(evaluate(result), result, tmp_path, ["svg"])
    with pytest.raises(ExportError, match="1 or 2 columns"):
        files.write(evaluate(result), result, tmp_path, ["svg"], 3)


@pytest.mark.parametrize(
    ("ratio", "text"),
    [(1.0, "0"), (1.1, "+10 %"), (0.9, "−10 %"), (2.0, "×2"), (1 / 3, "1/3"), (70.0, "×70")],
)
def test_speeds_at_an_axis(ratio: float, text: str) -> None:
    assert speed(ratio).replace("\N{NO-BREAK SPACE}", " ") == text


def test_no_part_of_a_legend_is_cut_off() -> None:
    """The widest columns that fit; each label lies within the picture."""
    for labels in (
        ["optimisation level 3, " + one for one in ("fork", "function", "inline", "recursion")],
        ["a", "b", "c"],
        ["a name of a system that is longer than most", "x"],
    ):
        figure = Figure(figsize=(WIDTHS[1], 3), layout="constrained")
        with rc_context(RC):
            above(figure, [Line2D([], [], label=one) for one in labels], 3)
            figure.savefig(io.BytesIO(), format="svg")
            boxes = [one.get_window_extent() for one in figure.legends[0].get_texts()]
        assert len(boxes) == len(labels)
        assert all(box.x0 > 0 and box.x1 < figure.bbox.width for box in boxes)
        # What fits lies in one line.
        assert (len({round(box.y0) for box in boxes}) == 1) == (len(labels) < 4)


def test_labels_of_rows_keep_words_and_cases() -> None:
    assert _label("fork, exec and wait", "", 30) == "fork, exec and wait"
    assert _label("Operations per second", "divide, f32", 30) == (
        "Operations per second:\ndivide, f32"
    )
    long = _label("Create and delete a file in a directory of many files", "one, two, six", 30)
    assert long.endswith("one, two, six") and "…" in long and long.count("\n") == 1
    assert all(word.strip("…:,") in "Create and delete a file in a directory of one two six"
               for word in long.split())  # fmt: skip
    assert all(len(line) <= 30 for line in long.split("\n"))


def test_ticks_are_few_round_and_within_the_axis() -> None:
    assert log_ticks(0.9, 120) == [1, 3, 10, 30, 100]
    assert ratio_ticks(0.9, 1.12, 6) == pytest.approx([0.9, 0.95, 1.0, 1.05, 1.1])
    assert 1 in ratio_ticks(0.2, 80, 5) and len(ratio_ticks(0.2, 80, 5)) <= 5
    for low, high in ((1, 1.2), (1e-3, 1e9), (40, 70)):
        found = log_ticks(low, high)
        assert 0 < len(found) <= 7 and all(low * 0.99 <= one <= high * 1.01 for one in found)
    assert [compact(one) for one in (0.5, 20, 1500, 3e7)] == [
        "0.5", "20", "1.5\N{THIN SPACE}k", "30\N{THIN SPACE}M",
    ]  # fmt: skip
