"""`pentathlon site`: the pages of an archive."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pentathlon.cli.commands.archive import AlertOption, PagesOption, WhereOption
from pentathlon.cli.commands.work import done_by


@done_by("archive")
def site(
    archive: Annotated[str, typer.Argument(help="Directory or URL of the archive.")],
    *,
    to: PagesOption = Path("public"),
    where: WhereOption = None,
    alert: AlertOption = None,
) -> None:
    """Write static pages of an archive with a line for each row; ends with 4 on a new slowdown.

    The same as `archive site`, with the archive as its argument.

    Examples:

        pentathlon site archive --out public

        pentathlon site archive --where 'study = "nightly"' --alert 'curl -fsS --json @- https://HOST/hook'
    """
