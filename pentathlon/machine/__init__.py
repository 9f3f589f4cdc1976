"""This machine: its CPUs, settings and programs, what a study changes and how that is put back."""
