"""What two endpoints recorded, joined: packets, clocks, and the metrics of the standards."""
