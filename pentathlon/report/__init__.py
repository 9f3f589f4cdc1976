"""Evaluations for people: terminal, HTML and export files (docs/report.md)."""
