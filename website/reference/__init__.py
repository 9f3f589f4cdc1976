"""Pages of the reference that are made from the code."""
