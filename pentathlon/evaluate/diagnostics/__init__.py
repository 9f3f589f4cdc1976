"""What lies beneath the means: warm-up, modes, exclusions, distributions, who answered."""
