"""What holds for a fleet, in the terminal and as a page."""
