"""Headings, column heads and names of facts are explained by the glossary."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest

from pentathlon.evaluate import evaluate
from pentathlon.evaluate.model import PostHoc
from pentathlon.report.html import page as html
from pentathlon.report.html import terms
from pentathlon.report.html.labels import LABELS, Labels
from tests.evaluate.factorial.test_factorial import factors, made
from tests.evaluate.factorial.test_factorial import planted as planted_effects
from tests.fakes.synthetic import Maker, items


class Marks(HTMLParser):
    """The labels of a page and the links of terms, with the section that they are in."""

    LABEL = frozenset({"h2", "h3", "dt", "caption"})
    PLAIN = frozenset({"summary", "p", "li", "figcaption"})

    def __init__(self, page: str) -> None:
        super().__init__()
        self.sections = ["page"]
        self.labels: list[tuple[str, str, str | None]] = []  # section, text, where a link leads
        self.links: list[tuple[str | None, str, str]] = []  # the element around, address, title
        self.ids: set[str] = set()
        self._label: list[str] | None = None
        self._link: str | None = None
        self._around: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        known = dict(attrs)
        if known.get("id"):
            self.ids.add(known["id"])
        if tag == "section":
            self.sections.append(f"{known.get('id')} {self.getpos()}")
        if tag in self.LABEL or (tag == "th" and known.get("scope") == "col"):
            self._label, self._link = [], None
        if tag in self.PLAIN:
            self._around.append(tag)
        if tag == "a" and known.get("class") == "term":
            self._link = known["href"]
            around = self._around[-1] if self._around else None
            self.links.append((around, known["href"], known["title"]))

    def handle_data(self, data):
        if self._label is not None:
            self._label.append(data)

    def handle_endtag(self, tag):
        if self._label is not None and (tag in self.LABEL or tag == "th"):
            text = " ".join("".join(self._label).split()).casefold()
            self.labels.append((self.sections[-1], text, self._link))
            self._label = None
        if tag == "section":
            self.sections.pop()
        if tag in self.PLAIN:
            self._around.pop()


def comparison() -> str:
    result = Maker(chosen=items(sizes=(1024, 65536, 1 << 20))).make()
    evaluation = evaluate(result)
    changed = PostHoc(what="delta_percent", used="3", planned="1", words="δ is 3 % (planned: 1 %)")
    study = evaluation.study.model_copy(update={"post_hoc": (changed,)})
    return html.render(evaluation.model_copy(update={"study": study}), result)


def design() -> str:
    result = made(planted_effects, factors("a", "b", "c"))
    return html.render(evaluate(result), result)


@pytest.fixture(scope="module", params=[comparison, design], ids=["comparison", "factorial"])
def marks(request):
    return Marks(request.param())


def test_each_label_that_is_a_term_is_a_link_once_in_its_section(marks):
    first: dict[tuple[str, str], str | None] = {}
    for section, text, link in marks.labels:
        whole = text.removesuffix(" of blocks")
        term = LABELS.get(whole)
        if section.startswith("glossary") or term is None:
            continue
        if (section, term) in first:
            assert link is None, f"{text} is marked again in {section}"
        first.setdefault((section, term), link)
    assert len(first) > 20
    # A term that running text above has explained already is not marked again.
    explained = {key for key, link in first.items() if link is None}
    assert explained <= {key for key in first if key[1] in terms.MARKED}
    assert all(link == f"#{terms.anchor(key[1])}" for key, link in first.items() if link)


def test_links_lead_to_the_entry_that_they_show(marks):
    for _, address, title in marks.links:
        assert address[1:] in marks.ids and title
        if address.startswith("#term-"):
            term = next(one for one in terms.TERMS if f"#{terms.anchor(one)}" == address)
            assert title == terms.TERMS[term]


def test_running_text_marks_technical_terms_only(marks):
    technical = {f"#{terms.anchor(one)}" for one in (*terms.MARKED, *terms.ALIASES.values())}
    for around, address, _ in marks.links:
        assert around != "summary"
        if around in ("p", "figcaption"):
            assert address in technical
        if around == "li":
            assert address in technical or address.startswith("#verdict-")


def test_labels_escape_and_have_no_other_marks():
    label = Labels()
    assert str(label("<b>")) == "&lt;b&gt;"
    assert 'href="#term-verdict"' in label("Verdict") and str(label("Verdict")) == "Verdict"
    label.section()
    assert 'href="#term-verdict"' in label("Verdict")
    assert set(LABELS.values()) <= set(terms.TERMS)
