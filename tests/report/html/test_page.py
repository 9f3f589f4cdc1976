"""The HTML report: whole without a script, self-contained, safe, the same every time."""

from __future__ import annotations

import base64
import dataclasses
import hashlib
import json
import re
import tomllib
import zlib
from html.parser import HTMLParser
from pathlib import Path

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.display import significant
from pentathlon.evaluate.model import InventoryLine
from pentathlon.report.html import page as html
from pentathlon.report.html import relevance, terms, view
from pentathlon.report.html.payload import payload, short
from tests.fakes.synthetic import Item, Maker, items, null_items, same
from website.abbreviations import entries

ROOT = Path(__file__).parents[3]

VENDOR = Path(html.__file__).parent / "assets" / "vendor"
SMALL = items(sizes=(1024, 4096, 16384, 65536, 262144, 1 << 20))


@pytest.fixture(scope="module")
def result():
    return Maker(chosen=SMALL).make()


@pytest.fixture(scope="module")
def evaluation(result):
    return evaluate(result)


@pytest.fixture(scope="module")
def page(evaluation, result):
    return html.render(evaluation, result)


class Reader(HTMLParser):
    """What a browser without scripts takes from the page."""

    VOID = {"meta", "link", "br", "hr", "img", "input"}  # noqa: RUF012

    def __init__(self, page: str) -> None:
        super().__init__()
        self.rows: dict[str, list[str]] = {}
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.open: list[str] = []
        self.text: list[str] = []
        self.balanced = True
        self._row: str | None = None
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        if tag not in self.VOID:
            self.open.append(tag)
        if known.get("id"):
            assert known["id"] not in self.anchors, f"the id {known['id']} is there twice"
            self.anchors.add(known["id"])
        if tag == "a" and "href" in known:
            self.links.append(known["href"])
        self.loads += [known[name] for name in ("src", "srcset", "data") if known.get(name)]
        if tag == "link":
            self.loads.append(known.get("href", ""))
        if tag == "tr" and known.get("id", "").startswith("row-"):
            self._row = known["id"]
            self.rows[self._row] = []

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.handle_endtag(tag)

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.balanced = False
        if tag == "tr":
            self._row = None

    def handle_data(self, data):
        if self.open and self.open[-1] in {"script", "style"}:
            return
        self.text.append(data)
        if self._row is not None and data.strip():
            self.rows[self._row].append(data.strip())


def test_every_row_is_in_a_plain_table(page, evaluation):
    rows = Reader(page).rows
    assert list(rows) == [line.anchor for area in view.areas(evaluation) for part in area.parts
                          for line in part.lines]  # fmt: skip
    assert set(rows) == {f"row-{place}" for place in range(len(evaluation.rows))}
    row = evaluation.row("process.getpid.time")
    text = " ".join(rows[f"row-{evaluation.rows.index(row)}"])
    for one in row.comparisons:
        assert one.words in text
    assert significant(row.summary("uml-6.1").mean / 1000) in text


def test_layers_are_named_in_every_row(page, evaluation):
    sentence = "compares layers uml and host, not kernels"
    for key, texts in Reader(page).rows.items():
        assert sentence in texts, key


def test_the_markup_is_well_formed_and_links_lead_somewhere(page):
    reader = Reader(page)
    assert reader.balanced
    assert reader.open == []
    for link in reader.links:
        assert link.startswith("#")
        assert link[1:] in reader.anchors


def test_nothing_is_loaded_from_outside(page):
    assert Reader(page).loads == []
    assert not re.search(r"@import|url\(\s*['\"]?https?:", page)


def test_the_answer_comes_first(page):
    text = " ".join(Reader(page).text)
    answer, reason = text.index("against uml-6.1"), text.index("uml-7.2 is faster than uml-6.1")
    assert answer < reason < text.index("Verdicts by area") < text.index("How to read the verdicts")


def data_of(page):
    return json.loads(packed_text(page, "data"))


def packed_text(page, name):
    stream = re.search(rf'<script type="text/plain" id="{name}">(.*?)</script>', page, re.S)[1]
    return zlib.decompress(base64.b64decode(stream)).decode()


