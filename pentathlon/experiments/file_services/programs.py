"""The programs that an end of a file task has: this machine's own, or those of another one."""

from __future__ import annotations

import ctypes
import importlib.util
import os
import pwd
import sys
from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Final

from pentathlon.machine import launch
from pentathlon.machine.errors import TargetUnavailable
from pentathlon.machine.tools import run

SYSTEM_PYTHON: Final = "/usr/bin/python3"


class Programs(ABC):
    """What is installed where an end's programs come from."""

    @abstractmethod
    def need(self, program: str, package: str) -> str:
        """A program by its name.

        Raises:
            TargetUnavailable: it is not installed; the remedy names the Debian package.
        """

    @abstractmethod
    def python(self, module: str, remedy: str) -> str:
        """An interpreter that has a module.

        Args:
            remedy: the command that installs the module; `{python}` stands for the interpreter.

        Raises:
            TargetUnavailable: there is none.
        """

    @abstractmethod
    def library(self, names: Sequence[str], package: str) -> None:
        """Look whether a shared library is here by one of these names.

        Raises:
            TargetUnavailable: it is not installed.
        """

    @abstractmethod
    def find(self, patterns: Sequence[str]) -> Path | None:
        """The first file that one of these patterns, absolute paths with `*`, names."""

    @property
    @abstractmethod
    def user(self) -> str:
        """The name of the user as whom programs run."""


class Here(Programs):
    """This machine, and every guest that sees its directories."""

    def need(self, program: str, package: str) -> str:
        return str(launch.need(program, package))

    def python(self, module: str, remedy: str) -> str:
        """This program's interpreter goes before the system's."""
        if _has(module):
            return sys.executable
        if _system_has(module):
            return SYSTEM_PYTHON
        raise TargetUnavailable(
            f"the Python module {module.partition('.')[0]} is not installed",
            remedy.format(python=sys.executable),
        )

    def library(self, names: Sequence[str], package: str) -> None:
        if not any(map(_loads, names)):
            raise missing_library(names, package)

    def find(self, patterns: Sequence[str]) -> Path | None:
        for pattern in patterns:
            for found in sorted(Path("/").glob(pattern[1:])):
                return found
        return None

    @property
    def user(self) -> str:
        return pwd.getpwuid(os.geteuid()).pw_name


HERE: Final = Here()


def missing_library(names: Sequence[str], package: str, where: str = "") -> TargetUnavailable:
    """The error for a library that is not installed."""
    return TargetUnavailable(
        f"{' or '.join(names)} is not installed{where}", f"sudo apt-get install {package}"
    )


def _has(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ImportError:
        return False


@cache
def _system_has(module: str) -> bool:
    """Whether the system's interpreter can load it, whatever comes first in $PATH."""
    if not Path(SYSTEM_PYTHON).exists():
        return False
    return run([SYSTEM_PYTHON, "-I", "-c", f"import {module}"], None).returncode == 0


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True
