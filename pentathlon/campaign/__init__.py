"""Campaigns: one study on several machines, each with a result directory of its own."""
