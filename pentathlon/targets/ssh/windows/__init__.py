"""A Windows machine over ssh(1): its shells, its files, the agent's guard there."""
