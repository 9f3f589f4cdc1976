"""Hosts and what joins them: cables, namespaces, emulated links."""
