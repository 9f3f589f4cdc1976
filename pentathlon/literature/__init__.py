"""The published studies as data: their tables as printed, their audit, and results beside them."""
