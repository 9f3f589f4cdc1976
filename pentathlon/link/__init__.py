"""Emulated links: profiles as data, what probes must find, and netem's commands for a profile.

Pure functions; imports from no room.
"""
