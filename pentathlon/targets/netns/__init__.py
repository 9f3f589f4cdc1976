"""This machine in a network namespace of its own."""
