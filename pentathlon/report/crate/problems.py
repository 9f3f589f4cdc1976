"""Why a result cannot be published, or a crate not be checked."""

from __future__ import annotations


class CrateError(Exception):
    """One sentence: what is wrong, where, and what would be right."""
