"""Many metrics judged at once."""
