"""What the report shows of one experiment: the entry that its module makes for the registry."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from pentathlon.evaluate.facts import ResultLike
from pentathlon.evaluate.model import Evaluation
from pentathlon.report.html.sweep import Sweep, Words

Rounded: TypeAlias = Callable[[float], Any]

Data: TypeAlias = Callable[[Evaluation, ResultLike, Rounded, Rounded], Any]
"""The data of pictures, as JSON. The last two round a place on an axis, and what is drawn there."""

Paragraph: TypeAlias = tuple[str, tuple[str, ...]]
"""A heading and its sentences."""


@dataclass(frozen=True)
class Pictures:
    """The pictures of one workload and the sentences below them.

    Attributes:
        sweep: its picture over a numeric factor, which comes first.
        figures: kind of a picture, as the scripts in `html/assets` name it, and its caption.
        words: sentences on what is derived from its rows.
        words_title: the title above these.
    """

    sweep: Sweep | None = None
    figures: tuple[tuple[str, str], ...] = ()
    words: Callable[[Evaluation], Words] | None = None
    words_title: str = "What the curves show"


@dataclass(frozen=True)
class Section:
    """A section of the page that one experiment fills.

    Attributes:
        anchor: its id in the page.
        title: its heading, also in the page's navigation.
        template: its file in `html/assets`.
        values: what the template takes besides the title.
    """

    anchor: str
    title: str
    template: str
    values: Mapping[str, Any]


@dataclass(frozen=True)
class Shown:
    """What the report shows of one experiment.

    Attributes:
        experiment: its name, as in the registry of experiments.
        pictures: by workload; those without have the same pictures as any other.
        data: name in the page's data -> what makes it.
        paragraphs: for the terminal: a title and what stands below it.
        section: its own section of the page; None where the result has nothing for it.
    """

    experiment: str
    pictures: Mapping[str, Pictures] = field(default_factory=dict)
    data: Mapping[str, Data] = field(default_factory=dict)
    paragraphs: Mapping[str, Callable[[Evaluation], Iterator[Paragraph]]] = field(
        default_factory=dict
    )
    section: Callable[[Evaluation], Section | None] = lambda _: None
