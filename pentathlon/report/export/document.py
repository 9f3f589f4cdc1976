"""The whole evaluation as JSON."""

from __future__ import annotations

from pentathlon.evaluate.model import Evaluation
from pentathlon.safeio.escaping import json_document


def to_json(evaluation: Evaluation) -> str:
    """The whole evaluation as JSON, in full precision; `Evaluation` reads it back."""
    return json_document(evaluation.model_dump_json(indent=1)) + "\n"
