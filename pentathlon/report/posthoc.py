"""How every format marks a judgement that differs from the study's own plan."""

from __future__ import annotations

from pathlib import PurePath

from pentathlon.evaluate import posthoc
from pentathlon.evaluate.model import Evaluation

MARK = "post hoc"
"""In footers and in names of files."""


def words(evaluation: Evaluation) -> str:
    """What is judged otherwise than planned, as sentences; "" where nothing is."""
    return posthoc.words(evaluation.study.post_hoc)


def short(evaluation: Evaluation) -> str:
    """The same as one phrase, for a table's caption or a column; "" where nothing is."""
    return "; ".join(one.words for one in evaluation.study.post_hoc)


def changed(evaluation: Evaluation, what: str) -> bool:
    """Whether one thing, such as "weights", is not the study's own."""
    return any(one.what == what for one in evaluation.study.post_hoc)


def file_name(name: str, evaluation: Evaluation) -> str:
    """The name of a file, which a judgement post hoc does not share with the planned one."""
    path = PurePath(name)
    return f"{path.stem}-post-hoc{path.suffix}" if evaluation.study.post_hoc else name
