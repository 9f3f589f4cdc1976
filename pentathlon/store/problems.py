"""What is wrong with a result directory."""

from __future__ import annotations


class StoreError(Exception):
    """A result directory that cannot be used; the text is one sentence."""
