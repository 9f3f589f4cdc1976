"""Results for analysts: what `import pentathlon` gives (docs/python.md)."""
