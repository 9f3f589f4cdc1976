"""Pentathlon: which operating system is faster for this machine and this work."""

__version__ = "0.1.0"
