"""Values out of what programs print."""
