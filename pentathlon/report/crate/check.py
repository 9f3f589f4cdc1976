"""Whether a crate is what was published: its files by their digests, and its judgement."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from pydantic import ValidationError

from pentathlon.evaluate import Evaluation, evaluate
from pentathlon.report.crate.metadata import CONFORMS, METADATA
from pentathlon.report.crate.problems import CrateError
from pentathlon.report.crate.publish import entry
from pentathlon.store.files import read_bytes
from pentathlon.store.query import load_result

SAME = 1e-9
"""Relative difference of two numbers that other processors and libraries may make."""
MOST_NAMED = 5


@dataclass(frozen=True)
class Checked:
    """What a check found.

    Attributes:
        files: how many were compared.
        problems: what is not as it was published, one sentence each; () if nothing.
        verdicts: how many were judged again.
    """

    files: int
    problems: tuple[str, ...]
    verdicts: int


def check(directory: Path) -> Checked:
    """Compare the files with their digests, judge the data again and compare the judgement.

    Raises:
        CrateError: the directory is no crate, or has no judgement to compare with.
        StoreError: its data cannot be read as a result.
    """
    listed = _listed(directory)
    problems = list(_files(directory, listed))
    again = evaluate(load_result(directory))
    published = _published(directory)
    differing = list(_differences(published, again))
    problems += differing[:MOST_NAMED]
    if len(differing) > MOST_NAMED:
        problems.append(f"{len(differing) - MOST_NAMED} more of the judgement differ")
    verdicts = sum(len(row.comparisons) for row in again.rows)
    return Checked(len(listed), tuple(problems), verdicts)


def _listed(directory: Path) -> dict[str, str]:
    """Path -> SHA-256 of every file that the metadata lists with one."""
    try:
        read = json.loads(read_bytes(directory / METADATA))
        graph = {one["@id"]: one for one in read["@graph"]}
        about = graph[METADATA]
        conforms = about["conformsTo"]["@id"]
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise CrateError(f"{directory} is no crate: {METADATA}: {reason}") from error
    except (ValueError, LookupError, TypeError, RecursionError) as error:
        raise CrateError(f"{directory / METADATA} is no metadata of an RO-Crate") from error
    if conforms != CONFORMS:
        raise CrateError(f"{directory / METADATA} conforms to {conforms}, and not to {CONFORMS}")
    return {
        unquote(str(one["@id"])): str(one["sha256"])
        for one in graph.values()
        if one.get("@type") == "File" and "sha256" in one
    }


def _files(directory: Path, listed: dict[str, str]) -> Iterator[str]:
    for name, digest in listed.items():
        path = PurePosixPath(name)
        if path.is_absolute() or ".." in path.parts:
            yield f"{name} lies outside of the crate"
            continue
        try:
            found = entry(directory, directory / path)
        except OSError as error:
            yield f"{name} cannot be read: {(error.strerror or '').lower()}"
            continue
        if found.sha256 != digest:
            yield f"{name} is not the file that was published: its SHA-256 is {found.sha256}"


def _published(directory: Path) -> Evaluation:
    path = directory / "evaluation.json"
    try:
        return Evaluation.model_validate_json(read_bytes(path))
    except OSError as error:
        reason = (error.strerror or "").lower()
        raise CrateError(f"{path}: {reason}; there is no judgement to compare with") from error
    except ValidationError as error:
        raise CrateError(f"{path} is no evaluation of this version of Pentathlon") from error


def _differences(first: Evaluation, second: Evaluation) -> Iterator[str]:
    """Verdicts and numbers of the rows and of the means that are not the same."""
    own, other = (
        {
            **{f"{row.key}": row.model_dump(mode="json") for row in one.rows},
            **{f"the means of {a.system}": a.model_dump(mode="json") for a in one.aggregates},
        }
        for one in (first, second)
    )
    for name in dict.fromkeys((*own, *other)):
        if name not in own or name not in other:
            yield f"{name} is in one of the two judgements only"
        elif not _same(own[name], other[name]):
            yield f"{name} is judged otherwise here"


def _same(first: Any, second: Any) -> bool:
    if isinstance(first, dict) and isinstance(second, dict):
        return first.keys() == second.keys() and all(
            # Sentences name files and times of the place where they were made.
            name in ("reason", "words") or _same(first[name], second[name])
            for name in first
        )
    if isinstance(first, list) and isinstance(second, list):
        return len(first) == len(second) and all(map(_same, first, second))
    if isinstance(first, float) and isinstance(second, float):
        return math.isclose(first, second, rel_tol=SAME, abs_tol=SAME)
    return bool(first == second)
