"""Kinds of systems, a folder for each: how the agent is started there and stopped again."""
