"""Flows between two hosts, sent, recorded at both ends and judged."""
