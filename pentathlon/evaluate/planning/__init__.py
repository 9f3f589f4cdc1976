"""How much to measure, when to stop, and what a machine cannot tell."""
