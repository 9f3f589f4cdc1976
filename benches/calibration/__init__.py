"""How well the verdicts keep their word, by simulation (docs/calibration.md)."""
