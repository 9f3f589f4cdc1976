"""Pentathlon: which operating system is faster for this machine and this work."""
