"""Slurm as the engine of a campaign: a chain of jobs for each node, a job for each boot."""
