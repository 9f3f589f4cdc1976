"""What every command reports first of a run that has not ended: its values may still change."""

from __future__ import annotations

from rich.console import Console

from pentathlon.cli.screen import out


def say(unfinished: str, console: Console = out) -> None:
    """Print how far a run is; nothing of one that has ended.

    Args:
        unfinished: `Result.unfinished`, which may name the result in front.
    """
    if unfinished:
        console.print(f"! {unfinished}", style="magenta", soft_wrap=True)
