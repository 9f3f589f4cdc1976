"""Which factor matters: main effects and two-way interactions of a factorial design."""
