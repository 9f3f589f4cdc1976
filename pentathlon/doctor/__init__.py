"""What works on this machine, what does not and why, and what would disturb a measurement."""
