"""One difference between two systems, estimated in several ways."""
