"""User-mode Linux: another kernel as an ordinary process of this machine."""
