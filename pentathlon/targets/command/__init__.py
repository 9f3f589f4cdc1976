"""The kind `command`: whatever a program of the user's own starts the agent in."""
