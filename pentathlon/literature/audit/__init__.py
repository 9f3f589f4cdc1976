"""Checks of published studies: against themselves, units, physics and their own claims."""
