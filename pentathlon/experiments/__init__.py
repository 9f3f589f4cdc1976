"""Workloads between two hosts: traffic, forwarding, file services."""
