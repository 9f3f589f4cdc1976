"""Where calibrations of this machine lie: in the state directory, and copied beside results.

A copy in the result directory makes its judgement reproducible wherever it is read. The files hold
what `pentathlon.evaluate.planning.calibration` makes of a result; this module only keeps them.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pentathlon.store.files import read_bytes, write_whole
from pentathlon.store.journal import StoreError

DIRECTORY = "calibration"
BESIDE = "calibration.json"
"""Calibrations that held when a result was measured: a list, in its directory."""
MADE = "calibration-made.json"
"""The calibration that was made of a result."""
IDENTITY = ("target", "layer", "cpu", "memory_bytes", "catalog_version")
"""What a calibration is of; a newer one of the same replaces it."""


def keep(document: Mapping[str, Any], state_dir: Path, result: Path) -> Path:
    """Keep a calibration in the state directory and beside the result that it was made of.

    Returns:
        The file in the state directory.

    Raises:
        StoreError: a file cannot be written.
    """
    what = json.dumps([document.get(name) for name in IDENTITY])
    file = state_dir / DIRECTORY / f"{hashlib.sha256(what.encode()).hexdigest()[:16]}.json"
    text = json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    for path in (file, result / MADE):
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            write_whole(path, text)
        except OSError as error:
            raise StoreError(f"{path} cannot be written: {error.strerror}") from error
    return file


def known(state_dir: Path) -> list[dict[str, Any]]:
    """The calibrations in the state directory; a file that cannot be read is left out."""
    found = []
    for path in sorted((state_dir / DIRECTORY).glob("*.json")):
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue
        if isinstance(document, dict):
            found.append(document)
    return found


def copy_beside(state_dir: Path, result: Path) -> None:
    """Copy the calibrations that there are into a result directory.

    Raises:
        StoreError: the file cannot be written.
    """
    documents = known(state_dir)
    if not documents:
        return
    try:
        text = json.dumps(documents, indent=1, ensure_ascii=False) + "\n"
        write_whole(result / BESIDE, text)
    except OSError as error:
        raise StoreError(f"{result / BESIDE} cannot be written: {error.strerror}") from error


def read_beside(result: Path) -> list[dict[str, Any]]:
    """The calibrations in a result directory, [] if there are none.

    Raises:
        StoreError: the file is damaged.
    """
    try:
        documents = json.loads(read_bytes(result / BESIDE))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, RecursionError) as error:
        raise StoreError(f"{result / BESIDE} cannot be read: {error}") from error
    if not isinstance(documents, list) or not all(isinstance(one, dict) for one in documents):
        raise StoreError(f"{result / BESIDE} is no list of calibrations")
    return documents