def test_every_sample_is_in_the_page(page, result, evaluation):
    data = data_of(page)
    values = sum(len(boot) - 5 for boots in data["samples"] for boot in boots)
    assert values == result.samples().height
    place = [row["k"] for row in data["rows"]].index("process.getpid.time")
    first = next(boot for boot in data["samples"][place] if boot[1] == 2 and boot[0] == 1)
    frame = result.samples()
    text = frame.filter(
        (frame["key"] == "process.getpid.time")
        & (frame["system"] == "uml-7.2")
        & (frame["block"] == 2)
    )
    assert first[5:] == pytest.approx(text["value"].to_list(), rel=5e-5)
    assert first[3] == 1


def test_the_same_result_gives_the_same_bytes(page):
    again = Maker(chosen=SMALL).make()
    assert html.render(evaluate(again), again) == page


HOSTILE = '</script><script>alert(1)</script><!-- "&\u2028'


def test_hostile_texts_stay_texts():
    maker = Maker(
        factors={"a": same, "b": same},
        chosen=[Item("x.y", "time", {"variant": HOSTILE}, "ns", "lower", 5.0)],
    )
    result = maker.make()
    study = result.plan.study.model_copy(update={"title": HOSTILE, "question": HOSTILE})
    result = dataclasses.replace(result, plan=result.plan.model_copy(update={"study": study}))
    page = html.render(evaluate(result), result)
    assert "<script>alert(1)" not in page
    reader = Reader(page)
    assert reader.balanced
    assert HOSTILE in "".join(reader.text)
    assert data_of(page)["rows"][0]["c"] == HOSTILE


def test_long_keys_break_between_parameters() -> None:
    shown = html.breakable("<b> of 1,000: a.b[mode=x,opt_level=3]")
    assert shown == "&lt;b&gt; of 1,000: a.b[<wbr>mode=x,<wbr>opt_level=3]"


def test_what_is_packed_cannot_end_its_element():
    text = "</script>\u2028\u2029"
    stream = html.packed(text)
    assert re.fullmatch(r"[A-Za-z0-9+/]+=*", stream)
    assert zlib.decompress(base64.b64decode(stream)).decode() == text


def test_what_cells_tell_under_the_mouse_is_in_the_data(page, evaluation):
    reported = data_of(page)["tips"]
    assert len(reported) == len(evaluation.rows)
    place = evaluation.rows.index(evaluation.row("process.getpid.time"))
    means, better, judgements = reported[place]
    assert better == "less is better"
    assert [text.split(" in ")[0] for text in means] == [
        f"{one.samples} samples" for one in evaluation.rows[place].summaries
    ]
    for text, one in zip(judgements, evaluation.rows[place].comparisons, strict=True):
        assert f"{one.effect.blocks} blocks; " in text


def test_the_scripts_are_all_there(page):
    code = packed_text(page, "code")
    for name in (*html.VENDORED, *html.SCRIPTS):
        assert html.asset(name) in code


def test_numbers_of_the_pictures():
    assert short(None) is None
    assert short(float("nan")) is None
    assert short(5.0) == 5
    assert short(1 / 3) == 0.3333333


def test_failures_and_their_reasons_are_listed(page):
    text = " ".join(Reader(page).text)
    assert "the system has no transparent huge pages of 2 MiB" in text
    assert "unsupported: the system has no such file" in text


def test_ten_thousand_samples_stay_below_two_megabytes():
    result = Maker().make()
    assert result.samples().height > 10_000
    assert len(html.render(evaluate(result), result).encode()) < 2_000_000


@pytest.mark.parametrize("count", [1, 2, 4])
def test_any_number_of_systems(count):
    result = Maker(factors={f"s{i}": same for i in range(count)}, chosen=null_items(12)).make()
    evaluation = evaluate(result)
    reader = Reader(html.render(evaluation, result))
    assert reader.balanced
    assert len(reader.rows) == 12
    assert len(payload(evaluation, result)["systems"]) == count


def test_a_result_without_samples():
    result = Maker().make()
    result.tables["samples"] = result.samples().clear()
    text = " ".join(Reader(html.render(evaluate(result), result)).text)
    assert "Nothing was measured" in text
    assert "the system has no transparent huge pages" in text


