"""A system that forwards packets, and the generator that sends them through it."""
