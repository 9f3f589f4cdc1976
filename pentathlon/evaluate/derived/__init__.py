"""What the studies read off their curves: knees, optima, limits, regions, each with an interval."""
