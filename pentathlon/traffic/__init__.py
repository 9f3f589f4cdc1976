"""What two endpoints wrote down, joined: packets, clocks, and the metrics of the standards.

Pure functions over arrays: this package imports from no other, and runs nothing.
"""
