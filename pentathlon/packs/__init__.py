"""Packs: ready definitions of well-known programs, as tables `[[workload]]` of a study.

A pack is a file NAME.toml in this folder: one table `[pack]` that describes it, and the tables that
a study includes by `include = ["pack:NAME"]`. Files that its programs need lie in `files/`.
"""
