"""Several results: guards, gates, and one system over time."""
