"""Text tables: one type, and one writer for each format."""
