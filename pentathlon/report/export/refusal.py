"""Why a report cannot be made in a format."""

from __future__ import annotations


class ExportError(Exception):
    """A format is unknown, or cannot hold this evaluation; the text is one sentence."""
