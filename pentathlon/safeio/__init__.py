"""Bounded reading of what others wrote, checksums of lines, escaping of what is written."""
