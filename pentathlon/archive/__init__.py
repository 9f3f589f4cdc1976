"""Thousands of results in one place: Parquet, an index, and each result as it was."""
