"""A table for the terminal whose words stay whole.

Rich shares a narrow screen among the columns without regard to their words, and breaks them. Here a
column gets at least its longest word. What is named as `under` goes below its row where it would be
a thin column; where even the words do not fit side by side, each row is a list of its cells.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, RenderableType, RenderResult
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Column, Table
from rich.text import Text

THIN = 30
"""Columns below which a long text is a thin tower."""
INDENT = 4


class Sheet(Table):
    """A table without lines, as wide as the screen at most, with whole words.

    Args:
        headers: of the columns.
        under: headers of columns whose cells may go below their row, the first ones first.
        options: what `rich.table.Table` takes.
    """

    def __init__(self, *headers: str, under: Sequence[str] = (), **options: Any) -> None:
        super().__init__(
            *headers, **{"box": None, "pad_edge": False, "title_justify": "left", **options}
        )
        self.under = tuple(under)

    def add_columns(self, *headers: str, **options: Any) -> None:
        """Add columns that differ in their headers alone."""
        for header in headers:
            self.add_column(header, **options)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if not self.columns:
            return
        every = list(range(len(self.columns)))
        least, most = self._needs(console, options)
        for moved in self._choices():
            beside = [at for at in every if at not in moved]
            widths = self._shared(least, most, beside, options.max_width)
            if widths is None:
                continue
            rest = [at for at in self._movable() if at not in moved]
            if any(widths[at] < min(most[at], THIN) for at in rest[:1] if not moved):
                continue
            if moved:
                yield from self._with_text_below(beside, moved, widths)
            else:
                yield from self._part(every, widths, range(self.row_count), titled=True)
            return
        yield from self._listed()

    def _movable(self) -> list[int]:
        """Columns that may go below their row, in the order of `under`."""
        headers = [str(column.header) for column in self.columns]
        return [headers.index(name) for name in self.under if name in headers]

    def _choices(self) -> list[list[int]]:
        """Which columns go below: none, else more and more of those that may."""
        movable = self._movable()
        return [movable[:count] for count in range(len(movable) + 1)]

    def _needs(self, console: Console, options: ConsoleOptions) -> tuple[list[int], list[int]]:
        """For each column the width of its longest word, and of its longest line."""
        least, most, headed = [], [], []
        wide = options.update(max_width=100_000)
        for column in self.columns:
            found = [Measurement.get(console, wide, cell) for cell in column.cells]
            head = Measurement.get(console, wide, column.header if self.show_header else "")
            line = max((one.maximum for one in found), default=0)
            word = max((one.minimum for one in (*found, head)), default=0)
            if not self.show_header:
                # Cells without headings make no list: a word of any length shares its row.
                word = min(word, THIN)
            if column.no_wrap:
                line = word = max(line, head.maximum)
            least.append(max(word, min(column.min_width or 0, line)))
            most.append(max(line, word))
            headed.append(max(line, head.maximum))
        every = range(len(most))
        # Headings are the first that take several lines.
        return least, headed if self._total(headed, every) <= options.max_width else most

    @property
    def _gap(self) -> int:
        """Blanks between two columns."""
        _, right, _, left = self.padding
        return left + right

    def _total(self, widths: Sequence[int], chosen: Sequence[int]) -> int:
        """Columns of the screen: no blanks at the edges."""
        return sum(widths[at] + self._gap for at in chosen) - self._gap

    def _shared(
        self, least: Sequence[int], most: Sequence[int], chosen: Sequence[int], room: int
    ) -> list[int] | None:
        """The width of each column: all below the same level, but none below its longest word;
        None where the words do not fit."""
        if self._total(least, chosen) > room:
            return None
        level = max(most[at] for at in chosen)
        widths = list(most)
        while self._total(widths, chosen) > room:
            level -= 1
            widths = [min(line, max(word, level)) for word, line in zip(least, most, strict=True)]
        return widths

    def _part(
        self, chosen: Sequence[int], widths: Sequence[int], rows: Sequence[int], *, titled: bool
    ) -> RenderResult:
        """Some columns of some rows; with title and headings or without."""
        part = Table(
            title=self.title if titled else None,
            title_justify=self.title_justify,
            title_style=self.title_style,
            header_style=self.header_style,
            show_header=self.show_header and titled,
            padding=0,
            box=None,
        )
        # A column of blanks between two others: how rich counts the padding depends on its version.
        for at in chosen:
            if at != chosen[0]:
                part.add_column("", width=self._gap)
            column = self.columns[at]
            part.add_column(
                column.header,
                header_style=column.header_style,
                style=column.style,
                justify=column.justify,
                no_wrap=column.no_wrap,
                overflow="fold",
                width=widths[at],
            )
        cells = [list(self.columns[at].cells) for at in chosen]
        for row in rows:
            first, *others = (own[row] for own in cells)
            part.add_row(first, *(cell for own in others for cell in ("", own)))
        yield part

    def _with_text_below(
        self, beside: Sequence[int], moved: Sequence[int], widths: Sequence[int]
    ) -> RenderResult:
        yield from self._part(beside, widths, (), titled=True)
        below = [list(self.columns[at].cells) for at in moved]
        for row in range(self.row_count):
            yield from self._part(beside, widths, (row,), titled=False)
            for own in reversed(below):
                if not _is_empty(own[row]):
                    yield Padding(own[row], (0, 0, 0, INDENT))

    def _listed(self) -> RenderResult:
        """Each row as its first cell and, below, what the others hold."""
        if self.title:
            title = self.title
            yield Text(title, style=self.title_style or "") if isinstance(title, str) else title
        first, *others = [list(column.cells) for column in self.columns]
        for row in range(self.row_count):
            yield first[row]
            grid = Table.grid(padding=(0, 2, 0, 0))
            grid.add_column(no_wrap=True, style="dim")
            grid.add_column(overflow="fold")
            for column, cells in zip(self.columns[1:], others, strict=True):
                if not _is_empty(cells[row]):
                    grid.add_row(_heading(column), cells[row])
            yield Padding(grid, (0, 0, 0, INDENT))


def _is_empty(cell: RenderableType) -> bool:
    return isinstance(cell, str | Text) and not str(cell).strip()


def _heading(column: Column) -> RenderableType:
    header = column.header
    return header.replace("\n", " ") if isinstance(header, str) else header
