"""This machine itself."""