def test_vendored_files_are_what_they_are_said_to_be():
    listed = tomllib.loads((VENDOR / "VENDOR.toml").read_text())["file"]
    assert {f"vendor/{one['name']}" for one in listed} == set(html.VENDORED)
    for one in listed:
        data = (VENDOR / one["name"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == one["sha256"], one["name"]
        assert f"v{one['version']}".encode() in data[:200]
        assert b"</script" not in data.lower()
        for licence in one["licence_files"]:
            assert (VENDOR / licence).stat().st_size > 200


def test_what_qualifies_every_row_of_a_table_is_said_once_above_it() -> None:
    own = {"uml-7.2": {"memory.read": {"threads": "all"}}}
    result = Maker(chosen=SMALL, parameters=own).make()
    evaluation = evaluate(result)
    words = "the parameters differ: uml-7.2 has threads = all"
    rows = [row for row in evaluation.rows if row.workload == "memory.read"]
    assert len(rows) > 1 and all(row.comparisons[0].cautions == (words,) for row in rows)
    parts = [part for area in view.areas(evaluation) for part in area.parts]
    (part,) = [part for part in parts if part.cautions]
    assert part.cautions == (f"uml-7.2: {words}",)
    for line in part.lines:
        assert all(words not in one.notes for one in line.judgements)
    assert html.render(evaluation, result).count(words) == 1


def test_the_terms_are_those_of_the_glossary() -> None:
    known = entries((ROOT / "docs" / "glossary.md").read_text(encoding="utf-8"))
    assert {term: known[term] for term in terms.TERMS} == dict(terms.TERMS)


def test_a_term_is_explained_once_and_other_text_stays_text() -> None:
    shown = str(terms.marked("<b> MDE 3, MDE 4; declared metrics & a noise floor", set()))
    assert shown.startswith("&lt;b&gt; <a ") and shown.count("term-minimum-detectable-effect") == 1
    assert "term-noise-floor" in shown and "&amp;" in shown
    plain = re.sub("<[^>]*>", "", shown)
    assert plain == "&lt;b&gt; MDE 3, MDE 4; declared metrics &amp; a noise floor"


def test_differences_of_inventories_are_ordered_by_what_they_can_change(evaluation) -> None:
    paths = ["network.mtu", "os.name", "kernel.release", "block_devices.vda.scheduler"]
    lines = tuple(InventoryLine(path=path, values={"a": "1"}) for path in paths)
    changed = evaluation.model_copy(update={"inventory_differences": lines, "areas": ("process",)})
    found = {one.title: [line.path for line in one.lines] for one in relevance.groups(changed)}
    assert found == {
        "Can change what was measured": ["kernel.release"],
        "Of disks and file systems, which this study did not measure": [paths[3]],
        "Of networks, which this study did not measure": ["network.mtu"],
        "Others": ["os.name"],
    }
    disk = changed.model_copy(update={"areas": ("disk",)})
    assert [line.path for line in relevance.groups(disk)[0].lines] == ["kernel.release", paths[3]]


def test_paper_has_the_answer_and_appendices_only_on_request(page) -> None:
    reader = Reader(page)
    assert "print-all" in reader.anchors
    assert "html:not(:has(#print-all:checked)) .appendix { display: none; }" in page
    answer = page[page.index('<section id="answer"') : page.index('<section id="behind"')]
    assert "appendix" not in answer and 'data-kind="overview"' in answer
    for part in ("behind", "procedure", "inventory", "area-process", "samples", "glossary"):
        assert re.search(rf'<section id="{part}" class="[^"]*\bappendix\b', page), part


def test_programs_on_this_machine_start_and_do_not_boot() -> None:
    result = Maker(factors={"a": same, "b": same}, chosen=null_items(3)).make()
    evaluation = evaluate(result)
    for target, word in (("local", "Process starts"), ("uml", "Boots")):
        systems = tuple(one.model_copy(update={"target": target}) for one in evaluation.systems)
        text = html.render(evaluation.model_copy(update={"systems": systems}), result)
        assert f">{word}</a></th>" in text
