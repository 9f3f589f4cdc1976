"""Stand-ins for agents, targets and results, which the tests of every package use."""
