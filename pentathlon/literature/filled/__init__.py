"""The tables of the studies with one's own systems in the columns (docs/report.md)."""
