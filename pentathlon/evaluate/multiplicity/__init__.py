"""Many indicators judged at once."""
