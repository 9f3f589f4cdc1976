"""Every page: links lead somewhere, lists are lists on the site too, and commands are commands."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import typer

from pentathlon.cli.main import app
from website.abbreviations import abbreviations, entries
from website.markdown import anchors, commands, links, prose
from website.staging import DOCS, GENERATED, PAGES, ROOT

FILES = sorted([*DOCS.rglob("*.md"), *(ROOT / name for name in PAGES)])
NAMES = [str(one.relative_to(ROOT)) for one in FILES]


@cache
def text(file: Path) -> str:
    """A page; those that are generated exist on the site only."""
    name = str(file.relative_to(DOCS)) if file.is_relative_to(DOCS) else ""
    return GENERATED[name]() if name in GENERATED else file.read_text(encoding="utf-8")


def broken(file: Path, target: str) -> bool:
    """Whether a link of a page leads nowhere."""
    path, _, anchor = target.partition("#")
    if "://" in target:
        return False
    there = (file.parent / path).resolve() if path else file
    generated = there.is_relative_to(DOCS) and str(there.relative_to(DOCS)) in GENERATED
    if not there.exists() and not generated:
        return True
    return bool(anchor) and (there.suffix != ".md" or anchor not in anchors(text(there)))


@pytest.mark.parametrize("name", NAMES)
def test_links_lead_somewhere(name: str) -> None:
    file = ROOT / name
    assert [target for target in links(text(file)) if broken(file, target)] == []


def test_a_broken_link_is_seen() -> None:
    file = DOCS / "index.md"
    for target in ("none.md", "cli.md#none", "../none", "reference/none.md", "#none"):
        assert broken(file, target), target
    for target in ("cli.md#exit-status", "reference/commands.md#pentathlon-run", "../LICENSE"):
        assert not broken(file, target), target


@pytest.mark.parametrize("name", NAMES)
def test_a_list_begins_after_a_blank_line(name: str) -> None:
    """Forges make a list of it anyway; MkDocs makes it part of the paragraph before."""
    item = re.compile(r"( *)([-*]|1\.) ")
    wrong = []
    before = ""
    for number, line in enumerate(prose(text(ROOT / name)).splitlines(), 1):
        inside = before.startswith(" ") or item.match(before) or before == ""
        if item.match(line) and not line.startswith(" ") and not inside:
            wrong.append(f"{number}: {line}")
        before = line
    assert wrong == []


@pytest.mark.parametrize("name", NAMES)
def test_a_row_of_a_table_is_one_line(name: str) -> None:
    """A row that goes on in the next line ends there for every reader of Markdown."""
    lines = prose(text(ROOT / name)).splitlines()
    rows = [line for line in lines if line.startswith("|") or re.search(r" \|$", line)]
    assert [row for row in rows if not re.fullmatch(r" *\|.*\| *", row)] == []


@pytest.mark.parametrize("name", NAMES)
def test_every_page_has_one_title(name: str) -> None:
    assert len(re.findall(r"^# ", prose(text(ROOT / name)), re.M)) == 1


def parse(words: list[str]) -> None:
    """Parses a call without doing it.

    Raises:
        Exception: the command would refuse it (a usage error).
    """
    group: Any = typer.main.get_group(app)
    context = typer.Context(group, info_name="pentathlon")
    if not words or words[0].startswith("-"):
        group.make_context("pentathlon", list(words), resilient_parsing=False)
        return
    name, command, rest = group.resolve_command(context, list(words))
    while hasattr(command, "list_commands"):
        inner = typer.Context(command, info_name=name, parent=context)
        name, command, rest = command.resolve_command(inner, rest)
    command.make_context(name, list(rest), parent=context)


CALLS = [
    pytest.param(words, id=f"{name}:{line}")
    for name in NAMES
    for line, words in commands(text(ROOT / name))
]


@pytest.mark.parametrize("words", CALLS)
def test_every_command_of_a_page_parses(words: list[str]) -> None:
    if {"--help", "-h", "--version"} & set(words) or words[-1:] == ["--show-completion"]:
        return
    parse(words)


@pytest.mark.parametrize(
    "words",
    [["runn", "x"], ["run", "x", "--bloks", "3"], ["gate", "--delta", "much"], ["link", "x"]],
)
def test_a_wrong_command_does_not_parse(words: list[str]) -> None:
    with pytest.raises(Exception, match=r"(?i)no such|invalid|valid number"):
        parse(words)


def test_every_page_is_in_the_navigation() -> None:
    named = re.findall(r"([\w/-]+\.md)\s*$", (ROOT / "website/mkdocs.yml").read_text(), re.M)
    pages = [str(one.relative_to(DOCS)) for one in DOCS.rglob("*.md")]
    assert sorted(named) == sorted({*pages, *GENERATED, *PAGES.values()})


def test_the_glossary_has_one_entry_for_each_term() -> None:
    page = text(DOCS / "glossary.md")
    terms = re.findall(r"^### (.+)$", page, re.M)
    assert len(terms) == len(set(terms)) == len(entries(page))
    assert all(sentence.endswith((".", ")", "…")) for sentence in entries(page).values())


def test_terms_of_several_words_are_explained_under_the_mouse() -> None:
    lines = abbreviations("### noise floor\nWhat is shown. More.\n\n### boot\nA start.\n")
    assert lines.splitlines() == [
        "*[noise floor]: What is shown.",
        "*[noise floors]: What is shown.",
        "*[Noise floor]: What is shown.",
    ]


def test_generated_pages_name_everything() -> None:
    group: Any = typer.main.get_group(app)
    for name in group.list_commands(typer.Context(group)):
        assert f"## pentathlon {name}" in text(DOCS / "reference/commands.md")
    for heading in ("## Request", "## Event", "### process.getpid", "## `[[system]]`"):
        assert any(f"{heading}\n" in made() for made in GENERATED.values()), heading
