"""A comparison as a whole: weighted means over areas and suites."""
