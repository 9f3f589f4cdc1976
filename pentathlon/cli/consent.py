"""A study is a program: what it names and starts is listed, and somebody has to agree."""

from __future__ import annotations

import contextlib
import hashlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import typer

from pentathlon.cli.exits import InputError
from pentathlon.cli.planview import changes
from pentathlon.cli.screen import caution, err
from pentathlon.machine.undo_journal import default_state_dir
from pentathlon.study.code import Named, rights
from pentathlon.targets.contract import Target


@dataclass
class Consent:
    """Lists what a study names and starts, and asks once.

    Attributes:
        yes: the one who called has agreed already.
        quiet: whoever called has written down what is started in that very call.
        given: for the study asked about last, there was a list and it was agreed to; the changes
            of settings are a part of it.
    """

    yes: bool
    given: bool = False
    quiet: bool = False

    def __call__(self, named: tuple[Named, ...], targets: dict[str, Target]) -> None:
        """Ask for consent where a study starts something.

        Raises:
            InputError: there is nobody to ask.
            typer.Abort: the answer is no.
        """
        self.given = False
        if not named or self.quiet:
            self.given = bool(named)
            return
        if not self.yes and remembered(named):
            self.given = True
            return
        if not self.yes and not in_terminal():
            rest = f" (and {len(named) - 1} more)" if len(named) > 1 else ""
            raise InputError(
                f"with every right of {rights()} this study starts {named[0].text}{rest}; nobody "
                'can be asked here, so read what "pentathlon plan" lists, and add --yes'
            )
        caution(f"With every right of {rights()} this study starts:")
        for one in named:
            caution(f"  {one.text}")
        if not self.yes:
            for line in changes(targets):
                caution(f"It changes {line}")
            typer.confirm("Go on?", abort=True, err=True)
        self.given = True
        remember(named)

    def before_changes(self, targets: Mapping[str, Target]) -> None:
        """Ask before settings of the machine are changed, unless this was agreed to already.

        Without a terminal there is nobody to ask, and the study is taken for the answer.

        Raises:
            typer.Abort: the answer is no.
        """
        found = changes(targets)
        if not found or self.yes or self.given or not in_terminal():
            return
        for line in found:
            caution(f"This study changes {line}")
        typer.confirm("Go on?", abort=True, err=True)
        self.given = True


def _key(named: tuple[Named, ...]) -> str | None:
    """What an answer is remembered by: the hash of the commands that are measured and their files.
    None where a study also starts something else, which is requested each time."""
    if not all(one.sha256 for one in named):
        return None
    whole = "\n".join(f"{one.text}\n{one.sha256}" for one in named)
    return hashlib.sha256(whole.encode(errors="surrogatepass")).hexdigest()


def remembered(named: tuple[Named, ...]) -> bool:
    """Whether somebody has agreed to exactly these commands before."""
    key = _key(named)
    return key is not None and (_agreed() / key).is_file()


def remember(named: tuple[Named, ...]) -> None:
    """Keep an agreement; where that cannot be written, the question comes again."""
    if (key := _key(named)) is None:
        return
    with contextlib.suppress(OSError):
        _agreed().mkdir(parents=True, exist_ok=True)
        (_agreed() / key).write_text("".join(f"{one.text}\n" for one in named))


def _agreed() -> Path:
    return default_state_dir() / "agreed"


def in_terminal() -> bool:
    """Whether there is somebody to ask."""
    return sys.stdin.isatty() and err.is_terminal
